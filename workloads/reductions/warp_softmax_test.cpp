// Softmax with a warp a row: recorded launches, and bytes against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/warp_softmax.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using namespace warptime::workloads::fixture;

TEST_CASE("short rows launch what an H100 recorded") {
    CHECK(launches(lowered("softmax", matrix(16384, 1000, "bf16"))) ==
          Launches{"4096x1x1 32x4x1 registers=48 shared=0"});
}

TEST_CASE("up to 1024 columns a row is read and written once, by lanes that hold it") {
    CHECK(rc::check("bytes and CTAs", [] {
        const auto [rows, cols, dtype, element, whole] = drawn_matrix(199, 1, 1024);
        const auto program = lowered("softmax", matrix(rows, cols, dtype));
        RC_ASSERT(program.kernel_count == 1U);
        const auto& kernel = program.kernels[0];
        // PersistentSoftmax.cuh: 128 threads, a power of two of lanes a row, two rows up to 128 columns.
        std::int64_t width = 1;
        while (width < cols) width *= 2;
        const std::int64_t lanes = std::min<std::int64_t>(width, 32);
        const std::int64_t rows_of_cta = 128 / lanes * (width <= 128 ? 2 : 1);
        RC_ASSERT(kernel.cta.volume() == 128);
        RC_ASSERT(kernel.grid.x == (rows + rows_of_cta - 1) / rows_of_cta);
        RC_ASSERT(moved(kernel, "in", Direction::read) >= whole);
        RC_ASSERT(moved(kernel, "out", Direction::write) >= whole);
        if (cols == width && rows % rows_of_cta == 0) {
            RC_ASSERT(moved(kernel, "in", Direction::read) == whole);
            RC_ASSERT(moved(kernel, "out", Direction::write) == whole);
        }
    }));
}

TEST_CASE("the gradient reads two matrices for one that it writes") {
    const auto program = lowered("softmax_backward", matrix(512, 256, "fp32"));
    const auto& kernel = program.kernels[program.kernel_count - 1];
    const double whole = 512.0 * 256 * 4;
    CHECK(moved(kernel, Direction::read) == 2.0 * whole);
    CHECK(moved(kernel, Direction::write) == whole);
}

TEST_CASE("elements between a row's end and the power of two above it are neither loaded nor stored") {
    // 1398 elements: 44 of 64 places of a lane.
    const auto program = lowered("softmax", matrix(12, 1398, "fp32"));
    const auto walk = walked::walk_totals(program.kernels[0], walked::WorkItem{});
    CHECK(walk.instructions_of(warptime::hw::InstructionClass::ld_global) == 4.0 * 44);  // a row a warp
    CHECK(walk.instructions_of(warptime::hw::InstructionClass::st_global) == 4.0 * 44);
}
