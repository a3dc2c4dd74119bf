// Shapes and arguments of a launch as users write them: "64x64", "buffer:4096:random 4096 1.5f".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/image/module.hpp"
#include "workloads/frontends/machine/memory/device_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends {

enum class BufferContents : std::uint8_t { zeros, random, iota, file };

/// One argument: a buffer, or a number.
struct LaunchArgument {
    bool buffer = false;
    std::uint64_t bytes = 0;  ///< of a buffer
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

/// Arguments separated by blanks: buffer:BYTES[:zeros|random|iota|file=PATH], integers, and reals
/// (1.5, 1.5f).
[[nodiscard]] std::vector<LaunchArgument> parse_arguments(std::string_view text);

/// The parameters' bytes, with buffers in the memory. Pointers that are not given are null. Throws Error
/// naming the argument that a parameter cannot take.
[[nodiscard]] std::vector<std::byte> place_arguments(const std::vector<LaunchArgument>& arguments,
                                                     const machine::Function& function,
                                                     machine::DeviceMemory& memory);

}  // namespace warptime::workloads::frontends
