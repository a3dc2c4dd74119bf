// Instruction counts of compiled loops (cuobjdump of triton_loop's kernels) against the model.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_instructions.hpp"

#include "workloads/gemm/triton_loop_fixture_test.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace warptime::workloads::gemm {

using fixture::loop_of;

TEST_CASE("instructions before the loop are about those of the machine code") {
    // All instructions before the loop, without copies.
    struct Kernel {
        int m, n, k, stages, warps;
        std::int64_t before;
    };
    for (const Kernel& kernel :
         {Kernel{16, 16, 128, 2, 4, 236}, Kernel{16, 16, 128, 3, 4, 270}, Kernel{32, 128, 128, 3, 4, 481},
          Kernel{32, 128, 128, 5, 4, 643}, Kernel{32, 64, 32, 5, 8, 280}, Kernel{16, 256, 32, 4, 8, 310}}) {
        CAPTURE(kernel.m);
        CAPTURE(kernel.stages);
        const TritonInstructions found = triton_instructions(
            Problem{}, loop_of(kernel.m, kernel.n, kernel.k, kernel.stages, kernel.warps));
        const std::int64_t expected = found.before + found.of_stage * (kernel.stages - 2);
        CHECK(std::abs(expected - kernel.before) <= 45);
    }
}

TEST_CASE(
    "a loop of 64x64x64 has 83 instructions beside its copies and products, one of 32x128x64 about 65") {
    // SASS counts 95 instructions with 8 copies and 4 products. It counts 125 with 10 copies, 32 products and
    // 18 loads of operands.
    CHECK(std::abs(triton_instructions(Problem{}, loop_of(64, 64, 64, 4, 4)).of_trip - 83) <= 5);
    CHECK(std::abs(triton_instructions(Problem{}, loop_of(32, 128, 64, 4, 4)).of_trip - 65) <= 20);
}

TEST_CASE("each further stage has masks of its own, and more of them the more is copied") {
    const Config small = loop_of(64, 64, 32, 4, 8);
    const Config large = loop_of(64, 256, 64, 4, 4);
    CHECK(triton_instructions(Problem{}, small).of_stage > 0);
    CHECK(triton_instructions(Problem{}, large).of_stage > triton_instructions(Problem{}, small).of_stage);
}

TEST_CASE("known strides spare the loop its pointers") {
    struct Kernel {
        int m, n, k, stages, warps;
        std::int64_t of_trip, before;  // without copies, products, operands and barriers
    };
    for (const Kernel& kernel : {Kernel{64, 64, 32, 2, 4, 22, 127}, Kernel{128, 64, 32, 2, 2, 32, 247},
                                 Kernel{128, 128, 32, 4, 4, 32, 225}, Kernel{64, 128, 128, 4, 4, 72, 338}}) {
        CAPTURE(kernel.m);
        CAPTURE(kernel.k);
        Config config = loop_of(kernel.m, kernel.n, kernel.k, kernel.stages, kernel.warps);
        config.mma = MatrixInstruction::mma_sync;
        const TritonInstructions pointers = triton_instructions(Problem{}, config);
        config.strides_known = true;
        const TritonInstructions found = triton_instructions(Problem{}, config);
        CHECK(std::abs(found.of_trip - kernel.of_trip) <= 10);
        CHECK(found.of_trip < pointers.of_trip);
        CHECK(std::abs(found.before + found.of_stage * (kernel.stages - 2) - kernel.before) <= 45);
    }
}

TEST_CASE("what follows the loop goes with a lane's results") {
    const TritonInstructions narrow = triton_instructions(Problem{}, loop_of(64, 64, 64, 3, 4));
    const TritonInstructions wide = triton_instructions(Problem{}, loop_of(64, 256, 64, 3, 4));
    CHECK(wide.after - narrow.after == (128 - 32) / 2);
}

}  // namespace warptime::workloads::gemm
