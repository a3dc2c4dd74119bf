// Run of one kernel event by event: CTAs handed to SMs, and their warps in program order against the units of
// the chip.
// Ignores: interleaving below one op, and signals between CTAs. The `count`
// instructions of an op hold the issue slot and its pipe together. Each CTA of a cluster acts as its
// neighbours do. Source: model/kernel/README.md, Meaning 1 to 6.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/occupancy/occupancy.hpp"
#include "model/prediction/conditions.hpp"
#include "model/simulation/chip.hpp"
#include "model/simulation/cut.hpp"
#include "model/simulation/memory_path.hpp"
#include "model/simulation/trace.hpp"

#include <cstdint>
#include <vector>

namespace warptime::model::simulation {

/// Times and counts are those of the whole kernel, also where a part of it is run.
struct Run {
    machine::Occupancy occupancy;
    std::int64_t sms = 0;  ///< SMs that may get CTAs
    std::int64_t ctas = 0;
    Cut cut;
    Ticks end = 0;         ///< last op and store of the last CTA, and their requests to L2 and DRAM
    Ticks first_idle = 0;  ///< time when the first working SM has ended its last CTA
    std::uint64_t events = 0;
    double instructions = 0.0;  ///< machine warp-instructions
    double flop = 0.0, tensor_flop = 0.0;
    double warp_cycles = 0.0;  ///< sum over the CTAs of their warps times their stay
    Traffic traffic;
    std::vector<Busy> busy;
    bool uses_tensor = false, uses_bulk = false, loads = false;
    double tensor_rate = 0.0;  ///< FLOP per cycle and SM
};

/// A run of more than `most_whole` events is cut. `trace` may be null; its times are those of the part that
/// is run. Throws Error when the kernel cannot be launched, or is beyond simulation. Also throws when its
/// warps wait without end, naming their roles and tokens, and the cycle in which everything stopped.
[[nodiscard]] Run run(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                      const prediction::Conditions& conditions, double clock_hz, Trace* trace = nullptr,
                      double most_whole = most_whole_events);

}  // namespace warptime::model::simulation
