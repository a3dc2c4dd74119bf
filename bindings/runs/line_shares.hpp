// How much of a launch's time each line of its source accounts for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/runs/launch_records.hpp"
#include "model/prediction/prediction.hpp"

#include <span>
#include <vector>

namespace warptime::runs {

/// One share for each line; they sum to 1, or are 0 where nothing is known. Each bound of the launch (the
/// time if one resource alone held it) is divided among the lines by what they ask of that resource:
/// arithmetic and issue by instructions, shared memory by passes over its banks, caches and DRAM by sectors,
/// waiting by requests. Ignores: that resources overlap, and which loads hit. Launch and tail belong to no
/// line.
[[nodiscard]] std::vector<double> line_shares(std::span<const LineRecord> lines,
                                              std::span<const model::prediction::Bound> bounds);

}  // namespace warptime::runs
