// Checks an operation against the registry and spells it one way, so that equal cases have equal keys.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/operation.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "workloads/defaults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

namespace warptime::workloads {

namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 53;
constexpr std::int64_t largest_integer = std::numeric_limits<std::int32_t>::max();

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

// "128x256x64" as its numbers.
std::string canonical_extent(std::string_view text, std::string_view parameter, int rank) {
    const std::string expected = rank == 2 ? "MxN, as 2x1" : "MxNxK, as 128x256x64";
    std::string canonical;
    int parts = 0;
    std::size_t from = 0;
    while (from <= text.size()) {
        const std::size_t to = std::min(text.find('x', from), text.size());
        try {
            canonical += fmt::format("{}{}", parts > 0 ? "x" : "",
                                     parse_whole(text.substr(from, to - from), parameter, largest_integer));
        } catch (const Error&) {
            throw Error(std::string(parameter), std::string(text), expected);
        }
        ++parts;
        from = to + 1;
    }
    if (parts != rank) {
        throw Error(std::string(parameter), std::string(text), expected);
    }
    return canonical;
}

std::string canonical_word(std::string_view text, std::string_view parameter,
                           std::span<const std::string_view> choices) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
        throw Error(std::string(parameter), std::string(text), hw::expected_names(text, choices));
    }
    return std::string(text);
}

}  // namespace

std::int64_t largest_number(ParameterKind kind) {
    return kind == ParameterKind::size ? largest_size : largest_integer;
}

std::string canonical_value(const OperatorInfo& info, const ParameterInfo& parameter, std::string_view text) {
    static constexpr std::string_view booleans[] = {"0", "1"};
    const std::string owner = fmt::format("{} {}", info.name, parameter.name);
    switch (parameter.kind) {
        case ParameterKind::size:
            return fmt::format("{}", parse_whole(text, owner, largest_size));
        case ParameterKind::integer:
            return fmt::format("{}", parse_whole(text, owner, largest_integer));
        case ParameterKind::boolean:
            return canonical_word(text, owner, booleans);
        case ParameterKind::dtype:
        case ParameterKind::choice:
            return canonical_word(text, owner, parameter.choices);
        case ParameterKind::extent2:
            return canonical_extent(text, owner, 2);
        case ParameterKind::extent3:
            return canonical_extent(text, owner, 3);
        case ParameterKind::text:
            return std::string(text);
    }
    return std::string(text);
}

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

const OperatorInfo& find_operator(std::string_view name) {
    std::vector<std::string_view> names;
    for (const OperatorInfo& info : operators()) {
        if (info.name == name) {
            return info;
        }
        names.push_back(info.name);
    }
    throw Error("op", std::string(name), hw::expected_names(name, names));
}

const ParameterInfo* find_parameter(const OperatorInfo& info, std::string_view name) {
    const auto found = std::find_if(info.parameters.begin(), info.parameters.end(),
                                    [name](const ParameterInfo& p) { return p.name == name; });
    return found == info.parameters.end() ? nullptr : &*found;
}

Operation make_operation(std::string_view op,
                         const std::map<std::string, std::string, std::less<>>& parameters) {
    const OperatorInfo& info = find_operator(op);
    Operation operation{std::string(op), {}};
    for (const auto& [name, text] : parameters) {
        const ParameterInfo* parameter = find_parameter(info, name);
        if (parameter == nullptr) {
            std::vector<std::string_view> names;
            for (const ParameterInfo& p : info.parameters) {
                names.push_back(p.name);
            }
            throw Error(fmt::format("{} parameter", op), name, hw::expected_names(name, names));
        }
        operation.parameters.emplace(name, canonical_value(info, *parameter, text));
    }
    for (const ParameterInfo& parameter : info.parameters) {
        if (parameter.required && operation.parameters.find(parameter.name) == operation.parameters.end()) {
            throw Error(fmt::format("{} {}", op, parameter.name), "",
                        fmt::format("a value: {}", parameter.meaning));
        }
    }
    return operation;
}

std::string key_of(const Operation& operation) {
    const OperatorInfo& info = find_operator(operation.op);
    std::vector<std::string> parts;
    for (const ParameterInfo& parameter : info.parameters) {
        const auto given = operation.parameters.find(parameter.name);
        const std::string usual = default_of(operation, parameter.name);
        // The element type is part of what is asked even where it is the default.
        const bool always = parameter.required || parameter.name == "dtype";
        if (!parameter.part_of_key || (!always && given == operation.parameters.end())) {
            continue;
        }
        const std::string& value = given == operation.parameters.end() ? usual : given->second;
        if (always || value != usual) {
            parts.push_back(fmt::format("{}={}", parameter.name, value));
        }
    }
    std::sort(parts.begin(), parts.end());
    return fmt::format("{} {}", operation.op, fmt::join(parts, " "));
}

std::int64_t parse_size(std::string_view text, std::string_view parameter) {
    return parse_whole(text, parameter, largest_size);
}

}  // namespace warptime::workloads
