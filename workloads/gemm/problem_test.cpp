// The alignment of rows that decides how wide copies can be.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/problem.hpp"

#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>

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

TEST_CASE("sizes cover a number with the last of them in part") {
    CHECK(ceil_div(0, 128) == 0);
    CHECK(ceil_div(1, 128) == 1);
    CHECK(ceil_div(128, 128) == 1);
    CHECK(ceil_div(129, 128) == 2);
}
