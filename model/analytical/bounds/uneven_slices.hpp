// L2 slices that a burst fills unevenly: lines fall on slices as if by chance, and the last of them comes
// from the fullest. Ignores: loops, where slices that have been behind catch up while others wait, and the
// channels of DRAM. Source: the expected maximum of many nearly normal numbers of lines (round_spread.hpp),
// slices from l2.slices; microbench_cold_load, warm: 264 copies of 4 kB take 200 cycles beyond the latency of
// one where evenly filled slices would take 160 (128 to 176 lines a slice in the rows of 1 to 2 MB).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/analytical/round_spread.hpp"

namespace warptime::model::analytical {

/// What the fullest slice has to give beyond an average one when `bytes` are asked for at once, as bytes of
/// all slices.
template <class S>
[[nodiscard]] hw::Bytes<S> beyond_even(const hw::Bytes<S>& bytes, const hw::Gpu<S>& gpu) {
    if (!(S(0.0) < bytes.value())) return {};
    const S slices = gpu.l2.slices.value() * gpu.sm.count.value();
    const S lines = bytes.value() / gpu.l1.line.value() / slices;
    return bytes * (S(largest_of_normal(hw::value_of(slices))) / hw::sqrt(lines));
}

}  // namespace warptime::model::analytical
