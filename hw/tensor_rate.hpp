// Dense rate of the tensor cores for one element type, and the types that they multiply.
// Ignores: sparsity, and the instruction that feeds them.
// Source: the keys tensor.* of the sheet.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "hw/gpu.hpp"

#include <string>

namespace warptime::hw {

/// Operations per cycle and SM; 0 where the tensor cores lack the type. fp32 operands run as tf32.
[[nodiscard]] inline OperationsPerCycle tensor_rate(Dtype dtype, const GpuKeys& gpu) {
    switch (dtype) {
        case Dtype::bf16:
            return gpu.tensor.bf16;
        case Dtype::fp16:
            return gpu.tensor.fp16;
        case Dtype::tf32:
        case Dtype::fp32:
            return gpu.tensor.tf32;
        case Dtype::fp8:
            return gpu.tensor.fp8;
        case Dtype::int8:
            return gpu.tensor.int8;
        case Dtype::fp64:
            return gpu.tensor.fp64;
        case Dtype::mxfp8:
            return gpu.tensor.mxfp8;
        case Dtype::mxfp6:
            return gpu.tensor.mxfp6;
        case Dtype::fp4x2:
            return gpu.tensor.fp4;
        case Dtype::int32:
        case Dtype::int64:
        case Dtype::b1:
            break;
    }
    return OperationsPerCycle(0.0);
}

/// Types with a rate, for messages: "fp16, int8".
[[nodiscard]] inline std::string tensor_dtypes(const GpuKeys& gpu) {
    std::string names;
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp16, Dtype::tf32, Dtype::fp8, Dtype::int8, Dtype::fp64,
                              Dtype::mxfp8, Dtype::mxfp6, Dtype::fp4x2}) {
        if (tensor_rate(dtype, gpu).value() > 0.0) {
            names += names.empty() ? "" : ", ";
            names += dtype == Dtype::fp4x2 ? "mxfp4, nvfp4" : to_string(dtype);
        }
    }
    return names;
}

}  // namespace warptime::hw
