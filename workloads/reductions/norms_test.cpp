// Softmax by CTAs and the normalizations of rows: recorded launches, and bytes against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/norms.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using namespace warptime::workloads::fixture;

TEST_CASE("softmax by CTAs and norms launch what an H100 recorded") {
    CHECK(launches(lowered("softmax", matrix(1000, 4097, "fp32"))) ==
          Launches{"1000x1x1 1024x1x1 registers=30 shared=128"});
    CHECK(launches(lowered("softmax", matrix(151, 10576, "fp32"))) ==
          Launches{"151x1x1 1024x1x1 registers=30 shared=42432"});
    CHECK(launches(lowered("softmax", matrix(64, 131072, "fp32"))) ==
          Launches{"64x1x1 1024x1x1 registers=32 shared=128"});
    CHECK(launches(lowered("softmax_backward", matrix(121, 1792, "fp32"))) ==
          Launches{"212x1x1 128x1x1 registers=32 shared=0", "121x1x1 256x1x1 registers=23 shared=7200"});
    CHECK(launches(lowered("softmax_backward", matrix(37697, 1500, "bf16"))) ==
          Launches{"55221x1x1 128x1x1 registers=40 shared=0", "37697x1x1 128x1x1 registers=40 shared=512"});
    CHECK(launches(lowered("layernorm", matrix(1024, 1024, "fp32"))) ==
          Launches{"1024x1x1 32x4x1 registers=39 shared=24"});
    CHECK(launches(lowered("layernorm", matrix(333, 32003, "bf16"))) ==
          Launches{"333x1x1 512x1x1 registers=28 shared=768", "333x1x1 256x1x1 registers=23 shared=0"});
    CHECK(launches(lowered("layernorm_backward", matrix(128, 1024, "bf16"))) ==
          Launches{"128x1x1 128x1x1 registers=32 shared=16", "32x1x1 32x16x1 registers=32 shared=4224"});
    CHECK(launches(lowered("rmsnorm_backward", matrix(131072, 512, "bf16"))) ==
          Launches{"131072x1x1 128x1x1 registers=32 shared=16", "16x2048x1 32x1x1 registers=64 shared=0",
                   "memset 16", "4x32x1 32x4x1 registers=54 shared=2064"});
}

TEST_CASE("rows are read and written once, or read again where they do not fit") {
    CHECK(rc::check("bytes in closed form", [] {
        const auto [rows, cols, dtype, element, whole] = drawn_matrix(39, 260, 5999);
        const auto softmax = lowered("softmax", matrix(rows, cols, dtype));
        RC_ASSERT(moved(softmax.kernels[0], Direction::write) == whole);
        RC_ASSERT(moved(softmax.kernels[0], Direction::read) >= whole);
        RC_ASSERT(moved(softmax.kernels[0], Direction::read) <= 3.0 * whole);
        const auto norm = lowered("layernorm", matrix(rows, cols, dtype));
        RC_ASSERT(moved(norm.kernels[norm.kernel_count - 1], "out", Direction::write) == whole);
        for (const char* op : {"softmax", "rmsnorm", "layernorm"}) {
            auto ideal = matrix(rows, cols, dtype);
            ideal["implementation"] = "ideal";
            const auto program = lowered(op, ideal);
            const double reads = moved(program.kernels[0], "in0", Direction::read);
            RC_ASSERT(reads >= whole && reads <= 2.0 * whole);
            RC_ASSERT(moved(program.kernels[0], "out", Direction::write) == whole);
        }
    }));
}

TEST_CASE("an ideal row kernel has a CTA a row, and gradients read what they need") {
    auto given = matrix(333, 2048, "bf16");
    given["implementation"] = "ideal";
    for (const char* op : {"softmax", "layernorm", "rmsnorm"}) {
        CAPTURE(op);
        const auto program = lowered(op, given);
        CHECK(program.kernel_count == 1);
        CHECK(program.kernels[0].grid.volume() == 333);
    }
    // The gradient of softmax reads the result and its gradient, and writes one matrix.
    const double whole = 333.0 * 2048 * 2;
    const auto backward = lowered("softmax_backward", given);
    CHECK(moved(backward.kernels[0], Direction::write) == whole);
    CHECK(moved(backward.kernels[0], Direction::read) >= 2.0 * whole);
}

TEST_CASE("gradients of weights compute the addresses of a trip's rows") {
    const auto program = lowered("layernorm_backward", matrix(1024, 1024, "fp32"));
    const auto& kernel = program.kernels[1];
    double additions = 0.0;
    for (const walked::Op& op : kernel.ops) {
        if (op.cls == warptime::hw::InstructionClass::add_s32) additions += static_cast<double>(op.count);
    }
    // 8 at the start, 41 in the loop (machine code).
    CHECK(additions == 8 + 41);
}
