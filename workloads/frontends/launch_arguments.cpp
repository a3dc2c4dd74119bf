// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/launch_arguments.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

namespace warptime::workloads::frontends {

namespace {

std::optional<std::int64_t> integer_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                     : std::nullopt;
}

std::optional<double> real_of(std::string_view text) {
    if (text.ends_with("f")) {
        text.remove_suffix(1);
    }
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    return !copy.empty() && end == copy.c_str() + copy.size() ? std::optional(value) : std::nullopt;
}

constexpr std::string_view buffer_prefix = "buffer:", map_prefix = "map:";
constexpr std::string_view buffer_form = "buffer:BYTES[:zeros|random|iota|file=PATH]";
constexpr std::string_view map_form = "map:BYTES:CONTENTS:TYPE:EXTENTS:STRIDES:BOX:SWIZZLE";

/// False where the text is no contents of a buffer.
bool set_contents(LaunchArgument& argument, std::string_view text) {
    if (text == "random") {
        argument.contents = BufferContents::random;
    } else if (text == "iota") {
        argument.contents = BufferContents::iota;
    } else if (text.starts_with("file=")) {
        argument.contents = BufferContents::file;
        argument.path = std::string(text.substr(5));
    } else {
        return text == "zeros";
    }
    return true;
}

LaunchArgument parse_buffer(std::string_view text) {
    LaunchArgument argument;
    argument.buffer = true;
    argument.text = std::string(text);
    const std::string_view rest = text.substr(buffer_prefix.size());
    const std::size_t colon = rest.find(':');
    const std::optional<std::int64_t> bytes = integer_of(rest.substr(0, colon));
    if (!bytes || *bytes <= 0 ||
        (colon != std::string_view::npos && !set_contents(argument, rest.substr(colon + 1)))) {
        throw Error("kernel args", argument.text, std::string(buffer_form));
    }
    argument.bytes = static_cast<std::uint64_t>(*bytes);
    return argument;
}

struct ElementName {
    std::string_view name;
    machine::TensorElement element;
};
constexpr std::array element_names{
    ElementName{"u8", machine::TensorElement::u8},   ElementName{"u16", machine::TensorElement::u16},
    ElementName{"u32", machine::TensorElement::u32}, ElementName{"s32", machine::TensorElement::s32},
    ElementName{"u64", machine::TensorElement::u64}, ElementName{"s64", machine::TensorElement::s64},
    ElementName{"f16", machine::TensorElement::f16}, ElementName{"f32", machine::TensorElement::f32},
    ElementName{"f64", machine::TensorElement::f64}, ElementName{"bf16", machine::TensorElement::bf16}};

/// Numbers from 0 on between crosses; none where one is of another form.
std::optional<std::vector<std::uint64_t>> sizes_of(std::string_view text) {
    std::vector<std::uint64_t> sizes;
    while (!text.empty()) {
        const std::size_t cross = text.find('x');
        const std::optional<std::int64_t> value = integer_of(text.substr(0, cross));
        if (!value || *value < 0 || cross + 1 == text.size()) {
            return std::nullopt;
        }
        sizes.push_back(static_cast<std::uint64_t>(*value));
        text = cross == std::string_view::npos ? std::string_view{} : text.substr(cross + 1);
    }
    return sizes;
}

[[noreturn]] void refuse_map(std::string_view text, std::string_view expected) {
    throw Error("kernel args", std::string(text), fmt::format("{} with {}", map_form, expected));
}

/// TYPE, EXTENTS, STRIDES, BOX and SWIZZLE of the argument.
machine::TensorMap map_of(std::string_view argument, const std::array<std::string_view, 5>& parts) {
    machine::TensorMap map;
    const auto* const type = std::ranges::find(element_names, parts[0], &ElementName::name);
    if (type == element_names.end()) {
        refuse_map(argument, "u8, u16, u32, s32, u64, s64, f16, f32, f64 or bf16 as TYPE");
    }
    map.element = type->element;
    const auto extents = sizes_of(parts[1]), strides = sizes_of(parts[2]), box = sizes_of(parts[3]);
    if (!extents || extents->empty() || extents->size() > machine::max_tensor_rank) {
        refuse_map(argument, "one to five EXTENTS, as 4096x4096");
    }
    const std::size_t rank = extents->size();
    if (!strides || strides->size() != rank - 1) {
        refuse_map(argument, fmt::format("{} STRIDES in bytes, one less than EXTENTS", rank - 1));
    }
    if (!box || box->size() != rank) {
        refuse_map(argument, fmt::format("{} sides of the BOX, as many as EXTENTS", rank));
    }
    map.rank = static_cast<std::uint8_t>(rank);
    std::ranges::copy(*extents, map.extents.begin());
    std::ranges::copy(*strides, map.strides.begin());
    // What is too large for a field stays so, and breaks a rule.
    const auto narrow = []<class T>(std::uint64_t value, T most) {
        return static_cast<T>(std::min<std::uint64_t>(value, most));
    };
    std::ranges::transform(*box, map.box.begin(), [&narrow](std::uint64_t side) {
        return narrow(side, std::numeric_limits<std::uint32_t>::max());
    });
    const auto swizzle = sizes_of(parts[4]);
    if (!swizzle || swizzle->size() != 1) {
        refuse_map(argument, "a SWIZZLE of 0, 32, 64 or 128 bytes");
    }
    map.swizzle_bytes = narrow(swizzle->front(), std::numeric_limits<std::uint8_t>::max());
    if (const auto rule = machine::broken_rule(map)) {
        refuse_map(argument, *rule);
    }
    return map;
}

LaunchArgument parse_map(std::string_view text) {
    LaunchArgument argument;
    argument.buffer = true;
    argument.text = std::string(text);
    // From the end, because paths may have colons.
    std::string_view rest = text.substr(map_prefix.size());
    std::array<std::string_view, 5> parts;
    std::size_t colon = 0;
    for (std::size_t i = parts.size(); i-- > 0 && colon != std::string_view::npos;) {
        colon = rest.rfind(':');
        parts[i] = rest.substr(colon + 1);
        rest = rest.substr(0, colon);
    }
    colon = colon == std::string_view::npos ? colon : rest.find(':');
    if (colon == std::string_view::npos) {
        throw Error("kernel args", argument.text, std::string(map_form));
    }
    const std::optional<std::int64_t> bytes = integer_of(rest.substr(0, colon));
    if (!bytes || *bytes <= 0) {
        refuse_map(text, "a number of BYTES from 1");
    }
    if (!set_contents(argument, rest.substr(colon + 1))) {
        refuse_map(text, "zeros, random, iota or file=PATH as CONTENTS");
    }
    argument.bytes = static_cast<std::uint64_t>(*bytes);
    argument.map = map_of(text, parts);
    if (argument.map->tensor_bytes() > argument.bytes) {
        refuse_map(text,
                   fmt::format("at least {} BYTES, which the tensor spans", argument.map->tensor_bytes()));
    }
    return argument;
}

// NOLINTBEGIN(performance-no-int-to-ptr): the arena's addresses are this process's.
void fill(const LaunchArgument& argument, std::uint64_t address) {
    auto* const words = reinterpret_cast<std::uint32_t*>(address);
    const std::uint64_t count = argument.bytes / sizeof(std::uint32_t);
    if (argument.contents == BufferContents::iota) {
        for (std::uint64_t i = 0; i < count; ++i) {
            words[i] = static_cast<std::uint32_t>(i);
        }
    } else if (argument.contents == BufferContents::random) {
        // Splitmix64: the same numbers in every run.
        std::uint64_t state = 0x9e3779b97f4a7c15ULL;
        for (std::uint64_t i = 0; i < count; ++i) {
            state += 0x9e3779b97f4a7c15ULL;
            std::uint64_t z = (state ^ (state >> 30U)) * 0xbf58476d1ce4e5b9ULL;
            z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
            words[i] = static_cast<std::uint32_t>(z >> 32U);
        }
    } else if (argument.contents == BufferContents::file) {
        const std::string bytes = hw::read_text_file(argument.path, "kernel args", "a file that can be read");
        std::memcpy(reinterpret_cast<void*>(address), bytes.data(),
                    std::min<std::size_t>(bytes.size(), argument.bytes));
    }
}
// NOLINTEND(performance-no-int-to-ptr)

template <class T>
void put(std::vector<std::byte>& bytes, std::uint32_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

void put_number(std::vector<std::byte>& bytes, const machine::Parameter& parameter,
                const LaunchArgument& argument) {
    if (argument.real && parameter.bytes == 4) {
        put(bytes, parameter.offset, static_cast<float>(argument.value));
    } else if (argument.real && parameter.bytes == 8) {
        put(bytes, parameter.offset, argument.value);
    } else if (!argument.real && (parameter.bytes == 1 || parameter.bytes == 2 || parameter.bytes == 4 ||
                                  parameter.bytes == 8)) {
        std::memcpy(bytes.data() + parameter.offset, &argument.integer, parameter.bytes);
    } else {
        const bool map = parameter.bytes == machine::tensor_map_bytes;
        throw Error("kernel args", argument.text,
                    fmt::format("a value of {} bytes{}{}", parameter.bytes, map ? ", as " : "",
                                map ? map_form : std::string_view{}));
    }
}

}  // namespace

std::array<std::uint32_t, 3> parse_shape(std::string_view parameter, std::string_view text) {
    std::array<std::uint32_t, 3> shape{1, 1, 1};
    std::size_t d = 0;
    for (std::string_view rest = text;; ++d) {
        const std::size_t cross = rest.find('x');
        const std::optional<std::int64_t> value = integer_of(rest.substr(0, cross));
        if (d == 3 || !value || *value < 1 || *value > std::numeric_limits<std::int32_t>::max()) {
            throw Error(std::string(parameter), std::string(text), "one to three sizes from 1 on, as 64x64");
        }
        shape[d] = static_cast<std::uint32_t>(*value);
        if (cross == std::string_view::npos) {
            return shape;
        }
        rest = rest.substr(cross + 1);
    }
}

std::int64_t parse_bytes(std::string_view parameter, std::string_view text) {
    if (text.empty()) {
        return 0;
    }
    const std::optional<std::int64_t> value = integer_of(text);
    if (!value || *value < 0) {
        throw Error(std::string(parameter), std::string(text), "a number of bytes");
    }
    return *value;
}

std::vector<LaunchArgument> parse_arguments(std::string_view text) {
    std::vector<LaunchArgument> arguments;
    while (!text.empty()) {
        const std::size_t begin = text.find_first_not_of(' ');
        if (begin == std::string_view::npos) {
            break;
        }
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        text = text.substr(end);
        if (word.starts_with(buffer_prefix) || word.starts_with(map_prefix)) {
            arguments.push_back(word.starts_with(map_prefix) ? parse_map(word) : parse_buffer(word));
            continue;
        }
        LaunchArgument argument;
        argument.text = std::string(word);
        if (const auto integer = integer_of(word)) {
            argument.integer = *integer;
        } else if (const auto real = real_of(word)) {
            argument.real = true;
            argument.value = *real;
        } else {
            throw Error("kernel args", argument.text,
                        fmt::format("{}, {}, 4096 or 1.5f", buffer_form, map_form));
        }
        arguments.push_back(std::move(argument));
    }
    return arguments;
}

std::vector<std::byte> place_arguments(const std::vector<LaunchArgument>& arguments,
                                       const machine::Function& function, machine::DeviceMemory& memory) {
    if (arguments.size() > function.parameters.size()) {
        throw Error("kernel args", std::to_string(arguments.size()),
                    fmt::format("at most the {} parameters of the kernel", function.parameters.size()));
    }
    std::vector<std::byte> bytes(function.parameter_bytes);
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        const machine::Parameter& parameter = function.parameters[i];
        if (std::uint64_t{parameter.offset} + parameter.bytes > bytes.size()) {
            throw Error("kernel parameters", std::to_string(parameter.offset),
                        "offsets within the parameters");
        }
        if (i >= arguments.size()) {
            if (parameter.bytes != 8) {
                throw Error(
                    "kernel args", fmt::format("{} arguments", arguments.size()),
                    fmt::format("{}; only trailing pointers may be left out", function.parameters.size()));
            }
            continue;
        }
        const LaunchArgument& argument = arguments[i];
        if (!argument.buffer) {
            put_number(bytes, parameter, argument);
            continue;
        }
        if (parameter.bytes != (argument.map ? machine::tensor_map_bytes : 8)) {
            throw Error("kernel args", argument.text,
                        fmt::format("a value of {} bytes: parameter {} is no {}", parameter.bytes, i + 1,
                                    argument.map ? "tensor map" : "pointer"));
        }
        const std::optional<std::uint64_t> address = memory.allocate(argument.bytes);
        if (!address) {
            throw Error("kernel args", argument.text, "a buffer that fits the device's memory");
        }
        fill(argument, *address);
        if (argument.map) {
            machine::TensorMap map = *argument.map;
            map.address = *address;
            machine::write_tensor_map(map, bytes.data() + parameter.offset);
        } else {
            put(bytes, parameter.offset, *address);
        }
    }
    return bytes;
}

}  // namespace warptime::workloads::frontends
