// Cycles of an SM's texture units for a warp's read, and what the read takes beyond a plain load.
// Ignores: lanes whose texels lie far apart, which take turns at the L1's lines like those of any load; rows
// of four lanes that take two passes where squares of four take one (blends of 8 bytes). Surfaces and blends
// in volumes take twice as long as here for texels of 16 bytes. Source: ladder texture_reads
// (validate/recorded/h100-sxm/ladders), reads that the L1 serves, 32 warps of an SM.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Cycles for one execution of an op by a warp: its lanes go so many at a time, in one pass or, where texels
/// are wide, in several. 0 where the op goes past the texture unit.
[[nodiscard]] inline hw::Cycles texture_cycles(const kernel::Kernel& kernel, const kernel::Op& op,
                                               const hw::Gpu& gpu) {
    using kernel::TextureUse;
    if (op.texture == TextureUse::none) return {};
    constexpr double neighbours = 4.0, planes = 2.0, word = 4.0;
    const double texel = kernel.accesses[op.first_access].bytes;
    const auto passes = [](double bytes, const hw::Bytes& of_pass) {
        return std::max(1.0, bytes / of_pass.value());
    };
    double of_lane = 0.0;
    switch (op.texture) {
        case TextureUse::blend:
            of_lane = passes(texel, gpu.texture.blend_bytes);
            break;
        case TextureUse::blend_volume:
            of_lane = planes * passes(texel, gpu.texture.blend_bytes);
            break;
        case TextureUse::gather:
            of_lane = passes(neighbours * std::min(texel, word), gpu.texture.texel_bytes);
            break;
        default:
            of_lane = passes(texel, gpu.texture.texel_bytes);
            break;
    }
    const hw::PerCycle lanes = op.texture == TextureUse::fetch ? gpu.texture.fetch_lanes : gpu.texture.lanes;
    return hw::Cycles(hw::warp_threads / lanes.value() * of_lane);
}

/// Time that a read takes beyond a load from the same place.
[[nodiscard]] inline hw::Cycles texture_latency(const kernel::Kernel& kernel, const kernel::Op& op,
                                                const hw::Gpu& gpu) {
    return op.texture == kernel::TextureUse::none ? hw::Cycles{}
                                                  : gpu.latency.texture + texture_cycles(kernel, op, gpu);
}

}  // namespace warptime::model::machine
