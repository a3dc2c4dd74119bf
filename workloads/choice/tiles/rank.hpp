// Tiles in the order of their predicted times, and those that cannot run.
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

/// `candidate` is its index in the space. `gap`: time over the best time, less 1.
struct RankedTile {
    std::size_t candidate = 0;
    model::prediction::Estimate estimate;
    double gap = 0.0;
};

/// Fastest first, equal times in the order of the space; `dropped` in the order of the space.
struct Ranking {
    std::vector<RankedTile> tiles;
    std::vector<std::size_t> dropped;
};

/// Drops what does not fit the SM, what its instructions cannot cover and what would spill registers, and
/// predicts the rest. Throws Error when nothing is left, with the reason of the first, and for a problem
/// larger than the GPU's memory. Of those that run, the `top` fastest, at least one, are ranked: an engine
/// that can tell without predicting them that others are slower passes over these.
[[nodiscard]] Ranking rank(const Operation& operation, std::span<const Candidate> space,
                           const model::prediction::Engine& engine, const hw::Gpu& gpu,
                           const model::prediction::Conditions& conditions,
                           std::size_t top = std::numeric_limits<std::size_t>::max());

/// All of them in the order of the space, every gap 0, and without an error when nothing is left.
[[nodiscard]] Ranking predict_each(const Operation& operation, std::span<const Candidate> space,
                                   const model::prediction::Engine& engine, const hw::Gpu& gpu,
                                   const model::prediction::Conditions& conditions);

/// Whether an SM holds a CTA of it without spilling registers. Throws Error for what cannot be lowered.
[[nodiscard]] bool fits(const Operation& operation, const Candidate& candidate, const hw::Gpu& gpu);

/// The candidate with all that the lowering works out: two that are equal run one kernel. Throws Error as the
/// lowering does.
[[nodiscard]] Candidate completed(const Operation& operation, const Candidate& candidate, const hw::Gpu& gpu);

/// Why `rank` dropped the candidate. Throws Error when it runs after all.
[[nodiscard]] Error why_dropped(const Operation& operation, const Candidate& candidate, const hw::Gpu& gpu);

}  // namespace warptime::workloads::choice::tiles
