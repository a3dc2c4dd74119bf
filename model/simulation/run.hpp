// Runs one kernel event by event: CTAs handed to SMs, their warps in program order against the units of the
// chip. Ignores: interleaving below one op (the `count` instructions of an op hold the issue slot and its
// pipe together), limits of requests in flight, arrivals and flags between CTAs (each CTA of a cluster does
// as its neighbours do) and one pipeline step's floor (pipeline.step_floor). Source:
// model/kernel/README.md, Meaning 1 to 6. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/occupancy/occupancy.hpp"
#include "model/prediction/conditions.hpp"
#include "model/simulation/chip.hpp"
#include "model/simulation/memory_path.hpp"

#include <cstdint>
#include <vector>

namespace warptime::model::simulation {

/// One execution of an op, in the order in which they issued.
struct TraceRow {
    Ticks start = 0, done = 0;
    std::int32_t sm = 0, cta = 0, warp = 0;
    kernel::Id op = kernel::no_id;
    friend bool operator==(const TraceRow&, const TraceRow&) = default;
};

struct Run {
    occupancy::Occupancy occupancy;
    std::int64_t sms = 0;  ///< that CTAs may be handed to
    std::int64_t ctas = 0;
    Ticks end = 0;         ///< last op and store of the last CTA, and what they asked of L2 and DRAM
    Ticks first_idle = 0;  ///< when the first of the SMs at work has done its last CTA
    std::uint64_t events = 0;
    double instructions = 0.0;  ///< machine warp-instructions
    double flop = 0.0, tensor_flop = 0.0;
    double warp_cycles = 0.0;  ///< sum over the CTAs of their warps times their stay
    Traffic traffic;
    std::vector<Busy> busy;
    bool uses_tensor = false, uses_bulk = false, loads = false;
    double tensor_rate = 0.0;  ///< FLOP per cycle and SM
};

/// `trace` may be null. Throws Error when the kernel cannot be launched, when its warps wait for one another
/// for ever (naming the tokens), or when it is beyond simulation.
[[nodiscard]] Run run(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu,
                      const prediction::Conditions& conditions, double clock_hz,
                      std::vector<TraceRow>* trace = nullptr);

}  // namespace warptime::model::simulation
