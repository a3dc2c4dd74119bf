// A loop of plain loads whose warps wait for L2 and DRAM while others use them: loads wait longer the busier
// these are, and while warps wait they ask for nothing, which keeps them from being busier.
// Ignores: asynchronous copies, which run ahead, and what waits in a slice behind what. Source: sizes and
// numbers of loads in microbench_bandwidth_in_flight. From the L2, chain and transfer combine as other times
// that overlap (9 to 31 B/cycle of an SM within 3 %); ports and slices have deep queues between them, so that
// a loop that its port paces sees the slower of the two. DRAM holds reads up while it writes: loops that copy
// wait 60, 160 and 260 cycles longer than loops that read where 4, 14 and 24 % of the time goes to writes
// (key dram.write_wait). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/analytical/loaded_latency.hpp"
#include "model/analytical/overlap.hpp"

#include <array>
#include <span>

namespace warptime::model::analytical {

/// Of a whole kernel; times in seconds, 0 where a memory does not bind.
template <class S>
struct MemoryOfLoop {
    S chain{};   ///< share of a trip that its dependences take; 1 and more where nothing else binds
    S rounds{};  ///< times that a slot waits for plain loads that went out together
    S l2{}, dram{};
    S written{};  ///< of `dram`, what goes to writes
    S last{};     ///< what the last of all warps takes longer (round_spread.hpp)
};

/// The time of a loop that takes `alone` seconds on idle memories.
template <class S>
[[nodiscard]] S loop_at_memory(const S& alone, const MemoryOfLoop<S>& memory, const hw::Frequency<S>& clock,
                               const hw::Gpu<S>& gpu) {
    S time = held_by_writes(alone, memory.rounds * (gpu.dram.write_wait / clock).value(), memory.written);
    if (S(0.0) < memory.l2) {
        const std::array<S, 2> overlap{time * hw::min(S(1.0), memory.chain), memory.l2};
        time = hw::max(time, overlapped(std::span<const S>(overlap), gpu.overlap.exponent.value()));
    }
    time = time + memory.last;
    if (S(0.0) < memory.dram) {
        time = queued(time, memory.dram, memory.rounds * (gpu.dram.queue / clock).value());
    }
    return time;
}

}  // namespace warptime::model::analytical
