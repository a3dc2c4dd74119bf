// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/tensor_map.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace warptime::workloads::frontends::machine {

namespace {

// 32-bit words of the map. Words 0 and 1 are the address; words 15 and up belong to no field.
constexpr std::size_t format_word = 2, stride_word = 3, high_strides_word = 7, extent_word = 8;
constexpr std::size_t steps_word = 13, boxes_word = 14, words = 15;

/// Bits of a word.
struct Field {
    std::uint32_t shift = 0, bits = 0;

    [[nodiscard]] constexpr std::uint32_t mask() const { return ((1U << bits) - 1U) << shift; }
    [[nodiscard]] constexpr std::uint32_t of(std::uint32_t word) const { return (word & mask()) >> shift; }
    [[nodiscard]] constexpr std::uint32_t holding(std::uint32_t value) const {
        return (value << shift) & mask();
    }
};

// Of the word of the format. The rank is one less than the dimensions.
constexpr Field rank_field{4, 3}, element_field{7, 4}, interleave_field{11, 2}, swizzle_field{13, 2};
constexpr Field fill_field{15, 1};
constexpr std::uint32_t format_mask = rank_field.mask() | element_field.mask() | interleave_field.mask() |
                                      swizzle_field.mask() | fill_field.mask();

/// Bits 36 to 39 of a stride, which words of strides have no place for: they count 16 bytes.
constexpr Field high_stride_field(std::size_t d) {
    return {4 * static_cast<std::uint32_t>(d), 4};
}
constexpr std::uint32_t stride_unit_bits = 4, word_bits = 32;

/// Steps are one less than given. The first box shares their word.
constexpr Field step_field(std::size_t d) {
    return {3 * static_cast<std::uint32_t>(d), 3};
}
constexpr Field first_box_field{24, 8};
constexpr std::uint32_t steps_mask = ((1U << 15U) - 1U) | first_box_field.mask();
constexpr std::uint32_t high_strides_mask = (1U << 16U) - 1U;

/// Boxes are one less than given.
constexpr Field box_field(std::size_t d) {
    return d == 0 ? first_box_field : Field{8 * (static_cast<std::uint32_t>(d) - 1), 8};
}
constexpr std::size_t box_word(std::size_t d) {
    return d == 0 ? steps_word : boxes_word;
}

/// By PTX's numbers for .elemtype. Numbers 8, 11 and 12 are fp32 without denormals and two forms of tf32,
/// which are kept as fp32.
constexpr std::array element_types{
    TensorElement::u8,   TensorElement::u16, TensorElement::u32, TensorElement::s32, TensorElement::u64,
    TensorElement::s64,  TensorElement::f16, TensorElement::f32, TensorElement::f32, TensorElement::f64,
    TensorElement::bf16, TensorElement::f32, TensorElement::f32};
/// By PTX's numbers for .swizzle_mode.
constexpr std::array<std::uint8_t, 4> swizzles{0, 32, 64, 128};

constexpr std::uint64_t max_extent = std::uint64_t{1} << 32U;
constexpr std::uint64_t max_stride = std::uint64_t{1} << 40U;
constexpr std::uint32_t max_box = 256, max_step = 8;
constexpr std::uint64_t line = 16;

template <class Values, class T>
std::uint32_t place_of(const Values& values, T value) {
    return static_cast<std::uint32_t>(std::ranges::find(values, value) - values.begin());
}

}  // namespace

std::uint8_t bytes_of(TensorElement element) {
    switch (element) {
        case TensorElement::u8:
            return 1;
        case TensorElement::u16:
        case TensorElement::f16:
        case TensorElement::bf16:
            return 2;
        case TensorElement::u32:
        case TensorElement::s32:
        case TensorElement::f32:
            return 4;
        case TensorElement::u64:
        case TensorElement::s64:
        case TensorElement::f64:
            return 8;
    }
    return 0;
}

bool is_floating(TensorElement element) {
    return element == TensorElement::f16 || element == TensorElement::bf16 || element == TensorElement::f32 ||
           element == TensorElement::f64;
}

std::uint64_t TensorMap::box_bytes() const {
    std::uint64_t bytes = bytes_of(element);
    for (std::size_t d = 0; d < rank; ++d) {
        bytes *= held(d);
    }
    return bytes;
}

std::uint64_t TensorMap::tensor_bytes() const {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t bytes = extents[0] * bytes_of(element);
    for (std::size_t d = 1; d < rank; ++d) {
        const std::uint64_t steps_along = extents[d] - 1, stride = strides[d - 1];
        if (stride != 0 && steps_along > (most - bytes) / stride) {
            return most;
        }
        bytes += steps_along * stride;
    }
    return bytes;
}

