// Matrix products of a warpgroup (wgmma), whose operands lie in shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"

#include <cstdint>

namespace warptime::workloads::frontends::machine {

/// Where a matrix lies in shared memory: the 64-bit descriptor (PTX ISA, "Matrix descriptor format").
struct MatrixDescriptor {
    std::uint32_t start = 0;          ///< bytes
    std::uint32_t leading_step = 0;   ///< bytes
    std::uint32_t stride_step = 0;    ///< bytes
    std::uint32_t swizzle_bytes = 0;  ///< 0, 32, 64 or 128
};

[[nodiscard]] MatrixDescriptor descriptor_of(std::uint64_t bits);

/// Offset in shared memory of an element: `outer` along m or n, `inner` along k, both in elements. With
/// `transposed` the elements along m or n lie side by side.
[[nodiscard]] std::uint32_t element_offset(const MatrixDescriptor& descriptor, bool transposed,
                                           std::uint32_t element_bytes, std::uint32_t outer,
                                           std::uint32_t inner);

void decode_warpgroup_product(Decoder& decoder, Instruction& instruction);  ///< HGMMA, QGMMA, IGMMA

}  // namespace warptime::workloads::frontends::machine
