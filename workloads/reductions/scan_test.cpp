// Running sums: recorded launches, bytes and barriers against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/scan.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using namespace warptime::workloads::fixture;

TEST_CASE("running sums launch what an H100 recorded") {
    CHECK(launches(lowered("cumsum", matrix(128, 1024, "bf16"))) ==
          Launches{"16x1x1 64x8x1 registers=32 shared=2048"});
    CHECK(launches(lowered("cumsum", matrix(239, 14780, "bf16"))) ==
          Launches{"60x1x1 128x4x1 registers=32 shared=2048"});
}

TEST_CASE("each running sum is written once") {
    CHECK(rc::check("bytes in closed form", [] {
        const auto [rows, cols, dtype, element, whole] = drawn_matrix(39, 260, 5999);
        const auto scan = lowered("cumsum", matrix(rows, cols, dtype));
        RC_ASSERT(moved(scan.kernels[0], Direction::write) == whole);
    }));
}

TEST_CASE("all threads of a CTA scan a block of twice as many elements as they are along x") {
    CHECK(rc::check("shapes", [] {
        const auto rows = *rc::gen::inRange<std::int64_t>(1, 3000);
        const auto cols = *rc::gen::inRange<std::int64_t>(1, 9000);
        const auto program = lowered("cumsum", matrix(rows, cols, "fp32"));
        const auto& kernel = program.kernels[0];
        RC_ASSERT(kernel.cta.volume() == 512);
        // A block of a row in shared memory for each y.
        RC_ASSERT(kernel.dynamic_shared == 2 * 512 * 4);
        RC_ASSERT(kernel.grid.x == (rows + kernel.cta.y - 1) / kernel.cta.y);
    }));
}
