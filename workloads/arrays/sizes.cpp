// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/sizes.hpp"

#include "workloads/operator/operator.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace warptime::workloads::arrays {

namespace {

constexpr std::pair<std::string_view, std::int64_t Sizes::*> numbers[] = {
    {"n", &Sizes::n},           {"rows", &Sizes::rows},       {"cols", &Sizes::cols},
    {"k", &Sizes::k},           {"indices", &Sizes::indices}, {"size", &Sizes::size},
    {"radius", &Sizes::radius}, {"tensors", &Sizes::tensors}, {"inputs", &Sizes::inputs},
    {"flops", &Sizes::flops},   {"outputs", &Sizes::outputs}, {"bins", &Sizes::bins},
    {"heads", &Sizes::heads},   {"row", &Sizes::row},         {"repeated", &Sizes::repeated},
    {"dims", &Sizes::dims},
};

}  // namespace

hw::Dtype usual_cast(hw::Dtype dtype) {
    return dtype == hw::Dtype::fp32 ? hw::Dtype::bf16 : hw::Dtype::fp32;
}

std::int64_t Sizes::*size_of(std::string_view parameter) {
    for (const auto& [name, field] : numbers) {
        if (name == parameter) return field;
    }
    return nullptr;
}

Sizes read_sizes(const Operation& operation, std::span<const ParameterInfo> parameters) {
    Sizes sizes;
    for (const ParameterInfo& parameter : parameters) {
        const auto given = operation.parameters.find(parameter.name);
        const std::string value =
            given != operation.parameters.end() ? given->second : std::string(parameter.default_value);
        const std::string owner = fmt::format("{} {}", operation.op, parameter.name);
        if (parameter.name == "dtype") {
            sizes.dtype = hw::parse_dtype(value, owner);
            sizes.out_dtype = sizes.dtype;
        } else if (parameter.name == "out_dtype") {
            sizes.out_dtype = value.empty() ? usual_cast(sizes.dtype) : hw::parse_dtype(value, owner);
        } else if (parameter.name == "implementation") {
            sizes.torch = value == "torch";
        } else if (parameter.name == "layout") {
            sizes.gaps = value == "gaps";
        } else if (!value.empty()) {
            sizes.*size_of(parameter.name) = parse_size(value, owner);
        }
    }
    // Operators over a vector or a matrix have both; the matrix is given by name.
    const bool has_n = find_parameter(parameters, "n") != nullptr;
    const bool has_rows = find_parameter(parameters, "rows") != nullptr;
    sizes.matrix = has_rows && (!has_n || operation.parameters.find("rows") != operation.parameters.end());
    return sizes;
}

}  // namespace warptime::workloads::arrays
