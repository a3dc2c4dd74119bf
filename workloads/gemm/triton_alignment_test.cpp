// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_alignment.hpp"

#include <doctest/doctest.h>

namespace warptime::workloads::gemm {
namespace {

Config after(Problem problem, Pipeline pipeline = Pipeline::automatic) {
    problem.m = 256;
    Config config;
    config.cta_m = config.cta_n = 128;
    config.cta_k = 32;
    config.stages = 4;
    config.pipeline = pipeline;
    respect_triton_alignment(problem, config);
    return config;
}

}  // namespace

TEST_CASE("rows whose pitch no multiple of 16 divides are loaded element by element") {
    const Problem aligned{.m = 250, .n = 512, .k = 1024, .b_major = Major::other};
    CHECK(after(aligned).pipeline == Pipeline::automatic);
    CHECK(after(aligned).copy_bytes == 16);
    Problem ragged = aligned;
    ragged.n = 520;  // rows of a multiple of 16 bytes, but not of 16 elements
    CHECK(after(ragged).pipeline == Pipeline::automatic);
    CHECK(after(ragged).stages == 4);
    CHECK(copy_bytes_of(after(ragged), true) == 16);
    CHECK(copy_bytes_of(after(ragged), false) == 2);
    ragged.ldb = 528;
    CHECK(copy_bytes_of(after(ragged), false) == 16);
    ragged.k = 1001;
    CHECK(after(ragged).pipeline == Pipeline::automatic);
    CHECK(copy_bytes_of(after(ragged), true) == 2);
    CHECK(copy_bytes_of(after(ragged), false) == 16);
    ragged.ldb = 520;
    // No operand can be copied, so loads take one stage at a time.
    CHECK(after(ragged).pipeline == Pipeline::sync);
    CHECK(after(ragged).stages == 1);
    CHECK(copy_bytes_of(after(ragged), true) == 2);
    CHECK(copy_bytes_of(after(ragged), false) == 2);
    ragged.a = ragged.b = Dtype::tf32;
    CHECK(after(ragged).pipeline == Pipeline::automatic);
    CHECK(after(ragged).copy_bytes == 4);
    CHECK(after(ragged, Pipeline::cp_async).copy_bytes == 16);  // a given pipeline stays
}

TEST_CASE("strides that the source has as constants leave each operand as much as divides its rows") {
    // Machine code of such kernels (sm_80) has LDGSTS of 16, 8 and 4 bytes, and loads of 2 bytes.
    struct Rows {
        std::int64_t k, n;
        int a, b, c;
        Pipeline pipeline;
    };
    for (const Rows& rows :
         {Rows{1000, 200, 16, 16, 16, Pipeline::automatic}, Rows{196, 200, 8, 16, 16, Pipeline::automatic},
          Rows{98, 196, 4, 8, 8, Pipeline::automatic}, Rows{99, 512, 2, 16, 16, Pipeline::automatic},
          Rows{512, 201, 16, 2, 2, Pipeline::automatic}, Rows{99, 201, 2, 2, 2, Pipeline::sync}}) {
        CAPTURE(rows.k);
        CAPTURE(rows.n);
        Config config;
        config.strides_known = true;
        config.stages = 4;
        respect_triton_alignment(Problem{.m = 256, .n = rows.n, .k = rows.k, .b_major = Major::other},
                                 config);
        CHECK(copy_bytes_of(config, true) == rows.a);
        CHECK(copy_bytes_of(config, false) == rows.b);
        CHECK(config.store_bytes == rows.c);
        CHECK(config.pipeline == rows.pipeline);
        CHECK(config.stages == (rows.pipeline == Pipeline::sync ? 1 : 4));
    }
}

TEST_CASE("lanes lie side by side along a contiguous K, else in rows of their own") {
    const Problem ragged{.n = 520, .k = 1000, .b_major = Major::other};
    CHECK(after(ragged).lane_bytes_a == 2);
    CHECK(after(ragged).lane_bytes_b == 2 * after(ragged).cta_n);
    CHECK(after(ragged).store_bytes == 2);
    const Problem along_k{.n = 512, .k = 1000};
    CHECK(after(along_k).lane_bytes_b == 2);
    CHECK(after(along_k).store_bytes == 16);
}

}  // namespace warptime::workloads::gemm
