// What limits a kernel: the longest of its times, or within an SM's own time the longest exposure.
// Ignores: causes that are nearly as long.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/analysed_kernel.hpp"
#include "model/machine/demand/server.hpp"
#include "model/prediction/limiter.hpp"

#include <algorithm>

namespace warptime::model::analytical {

/// Limiter of the main loop on the busiest SM: the busiest server, or the wait of one CTA.
inline prediction::Limiter limiter_of_loop(const Analysis& a) {
    const machine::Server busiest = a.item.loop.demand.busiest();
    const double load = a.item.loop.demand[busiest].value() * static_cast<double>(a.resident());
    if (load < a.loop_chain.value()) {
        return a.item.asynchronous ? prediction::Limiter::bytes_in_flight
                                   : prediction::Limiter::chain_latency;
    }
    return limiter_of(busiest);
}

/// The cause with the longest time; within the SM's own time, the longest exposure.
inline prediction::Limiter name_limiter(const Analysis& a) {
    using prediction::Limiter;
    const double sm = a.sm_time.value();
    const double dram = a.dram_time.value();
    const double l2 = a.l2_time.value();
    const double launch = std::max(a.floor.value(), a.launch_time.value());
    const double atomic = a.atomic_time.value();
    if (sm < atomic && dram < atomic && l2 < atomic && launch < atomic) {
        return Limiter::atomic;
    }
    if (sm < launch && dram < launch && l2 < launch) {
        return Limiter::launch;
    }
    if (sm < dram && l2 < dram) {
        return Limiter::dram;
    }
    if (sm < l2) {
        return Limiter::l2;
    }
    const Exposure& e = a.exposure;
    if (e.main_loop < e.tail && e.prologue < e.tail && e.epilogue < e.tail) {
        return Limiter::tail;
    }
    if (e.prologue < e.main_loop && e.epilogue < e.main_loop) {
        return limiter_of_loop(a);
    }
    if (e.prologue < e.epilogue) {
        return limiter_of(a.item.after.demand.busiest());
    }
    return Limiter::chain_latency;
}

}  // namespace warptime::model::analytical
