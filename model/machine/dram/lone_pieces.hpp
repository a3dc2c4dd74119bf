// Pieces that lie alone: reads at places without an order that want one of DRAM's pieces of a line, not its
// neighbours. DRAM gives them at dram.scattered_efficiency of its rate (dram_seconds).
// Ignores: neighbours that other warps ask for at about the same time.
// Source: gathers of all SMs in 16 kB from DRAM (microbench_coalescing), kernels/gather_ladder over 128 MB.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace warptime::model::machine {

/// Share of the pieces that lie alone where a visit to a line of `line` bytes brings `part` of them, in
/// pieces of `piece` bytes: all where it brings one piece, none where it brings the line.
[[nodiscard]] constexpr double lone_share(double part, double piece, double line) {
    return piece < line ? std::clamp((line - part) / (line - piece), 0.0, 1.0) : 0.0;
}

}  // namespace warptime::model::machine
