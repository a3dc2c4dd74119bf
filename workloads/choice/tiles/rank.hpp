// Tiles in the order of their predicted times, and the tiles that cannot run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"
#include "hw/gpu.hpp"
#include "model/prediction/engine.hpp"
#include "workloads/choice/tiles/candidate.hpp"

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace warptime::workloads::choice::tiles {

/// A tile in a ranking. `candidate` is its index in the space. `gap`: time over the best time, less 1.
struct RankedTile {
    std::size_t candidate = 0;
    model::prediction::Estimate estimate;
    double gap = 0.0;
};

/// Fastest tiles first, equal times in the order of the space; `dropped` in the order of the space.
struct Ranking {
    std::vector<RankedTile> tiles;
    std::vector<std::size_t> dropped;
};

/// Predicts the tiles that can run and ranks the `top` fastest, at least one. Drops tiles that do not fit the
/// SM, that their instructions cannot cover, or that would spill registers. An engine may know without a
/// prediction that a tile is slower; such a tile is skipped. Throws Error when no tile is left, with the
/// reason of the first. Throws Error for a problem larger than the GPU's memory.
[[nodiscard]] Ranking rank(const Operation& operation, std::span<const Candidate> space,
                           const model::prediction::Engine& engine, const hw::Gpu& gpu,
                           const model::prediction::Conditions& conditions,
                           std::size_t top = std::numeric_limits<std::size_t>::max());

/// Predicts every tile and keeps the order of the space, with every gap 0. Gives no error when no tile is
/// left.
[[nodiscard]] Ranking predict_each(const Operation& operation, std::span<const Candidate> space,
                                   const model::prediction::Engine& engine, const hw::Gpu& gpu,
                                   const model::prediction::Conditions& conditions);

/// Whether an SM holds a CTA of the tile without spilling registers. Throws Error for a tile that cannot be
/// lowered.
[[nodiscard]] bool fits(const Operation& operation, const Candidate& candidate, const hw::Gpu& gpu);

/// The candidate with all values that the lowering works out. Two equal candidates run one kernel. Throws
/// Error as the lowering does.
[[nodiscard]] Candidate completed(const Operation& operation, const Candidate& candidate, const hw::Gpu& gpu);

/// The reason why `rank` dropped the candidate. Throws Error when the candidate runs after all.
[[nodiscard]] Error why_dropped(const Operation& operation, const Candidate& candidate, const hw::Gpu& gpu);

}  // namespace warptime::workloads::choice::tiles
