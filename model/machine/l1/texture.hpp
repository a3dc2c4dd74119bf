// What a warp's read through the texture unit takes, in passes of its 32 lanes.
// Ignores: lanes whose texels lie far apart, which take turns at the L1's lines like those of any load; rows
// of four lanes that take two passes where squares of four take one (texels of 8 bytes).
// Source: ladder texture_reads (validate/recorded/h100-sxm/ladders): cycles of an SM over the 8 that four
// lanes a cycle take.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

namespace warptime::model::machine {

struct TextureRead {
    int texel_bytes = 4;
    int dimensions = 2;
    bool linear = false;   ///< the neighbours of each place are blended
    bool fetches = false;  ///< by whole numbers, past the filter; so do surfaces
    bool gathers = false;  ///< one component of four neighbours
};

/// Passes: the filter has room for 4 bytes of each of four neighbours. A fetch by whole numbers takes half a
/// pass.
[[nodiscard]] inline double texture_passes(const TextureRead& read) {
    const bool wide = read.texel_bytes > 8;
    if (read.gathers) return 2.0;
    if (read.fetches) return read.dimensions > 1 && wide ? 2.0 : wide ? 1.0 : 0.5;
    if (!read.linear) return wide ? 2.0 : 1.0;
    const double parts = read.texel_bytes > 8 ? 4.0 : read.texel_bytes > 4 ? 2.0 : 1.0;
    // Both planes of a volume; the planes of wide texels are read word by word.
    if (read.dimensions == 3) return wide ? 16.0 : 2.0 * parts;
    return parts;
}

/// Cycles of an SM's texture units for one execution of an op by a warp.
[[nodiscard]] inline hw::Cycles texture_cycles(const kernel::Op& op, const hw::Gpu& gpu) {
    constexpr double lanes = 32.0;
    return hw::Cycles(op.texture_passes * lanes / gpu.texture.lanes.value());
}

/// Time that a read takes beyond a load from the same place.
[[nodiscard]] inline hw::Cycles texture_latency(const kernel::Op& op, const hw::Gpu& gpu) {
    return op.texture_passes > 0.0 ? gpu.latency.texture + texture_cycles(op, gpu) : hw::Cycles{};
}

}  // namespace warptime::model::machine
