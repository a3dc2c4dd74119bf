// The parameters of gemm: their list, those that name a case, and the meaning of their words together.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/gemm/operator.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using warptime::workloads::make_operation;
using warptime::workloads::ParameterInfo;
using warptime::workloads::value_or_default;
using warptime::workloads::gemm::gemm_operator;

TEST_CASE("gemm has the parameters that the command line promises") {
    const auto& gemm = gemm_operator();
    const std::set<std::string_view> configuration{
        "implementation", "cta_tile", "cluster",   "stages",      "warps",    "group_m",
        "raster",         "split_k",  "slice_k",   "reduction",   "schedule", "pipeline",
        "specialization", "mma",      "registers", "shared_bytes"};
    const std::set<std::string_view> problem{"m",         "n",       "k",        "batch",    "dtype",
                                             "dtype_b",   "a_major", "b_major",  "lda",      "ldb",
                                             "acc_dtype", "ldc",     "epilogue", "out_dtype"};
    std::set<std::string_view> in_key;
    std::set<std::string_view> not_in_key;
    for (const ParameterInfo& parameter : gemm.parameters) {
        (parameter.part_of_key ? in_key : not_in_key).insert(parameter.name);
    }
    CHECK(in_key == problem);
    CHECK(not_in_key == configuration);
}

TEST_CASE("what is not given follows from what is") {
    const auto worked_out = [](const char* dtype, const char* parameter) {
        const auto operation = make_operation("gemm", {{"m", "8"}, {"n", "8"}, {"k", "8"}, {"dtype", dtype}});
        return value_or_default(operation, parameter);
    };
    CHECK(worked_out("bf16", "dtype_b") == "bf16");
    CHECK(worked_out("bf16", "acc_dtype") == "fp32");
    CHECK(worked_out("int8", "acc_dtype") == "int32");
    CHECK(worked_out("fp64", "acc_dtype") == "fp64");
    CHECK(worked_out("fp16", "out_dtype") == "fp16");
    CHECK(worked_out("fp8", "out_dtype") == "bf16");
    CHECK(worked_out("int8", "out_dtype") == "int32");
    CHECK(worked_out("bf16", "cta_tile").empty());  // the library chooses
}

TEST_CASE("a word that a parameter does not have is refused by its name") {
    for (const ParameterInfo& parameter : gemm_operator().parameters) {
        if (parameter.choices.empty()) continue;
        CAPTURE(parameter.name);
        try {
            (void)make_operation("gemm",
                                 {{"m", "8"}, {"n", "8"}, {"k", "8"}, {std::string(parameter.name), "nope"}});
            FAIL("accepted");
        } catch (const warptime::Error& error) {
            CHECK(error.parameter() == "gemm " + std::string(parameter.name));
            CHECK(std::string(error.what()).find("nope") != std::string::npos);
        }
    }
}
