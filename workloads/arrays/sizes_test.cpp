// Sizes of operators over arrays: elements of vectors and matrices, and the parameters that hold sizes.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/sizes.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads::arrays;
using warptime::hw::Dtype;

TEST_CASE("a matrix has rows times columns, without overflow, and a vector n") {
    Sizes s;
    s.n = 7;
    s.rows = 3;
    s.cols = 5;
    CHECK(s.elements() == 7);
    s.matrix = true;
    CHECK(s.elements() == 15);
    s.rows = s.cols = std::int64_t{1} << 50;
    CHECK(s.elements() == std::int64_t{1} << 60);
}

TEST_CASE("a cast goes to fp32 and from it to bf16 unless said otherwise") {
    CHECK(usual_cast(Dtype::fp32) == Dtype::bf16);
    CHECK(usual_cast(Dtype::bf16) == Dtype::fp32);
    CHECK(usual_cast(Dtype::int8) == Dtype::fp32);
}

TEST_CASE("each size has its place, and words have none") {
    Sizes s;
    for (const char* name : {"n", "rows", "cols", "k", "indices", "size", "radius", "tensors", "heads"}) {
        CAPTURE(name);
        const auto place = size_of(name);
        REQUIRE(place != nullptr);
        s.*place = 42;
    }
    CHECK(s.n + s.rows + s.cols + s.k + s.indices + s.size + s.radius + s.tensors + s.heads == 9 * 42);
    CHECK(size_of("dtype") == nullptr);
    CHECK(size_of("implementation") == nullptr);
}
