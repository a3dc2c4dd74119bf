// Tests of the texture unit's passes against recorded cycles (ladder texture_reads, 32 warps of one SM, rows
// of texels that the L1 holds), and of what an op asks for.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/texture.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {
namespace {

TEST_CASE("passes of the texture unit, by texel, dimensions and filter") {
    struct Recorded {
        TextureRead read;
        double cycles;
    };
    for (const Recorded& row : {Recorded{{4, 1, false, true, false}, 4.020},     // fetch1d f32
                                Recorded{{8, 1, false, true, false}, 4.0},       // fetch1d f32x2
                                Recorded{{16, 1, false, true, false}, 8.0},      // fetch1d f32x4
                                Recorded{{4, 2, false, false, false}, 8.026},    // plain2d f32
                                Recorded{{16, 2, false, false, false}, 16.0},    // plain2d f32x4
                                Recorded{{4, 2, true, false, false}, 8.006},     // linear2d f32
                                Recorded{{8, 2, true, false, false}, 15.0},      // linear2d f32x2
                                Recorded{{16, 2, true, false, false}, 32.085},   // linear2d f32x4
                                Recorded{{1, 2, true, false, false}, 8.0},       // linear2d u8
                                Recorded{{4, 3, false, false, false}, 8.0},      // plain3d f32
                                Recorded{{4, 3, true, false, false}, 16.8},      // linear3d f32
                                Recorded{{16, 3, true, false, false}, 128.009},  // linear3d f32x4
                                Recorded{{4, 2, false, false, true}, 16.0},      // gather2d f32
                                Recorded{{4, 2, false, true, false}, 4.0},       // surface2d f32
                                Recorded{{16, 2, false, true, false}, 16.0}}) {  // surface2d f32x4
        CHECK(8.0 * texture_passes(row.read) == doctest::Approx(row.cycles).epsilon(0.08));
    }
}

TEST_CASE("an op's passes share the lanes of an SM; past the texture unit nothing is asked for") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    kernel::Op op;
    CHECK(texture_cycles(op, gpu).value() == 0.0);
    CHECK(texture_latency(op, gpu).value() == 0.0);
    op.texture_passes = 1.5;
    CHECK(texture_cycles(op, gpu).value() == doctest::Approx(1.5 * 32.0 / 4.0));
    gpu.texture.lanes = hw::PerCycle(8.0);
    CHECK(texture_cycles(op, gpu).value() == doctest::Approx(6.0));
    CHECK(texture_latency(op, gpu).value() == doctest::Approx(gpu.latency.texture.value() + 6.0));
}

}  // namespace
}  // namespace warptime::model::machine
