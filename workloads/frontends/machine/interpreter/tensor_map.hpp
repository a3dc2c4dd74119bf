// The descriptor of a tensor for copies of boxes (CUtensorMap), in a form of our own.
// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA does not publish the form that the hardware reads. Host programs only ever hand the 128 bytes from
// the function that encodes them to a kernel, and both are ours here. Maps that device code writes itself
// cannot be read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace warptime::workloads::frontends::machine {

inline constexpr std::size_t max_tensor_rank = 5;
inline constexpr std::size_t tensor_map_bytes = 128;

enum class TensorElement : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16 };

/// Extents and boxes in elements, fastest dimension first; strides in bytes, of dimension 1 and up.
struct TensorMap {
    std::uint64_t address = 0;
    std::array<std::uint64_t, max_tensor_rank - 1> strides{};
    std::array<std::uint64_t, max_tensor_rank> extents{};  // 80 bytes up to here
    std::array<std::uint16_t, max_tensor_rank> box{};
    std::array<std::uint8_t, max_tensor_rank> steps{1, 1, 1, 1, 1};  ///< element strides within the tensor
    std::uint8_t rank = 1;
    std::uint8_t element_bytes = 4;
    TensorElement element = TensorElement::f32;
    std::uint8_t swizzle_bytes = 0;  ///< 0, 32, 64 or 128
    std::uint8_t nan_fill = 0;

    [[nodiscard]] std::uint64_t box_bytes() const {
        std::uint64_t bytes = element_bytes;
        for (std::size_t d = 0; d < rank; ++d) {
            bytes *= box[d];
        }
        return bytes;
    }
};

inline constexpr std::uint64_t tensor_map_mark = 0x70616d2d65707277ULL;
static_assert(sizeof(TensorMap) + sizeof tensor_map_mark <= tensor_map_bytes);

inline void write_tensor_map(const TensorMap& map, void* to) {
    std::memset(to, 0, tensor_map_bytes);
    std::memcpy(to, &tensor_map_mark, sizeof tensor_map_mark);
    std::memcpy(static_cast<std::byte*>(to) + sizeof tensor_map_mark, &map, sizeof map);
}

/// None when the bytes were not written by write_tensor_map.
[[nodiscard]] inline std::optional<TensorMap> read_tensor_map(const void* from) {
    std::uint64_t mark = 0;
    std::memcpy(&mark, from, sizeof mark);
    if (mark != tensor_map_mark) {
        return std::nullopt;
    }
    TensorMap map;
    std::memcpy(&map, static_cast<const std::byte*>(from) + sizeof mark, sizeof map);
    return map;
}

}  // namespace warptime::workloads::frontends::machine
