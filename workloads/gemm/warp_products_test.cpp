// How warps share a tile: products and operand loads of a stage, counted by hand and by conservation.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/warp_products.hpp"

#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads::gemm;
using namespace fixture;

namespace {

Config shared_by(int m, int n, int k, int warps) {
    Config c = tile_of(m, n, k);
    c.warps = warps;
    return c;
}

}  // namespace

TEST_CASE("Triton adds warps along the side with more instructions left, N first") {
    const Problem p = problem_of(1024, 1024, 1024);
    // 2 x 4 warps of 64 x 32: four by four products and 4 + 2 loads of 16 rows, in two steps of K.
    const WarpCounts square = mma_sync_counts(p, shared_by(128, 128, 32, 8));
    CHECK(square.products == 2 * 4 * 4);
    CHECK(square.loads == 2 * (4 + 2));
    // 4 x 1 warps of 32 x 32.
    const WarpCounts tall = mma_sync_counts(p, shared_by(128, 32, 32, 4));
    CHECK(tall.products == 2 * 2 * 4);
    CHECK(tall.loads == 2 * (2 + 2));
    // 1 x 4 warps of 16 x 8: two steps of eight columns are one load.
    const WarpCounts narrow = mma_sync_counts(p, shared_by(16, 32, 32, 4));
    CHECK(narrow.products == 2);
    CHECK(narrow.loads == 2 + 1);
}

TEST_CASE("square tiles of warps read least") {
    const Problem p = problem_of(1024, 1024, 1024);
    Config c = shared_by(256, 64, 32, 4);
    c.square_warp_tiles = true;  // 4 x 1 warps of 64 x 64
    CHECK(mma_sync_counts(p, c).loads == 2 * (4 + 4));
    CHECK(mma_sync_counts(p, c).products == 2 * 4 * 8);
}

TEST_CASE("K of a product is 32 bytes, but where the kernel has another") {
    Problem p = problem_of(64, 64, 64);
    Config c = shared_by(64, 64, 64, 4);
    CHECK(mma_sync_k(p, c) == 16);
    p.a = p.b = Dtype::int8;
    CHECK(mma_sync_k(p, c) == 32);
    c.mma_k = 8;
    CHECK(mma_sync_k(p, c) == 8);
}

TEST_CASE("all warps together multiply the tile once") {
    CHECK(rc::check("products x warps x 16 x 8 x k == tile", [] {
        const int m = 16 << *rc::gen::inRange(0, 5);
        const int n = 32 << *rc::gen::inRange(0, 4);
        const int k = 32 << *rc::gen::inRange(0, 3);
        const int warps = 1 << *rc::gen::inRange(0, 3);
        Config c = shared_by(m, n, k, warps);
        c.square_warp_tiles = *rc::gen::arbitrary<bool>();
        const Problem p = problem_of(1024, 1024, 1024);
        RC_PRE(m * n >= warps * 16 * 8 * 4);
        RC_PRE(!c.square_warp_tiles || m >= 16 * warps);
        const std::int64_t products = mma_sync_counts(p, c).products;
        RC_ASSERT(products * warps * 16 * 8 * 16 == std::int64_t{m} * n * k);
    }));
}
