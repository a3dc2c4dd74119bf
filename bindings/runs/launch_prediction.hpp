// The times of what a program launched and copied.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/runs/launch_records.hpp"
#include "hw/gpu.hpp"
#include "model/prediction/engine.hpp"

#include <optional>
#include <string>
#include <vector>

namespace warptime::runs {

/// A launch, copy or memset: its time, or why it has none.
struct LaunchPrediction {
    std::optional<model::prediction::Estimate> estimate;
    std::string error;
    std::vector<double> line_shares;  ///< of the record's lines, where it has any
};

/// One prediction for every record, in order; messages have neither time nor error. Launches with equal
/// descriptions are predicted once.
[[nodiscard]] std::vector<LaunchPrediction> predict_launches(const std::vector<LaunchRecord>& records,
                                                             const model::prediction::Engine& engine,
                                                             const hw::Gpu& gpu,
                                                             const model::prediction::Conditions& conditions);

}  // namespace warptime::runs
