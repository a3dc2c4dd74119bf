// Tests of other software's names of the element types.
// SPDX-License-Identifier: Apache-2.0
#include "hw/dtype_alias.hpp"

#include "hw/dtype.hpp"
#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <string>

namespace warptime::hw {
namespace {

TEST_CASE("names of other software are read as the project's own") {
    for (const char* text :
         {"fp16", "FP16", "float16", "half", "np.float16", "torch.half", "tl.float16", "f16"}) {
        CAPTURE(text);
        CHECK(parse_dtype(text) == Dtype::fp16);
    }
    for (const char* text : {"e4m3", "E5M2", "torch.float8_e4m3fn", "fp8e4nv", "float8-e5m2"}) {
        CAPTURE(text);
        CHECK(parse_dtype(text) == Dtype::fp8);
    }
    CHECK(parse_dtype("torch.bfloat16") == Dtype::bf16);
    CHECK(parse_dtype("float32") == Dtype::fp32);
    CHECK(parse_dtype("double") == Dtype::fp64);
    CHECK(parse_dtype("jax.numpy.int8") == Dtype::int8);
    // Products name 4-bit and 6-bit types by their scales.
    CHECK(without_dtype_alias("fp4") == "nvfp4");
    CHECK(without_dtype_alias("fp6") == "mxfp6");
}

TEST_CASE("what names no type of the project stays refused") {
    for (const char* text : {"", "float", "torch.", "torch.float4", "mine.float16", "16"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(static_cast<void>(parse_dtype(text)), Error);
    }
}

TEST_CASE("a mistyped type is answered with the nearest type") {
    CHECK_THROWS_WITH_AS(static_cast<void>(parse_dtype("bf61")), doctest::Contains("nearest: 'bf16'"), Error);
}

}  // namespace
}  // namespace warptime::hw
