// The functions of the CUDA driver that describe tensors for copies of boxes by the hardware.
// SPDX-License-Identifier: Apache-2.0
//
// The rules that arguments are checked for are those of the CUDA Driver API, version 13.0. Interleaved
// layouts, packed elements of 4 and 6 bits and swizzles of larger pieces are refused as not supported.
#include "bindings/standin/driver.hpp"
#include "workloads/frontends/machine/interpreter/tensor_map.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace warptime::standin {

namespace {

using machine::TensorElement;
using machine::TensorMap;

struct ElementType {
    TensorElement element;
    std::uint8_t bytes;
    bool floating;
};

/// By CUtensorMapDataType; the last three are fp32 without denormals and two forms of tf32, kept as fp32.
constexpr std::array element_types{
    ElementType{TensorElement::u8, 1, false},  ElementType{TensorElement::u16, 2, false},
    ElementType{TensorElement::u32, 4, false}, ElementType{TensorElement::s32, 4, false},
    ElementType{TensorElement::u64, 8, false}, ElementType{TensorElement::s64, 8, false},
    ElementType{TensorElement::f16, 2, true},  ElementType{TensorElement::f32, 4, true},
    ElementType{TensorElement::f64, 8, true},  ElementType{TensorElement::bf16, 2, true},
    ElementType{TensorElement::f32, 4, true},  ElementType{TensorElement::f32, 4, true},
    ElementType{TensorElement::f32, 4, true}};
constexpr unsigned last_element_type = 15;  ///< of CUDA's
/// By CUtensorMapSwizzle, in bytes.
constexpr std::array<std::uint8_t, 4> swizzles{0, 32, 64, 128};
constexpr unsigned last_swizzle = 6, last_interleave = 2, last_promotion = 3;

constexpr std::uint64_t max_extent = std::uint64_t{1} << 32U;
constexpr std::uint64_t max_stride = std::uint64_t{1} << 40U;
constexpr std::uint32_t max_box = 256, max_step = 8;
constexpr std::uint64_t line = 16;
constexpr std::uint64_t map_alignment = 64;

struct Dimensions {
    const std::uint64_t* extents;
    const std::uint64_t* strides;
    const std::uint32_t* box;
    const std::uint32_t* steps;
};

/// False where a dimension breaks a rule.
bool set_dimensions(TensorMap& map, const Dimensions& given) {
    for (std::size_t d = 0; d < map.rank; ++d) {
        // Steps along the fastest dimension are ignored by the hardware.
        const std::uint32_t step = d == 0 ? 1 : given.steps[d];
        if (given.extents[d] == 0 || given.extents[d] > max_extent || given.box[d] == 0 ||
            given.box[d] > max_box || given.steps[d] == 0 || given.steps[d] > max_step) {
            return false;
        }
        map.extents[d] = given.extents[d];
        map.steps[d] = static_cast<std::uint8_t>(step);
        // A box is given by the elements that it spans, and holds each step-th of them.
        map.box[d] = static_cast<std::uint16_t>((given.box[d] + step - 1) / step);
        if (d + 1 < map.rank) {
            if (given.strides[d] % line != 0 || given.strides[d] >= max_stride) {
                return false;
            }
            map.strides[d] = given.strides[d];
        }
    }
    const std::uint64_t row = std::uint64_t{map.box[0]} * map.element_bytes;
    return row % line == 0 && (map.swizzle_bytes == 0 || row <= map.swizzle_bytes);
}

}  // namespace

WARPTIME_DRIVER DriverError cuTensorMapEncodeTiled(void* to, unsigned type, std::uint32_t rank, void* address,
                                                   const std::uint64_t* extents, const std::uint64_t* strides,
                                                   const std::uint32_t* box, const std::uint32_t* steps,
                                                   unsigned interleave, unsigned swizzle, unsigned promotion,
                                                   unsigned fill) {
    return with_device([&] {
        if (device().chip().architecture < 90) {
            return DriverError::not_supported;
        }
        if (to == nullptr || reinterpret_cast<std::uint64_t>(to) % map_alignment != 0 || rank == 0 ||
            rank > machine::max_tensor_rank || extents == nullptr || box == nullptr || steps == nullptr ||
            (rank > 1 && strides == nullptr) || reinterpret_cast<std::uint64_t>(address) % line != 0 ||
            type > last_element_type || interleave > last_interleave || swizzle > last_swizzle ||
            promotion > last_promotion || fill > 1) {
            return DriverError::invalid_value;
        }
        if (type >= element_types.size() || interleave != 0 || swizzle >= swizzles.size()) {
            (void)not_provided("cuTensorMapEncodeTiled with such an element type, interleave or swizzle");
            return DriverError::not_supported;
        }
        TensorMap map;
        map.address = reinterpret_cast<std::uint64_t>(address);
        map.rank = static_cast<std::uint8_t>(rank);
        map.element = element_types[type].element;
        map.element_bytes = element_types[type].bytes;
        map.swizzle_bytes = swizzles[swizzle];
        map.nan_fill = static_cast<std::uint8_t>(fill);
        if ((fill != 0 && !element_types[type].floating) ||
            !set_dimensions(map, {extents, strides, box, steps})) {
            return DriverError::invalid_value;
        }
        machine::write_tensor_map(map, to);
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuTensorMapReplaceAddress(void* to, void* address) {
    return with_device([&] {
        auto map = to == nullptr ? std::nullopt : machine::read_tensor_map(to);
        if (!map || reinterpret_cast<std::uint64_t>(address) % line != 0) {
            return DriverError::invalid_value;
        }
        map->address = reinterpret_cast<std::uint64_t>(address);
        machine::write_tensor_map(*map, to);
        return DriverError::success;
    });
}

}  // namespace warptime::standin
