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

LaunchArgument parse_buffer(std::string_view text) {
    constexpr std::string_view form = "buffer:BYTES[:zeros|random|iota|file=PATH]";
    LaunchArgument argument;
    argument.buffer = true;
    argument.text = std::string(text);
    std::string_view rest = text.substr(std::string_view("buffer:").size());
    const std::size_t colon = rest.find(':');
    const std::optional<std::int64_t> bytes = integer_of(rest.substr(0, colon));
    if (!bytes || *bytes <= 0) {
        throw Error("kernel args", argument.text, std::string(form));
    }
    argument.bytes = static_cast<std::uint64_t>(*bytes);
    if (colon == std::string_view::npos) {
        return argument;
    }
    rest = rest.substr(colon + 1);
    if (rest == "random") {
        argument.contents = BufferContents::random;
    } else if (rest == "iota") {
        argument.contents = BufferContents::iota;
    } else if (rest.starts_with("file=")) {
        argument.contents = BufferContents::file;
        argument.path = std::string(rest.substr(5));
    } else if (rest != "zeros") {
        throw Error("kernel args", argument.text, std::string(form));
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
        throw Error("kernel args", argument.text, fmt::format("a value of {} bytes", parameter.bytes));
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
        if (word.starts_with("buffer:")) {
            arguments.push_back(parse_buffer(word));
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
                        "buffer:BYTES[:zeros|random|iota|file=PATH], 4096 or 1.5f");
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
        if (parameter.bytes != 8) {
            throw Error(
                "kernel args", argument.text,
                fmt::format("a value of {} bytes: parameter {} is no pointer", parameter.bytes, i + 1));
        }
        const std::optional<std::uint64_t> address = memory.allocate(argument.bytes);
        if (!address) {
            throw Error("kernel args", argument.text, "a buffer that fits the device's memory");
        }
        fill(argument, *address);
        put(bytes, parameter.offset, *address);
    }
    return bytes;
}

}  // namespace warptime::workloads::frontends
