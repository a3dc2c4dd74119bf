// Turns checked parameters into the list that reports print.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/context.hpp"

#include "workloads/registry/registry.hpp"

#include <algorithm>

namespace warptime::reports {

void add_setting(const std::string& key, const std::string& value, ReportContext& context) {
    const auto same = std::find_if(context.settings.begin(), context.settings.end(),
                                   [&key](const auto& setting) { return setting.first == key; });
    if (same == context.settings.end()) {
        context.settings.emplace_back(key, value);
    } else {
        same->second += ", then " + value;
    }
}

ReportContext make_report_context(const workloads::Operation& operation, const hw::Gpu& gpu,
                                  const model::prediction::Conditions& conditions, std::string_view engine) {
    ReportContext context;
    context.gpu = gpu.id;
    for (const auto& [key, value] : gpu.settings) {
        add_setting(key, value, context);
    }
    context.op = operation.op;
    context.conditions = conditions;
    context.engine = engine;
    for (const workloads::ParameterInfo& parameter : workloads::find_operator(operation.op).parameters) {
        const bool given = operation.parameters.find(parameter.name) != operation.parameters.end();
        std::string text = workloads::value_or_default(operation, parameter.name);
        if (text.empty()) {
            continue;
        }
        using Kind = workloads::ParameterKind;
        const bool number = parameter.kind == Kind::size || parameter.kind == Kind::integer;
        const bool shown = given || parameter.name == "dtype";
        context.parameters.push_back({std::string(parameter.name), std::move(text), number, !shown});
    }
    return context;
}

}  // namespace warptime::reports
