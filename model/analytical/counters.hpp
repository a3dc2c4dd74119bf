// The counters that Nsight Compute would show for an analysed kernel, under its names and in its units.
// Source: Nsight Compute metrics reference. Sectors homed in the other L2 partition pass two slices and count
// twice; recorded: about 1.5 times the requested sectors on a two-partition L2. Requests of an SM and
// of the front end at a kernel's start count in the sum of sectors alone (keys l2.start_bytes,
// l2.kernel_bytes), and so do those beside the kernel's own (key l2.beside). An atomic counts one sector for
// each of its passes. Lanes of a warp that add to one word take 32 passes (microbench_atomics).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/analysed_kernel.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"

#include <string>
#include <utility>
#include <vector>

namespace warptime::model::analytical {

/// `kernel` and `conditions` are those of analysis `a`.
[[nodiscard]] std::vector<std::pair<std::string, double>> counters_of(
    const kernel::Kernel& kernel, const Analysis& a, const hw::Gpu& gpu,
    const prediction::Conditions& conditions);

}  // namespace warptime::model::analytical
