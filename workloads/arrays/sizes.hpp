// The sizes, types and words of an operator over arrays, read from its parameters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "workloads/operator/operation.hpp"
#include "workloads/operator/parameter.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace warptime::workloads::arrays {

/// Each operator has some of these; the others keep their values.
struct Sizes {
    std::int64_t n = 1;
    std::int64_t rows = 1;
    std::int64_t cols = 1;
    std::int64_t k = 1;
    std::int64_t indices = 1;
    std::int64_t size = 1;
    std::int64_t radius = 1;
    std::int64_t tensors = 1;
    std::int64_t inputs = 1;
    std::int64_t outputs = 1;
    std::int64_t flops = 0;
    std::int64_t bins = 1;
    std::int64_t heads = 1;
    std::int64_t row = 0;  ///< elements between two gaps of arrays that do not lie alike; 0: they lie alike
    std::int64_t dims = 2;
    std::int64_t repeated = 0;  ///< of the inputs, those that every row reads alike
    hw::Dtype dtype = hw::Dtype::bf16;
    hw::Dtype out_dtype = hw::Dtype::bf16;
    bool matrix = false;  ///< rows and cols are given
    bool torch = true;    ///< PyTorch's own kernels, not the ideal ones
    bool gaps = false;    ///< a part has gaps between its rows

    [[nodiscard]] std::int64_t element_bytes() const { return hw::bytes_of(dtype); }
    /// Elements of the matrix, or of the vector; the largest number where the product is larger.
    [[nodiscard]] std::int64_t elements() const {
        constexpr std::int64_t most = std::int64_t{1} << 60;
        return !matrix ? n : rows > most / cols ? most : rows * cols;
    }
};

/// What a type is cast to unless said otherwise.
[[nodiscard]] hw::Dtype usual_cast(hw::Dtype dtype);

/// Null for a parameter that holds no size.
[[nodiscard]] std::int64_t Sizes::*size_of(std::string_view parameter);

[[nodiscard]] Sizes read_sizes(const Operation& operation, std::span<const ParameterInfo> parameters);

inline constexpr std::array<std::string_view, 3> real_dtypes{"bf16", "fp16", "fp32"};
inline constexpr std::array<std::string_view, 4> wide_dtypes{"bf16", "fp16", "fp32", "fp64"};
inline constexpr std::array<std::string_view, 8> all_dtypes{"bf16", "fp16", "fp32",  "fp64",
                                                            "fp8",  "int8", "int32", "int64"};
inline constexpr std::array<std::string_view, 7> number_dtypes{"bf16", "fp16",  "fp32", "fp64",
                                                               "int8", "int32", "int64"};
inline constexpr std::array<std::string_view, 2> implementations{"torch", "ideal"};
inline constexpr std::array<std::string_view, 2> layouts{"contiguous", "gaps"};

[[nodiscard]] constexpr ParameterInfo dtype_parameter(std::span<const std::string_view> dtypes) {
    return {"dtype", ParameterKind::dtype, false, "bf16", dtypes, "element type", true};
}
[[nodiscard]] constexpr ParameterInfo implementation_parameter() {
    return {"implementation",
            ParameterKind::choice,
            false,
            "torch",
            implementations,
            "torch: PyTorch's own kernels; ideal: the best kernel the model can write",
            false};
}
[[nodiscard]] constexpr ParameterInfo optional_size(std::string_view name, std::string_view usual,
                                                    std::string_view meaning) {
    return {name, ParameterKind::size, false, usual, {}, meaning, true};
}

}  // namespace warptime::workloads::arrays
