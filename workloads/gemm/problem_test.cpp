// The alignment of rows that decides how wide copies can be.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/problem.hpp"

#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace warptime::workloads::gemm;
using fixture::problem_of;

TEST_CASE("the least aligned of the three pitches counts, up to 16 bytes") {
    CHECK(problem_of(4096, 4096, 4096).row_alignment() == 16);
    CHECK(problem_of(4096, 4097, 4096).row_alignment() == 2);  // C
    CHECK(problem_of(4096, 4096, 1001).row_alignment() == 2);  // A and B
    CHECK(problem_of(2068, 3772, 1142).row_alignment() == 4);
    CHECK(problem_of(1, 8, 8).row_alignment() == 16);
    CHECK(problem_of(7, 4096, 4096).row_alignment() == 16);  // no row is m long
}

TEST_CASE("the contiguous index decides which size is a row") {
    Problem p = problem_of(4097, 4096, 1001);
    p.b_major = Major::other;
    CHECK(p.row_alignment() == 2);  // A along k
    p.a_major = Major::other;
    CHECK(p.row_alignment() == 2);  // A along m
    p.m = 4096;
    CHECK(p.row_alignment() == 16);
}

TEST_CASE("given pitches replace dense ones, and bytes count, not elements") {
    Problem p = problem_of(64, 64, 1001);
    p.lda = p.ldb = 1008;
    CHECK(p.row_alignment() == 16);
    p.ldc = 65;
    CHECK(p.row_alignment() == 2);
    Problem single = problem_of(64, 63, 63);
    single.a = single.b = single.out = Dtype::fp32;
    CHECK(single.row_alignment() == 4);
}

TEST_CASE("FLOP are two per product") {
    CHECK(problem_of(10, 20, 30).flop() == 12000.0);
    CHECK(problem_of(10, 20, 30, 4).flop() == 48000.0);
}

TEST_CASE("numbers with block scales: bytes by hand, as memory and as shared memory hold them") {
    struct Case {
        Dtype dtype;
        int numbers_in_element, block;
        const char* name;
        std::int64_t scales, row_in_memory, stage;  // of 256 numbers of a row, of 128 in a stage
    };
    constexpr std::int64_t m = 128, n = 64;
    for (const Case& c : {Case{Dtype::mxfp8, 1, 32, "mxfp8", 8, 256, 128},
                          {Dtype::mxfp6, 1, 32, "mxfp6", 8, 192, 128},
                          {Dtype::fp4x2, 2, 32, "mxfp4", 8, 128, 64},
                          {Dtype::fp4x2, 2, 16, "nvfp4", 16, 128, 64}}) {
        CAPTURE(c.name);
        Problem p = problem_of(m, n, 256 / c.numbers_in_element);
        p.a = p.b = c.dtype;
        p.scale_block = c.block;
        CHECK(p.name_of_type() == c.name);
        CHECK(p.flop() == 2.0 * m * n * 256);
        CHECK(p.stored_along_k(p.k, true) == c.row_in_memory);
        CHECK(p.stored_along_k(p.k, false) == c.row_in_memory);
        // A byte a scale. C has two bytes a number.
        CHECK(p.bytes() == (m + n) * (c.row_in_memory + c.scales) + m * n * 2);
        Config tile;
        tile.cta_m = 128;
        tile.cta_n = 64;
        tile.cta_k = 128 / c.numbers_in_element;
        CHECK(scale_bytes(p, tile, true) == 128 * c.scales / 2);
        CHECK(scale_bytes(p, tile, false) == 64 * c.scales / 2);
        CHECK(stage_bytes(p, tile) == (128 + 64) * (c.stage + c.scales / 2));
        // A block that the last numbers fill in part has a scale as well.
        const double before = p.bytes();
        const double element = static_cast<double>(c.row_in_memory) / static_cast<double>(p.k);
        p.k += 1;
        CHECK(p.bytes() - before == doctest::Approx(static_cast<double>(m + n) * (element + 1.0)));
        p.scale_block = 0;
        CHECK(scale_bytes(p, tile, true) + scale_bytes(p, tile, false) == 0);
    }
    // int4 weights lie in bytes, two and two, and the numbers that they multiply as they are.
    Problem weights = problem_of(m, n, 256);
    weights.b = Dtype::int8;
    weights.packed_b = true;
    CHECK(weights.stored_along_k(256, true) == 256);
    CHECK(weights.stored_along_k(256, false) == 128);
}

TEST_CASE("sizes cover a number with the last of them in part") {
    CHECK(ceil_div(0, 128) == 0);
    CHECK(ceil_div(1, 128) == 1);
    CHECK(ceil_div(128, 128) == 1);
    CHECK(ceil_div(129, 128) == 2);
}
