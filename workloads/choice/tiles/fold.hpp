// A ranking without near-duplicates, which are tiles whose difference has no effect on this problem.
// Ignores: effects of the difference on the compiler, which no prediction sees.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/choice/tiles/rank.hpp"

#include <vector>

namespace warptime::workloads::choice::tiles {

/// Relative distance below which two times are equal: no measurement tells them apart.
inline constexpr double same_time = 2e-3;

struct FoldedRanking {
    Ranking ranking;  ///< its tiles are the fastest of each fold
    /// For each tile the candidates that were folded into it, fastest first.
    std::vector<std::vector<std::size_t>> alike;
};

/// Folds each tile into the first earlier tile with the same time within `same_time`. The two may differ only
/// in the order of tiles (group_m, raster) and the number of stages.
[[nodiscard]] FoldedRanking fold(const Ranking& ranking, std::span<const Candidate> space);

/// The `top` fastest folds of the ranking by `rank`.
[[nodiscard]] FoldedRanking rank_folded(const Operation& operation, std::span<const Candidate> space,
                                        const model::prediction::Engine& engine, const hw::Gpu& gpu,
                                        const model::prediction::Conditions& conditions,
                                        std::size_t top = std::numeric_limits<std::size_t>::max());

}  // namespace warptime::workloads::choice::tiles
