// The functions of the CUDA driver that describe tensors for copies of boxes by the hardware.
// SPDX-License-Identifier: Apache-2.0
//
// Interleaved layouts, packed elements of 4 and 6 bits and swizzles of larger pieces are refused as not
// supported.
#include "bindings/standin/driver.hpp"
#include "workloads/frontends/machine/interpreter/tensor_map.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace warptime::standin {

namespace {

using machine::TensorElement;
using machine::TensorMap;

/// By CUtensorMapDataType; the last three are fp32 without denormals and two forms of tf32, kept as fp32.
constexpr std::array element_types{
    TensorElement::u8,  TensorElement::u16, TensorElement::u32, TensorElement::s32, TensorElement::u64,
    TensorElement::s64, TensorElement::f16, TensorElement::f32, TensorElement::f64, TensorElement::bf16,
    TensorElement::f32, TensorElement::f32, TensorElement::f32};
constexpr unsigned last_element_type = 15;  ///< of CUDA's
/// By CUtensorMapSwizzle, in bytes.
constexpr std::array<std::uint8_t, 4> swizzles{0, 32, 64, 128};
constexpr unsigned last_swizzle = 6, last_interleave = 2, last_promotion = 3;
constexpr std::uint64_t map_alignment = 64;

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
            (rank > 1 && strides == nullptr) || type > last_element_type || interleave > last_interleave ||
            swizzle > last_swizzle || promotion > last_promotion || fill > 1) {
            return DriverError::invalid_value;
        }
        if (type >= element_types.size() || interleave != 0 || swizzle >= swizzles.size()) {
            (void)not_provided("cuTensorMapEncodeTiled with such an element type, interleave or swizzle");
            return DriverError::not_supported;
        }
        TensorMap map;
        map.address = reinterpret_cast<std::uint64_t>(address);
        map.rank = static_cast<std::uint8_t>(rank);
        map.element = element_types[type];
        map.swizzle_bytes = swizzles[swizzle];
        map.nan_fill = fill != 0;
        std::copy_n(extents, rank, map.extents.begin());
        std::copy_n(strides, rank - 1, map.strides.begin());
        std::copy_n(box, rank, map.box.begin());
        std::copy_n(steps, rank, map.steps.begin());
        if (machine::broken_rule(map)) {
            return DriverError::invalid_value;
        }
        machine::write_tensor_map(map, to);
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuTensorMapReplaceAddress(void* to, void* address) {
    return with_device([&] {
        auto map = to == nullptr ? std::nullopt : machine::read_tensor_map(to);
        if (!map) {
            return DriverError::invalid_value;
        }
        map->address = reinterpret_cast<std::uint64_t>(address);
        if (machine::broken_rule(*map)) {
            return DriverError::invalid_value;
        }
        machine::write_tensor_map(*map, to);
        return DriverError::success;
    });
}

}  // namespace warptime::standin
