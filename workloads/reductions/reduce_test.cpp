// PyTorch's general reduction: recorded launches, bytes against closed forms, totals.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/reduce.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

using namespace warptime::workloads;
using namespace warptime::workloads::fixture;

TEST_CASE("sums and maxima are cut as an H100 recorded") {
    CHECK(launches(lowered("sum", {{"n", "1024"}, {"dtype", "bf16"}})) ==
          Launches{"1x1x1 128x1x1 registers=32 shared=528"});
    CHECK(launches(lowered("sum", {{"n", "262144"}, {"dtype", "bf16"}})) ==
          Launches{"memset 4", "1x32x1 512x1x1 registers=32 shared=2064"});
    CHECK(launches(lowered("sum", {{"n", "70424707"}, {"dtype", "fp32"}})) ==
          Launches{"memset 4", "1x538x1 512x1x1 registers=32 shared=2064"});
    CHECK(launches(lowered("amax", {{"n", "2049"}, {"dtype", "bf16"}})) ==
          Launches{"3x1x1 128x1x1 registers=32 shared=0", "1x1x1 512x1x1 registers=32 shared=1040"});
    CHECK(launches(lowered("rowsum", matrix(16384, 1000, "fp32"))) ==
          Launches{"1024x1x1 32x16x1 registers=32 shared=16"});
    CHECK(launches(lowered("rowsum", matrix(32, 128, "bf16"))) ==
          Launches{"1x1x1 16x32x1 registers=32 shared=16"});
    CHECK(launches(lowered("rowsum", matrix(64, 131072, "fp32"))) ==
          Launches{"memset 256", "64x9x1 32x16x1 registers=32 shared=2064"});
    CHECK(launches(lowered("argmax", matrix(64, 131072, "fp32"))) ==
          Launches{"memset 256", "64x9x1 32x16x1 registers=32 shared=8208"});
    CHECK(launches(lowered("colsum", matrix(16384, 1000, "bf16"))) ==
          Launches{"memset 32", "8x256x1 32x4x1 registers=54 shared=2064"});
    CHECK(launches(lowered("colsum", matrix(3198, 2357, "fp32"))) ==
          Launches{"74x1x1 32x16x1 registers=32 shared=2064"});
    CHECK(launches(lowered("colsum", matrix(337, 80, "fp32"))) ==
          Launches{"2x1x1 16x8x1 registers=54 shared=2064"});
}

TEST_CASE("every element is read, each sum written") {
    CHECK(rc::check("bytes in closed form", [] {
        const auto [rows, cols, dtype, element, whole] = drawn_matrix(39, 260, 5999);
        const auto sums = lowered("rowsum", matrix(rows, cols, dtype));
        RC_ASSERT(moved(sums.kernels[0], "in", Direction::read) >= whole);
        RC_ASSERT(moved(sums.kernels[0], "out", Direction::write) >= static_cast<double>(rows) * element);
        const auto columns = lowered("colsum", matrix(rows, cols, dtype));
        const double read = moved(columns.kernels[0], "in", Direction::read);
        RC_ASSERT(std::abs(read / whole - 1.0) < 1e-9);
    }));
}

TEST_CASE("a total takes a vector or a matrix, and not both") {
    const auto vector = lowered("sum", {{"n", "65536"}});
    const auto both = lowered("sum", {{"rows", "256"}, {"cols", "256"}});
    CHECK(launches(vector) == launches(both));
    CHECK(refused("sum", {{"n", "64"}, {"rows", "8"}, {"cols", "8"}}) != "");
    CHECK(refused("sum", {{"rows", "8"}}) == "sum rows");
    CHECK(refused("sum", {{"n", "8"}, {"cols", "8"}}) == "sum cols");
    CHECK(refused("sum", {}) == "sum n");
}

TEST_CASE("CTAs that share a result count themselves, so their counters are cleared first") {
    CHECK(rc::check("a memset before the kernel", [] {
        const auto n = std::int64_t{1} << *rc::gen::inRange(8, 26);
        const auto program = lowered("sum", {{"n", std::to_string(n)}, {"dtype", "fp32"}});
        const auto& kernel = program.kernels[0];
        RC_ASSERT((program.memsets.size() == 1U) == (kernel.grid.y > 1));
        RC_ASSERT(program.steps.size() == program.memsets.size() + 1U);
    }));
}
