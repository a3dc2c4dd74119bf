// Compares two tiles: where their times differ, and which bounds moved.
// The time of a prediction is the sum of its shares. Differences of the shares therefore add up to the
// difference of the times.
// SPDX-License-Identifier: Apache-2.0
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

/// A tile with its whole prediction, or with the reason for its refusal.
struct ExplainedTile {
    Candidate candidate;
    std::optional<model::prediction::Prediction> prediction;
    std::optional<Error> refusal;
};

/// Explains a tile as `rank` sees it: a tile that does not fit or would spill is refused.
[[nodiscard]] ExplainedTile explain_tile(const Operation& operation, const Candidate& candidate,
                                         const model::prediction::Engine& engine, const hw::Gpu& gpu,
                                         const model::prediction::Conditions& conditions);

/// One cause or bound of two tiles in seconds; 0 where a tile does not have it.
struct Difference {
    std::string name;
    double first = 0.0, second = 0.0;

    [[nodiscard]] double more() const { return second - first; }
};

/// Exposed time by cause, largest difference first. The entries of a tile add up to its time.
[[nodiscard]] std::vector<Difference> share_differences(const model::prediction::Prediction& first,
                                                        const model::prediction::Prediction& second);

/// Every bound of either tile, sorted by the second tile's value, largest first.
[[nodiscard]] std::vector<Difference> bound_differences(const model::prediction::Prediction& first,
                                                        const model::prediction::Prediction& second);

}  // namespace warptime::workloads::choice::tiles
