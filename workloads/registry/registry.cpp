// The list of operators, and the check of an operation against the list.
// Values have one spelling, so that equal cases have equal keys.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/registry/registry.hpp"

#include "hw/dtype_alias.hpp"
#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "workloads/attention/operator.hpp"
#include "workloads/convolution/operator.hpp"
#include "workloads/elementwise/operator.hpp"
#include "workloads/exchange/operator.hpp"
#include "workloads/frontends/kernel_operator.hpp"
#include "workloads/gemm/operator.hpp"
#include "workloads/grouped/operator.hpp"
#include "workloads/movement/operator.hpp"
#include "workloads/reductions/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace warptime::workloads {

namespace {

// Checks an extent such as "128x256x64" and spells its numbers one way.
std::string canonical_extent(std::string_view text, std::string_view parameter, int rank) {
    const std::string expected = rank == 2 ? "MxN, as 2x1" : "MxNxK, as 128x256x64";
    std::string canonical;
    int parts = 0;
    std::size_t from = 0;
    while (from <= text.size()) {
        const std::size_t to = std::min(text.find_first_of("xX", from), text.size());
        try {
            canonical += fmt::format(
                "{}{}", parts > 0 ? "x" : "",
                parse_whole(text.substr(from, to - from), parameter, largest_number(ParameterKind::integer)));
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
    if (const auto index = hw::find_name(text, choices)) {
        return std::string(choices[*index]);
    }
    throw Error(std::string(parameter), std::string(text), hw::expected_names(text, choices));
}

std::string canonical_dtype(std::string_view text, std::string_view parameter,
                            std::span<const std::string_view> choices) {
    const std::string_view name = hw::find_name(text, choices) ? text : hw::without_dtype_alias(text);
    return canonical_word(hw::find_name(name, choices) ? name : text, parameter, choices);
}

void append(std::vector<OperatorInfo>& list, const std::vector<OperatorInfo>& family) {
    list.insert(list.end(), family.begin(), family.end());
}

}  // namespace

std::string canonical_value(const OperatorInfo& info, const ParameterInfo& parameter, std::string_view text) {
    static constexpr std::string_view booleans[] = {"0", "1"};
    const std::string owner = std::string(info.name).append(" ").append(parameter.name);
    switch (parameter.kind) {
        case ParameterKind::size:
        case ParameterKind::integer:
            return std::to_string(parse_whole(text, owner, largest_number(parameter.kind)));
        case ParameterKind::boolean:
            return canonical_word(text, owner, booleans);
        case ParameterKind::dtype:
            return canonical_dtype(text, owner, parameter.choices);
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

std::span<const OperatorInfo> operators() {
    static const std::vector<OperatorInfo> all = [] {
        // clang-format off
        std::vector<OperatorInfo> list{
            gemm::gemm_operator(),
            frontends::kernel_operator(),
            attention::attention_operator(),
            attention::attention_backward_operator(),
            grouped::grouped_gemm_operator(),
            convolution::conv2d_operator(),
        };
        // clang-format on
        append(list, elementwise::operators());
        append(list, movement::operators());
        append(list, reductions::operators());
        append(list, exchange::operators());
        std::sort(list.begin(), list.end(),
                  [](const OperatorInfo& a, const OperatorInfo& b) { return a.name < b.name; });
        return list;
    }();
    return all;
}

const OperatorInfo& find_operator(std::string_view name) {
    std::vector<std::string_view> names;
    for (const OperatorInfo& info : operators()) {
        if (hw::same_name(info.name, name)) {
            return info;
        }
        names.push_back(info.name);
    }
    throw Error("op", std::string(name), hw::expected_names(name, names));
}

const ParameterInfo* find_parameter(const OperatorInfo& info, std::string_view name) {
    return find_parameter(info.parameters, name);
}

std::string default_of(const Operation& operation, std::string_view parameter) {
    const OperatorInfo& info = find_operator(operation.op);
    return default_value_of(operation, parameter, info.parameters, info.default_of);
}

std::string value_or_default(const Operation& operation, std::string_view parameter) {
    const auto given = operation.parameters.find(parameter);
    return given != operation.parameters.end() ? given->second : default_of(operation, parameter);
}

Operation make_operation(std::string_view op,
                         const std::map<std::string, std::string, std::less<>>& parameters) {
    const OperatorInfo& info = find_operator(op);
    Operation operation{std::string(info.name), {}};
    for (const auto& [name, text] : parameters) {
        const ParameterInfo* parameter = find_parameter(info, name);
        if (parameter == nullptr) {
            std::vector<std::string_view> names;
            for (const ParameterInfo& p : info.parameters) {
                names.push_back(p.name);
            }
            throw Error(fmt::format("{} parameter", info.name), name, hw::expected_names(name, names));
        }
        const bool is_new =
            operation.parameters.emplace(parameter->name, canonical_value(info, *parameter, text)).second;
        if (!is_new) {
            throw Error(fmt::format("{} {}", info.name, parameter->name), name,
                        "one spelling of the parameter");
        }
    }
    for (const ParameterInfo& parameter : info.parameters) {
        const auto given = [&](std::string_view name) {
            return operation.parameters.find(name) != operation.parameters.end();
        };
        if (parameter.required && !given(parameter.name) && !given(parameter.instead)) {
            throw Error(fmt::format("{} {}", info.name, parameter.name), "",
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
        // The element type names the case even where it is the default.
        const bool always = (parameter.required && parameter.instead.empty()) || parameter.name == "dtype";
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

}  // namespace warptime::workloads
