// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/operation_options.hpp"

#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

namespace warptime::cli {

namespace {

std::string placeholder_of(const workloads::ParameterInfo& parameter) {
    using Kind = workloads::ParameterKind;
    switch (parameter.kind) {
        case Kind::size:
        case Kind::integer:
            return "N";
        case Kind::boolean:
            return "0|1";
        case Kind::extent2:
            return "MxN";
        case Kind::extent3:
            return "MxNxK";
        case Kind::dtype:
        case Kind::choice:
            return fmt::format("{}", fmt::join(parameter.choices, "|"));
        case Kind::text:
            break;
    }
    return "TEXT";
}

}  // namespace

std::vector<OptionSpec> operation_options(const workloads::OperatorInfo& info, Parameters which) {
    std::vector<OptionSpec> options;
    for (const workloads::ParameterInfo& parameter : info.parameters) {
        if (which == Parameters::problem && !parameter.part_of_key) {
            continue;
        }
        std::string meaning(parameter.meaning);
        if (!parameter.default_value.empty()) {
            meaning += fmt::format("; default: {}", parameter.default_value);
        }
        options.push_back({std::string(parameter.name),
                           std::move(meaning),
                           parameter.required ? OptionKind::positional : OptionKind::value,
                           placeholder_of(parameter),
                           '\0',
                           {},
                           std::string(parameter.alias)});
    }
    return options;
}

workloads::Operation read_operation(const Arguments& arguments, const std::vector<hw::Setting>& settings) {
    const workloads::OperatorInfo& info = workloads::find_operator(arguments.commands.at(1));
    std::map<std::string, std::string, std::less<>> parameters;
    for (const workloads::ParameterInfo& parameter : info.parameters) {
        if (const auto value = arguments.get(parameter.name)) {
            parameters.emplace(parameter.name, *value);
        }
    }
    return as_usage([&] {
        apply_kernel_settings(settings, parameters);
        workloads::Operation operation = workloads::make_operation(info.name, parameters);
        workloads::refuse_unused(info, operation);
        return operation;
    });
}

}  // namespace warptime::cli