std::optional<std::string_view> broken_rule(const TensorMap& map) {
    if (map.rank < 1 || map.rank > max_tensor_rank) {
        return "one to five dimensions";
    }
    if (map.address % line != 0) {
        return "an address that is a multiple of 16";
    }
    for (std::size_t d = 0; d < map.rank; ++d) {
        if (map.extents[d] == 0 || map.extents[d] > max_extent) {
            return "extents from 1 to 2^32";
        }
        if (map.box[d] == 0 || map.box[d] > max_box) {
            return "sides of the box from 1 to 256";
        }
        if (map.steps[d] == 0 || map.steps[d] > max_step) {
            return "steps from 1 to 8";
        }
        if (d + 1 < map.rank && (map.strides[d] % line != 0 || map.strides[d] >= max_stride)) {
            return "strides that are multiples of 16 bytes below 2^40";
        }
    }
    if (std::ranges::find(swizzles, map.swizzle_bytes) == swizzles.end()) {
        return "a swizzle of 0, 32, 64 or 128 bytes";
    }
    if (map.row_bytes() % line != 0) {
        return "rows of the box of a multiple of 16 bytes";
    }
    if (map.swizzle_bytes != 0 && map.row_bytes() > map.swizzle_bytes) {
        return "rows of the box no longer than the swizzle";
    }
    if (map.nan_fill && !is_floating(map.element)) {
        return "a fill of zeros for integers";
    }
    return std::nullopt;
}

void write_tensor_map(const TensorMap& map, void* to) {
    std::array<std::uint32_t, words> word{};
    word[0] = static_cast<std::uint32_t>(map.address);
    word[1] = static_cast<std::uint32_t>(map.address >> word_bits);
    word[format_word] = rank_field.holding(map.rank - 1U) |
                        element_field.holding(place_of(element_types, map.element)) |
                        swizzle_field.holding(place_of(swizzles, map.swizzle_bytes)) |
                        fill_field.holding(map.nan_fill ? 1 : 0);
    for (std::size_t d = 0; d < map.rank; ++d) {
        if (d + 1 < map.rank) {
            const std::uint64_t units = map.strides[d] >> stride_unit_bits;
            word[stride_word + d] = static_cast<std::uint32_t>(units);
            word[high_strides_word] |=
                high_stride_field(d).holding(static_cast<std::uint32_t>(units >> word_bits));
        }
        word[extent_word + d] = static_cast<std::uint32_t>(map.extents[d] - 1);
        word[steps_word] |= step_field(d).holding(map.steps[d] - 1);
        word[box_word(d)] |= box_field(d).holding(map.box[d] - 1);
    }
    std::memset(to, 0, tensor_map_bytes);
    std::memcpy(to, word.data(), sizeof word);
}

std::optional<TensorMap> read_tensor_map(const void* from) {
    std::array<std::uint32_t, tensor_map_bytes / sizeof(std::uint32_t)> word{};
    std::memcpy(word.data(), from, sizeof word);
    const std::uint32_t format = word[format_word];
    const auto holds = [](std::uint32_t some) { return some != 0; };
    TensorMap map;
    map.address = word[0] | (std::uint64_t{word[1]} << word_bits);
    map.rank = static_cast<std::uint8_t>(rank_field.of(format) + 1);
    const std::uint32_t element = element_field.of(format);
    if ((format & ~format_mask) != 0 || (word[steps_word] & ~steps_mask) != 0 ||
        (word[high_strides_word] & ~high_strides_mask) != 0 ||
        std::any_of(word.begin() + words, word.end(), holds) || std::ranges::none_of(word, holds) ||
        map.address % line != 0 || map.rank > max_tensor_rank || element >= element_types.size() ||
        interleave_field.of(format) != 0) {
        return std::nullopt;
    }
    map.element = element_types[element];
    map.swizzle_bytes = swizzles[swizzle_field.of(format)];
    map.nan_fill = fill_field.of(format) != 0;
    for (std::size_t d = 0; d < map.rank; ++d) {
        if (d + 1 < map.rank) {
            const std::uint64_t high = high_stride_field(d).of(word[high_strides_word]);
            map.strides[d] = ((high << word_bits) | word[stride_word + d]) << stride_unit_bits;
        }
        map.extents[d] = std::uint64_t{word[extent_word + d]} + 1;
        map.steps[d] = step_field(d).of(word[steps_word]) + 1;
        map.box[d] = box_field(d).of(word[box_word(d)]) + 1;
    }
    return map;
}

}  // namespace warptime::workloads::frontends::machine
