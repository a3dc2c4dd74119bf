// Registers of compiled Triton kernels against the model.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_resources.hpp"

#include "workloads/gemm/triton_loop_fixture_test.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace warptime::workloads::gemm {

using fixture::loop_of;

TEST_CASE("ldmatrix leaves a stage before the next copies are issued, wgmma does not") {
    CHECK(triton_buffers(loop_of(64, 64, 64, 4, 4)) == 4);
    CHECK(triton_buffers(loop_of(32, 64, 64, 4, 4)) == 3);
    CHECK(triton_buffers(loop_of(32, 64, 64, 2, 4)) == 1);
    CHECK(triton_buffers(loop_of(32, 64, 64, 1, 4)) == 1);
}

TEST_CASE("only loops whose lanes copy 16 bytes are counted so") {
    Config config = loop_of(64, 64, 64, 4, 4);
    CHECK(copies_as_triton(config));
    config.pipeline = Pipeline::tma;
    CHECK_FALSE(copies_as_triton(config));
    config = loop_of(64, 64, 64, 4, 4);
    config.strides_by_16 = false;
    CHECK_FALSE(copies_as_triton(config));
}

TEST_CASE("registers are about those that the compiler gave") {
    struct Kernel {
        int m, n, k, stages, warps, registers;
    };
    for (const Kernel& kernel :
         {Kernel{64, 64, 32, 3, 4, 64}, Kernel{64, 128, 32, 2, 4, 108}, Kernel{128, 64, 64, 3, 4, 128},
          Kernel{64, 64, 128, 4, 4, 96}, Kernel{128, 128, 32, 2, 4, 174}, Kernel{32, 32, 32, 4, 4, 47},
          Kernel{16, 128, 128, 2, 4, 96}, Kernel{32, 64, 64, 2, 4, 64}}) {
        CAPTURE(kernel.registers);
        const int expected =
            triton_registers(Problem{}, loop_of(kernel.m, kernel.n, kernel.k, kernel.stages, kernel.warps));
        CHECK(std::abs(expected - kernel.registers) <= 20);
    }
}

TEST_CASE("8-bit operands along K need fewer pointers, which decides how many CTAs fit") {
    struct Kernel {
        int m, n, k, stages, warps, registers;
    };
    Problem problem;
    problem.a = problem.b = Dtype::fp8;
    for (const Kernel& kernel :
         {Kernel{128, 64, 64, 2, 4, 96}, Kernel{64, 128, 128, 2, 8, 64}, Kernel{128, 128, 64, 4, 4, 168},
          Kernel{256, 64, 64, 3, 4, 168}, Kernel{64, 64, 32, 3, 4, 59}, Kernel{64, 128, 32, 4, 4, 90}}) {
        CAPTURE(kernel.registers);
        const int expected =
            triton_registers(problem, loop_of(kernel.m, kernel.n, kernel.k, kernel.stages, kernel.warps));
        CHECK(std::abs(expected - kernel.registers) <= 5);
    }
}

}  // namespace warptime::workloads::gemm
