// How many items of persistent CTAs, which go through a grid of tiles wave by wave, read a slice in the very
// wave that reads it first: their copies wait for DRAM, whatever others find. Ignores: slices that the L2
// loses again. Source: counting the items of the grid's order, with which its test compares it; two stages by
// 132 CTAs over operands that a flush has left in DRAM (triton_persistent, 2304 x 2304 x 2304: 0.7 of all
// trips, where the slices of a wave, each counted once, say 0.5). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/occupancy/tile_order.hpp"

#include <algorithm>

namespace warptime::model::memory {

/// Share of the items behind the first wave, of one plane whose operands depend on one coordinate each. The
/// first band of the order reads columns for the first time throughout; later ones their rows, from where
/// they begin to the end of that wave.
[[nodiscard]] inline double fresh_behind_first_wave(const occupancy::TileOrder& order, std::int64_t wave) {
    const std::int64_t items = order.items();
    if (wave >= items) return 0.0;
    const std::int64_t rows = order.band();
    const std::int64_t band = rows * order.major();
    std::int64_t fresh = std::max<std::int64_t>(0, std::min(band, items) - wave);
    for (std::int64_t begin = band; begin < items; begin += band) {
        const std::int64_t length = std::min(band, items - begin);
        const std::int64_t in_wave = std::min(length, wave - begin % wave);
        if (begin >= wave) fresh += in_wave;
        // Rows that it does not come to before the wave ends are read first in the next one.
        const std::int64_t height = length / order.major();
        if (in_wave < height) fresh += std::min(length - in_wave, wave) * (height - in_wave) / height;
    }
    return static_cast<double>(fresh) / static_cast<double>(items - wave);
}

}  // namespace warptime::model::memory
