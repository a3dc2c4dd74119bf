// Turns checked parameters into the plain list that the reports print.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/report_context.hpp"

#include "workloads/defaults.hpp"

namespace warptime::workloads {

model::prediction::ReportContext make_report_context(const Operation& operation, std::string_view gpu,
                                                     const model::prediction::Conditions& conditions,
                                                     std::string_view engine) {
    model::prediction::ReportContext context;
    context.gpu = gpu;
    context.op = operation.op;
    context.conditions = conditions;
    context.engine = engine;
    for (const ParameterInfo& parameter : find_operator(operation.op).parameters) {
        const bool given = operation.parameters.find(parameter.name) != operation.parameters.end();
        std::string text = value_or_default(operation, parameter.name);
        if (text.empty()) {
            continue;
        }
        const bool number = parameter.kind == ParameterKind::size || parameter.kind == ParameterKind::integer;
        const bool shown = given || parameter.name == "dtype";
        context.parameters.push_back({std::string(parameter.name), std::move(text), number, !shown});
    }
    return context;
}

}  // namespace warptime::workloads
