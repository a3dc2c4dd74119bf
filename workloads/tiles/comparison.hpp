// Why this tile and not that one: where their times differ, and which bounds moved.
// The time of a prediction is the sum of its shares, so the differences of the shares add up to that of the
// times. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"
#include "model/prediction/prediction.hpp"
#include "workloads/predict.hpp"
#include "workloads/tiles/candidate.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warptime::workloads::tiles {

/// A tile with its whole prediction, or the reason why it cannot run.
struct ExplainedTile {
    Candidate candidate;
    std::optional<model::prediction::Prediction> prediction;
    std::optional<Error> refusal;
};

/// As `rank` sees the tile: what does not fit or would spill is refused.
[[nodiscard]] ExplainedTile explain_tile(const Operation& operation, const Candidate& candidate,
                                         Predictor& predictor,
                                         const model::prediction::Conditions& conditions);

/// One cause or bound of two tiles. Seconds; 0 where a tile does not have it.
struct Difference {
    std::string name;
    double first = 0.0, second = 0.0;

    [[nodiscard]] double more() const { return second - first; }
};

/// The exposed time by cause, largest difference first; they add up to both times.
[[nodiscard]] std::vector<Difference> share_differences(const model::prediction::Prediction& first,
                                                        const model::prediction::Prediction& second);

/// Every bound of either, the largest of the second first.
[[nodiscard]] std::vector<Difference> bound_differences(const model::prediction::Prediction& first,
                                                        const model::prediction::Prediction& second);

/// Two tiles side by side: times, causes, bounds, occupancy.
[[nodiscard]] std::string comparison_text(const ExplainedTile& first, const ExplainedTile& second);

/// schema warptime.tile_comparison/1: tiles[2]{parameters{}, time_us, limiter, ctas_per_sm, warps_per_sm,
/// waves} (or {parameters{}, error{}} for one that cannot run), shares[{name, us[2]}], bounds[{name, us[2]}].
[[nodiscard]] std::string comparison_json(const ExplainedTile& first, const ExplainedTile& second,
                                          int indent = 2);

/// Two lines for each of `others`: what makes it slower than the first of a ranking, and its highest bounds.
[[nodiscard]] std::string why_first_text(const ExplainedTile& first, std::span<const ExplainedTile> others);

}  // namespace warptime::workloads::tiles
