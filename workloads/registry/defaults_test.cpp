// Defaults that depend on other parameters.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

using warptime::workloads::default_of;
using warptime::workloads::Operation;
using warptime::workloads::value_or_default;

TEST_CASE("gemm element types follow the operands") {
    const auto out = [](const char* dtype) {
        return default_of(Operation{"gemm", {{"dtype", dtype}}}, "out_dtype");
    };
    const auto sums = [](const char* dtype) {
        return default_of(Operation{"gemm", {{"dtype", dtype}}}, "acc_dtype");
    };
    CHECK(out("bf16") == "bf16");
    CHECK(out("fp8") == "bf16");
    CHECK(out("int8") == "int32");
    CHECK(out("fp64") == "fp64");
    CHECK(sums("bf16") == "fp32");
    CHECK(sums("int8") == "int32");
    CHECK(sums("fp64") == "fp64");
    CHECK(default_of(Operation{"gemm", {}}, "dtype_b") == "bf16");
}

TEST_CASE("leading dimensions are packed along the contiguous index") {
    const Operation k_major{"gemm", {{"m", "5"}, {"n", "6"}, {"k", "7"}}};
    CHECK(default_of(k_major, "lda") == "7");
    CHECK(default_of(k_major, "ldb") == "7");
    CHECK(default_of(k_major, "ldc") == "6");
    const Operation other{"gemm", {{"m", "5"}, {"n", "6"}, {"k", "7"}, {"a_major", "m"}, {"b_major", "n"}}};
    CHECK(default_of(other, "lda") == "5");
    CHECK(default_of(other, "ldb") == "6");
}

TEST_CASE("a given value comes before its default") {
    CHECK(value_or_default(Operation{"gemm", {{"out_dtype", "fp32"}}}, "out_dtype") == "fp32");
    CHECK(value_or_default(Operation{"gemm", {}}, "batch") == "1");
    CHECK(value_or_default(Operation{"gemm", {}}, "cta_tile").empty());
    CHECK_THROWS_AS(static_cast<void>(default_of(Operation{"copy", {}}, "cta_tile")), warptime::Error);
}
