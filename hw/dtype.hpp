// The element types that kernels compute with, their sizes and names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace warptime::hw {

/// fp8 is e4m3 or e5m2 alike: both have the same size and rate on every supported GPU. The last three are
/// operands of products with block scales, as shared memory holds them: mxfp6 (e2m3 or e3m2) has a byte of
/// its own there, and fp4x2 is two e2m1 in one byte.
enum class Dtype : std::uint8_t {
    bf16,
    fp16,
    tf32,
    fp32,
    fp8,
    int8,
    fp64,
    int32,
    int64,
    b1,
    mxfp8,
    mxfp6,
    fp4x2
};

/// Size of one element in memory, in bits. tf32 is stored as 32-bit words.
[[nodiscard]] constexpr int bits_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::bf16:
        case Dtype::fp16:
            return 16;
        case Dtype::tf32:
        case Dtype::fp32:
        case Dtype::int32:
            return 32;
        case Dtype::fp8:
        case Dtype::int8:
        case Dtype::mxfp8:
        case Dtype::mxfp6:
        case Dtype::fp4x2:
            return 8;
        case Dtype::fp64:
        case Dtype::int64:
            return 64;
        case Dtype::b1:
            return 1;
    }
    return 0;
}

/// Size in bytes; types below one byte are not addressable and give 1.
[[nodiscard]] constexpr int bytes_of(Dtype dtype) {
    return bits_of(dtype) < 8 ? 1 : bits_of(dtype) / 8;
}

/// Numbers in one element.
[[nodiscard]] constexpr int numbers_in(Dtype dtype) {
    return dtype == Dtype::fp4x2 ? 2 : 1;
}

[[nodiscard]] std::string_view to_string(Dtype dtype);

/// Reads a name of the enumeration, such as "bf16". Throws Error naming `parameter` and the nearest name.
[[nodiscard]] Dtype parse_dtype(std::string_view text, std::string_view parameter = "dtype");

}  // namespace warptime::hw
