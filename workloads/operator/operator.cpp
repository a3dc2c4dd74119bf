// SPDX-License-Identifier: Apache-2.0
#include "workloads/operator/operator.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::workloads {

const ParameterInfo* find_parameter(std::span<const ParameterInfo> parameters, std::string_view name) {
    // Nearly every name comes as the record spells it.
    auto found = std::find_if(parameters.begin(), parameters.end(),
                              [name](const ParameterInfo& p) { return p.name == name; });
    if (found == parameters.end()) {
        found = std::find_if(parameters.begin(), parameters.end(), [name](const ParameterInfo& p) {
            return hw::same_name(p.name, name) || (!p.alias.empty() && hw::same_name(p.alias, name));
        });
    }
    return found == parameters.end() ? nullptr : &*found;
}

std::string default_value_of(const Operation& operation, std::string_view parameter,
                             std::span<const ParameterInfo> parameters, DefaultOf default_of) {
    const ParameterInfo* info = find_parameter(parameters, parameter);
    if (info == nullptr) {
        throw Error(fmt::format("{} parameter", operation.op), std::string(parameter),
                    "a parameter of the operator");
    }
    if (!info->default_value.empty() || info->required || default_of == nullptr) {
        return std::string(info->default_value);
    }
    return default_of(operation, parameter);
}

void refuse_unused(const OperatorInfo& info, const Operation& operation) {
    if (info.why_unused == nullptr) return;
    for (const auto& [name, value] : operation.parameters) {
        const std::string expected = info.why_unused(operation, name);
        if (!expected.empty()) throw Error(fmt::format("{} {}", info.name, name), value, expected);
    }
}

std::unique_ptr<Request> read_request(const OperatorInfo& info, const Operation& operation) {
    refuse_unused(info, operation);
    return info.read(operation);
}

void require_memory(const Operation& operation, const hw::Gpu& gpu, double bytes) {
    const double capacity = gpu.dram.capacity.value();
    if (bytes <= capacity) {
        return;
    }
    std::string sizes;
    for (const auto& [name, value] : operation.parameters) {
        sizes += fmt::format(" {}={}", name, value);
    }
    throw Error(fmt::format("{} size", operation.op),
                fmt::format("{}{}: {:.3g} GB", operation.op, sizes, bytes / 1e9),
                fmt::format("a problem that fits the {:.0f} GB of {}", capacity / 1e9, gpu.id));
}

}  // namespace warptime::workloads
