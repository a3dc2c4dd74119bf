// A ranking without its near-duplicates: tiles that only differ in what makes no difference to this problem.
// Ignores: what the compiler makes of the difference, which no prediction sees.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/choice/tiles/rank.hpp"

#include <vector>

namespace warptime::workloads::choice::tiles {

/// Times closer than this are one time: no measurement tells them apart.
inline constexpr double same_time = 2e-3;

struct FoldedRanking {
    Ranking ranking;  ///< its tiles are the fastest of each fold
    /// For each tile the candidates that were folded into it, fastest first.
    std::vector<std::vector<std::size_t>> alike;
};

/// Folds each tile into the first before it that has the same time, within `same_time`, and differs from it
/// in the order of tiles (group_m, raster) or in stages only.
[[nodiscard]] FoldedRanking fold(const Ranking& ranking, std::span<const Candidate> space);

/// The `top` fastest folds, as `rank` has them.
[[nodiscard]] FoldedRanking rank_folded(const Operation& operation, std::span<const Candidate> space,
                                        const model::prediction::Engine& engine, const hw::Gpu& gpu,
                                        const model::prediction::Conditions& conditions,
                                        std::size_t top = std::numeric_limits<std::size_t>::max());

}  // namespace warptime::workloads::choice::tiles
