// L2 slices that a burst fills unevenly: lines fall on slices at random, and the fullest slice delivers last.
// Ignores: loops, whose slow slices catch up while others wait, and DRAM channels.
// Source: expected maximum of many nearly normal counts of lines (round_spread.hpp); microbench_cold_load
// over a warm L2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/dram/round_spread.hpp"

#include <cmath>

namespace warptime::model::machine {

/// Extra work of the fullest slice over an average slice, when `bytes` are asked for at once. Given as bytes
/// of all slices.
[[nodiscard]] inline hw::Bytes beyond_even(const hw::Bytes& bytes, const hw::Gpu& gpu) {
    if (!(0.0 < bytes.value())) return {};
    const double slices = gpu.l2.slices.value() * gpu.sm.count.value();
    const double lines = bytes.value() / gpu.l1.line.value() / slices;
    return bytes * (largest_of_normal(slices) / std::sqrt(lines));
}

}  // namespace warptime::model::machine
