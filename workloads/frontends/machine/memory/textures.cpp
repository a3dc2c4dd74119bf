// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/memory/textures.hpp"

#include <algorithm>
#include <bit>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint64_t group_width = 64, group_height = 8, group_bytes = group_width * group_height;
constexpr std::uint64_t most_groups = 16;  // of a block, one above another

std::uint64_t parts(std::uint64_t whole, std::uint64_t part) {
    return (whole + part - 1) / part;
}

/// Groups of a block: as many as the image needs, a power of two.
std::uint64_t groups_of_block(const TexelArray& array) {
    return std::min(most_groups, std::bit_ceil(parts(array.size[1], group_height)));
}

std::uint64_t slice_bytes(const TexelArray& array) {
    const std::uint64_t width = std::uint64_t{array.size[0]} * static_cast<unsigned>(array.format.bytes());
    const std::uint64_t high = groups_of_block(array);
    return parts(width, group_width) * parts(array.size[1], high * group_height) * high * group_bytes;
}

/// Offset of a byte within its group: sectors of 16 bytes by 2 rows, lines of 32 bytes by 4.
std::uint64_t within_group(std::uint64_t x, std::uint64_t y) {
    return x / 32 * 256 + y / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
}

}  // namespace

std::uint64_t TexelArray::bytes() const {
    const std::uint64_t width = std::uint64_t{size[0]} * static_cast<unsigned>(format.bytes());
    switch (layout) {
        case Layout::line:
            return width;
        case Layout::rows:
            return size[1] == 0 ? 0 : row_bytes * (size[1] - 1) + width;
        default:
            return slice_bytes(*this) * size[2];
    }
}

std::uint64_t TexelArray::place(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    const std::uint64_t along = std::uint64_t{x} * static_cast<unsigned>(format.bytes());
    if (layout == Layout::line) return address + along;
    if (layout == Layout::rows) return address + y * row_bytes + along;
    const std::uint64_t width = std::uint64_t{size[0]} * static_cast<unsigned>(format.bytes());
    const std::uint64_t high = groups_of_block(*this);
    const std::uint64_t block = y / (high * group_height) * parts(width, group_width) + along / group_width;
    const std::uint64_t group = block * high + y / group_height % high;
    return address + slice_bytes(*this) * z + group * group_bytes +
           within_group(along % group_width, y % group_height);
}

std::uint64_t TextureTable::add(const Texture& texture) {
    textures_[next_] = texture;
    return next_++;
}

const Texture* TextureTable::find(std::uint64_t handle) const {
    const auto found = textures_.find(handle);
    return found == textures_.end() ? nullptr : &found->second;
}

}  // namespace warptime::workloads::frontends::machine
