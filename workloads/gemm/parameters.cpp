// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/parameters.hpp"

#include "workloads/operator/operator.hpp"

#include <array>

namespace warptime::workloads::gemm {

namespace {

using Kind = ParameterKind;
using Words = std::string_view;

constexpr std::array<Words, 11> operand_dtypes{"bf16", "fp16",  "tf32",  "fp32",  "fp8",  "int8",
                                               "fp64", "mxfp8", "mxfp6", "mxfp4", "nvfp4"};
constexpr std::array<Words, 12> weight_dtypes{"bf16", "fp16",  "tf32",  "fp32",  "fp8",   "int8",
                                              "fp64", "mxfp8", "mxfp6", "mxfp4", "nvfp4", "int4"};
constexpr std::array<Words, 4> accumulator_dtypes{"fp32", "fp16", "fp64", "int32"};
constexpr std::array<Words, 8> result_dtypes{"bf16", "fp16", "fp32", "tf32", "fp8", "int8", "int32", "fp64"};
constexpr std::array<Words, 2> a_majors{"k", "m"};
constexpr std::array<Words, 2> b_majors{"k", "n"};
constexpr std::array<Words, 7> epilogues{"none", "bias", "relu", "gelu", "silu", "residual", "scale"};
constexpr std::array<Words, 4> implementations{"cublas", "triton", "inductor", "cutlass"};
constexpr std::array<Words, 2> rasters{"along_m", "along_n"};
constexpr std::array<Words, 3> reductions{"atomic", "workspace", "serial"};
constexpr std::array<Words, 5> schedules{"data_parallel", "persistent", "stream_k", "stream_k_hybrid",
                                         "cluster_launch_control"};
constexpr std::array<Words, 3> pipelines{"sync", "cp.async", "tma"};
constexpr std::array<Words, 3> specializations{"none", "cooperative", "pingpong"};
constexpr std::array<Words, 5> mmas{"auto", "simt", "mma.sync", "wgmma", "tcgen05"};

constexpr bool in_key = true;
constexpr bool configuration = false;

constexpr auto all = std::to_array<ParameterInfo>({
    required_size("m", "rows of A and C"),
    required_size("n", "columns of B and C"),
    required_size("k", "columns of A, rows of B"),
    {"batch", Kind::size, false, "1", {}, "number of independent products", in_key},
    {"dtype", Kind::dtype, false, "bf16", operand_dtypes,
     "element type of A; mx types have a scale for each 32 elements along K, nvfp4 for each 16", in_key},
    {"dtype_b", Kind::dtype, false, "", weight_dtypes,
     "element type of B; default: dtype; int8 or int4 beside bf16 or fp16: weights that a kernel converts",
     in_key},
    {"acc_dtype", Kind::dtype, false, "", accumulator_dtypes,
     "type of the sums; default: fp32 (int8: int32, fp64: fp64)", in_key},
    {"out_dtype", Kind::dtype, false, "", result_dtypes,
     "element type of C; default: dtype (fp8 and types with block scales: bf16, int8: int32)", in_key},
    {"a_major", Kind::choice, false, "k", a_majors, "contiguous index of A", in_key},
    {"b_major", Kind::choice, false, "k", b_majors, "contiguous index of B", in_key},
    {"lda",
     Kind::size,
     false,
     "",
     {},
     "elements from one row of A (a_major m: column) to the next; default: packed",
     in_key},
    {"ldb",
     Kind::size,
     false,
     "",
     {},
     "elements from one column of B (b_major n: row) to the next; default: packed",
     in_key},
    {"ldc", Kind::size, false, "", {}, "elements from one row of C to the next; default: packed", in_key},
    {"epilogue", Kind::choice, false, "none", epilogues,
     "what is applied to C before it is stored; bias: a vector of n; residual: a matrix like C", in_key},
    {"implementation", Kind::choice, false, "cublas", implementations,
     "library whose kernel runs; inductor: Triton's from torch.compile, with strides as constants",
     configuration},
    {"cta_tile",
     Kind::extent3,
     false,
     "",
     {},
     "MxNxK of one CTA, as 128x256x64; default: the library's choice",
     configuration,
     "tile"},
    {"cluster", Kind::extent2, false, "", {}, "MxN CTAs of a cluster, as 2x1", configuration},
    {"stages", Kind::integer, false, "", {}, "K slices in flight in shared memory", configuration},
    {"warps",
     Kind::integer,
     false,
     "",
     {},
     "all warps of a CTA (triton), consumer warps (cutlass)",
     configuration},
    {"group_m",
     Kind::integer,
     false,
     "",
     {},
     "rows of CTA tiles that are walked together (GROUP_M)",
     configuration},
    {"raster", Kind::choice, false, "", rasters, "direction in which CTA tiles are handed out",
     configuration},
    {"split_k", Kind::integer, false, "", {}, "CTAs that share one tile along K", configuration},
    {"slice_k",
     Kind::integer,
     false,
     "1",
     {},
     "groups of a CTA's warps that share a stage along K (sliced K)",
     configuration},
    {"reduction", Kind::choice, false, "", reductions, "how the parts of a split K are summed",
     configuration},
    {"schedule", Kind::choice, false, "", schedules, "how tiles are handed to CTAs", configuration},
    {"pipeline", Kind::choice, false, "", pipelines, "how operands reach shared memory", configuration},
    {"specialization", Kind::choice, false, "", specializations, "roles of the warps of a CTA",
     configuration},
    {"mma", Kind::choice, false, "auto", mmas, "matrix instruction", configuration},
    {"registers", Kind::integer, false, "", {}, "registers per thread; default: estimated", configuration},
    {"shared_bytes",
     Kind::integer,
     false,
     "",
     {},
     "dynamic shared memory per CTA; default: worked out",
     configuration},
});

}  // namespace

int scale_block_of(std::string_view dtype) {
    return dtype == "nvfp4" ? 16 : dtype.starts_with("mx") ? 32 : 0;
}

std::span<const ParameterInfo> parameters() {
    return all;
}

std::string default_of(const Operation& operation, std::string_view parameter) {
    if (parameter == "dtype_b") {
        return value_of(operation, "dtype");
    }
    if (parameter == "acc_dtype" || parameter == "out_dtype") {
        const std::string dtype = value_of(operation, "dtype");
        if (dtype == "int8") {
            return "int32";
        }
        if (parameter == "acc_dtype") {
            return dtype == "fp64" ? "fp64" : "fp32";
        }
        return dtype == "fp8" || scale_block_of(dtype) > 0 ? "bf16" : dtype;
    }
    if (parameter == "lda") {
        return value_of(operation, value_of(operation, "a_major") == "k" ? "k" : "m");
    }
    if (parameter == "ldb") {
        return value_of(operation, value_of(operation, "b_major") == "k" ? "k" : "n");
    }
    return parameter == "ldc" ? value_of(operation, "n") : "";
}

std::string why_unused(const Operation& operation, std::string_view parameter) {
    if (parameter == "acc_dtype") {
        const std::string sums = default_of(operation, parameter);
        return value_of(operation, parameter) == sums ? "" : sums + ": sums of another type are not modelled";
    }
    if (parameter == "reduction") {
        const std::string splits = value_of(operation, "split_k");
        if (splits.empty() || splits == "1") {
            return "nothing without a split_k above 1: there are no parts to sum";
        }
    }
    const ParameterInfo* info = find_parameter(all, parameter);
    const bool of_kernel = info != nullptr && !info->part_of_key;
    if (!of_kernel || !value_of(operation, "cta_tile").empty()) return "";
    if (value_of(operation, parameter) == info->default_value) return "";
    if (parameter == "implementation") {
        return "cublas, or a cta_tile: kernels of another implementation are given by their tile";
    }
    return "nothing without a cta_tile: the library chooses its kernel";
}

std::string value_of(const Operation& operation, std::string_view parameter) {
    const auto given = operation.parameters.find(parameter);
    return given != operation.parameters.end() ? given->second
                                               : default_value_of(operation, parameter, all, default_of);
}

}  // namespace warptime::workloads::gemm
