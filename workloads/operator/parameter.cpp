// SPDX-License-Identifier: Apache-2.0
#include "workloads/operator/parameter.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace warptime::workloads {

namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 53;
constexpr std::int64_t largest_integer = std::numeric_limits<std::int32_t>::max();

}  // namespace

std::string_view to_string(ParameterKind kind) {
    using Kind = ParameterKind;
    switch (kind) {
        case Kind::size:
            return "size";
        case Kind::integer:
            return "integer";
        case Kind::boolean:
            return "boolean";
        case Kind::dtype:
            return "dtype";
        case Kind::choice:
            return "choice";
        case Kind::extent2:
            return "MxN";
        case Kind::extent3:
            return "MxNxK";
        case Kind::text:
            break;
    }
    return "text";
}

std::int64_t largest_number(ParameterKind kind) {
    return kind == ParameterKind::size ? largest_size : largest_integer;
}

std::int64_t parse_whole(std::string_view text, std::string_view parameter, std::int64_t largest) {
    const bool digits =
        !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    std::int64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!digits || result.ec != std::errc{} || value < 1 || value > largest) {
        throw Error(std::string(parameter), std::string(text),
                    fmt::format("a whole number from 1 to {}", largest));
    }
    return value;
}

std::int64_t parse_size(std::string_view text, std::string_view parameter) {
    return parse_whole(text, parameter, largest_size);
}

}  // namespace warptime::workloads
