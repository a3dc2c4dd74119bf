// The descriptor of a tensor for copies of boxes (CUtensorMap): 128 bytes that hosts encode and kernels
// change.
// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA does not publish the form that the hardware reads. But `ptxas` expands each field of PTX's
// tensormap.replace to code that writes bits of it, the same ones for sm_90a, sm_100a and sm_120a. The form
// here is the one that this code writes, so maps that a kernel makes are read like those of the host. Bits
// that no field reaches are zero here. Interleaved layouts, elements of 4 and 6 bits and other atoms of
// swizzles are not read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warptime::workloads::frontends::machine {

inline constexpr std::size_t max_tensor_rank = 5;
inline constexpr std::size_t tensor_map_bytes = 128;

enum class TensorElement : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16 };

[[nodiscard]] std::uint8_t bytes_of(TensorElement element);
[[nodiscard]] bool is_floating(TensorElement element);

/// Extents and boxes in elements, fastest dimension first; strides in bytes, of dimension 1 and up.
struct TensorMap {
    std::uint64_t address = 0;
    std::array<std::uint64_t, max_tensor_rank - 1> strides{};
    std::array<std::uint64_t, max_tensor_rank> extents{1, 1, 1, 1, 1};
    std::array<std::uint32_t, max_tensor_rank> box{1, 1, 1, 1, 1};  ///< elements that a box spans
    /// A box holds each step-th element that it spans; the hardware ignores the step of the first dimension.
    std::array<std::uint32_t, max_tensor_rank> steps{1, 1, 1, 1, 1};
    std::uint8_t rank = 1;
    TensorElement element = TensorElement::f32;
    std::uint8_t swizzle_bytes = 0;  ///< 0, 32, 64 or 128
    bool nan_fill = false;           ///< what lies outside of the tensor reads as not-a-number, not as 0

    bool operator==(const TensorMap&) const = default;

    [[nodiscard]] std::uint32_t step(std::size_t d) const { return d == 0 ? 1 : steps[d]; }
    /// Elements of a box along a dimension.
    [[nodiscard]] std::uint32_t held(std::size_t d) const { return (box[d] + step(d) - 1) / step(d); }
    [[nodiscard]] std::uint64_t row_bytes() const { return std::uint64_t{held(0)} * bytes_of(element); }
    [[nodiscard]] std::uint64_t box_bytes() const;
    /// From the tensor's first byte to behind its last one; 2^64 - 1 where that is more.
    [[nodiscard]] std::uint64_t tensor_bytes() const;
};

/// What cuTensorMapEncodeTiled expects where the map breaks a rule of it (CUDA Driver API 13.0); none where
/// it keeps all. An address of 0 keeps them.
[[nodiscard]] std::optional<std::string_view> broken_rule(const TensorMap& map);

/// Writes 128 bytes. The map has kept all rules.
void write_tensor_map(const TensorMap& map, void* to);

/// None where the 128 bytes are no map: all zero, bits that no field has, an address that is no multiple of
/// 16, or what the heading says is not read. The tensor's memory remains to be checked.
[[nodiscard]] std::optional<TensorMap> read_tensor_map(const void* from);

}  // namespace warptime::workloads::frontends::machine
