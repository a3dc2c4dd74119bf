// Tests of the texture unit's cycles against recorded ones (ladder texture_reads, 32 warps of one SM, rows of
// texels that the L1 holds), and of the keys behind them.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/texture.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {
namespace {

using kernel::TextureUse;

kernel::Kernel read_of(TextureUse use, int bytes) {
    kernel::Kernel kernel;
    kernel.accesses.emplace_back();
    kernel.accesses[0].bytes = bytes;
    kernel.ops.emplace_back();
    kernel.ops[0].cls = hw::InstructionClass::ld_global;
    kernel.ops[0].access_count = 1;
    kernel.ops[0].texture = use;
    return kernel;
}

TEST_CASE("cycles of the texture units, by texel and use") {
    const hw::Gpu gpu = hw::load_gpu("h100-sxm");
    struct Recorded {
        TextureUse use;
        int bytes;
        double cycles;
    };
    for (const Recorded& row : {Recorded{TextureUse::fetch, 4, 4.020},          // fetch1d f32
                                Recorded{TextureUse::fetch, 8, 4.015},          // fetch1d f32x2
                                Recorded{TextureUse::fetch, 16, 8.030},         // fetch1d f32x4
                                Recorded{TextureUse::nearest, 1, 8.026},        // plain2d u8
                                Recorded{TextureUse::nearest, 4, 8.026},        // plain2d f32
                                Recorded{TextureUse::nearest, 16, 16.022},      // plain2d f32x4
                                Recorded{TextureUse::blend, 1, 8.016},          // linear2d u8
                                Recorded{TextureUse::blend, 4, 8.006},          // linear2d f32
                                Recorded{TextureUse::blend, 8, 15.985},         // linear2d f32x2
                                Recorded{TextureUse::blend, 16, 32.085},        // linear2d f32x4
                                Recorded{TextureUse::blend_volume, 4, 16.833},  // linear3d f32
                                Recorded{TextureUse::gather, 4, 16.011}}) {     // gather2d f32
        const kernel::Kernel kernel = read_of(row.use, row.bytes);
        CHECK(texture_cycles(kernel, kernel.ops[0], gpu).value() ==
              doctest::Approx(row.cycles).epsilon(0.08));
    }
}

TEST_CASE("each key of the texture unit decides its reads; past the unit nothing is asked for") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const auto cycles = [&gpu](TextureUse use, int bytes) {
        const kernel::Kernel kernel = read_of(use, bytes);
        return texture_cycles(kernel, kernel.ops[0], gpu).value();
    };
    gpu.texture.lanes = hw::PerCycle(2.0);
    gpu.texture.fetch_lanes = hw::PerCycle(16.0);
    gpu.texture.texel_bytes = hw::Bytes(4.0);
    gpu.texture.blend_bytes = hw::Bytes(2.0);
    CHECK(cycles(TextureUse::none, 16) == 0.0);
    CHECK(cycles(TextureUse::fetch, 16) == doctest::Approx(2.0 * 4.0));
    CHECK(cycles(TextureUse::nearest, 8) == doctest::Approx(16.0 * 2.0));
    CHECK(cycles(TextureUse::blend, 8) == doctest::Approx(16.0 * 4.0));
    CHECK(cycles(TextureUse::blend_volume, 8) == doctest::Approx(16.0 * 8.0));
    const kernel::Kernel load = read_of(TextureUse::none, 4), read = read_of(TextureUse::nearest, 4);
    CHECK(texture_latency(load, load.ops[0], gpu).value() == 0.0);
    CHECK(texture_latency(read, read.ops[0], gpu).value() ==
          doctest::Approx(gpu.latency.texture.value() + 16.0));
}

}  // namespace
}  // namespace warptime::model::machine
