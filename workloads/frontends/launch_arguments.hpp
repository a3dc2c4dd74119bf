// Shapes and arguments of a launch as users write them: "64x64", "buffer:4096:random 4096 1.5f", tensor maps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/image/module.hpp"
#include "workloads/frontends/machine/interpreter/tensor_map.hpp"
#include "workloads/frontends/machine/memory/device_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends {

enum class BufferContents : std::uint8_t { zeros, random, iota, file };

/// One argument: a buffer, a buffer with the map of a tensor in it, or a number.
struct LaunchArgument {
    bool buffer = false;
    std::uint64_t bytes = 0;  ///< of a buffer
    std::optional<machine::TensorMap>
        map;  ///< what the kernel is given in place of a pointer; without address
    BufferContents contents = BufferContents::zeros;
    std::string path;   ///< of a file
    bool real = false;  ///< of a number
    std::int64_t integer = 0;
    double value = 0.0;
    std::string text;  ///< as given
};

/// "64", "64x64" or "64x64x2": from 1 to 2^31 - 1 each. Throws Error naming `parameter`.
[[nodiscard]] std::array<std::uint32_t, 3> parse_shape(std::string_view parameter, std::string_view text);
/// A number of bytes; empty is 0.
[[nodiscard]] std::int64_t parse_bytes(std::string_view parameter, std::string_view text);

/// Arguments separated by blanks: buffer:BYTES[:CONTENTS], integers, reals (1.5, 1.5f), and tensor maps:
/// map:BYTES:CONTENTS:TYPE:EXTENTS:STRIDES:BOX:SWIZZLE. CONTENTS is zeros, random, iota or file=PATH. TYPE is
/// u8, u16, u32, s32, u64, s64, f16, f32, f64 or bf16. EXTENTS and BOX are in elements, as 4096x1000, the
/// fastest dimension first; STRIDES are in bytes, of the second dimension and up, as 8192, and empty where
/// there is one dimension; SWIZZLE is 0, 32, 64 or 128 (bytes). The rules are those of
/// cuTensorMapEncodeTiled, and the tensor lies within BYTES. Throws Error naming the argument and the form or
/// the rule.
[[nodiscard]] std::vector<LaunchArgument> parse_arguments(std::string_view text);

/// The parameters' bytes, with buffers in the memory, and tensor maps where parameters have 128 bytes.
/// Pointers that are not given are null. Throws Error naming the argument that a parameter cannot take.
[[nodiscard]] std::vector<std::byte> place_arguments(const std::vector<LaunchArgument>& arguments,
                                                     const machine::Function& function,
                                                     machine::DeviceMemory& memory);

}  // namespace warptime::workloads::frontends
