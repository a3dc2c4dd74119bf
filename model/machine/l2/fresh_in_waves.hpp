// Share of a persistent kernel's tiles that read an operand's slice which no earlier wave has read.
// Copies of such a tile wait for DRAM, even where the other operand is in L2.
// Ignores: slices that the L2 loses again.
// Source: a count over the order of the tiles; the test enumerates every tile. Evidence:
// docs/mechanisms/evidence.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/occupancy/tile_order.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Share of the items behind the first wave that read a row or a column first. One plane; each operand
/// depends on one coordinate. Items of the order's first band read new columns throughout. Later bands read
/// new rows, from the band's begin to the end of that wave.
[[nodiscard]] inline double fresh_behind_first_wave(const TileOrder& order, std::int64_t wave) {
    const std::int64_t items = order.items();
    if (wave >= items) return 0.0;
    const std::int64_t rows = order.band();
    const std::int64_t band = rows * order.major();
    std::int64_t fresh = std::max<std::int64_t>(0, std::min(band, items) - wave);
    for (std::int64_t begin = band; begin < items; begin += band) {
        const std::int64_t length = std::min(band, items - begin);
        const std::int64_t in_wave = std::min(length, wave - begin % wave);
        if (begin >= wave) fresh += in_wave;
        // Rows that the wave does not reach are new to the next wave.
        const std::int64_t height = length / order.major();
        if (in_wave < height) fresh += std::min(length - in_wave, wave) * (height - in_wave) / height;
    }
    return static_cast<double>(fresh) / static_cast<double>(items - wave);
}

}  // namespace warptime::model::machine
