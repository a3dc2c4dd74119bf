// Parameters of the operators that pass once over flat arrays: copy and add.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/registry.hpp"

namespace warptime::workloads {

namespace {

constexpr std::array<std::string_view, 8> dtypes{"bf16", "fp16", "fp32",  "fp64",
                                                 "fp8",  "int8", "int32", "int64"};
constexpr std::array<std::string_view, 2> implementations{"torch", "ideal"};

constexpr std::array<ParameterInfo, 3> parameters{{
    required_size("n", "elements of each array"),
    {"dtype", ParameterKind::dtype, false, "bf16", dtypes, "element type", true},
    {"implementation", ParameterKind::choice, false, "torch", implementations,
     "torch: PyTorch's own kernel; ideal: the best kernel the model can write", false},
}};

}  // namespace

const OperatorInfo& copy_operator() {
    static constexpr OperatorInfo info{"copy", "b.copy_(a): reads n elements, writes n elements",
                                       "warptime predict copy 67108864 --dtype bf16 --gpu h200-sxm",
                                       parameters};
    return info;
}

const OperatorInfo& add_operator() {
    static constexpr OperatorInfo info{"add", "torch.add(a, b, out=c): reads 2 n elements, writes n elements",
                                       "warptime predict add 67108864 --dtype fp32 --gpu h200-sxm",
                                       parameters};
    return info;
}

}  // namespace warptime::workloads
