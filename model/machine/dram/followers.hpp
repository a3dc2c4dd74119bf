// Wait of those who ask for a line that another CTA of their wave, or another warp of their CTA, has asked
// for first. In a loop, whoever falls behind finds its lines in the L2, waits less and catches up; so all go
// at the pace of the one that waits for DRAM, and what parts them is how much rounds differ. Ignores: which
// CTA leads, and lines that come in with a neighbour. Source: expected minimum of N normal variables
// (round_spread.hpp); rows: docs/mechanisms/loops-and-chains.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/dram/round_spread.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Standard deviation of a round of which the share `own` of the loads comes from DRAM for its CTA alone.
[[nodiscard]] inline hw::Cycles spread_of_round(double own, const hw::Gpu& gpu) {
    return gpu.l2.round_spread + (gpu.dram.round_spread - gpu.l2.round_spread) * std::clamp(own, 0.0, 1.0);
}

/// Share of the time from `near` to `far` for which a follower waits, where `sharers` of them ask for the
/// line and their rounds differ by `spread`.
[[nodiscard]] inline double wait_of_followers(double sharers, const hw::Cycles& spread,
                                              const hw::Cycles& near, const hw::Cycles& far) {
    if (!(near < far)) return 0.0;
    const double behind = spread.value() * largest_of_normal(sharers);
    return std::clamp(1.0 - behind / (far - near).value(), 0.0, 1.0);
}

}  // namespace warptime::model::machine
