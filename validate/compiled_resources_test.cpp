// Resources read from recorded steps: of the last step, and none where a word is missing or no number.
// SPDX-License-Identifier: Apache-2.0
#include "validate/compiled_resources.hpp"

#include <doctest/doctest.h>

using warptime::validate::compiled_resources;

TEST_CASE("the last step is the product") {
    const auto found = compiled_resources(
        "fill<4, float> grid=1024x1x1 block=128x1x1 registers=16 shared=0 us=1.76 | "
        "gemm_split_k_kernel grid=64x16x1 block=256x1x1 registers=128 shared=131072 us=107.456 spills=0");
    REQUIRE(found);
    CHECK(found->registers == 128);
    CHECK(found->shared_bytes == 131072);
    const auto alone = compiled_resources("gemm_kernel registers=220 shared=0");
    REQUIRE(alone);
    CHECK(alone->registers == 220);
    CHECK(alone->shared_bytes == 0);
}

TEST_CASE("steps that do not name both say nothing") {
    for (const char* steps : {"", "gemm_kernel grid=8x1x1", "gemm_kernel registers=220 us=3",
                              "gemm_kernel registers=many shared=16", "gemm_kernel registers=12x shared=16",
                              "gemm_kernel registers=220 shared=16 | fill us=1"}) {
        CAPTURE(steps);
        CHECK_FALSE(compiled_resources(steps));
    }
}
