// Tests of the element types.
// SPDX-License-Identifier: Apache-2.0
#include "hw/dtype.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

namespace warptime::hw {
namespace {

TEST_CASE("names are read back") {
    for (int i = 0; i <= static_cast<int>(Dtype::fp4x2); ++i) {
        const auto dtype = static_cast<Dtype>(i);
        CHECK(parse_dtype(to_string(dtype)) == dtype);
    }
    CHECK(parse_dtype("tf32") == Dtype::tf32);
    CHECK(parse_dtype("int64") == Dtype::int64);
    CHECK_THROWS_WITH_AS((void)parse_dtype("bf61", "gemm dtype"), doctest::Contains("nearest: 'bf16'"),
                         Error);
    CHECK(parse_dtype("BF16") == Dtype::bf16);
    CHECK_THROWS_AS((void)parse_dtype(""), Error);
}

TEST_CASE("sizes") {
    CHECK(bytes_of(Dtype::bf16) == 2);
    CHECK(bytes_of(Dtype::tf32) == 4);
    CHECK(bytes_of(Dtype::fp8) == 1);
    CHECK(bytes_of(Dtype::int8) == 1);
    CHECK(bytes_of(Dtype::fp64) == 8);
    CHECK(bytes_of(Dtype::b1) == 1);
    CHECK(bits_of(Dtype::b1) == 1);
    CHECK(bytes_of(Dtype::fp4x2) == 1);
    CHECK(numbers_in(Dtype::fp4x2) == 2);
    CHECK(numbers_in(Dtype::mxfp6) == 1);
}

}  // namespace
}  // namespace warptime::hw
