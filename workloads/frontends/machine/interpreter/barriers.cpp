// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/barriers.hpp"

#include "workloads/frontends/machine/interpreter/lanes.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace warptime::workloads::frontends::machine {

namespace {

void end_phase(NamedBarrier& barrier) {
    ++barrier.generation;
    barrier.result_all = barrier.all;
    barrier.result_any = barrier.any;
    barrier.result_count = barrier.counted;
    barrier.all = true;
    barrier.any = false;
    barrier.counted = 0;
    barrier.arrived = 0;
    barrier.expected = 0;
}

bool complete(const Cta& cta, const NamedBarrier& barrier) {
    return barrier.arrived > 0 &&
           barrier.arrived >= (barrier.expected > 0 ? barrier.expected : cta.live_threads);
}

/// Behind a barrier a warp has waited for whatever the others have waited for.
void meet(Warp& warp) {
    const Cta& cta = *warp.cta;
    if (warp.depth < cta.depth) {
        warp.depth = cta.depth;
        warp.waited_by = cta.waited_by;
    }
    warp.waits = std::max(warp.waits, cta.waits);
}

/// sources[0] is the barrier, sources[1] the number of threads (0: all), predicates_in[0] what is reduced.
template <bool waits, bool reduces>
Flow barrier_handler(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    const auto first = static_cast<std::size_t>(std::countr_zero(enabled));
    const std::uint32_t number = warp.rows[instruction.sources[0].row].lane[first];
    if (number >= named_barriers) {
        fault(warp, instruction, static_cast<int>(first), fmt::format("barrier {}, of 0 to 15", number));
    }
    Cta& cta = *warp.cta;
    if (cta.depth <= warp.depth) {
        cta.depth = warp.depth;
        if (warp.waits > 0) cta.waited_by = warp.waited_by;
    }
    cta.waits = std::max(cta.waits, warp.waits);
    NamedBarrier& barrier = warp.cta->barriers[number];
    Mask& pending = warp.barrier_pending[number];
    if (waits && (pending & enabled) != 0) {
        if (barrier.generation == warp.barrier_generation[number].lane[first]) {
            return Flow::waiting;
        }
        pending &= ~enabled;
        meet(warp);
        return Flow::next;
    }
    const std::uint32_t threads = warp.rows[instruction.sources[1].row].lane[first];
    barrier.expected = static_cast<std::int32_t>(threads);
    // A given number of threads counts whole warps, those without all their threads too.
    const bool whole = enabled == warp.alive && threads != 0;
    barrier.arrived += whole ? lanes_per_warp : std::popcount(enabled);
    if constexpr (reduces) {
        const Mask holds = read_predicate(warp, instruction.predicates_in[0]) & enabled;
        barrier.all = barrier.all && holds == enabled;
        barrier.any = barrier.any || holds != 0;
        barrier.counted += std::popcount(holds);
        warp.last_barrier = static_cast<std::uint8_t>(number);
        warp.last_reduction = static_cast<BarrierReduction>(instruction.variant);
    }
    if (complete(*warp.cta, barrier)) {
        end_phase(barrier);
        meet(warp);
        return Flow::next;
    }
    if constexpr (waits) {
        pending |= enabled;
        write_lanes(warp.barrier_generation[number], enabled, [&barrier](int) { return barrier.generation; });
        return Flow::waiting;
    }
    return Flow::next;
}

Flow barrier_result(Warp& warp, const Instruction& instruction, Mask enabled) {
    const NamedBarrier& barrier = warp.cta->barriers[warp.last_barrier];
    write_lanes(warp.rows[instruction.destination], enabled,
                [&barrier](int) { return static_cast<std::uint32_t>(barrier.result_count); });
    const bool result =
        warp.last_reduction == BarrierReduction::all ? barrier.result_all : barrier.result_any;
    write_predicate(warp, instruction.predicates_out[0], enabled, result ? all_lanes : 0U);
    return Flow::next;
}

}  // namespace

void threads_left(Cta& cta, int threads) {
    cta.live_threads -= threads;
    for (NamedBarrier& barrier : cta.barriers) {
        if (barrier.expected == 0 && complete(cta, barrier)) {
            end_phase(barrier);
        }
    }
}

void decode_barrier(Decoder& decoder, Instruction& instruction) {
    const bool reduces = decoder.has("RED");
    instruction.sources[0] = decoder.source(0);
    instruction.sources[1].row = decoder.constant_row(0);
    std::size_t next = 1;
    if (next < decoder.operands() && !decoder.is(next, OperandKind::predicate)) {
        instruction.sources[1] = decoder.source(next++);
    }
    if (reduces) {
        instruction.predicates_in[0] = decoder.predicate_in(next++);
    }
    if (decoder.has("SYNC") || decoder.has("SYNCALL")) {
        instruction.execute = barrier_handler<true, false>;
    } else if (decoder.has("ARV")) {
        instruction.execute = barrier_handler<false, false>;
    } else if (reduces) {
        const BarrierReduction reduction = decoder.has("AND")  ? BarrierReduction::all
                                           : decoder.has("OR") ? BarrierReduction::any
                                                               : BarrierReduction::count;
        instruction.variant = static_cast<std::uint32_t>(reduction);
        instruction.execute = barrier_handler<true, true>;
    } else {
        decoder.refuse("a barrier of another kind");
    }
}

void decode_barrier_result(Decoder& decoder, Instruction& instruction) {
    if (!decoder.has("RESULT")) {
        decoder.refuse("another form of B2R");
    }
    instruction.destination = decoder.destination(0);
    if (decoder.operands() > 1) {
        instruction.predicates_out[0] = decoder.predicate_out(1);
    }
    instruction.execute = barrier_result;
}

}  // namespace warptime::workloads::frontends::machine
