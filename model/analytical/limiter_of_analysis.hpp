// What limits a kernel: the server, or the wait, that saves most time at twice its speed.
// Parts of the time that overlap say how much of the time each saves (Analysis::saved). Within the SMs' own
// time, the causes of a part share what the part saves.
// Ignores: what the clock gains or loses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/analysed_kernel.hpp"
#include "model/machine/demand/server.hpp"
#include "model/prediction/limiter.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace warptime::model::analytical {

/// What the latency of an item's loop is called: copies that run ahead are too few, other loads wait.
inline prediction::Limiter latency_of(const Analysis& a) {
    return a.item.asynchronous ? prediction::Limiter::bytes_in_flight : prediction::Limiter::chain_latency;
}

/// Limiter of the main loop on the busiest SM: the busiest server, or the wait of one CTA.
inline prediction::Limiter limiter_of_loop(const Analysis& a) {
    const machine::Server busiest = a.item.loop.demand.busiest();
    const double load = a.item.loop.demand[busiest].value() * static_cast<double>(a.resident());
    return load < a.loop_chain.value() ? latency_of(a) : limiter_of(busiest);
}

/// By limiter, the seconds that it would save at twice its speed.
using SavedBy = std::array<double, prediction::limiter_count>;

/// Shares `saved`, which a part of an item would save, among the part's causes. Of the longest cause and
/// those nearly as long each counts with the fourth power of its time, so that half as long is as good as
/// nothing.
inline void share_among_causes(const machine::Part& part, const hw::Cycles& chain,
                               prediction::Limiter latency, std::int64_t resident, double saved,
                               SavedBy& by) {
    const auto fourth = [](double time) { return time * time * time * time; };
    std::array<double, machine::server_count> powers{};
    const double waits = fourth(chain.value() / static_cast<double>(resident));
    double sum = waits;
    for (std::size_t i = 0; i < machine::server_count; ++i) {
        powers[i] = fourth(part.demand.cycles[i].value());
        sum += powers[i];
    }
    if (!(0.0 < sum)) return;
    const double each = saved / sum;
    by[static_cast<std::size_t>(latency)] += each * waits;
    for (std::size_t i = 0; i < machine::server_count; ++i) {
        by[static_cast<std::size_t>(limiter_of(static_cast<machine::Server>(i)))] += each * powers[i];
    }
}

[[nodiscard]] inline SavedBy saved_by(const Analysis& a) {
    using prediction::Limiter;
    SavedBy by{};
    const auto of = [&by](Limiter limiter) -> double& { return by[static_cast<std::size_t>(limiter)]; };
    of(Limiter::launch) = a.saved.launch.value();
    of(Limiter::dram) = a.saved.dram.value();
    of(Limiter::l2) = a.saved.l2.value();
    of(Limiter::atomic) = a.saved.atomics.value();
    of(Limiter::chain_latency) = a.saved.latency.value();
    const Exposure& e = a.exposure;
    const double whole = e.makespan().value();
    if (!(0.0 < whole)) return by;
    const double saved = a.saved.sms.value() / whole;
    const std::int64_t resident = a.resident();
    const auto share = [&](const machine::Part& part, const hw::Cycles& chain, Limiter latency,
                           const hw::Cycles& time) {
        // A part of less than an eighth decides nothing.
        if (time.value() * 8.0 < whole) return;
        share_among_causes(part, chain, latency, resident, saved * time.value(), by);
    };
    share(a.item.before, a.item.before.chain, Limiter::chain_latency, e.prologue);
    share(a.item.loop, a.loop_chain, latency_of(a), e.main_loop);
    share(a.item.after, a.item.after.chain, Limiter::chain_latency, e.epilogue);
    of(Limiter::tail) += saved * e.tail.value();
    return by;
}

/// The limiter that saves most.
inline prediction::Limiter name_limiter(const Analysis& a) {
    const SavedBy by = saved_by(a);
    const auto most = std::max_element(by.begin(), by.end()) - by.begin();
    return 0.0 < by[static_cast<std::size_t>(most)] ? static_cast<prediction::Limiter>(most)
                                                    : prediction::Limiter::launch;
}

}  // namespace warptime::model::analytical
