// Time of a loop of plain loads whose warps wait for L2 and DRAM while other warps use them.
// Busy memories make loads wait longer, and waiting warps ask for nothing, which bounds the load on the
// memories.
// Ignores: asynchronous copies, which run ahead, and order within a slice.
// Source: microbench_bandwidth_in_flight. Chain and L2 transfer combine like other overlapping times. Ports
// and slices have deep queues between them, so a loop that its port paces sees the slower one. DRAM holds
// reads up while it writes (key dram.write_wait).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/dram/loaded_latency.hpp"
#include "model/machine/dram/round_spread.hpp"
#include "model/steady/overlap.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace warptime::model::machine {

/// Times of a whole kernel in seconds; 0 where a memory does not bind.
struct MemoryOfLoop {
    double chain = 0.0;   ///< share of a trip for its dependences; 1 and more where nothing else binds
    double rounds = 0.0;  ///< times that a slot waits for plain loads issued together
    double l2 = 0.0, dram = 0.0;
    double written = 0.0;    ///< part of `dram` for writes
    double last = 0.0;       ///< delay of the last warp over a busy memory (round_spread.hpp)
    double from_dram = 0.0;  ///< time of DRAM where `last` comes from its queues; otherwise 0
};

/// Time of a loop that takes `alone` seconds on idle memories.
[[nodiscard]] inline double loop_at_memory(double alone, const MemoryOfLoop& memory,
                                           const hw::Frequency& clock, const hw::Gpu& gpu) {
    double time =
        held_by_writes(alone, memory.rounds * (gpu.dram.write_wait / clock).value(), memory.written);
    if (0.0 < memory.l2) {
        const std::array<double, 2> overlap{time * std::min(1.0, memory.chain), memory.l2};
        time = std::max(time,
                        steady::overlapped(std::span<const double>(overlap), gpu.overlap.exponent.value()));
    }
    double late = memory.last;
    if (0.0 < late && 0.0 < memory.from_dram) {
        const double waits = memory.rounds * (gpu.dram.queue / clock).value();
        const double busy = memory.from_dram / queued(time, memory.from_dram, waits);
        // With an idle DRAM all rounds take the same time.
        late *= std::min(1.0, spread_of_queue(busy, gpu).value() / gpu.dram.round_spread.value());
    }
    time = time + late;
    if (0.0 < memory.dram) {
        time = queued(time, memory.dram, memory.rounds * (gpu.dram.queue / clock).value());
    }
    return time;
}

}  // namespace warptime::model::machine
