// Waits for DRAM of CTAs that replace each other and do not loop.
// A CTA's slot is free when the last of its warps has its loads, and each wait is longer behind a busy DRAM.
// Ignores: writes that hold loads up, and CTAs of one SM that wait together.
// Source: expected maximum of exponential waits (Renyi 1953, loaded_latency.hpp); the open queue of
// loaded_latency.hpp, as for loops of loads; tile_turns, development rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/fill_and_drain.hpp"
#include "model/analytical/item.hpp"

#include <algorithm>

namespace warptime::model::analytical {

struct WaitsOfCtas {
    hw::Cycles last{};   ///< delay of a slot by the last warps of its CTAs
    double waits = 0.0;  ///< of a slot, for loads that come from DRAM
};

/// `waves`: CTAs of a slot, one after another; more than one. `dram_read`: share of the received bytes.
[[nodiscard]] inline WaitsOfCtas waits_of_ctas(const ItemDemand& item, double waves, double dram_read,
                                               const hw::Gpu& gpu) {
    const double turns = item.total([](const machine::Part& p) { return p.load_rounds; });
    const double received = item.total([](const machine::Part& p) { return p.received_bytes; });
    if (item.asynchronous || !(0.0 < turns) || !(0.0 < received)) return {};
    const double missed = std::min(1.0, dram_read);
    const double at_once = received / std::max(1.0, turns);
    const hw::Cycles of_cta = last_piece(at_once, gpu.latency.dram, gpu);
    const hw::Cycles of_warp = last_piece(at_once / std::max(1, item.warps), gpu.latency.dram, gpu);
    // Warps that meet wait for each other in each turn, others at the end of their CTA.
    const double met =
        item.total([](const machine::Part& p) { return p.demand[machine::Server::barrier].value(); });
    const double together = 0.0 < met ? turns : std::min(1.0, turns);
    return {(of_cta - of_warp) * (together * missed * waves), waves * missed * turns};
}

}  // namespace warptime::model::analytical
