// Time of an exchange between GPUs: start, hops, bytes over the slowest kind of link, and the pipeline's
// fill. Ignores: other traffic on the same links, SMs that the exchange takes from kernels beside it, and
// clocks. Source: latency and bandwidth of Hockney 1994 for each hop. A message of W bytes that is cut into
// pieces, each of which costs c on each of h hops, takes W / B + 2 sqrt(c h W / B) + c h with the best pieces
// (van de Geijn 1994, pipelined broadcast); `fill_seconds` is 4 c h, and c h itself belongs to the start.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/limiter.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

struct ExchangeTime {
    hw::Seconds start{};
    hw::Seconds hops{};
    hw::Seconds link{};     ///< bytes over the slower kind of link
    hw::Seconds handled{};  ///< bytes through the GPU's own channels
    hw::Seconds fill{};     ///< of the pipeline
    [[nodiscard]] hw::Seconds total() const { return start + hops + link + handled + fill; }
};

[[nodiscard]] inline ExchangeTime exchange_time(const kernel::Exchange& exchange) {
    ExchangeTime t;
    t.start = hw::Seconds(exchange.start_seconds);
    for (const kernel::ExchangeLink& link : exchange.links) {
        t.hops += hw::Seconds(link.hops * link.hop_seconds);
        if (link.bytes > 0.0) t.link = std::max(t.link, hw::Seconds(link.bytes / link.bytes_per_second));
    }
    t.handled = hw::Seconds(exchange.handled_bytes / exchange.handled_per_second);
    t.fill = hw::Seconds(std::sqrt(exchange.fill_seconds * t.link.value()));
    return t;
}

/// Bytes in flight where data take longest, the chain of hops where these do, else the start.
[[nodiscard]] inline prediction::Limiter limiter_of(const ExchangeTime& t) {
    const hw::Seconds data = t.link + t.handled + t.fill;
    if (data >= t.start && data >= t.hops) return prediction::Limiter::bytes_in_flight;
    return t.hops > t.start ? prediction::Limiter::chain_latency : prediction::Limiter::launch;
}

}  // namespace warptime::model::machine
