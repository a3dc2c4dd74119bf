// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/fold.hpp"

#include <algorithm>

namespace warptime::workloads::choice::tiles {

namespace {

/// Whether two kernels differ only in the order of tiles and the number of stages.
bool differ_little(Candidate a, const Candidate& b) {
    a.config.group = b.config.group;
    a.config.raster = b.config.raster;
    a.config.stages = b.config.stages;
    return a == b;
}

/// Whether all tiles that would join the first `top` folds are ranked.
bool holds_whole_folds(const Ranking& ranking, const FoldedRanking& folded, std::size_t top) {
    return folded.ranking.tiles.size() >= top &&
           ranking.tiles.back().estimate.time >
               folded.ranking.tiles[top - 1].estimate.time * (1.0 + same_time);
}

}  // namespace

FoldedRanking fold(const Ranking& ranking, std::span<const Candidate> space) {
    FoldedRanking folded;
    folded.ranking.dropped = ranking.dropped;
    std::vector<RankedTile>& firsts = folded.ranking.tiles;
    std::size_t near = 0;  // earlier folds are faster than all later tiles
    for (const RankedTile& tile : ranking.tiles) {
        while (near < firsts.size() && tile.estimate.time > firsts[near].estimate.time * (1.0 + same_time)) {
            ++near;
        }
        const auto begin = firsts.begin() + static_cast<std::ptrdiff_t>(near);
        const auto first = std::find_if(begin, firsts.end(), [&](const RankedTile& known) {
            return differ_little(space[known.candidate], space[tile.candidate]);
        });
        if (first == firsts.end()) {
            firsts.push_back(tile);
            folded.alike.emplace_back();
        } else {
            folded.alike[static_cast<std::size_t>(first - firsts.begin())].push_back(tile.candidate);
        }
    }
    return folded;
}

FoldedRanking rank_folded(const Operation& operation, std::span<const Candidate> space,
                          const model::prediction::Engine& engine, const hw::Gpu& gpu,
                          const model::prediction::Conditions& conditions, std::size_t top) {
    // Most folds have only a few tiles. If they have more, the next round ranks more tiles.
    for (std::size_t asked = std::min(top, space.size()) * 4;; asked *= 4) {
        const Ranking ranking = rank(operation, space, engine, gpu, conditions, asked);
        FoldedRanking folded = fold(ranking, space);
        const bool complete = ranking.tiles.size() < asked;
        if (complete || holds_whole_folds(ranking, folded, top)) {
            const std::size_t count = std::min(top, folded.ranking.tiles.size());
            folded.ranking.tiles.resize(count);
            folded.alike.resize(count);
            return folded;
        }
    }
}

}  // namespace warptime::workloads::choice::tiles
