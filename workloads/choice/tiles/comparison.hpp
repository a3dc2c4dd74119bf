// Why this tile and not that one: where their times differ, and which bounds moved.
// The time of a prediction is the sum of its shares, so the differences of the shares add up to that of the
// times. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"
#include "hw/gpu.hpp"
#include "model/prediction/engine.hpp"
#include "model/prediction/prediction.hpp"
#include "workloads/choice/tiles/candidate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace warptime::workloads::choice::tiles {

/// A tile with its whole prediction, or the reason why it cannot run.
struct ExplainedTile {
    Candidate candidate;
    std::optional<model::prediction::Prediction> prediction;
    std::optional<Error> refusal;
};

/// As `rank` sees the tile: what does not fit or would spill is refused.
[[nodiscard]] ExplainedTile explain_tile(const Operation& operation, const Candidate& candidate,
                                         const model::prediction::Engine& engine, const hw::Gpu& gpu,
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

}  // namespace warptime::workloads::choice::tiles
