// Time of slots whose CTAs replace each other and wait for plain loads.
// CTAs that begin together on an SM stay in step: they wait together, and then share the SM's busiest unit.
// So the wait is added to what all of them take of that unit. Each round of loads parts them a little. DRAM's
// queue is a part of the wait, and longer turns leave it emptier. Ignores: several units that are about
// equally busy, and CTAs that meet. Source: a ladder of streams of one, two and four rounds with two to
// sixteen CTAs an SM (validate/recorded/h100-sxm/ladders; docs/mechanisms/loops-and-chains.md); the open
// queue of loaded_latency.hpp, closed by the time of the kernel. Key overlap.in_step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// A slot's turn: from one CTA to the next one in the same place. Times in one unit.
struct SlotTurn {
    double together = 0.0;   ///< what all CTAs of an SM take of its busiest unit
    double own = 0.0;        ///< what one of them takes of it
    double elsewhere = 0.0;  ///< rest of the turn with an idle memory
    double exposed = 1.0;    ///< share of `elsewhere` in which no other CTA uses the unit
    double turns = 0.0;      ///< of a slot, one behind the other
    double last = 0.0;       ///< like `together`, in one more turn of a part of the slots; 0 if there is none
    double vacant = 0.0;     ///< part of `elsewhere` between two CTAs, which the last one does not have
};

/// What the waits of a turn depend on.
struct WaitsOfTurn {
    double queue = 0.0;    ///< waits of a turn at half utilisation
    double held = 0.0;     ///< waits of a turn where DRAM does nothing but write
    double memory = 0.0;   ///< time of DRAM for the kernel
    double written = 0.0;  ///< part of it that goes to writes
};

/// Share of a turn's waits in which no warp of the sub-partition computes. `rounds`: of loads, in a turn.
[[nodiscard]] inline double exposed_share(double warps, double rounds, const hw::Gpu& gpu) {
    return gpu.overlap.in_step.value() / (gpu.overlap.in_step.value() + warps * std::max(1.0, rounds));
}

/// The same turn with each time multiplied by `unit`.
[[nodiscard]] inline SlotTurn in_seconds(SlotTurn turn, double unit) {
    for (double* time : {&turn.together, &turn.own, &turn.elsewhere, &turn.last, &turn.vacant}) *time *= unit;
    return turn;
}

/// Time of all turns; no less than that of DRAM.
[[nodiscard]] inline double slots_at_memory(const SlotTurn& turn, const WaitsOfTurn& waits) {
    const auto one = [&](double together, double wait) {
        const double away = turn.elsewhere + wait;
        return std::max(together + turn.exposed * away, turn.own + away);
    };
    const auto time_with = [&](double wait) {
        // Fewer CTAs ask DRAM for less in the last turn.
        const double more = turn.last > 0.0 ? one(turn.last, wait * (turn.last / turn.together)) : 0.0;
        return turn.turns * one(turn.together, wait) + more - turn.vacant;
    };
    const double idle = time_with(0.0);
    if (!(0.0 < waits.memory)) return idle;
    // Longer times leave DRAM emptier, so that turns are shorter: for one time both agree.
    const auto turns_at = [&](double time) {
        const double busy = waits.memory / time;
        return time_with(waits.queue * busy / (1.0 - busy) + waits.held * waits.written / time);
    };
    double low = std::max(waits.memory, idle);
    double high = 2.0 * low + (turn.turns + 1.0) * (waits.queue + waits.held);
    while (turns_at(high) > high) high *= 2.0;
    constexpr double close_enough = 1e-5;
    while (high - low > close_enough * high) {
        const double middle = 0.5 * (low + high);
        (turns_at(middle) < middle ? high : low) = middle;
    }
    return high;
}

}  // namespace warptime::model::machine
