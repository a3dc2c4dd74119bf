// Turns the text of a row into the types of the model.
// SPDX-License-Identifier: Apache-2.0
#include "validate/recorded_case.hpp"

#include "hw/error.hpp"
#include "validate/compiled_resources.hpp"
#include "validate/microbench/programs/families.hpp"
#include "validate/recorded_params.hpp"
#include "workloads/condition_values.hpp"

#include <algorithm>

namespace warptime::validate {

bool is_operator(std::string_view op) {
    const auto known = workloads::operators();
    return std::any_of(known.begin(), known.end(),
                       [op](const workloads::OperatorInfo& info) { return info.name == op; });
}

namespace {

/// A step's parameter. Throws Error where it is missing.
std::string step_parameter(std::string_view params, std::string_view name) {
    const auto parameters = parse_params(params);
    const auto found = parameters.find(name);
    if (found == parameters.end()) {
        throw Error(std::string("step ") + std::string(name), "", "model, kind, batch and length of a step");
    }
    return found->second;
}

}  // namespace

std::string step_name(std::string_view params) {
    return step_parameter(params, "model") + "-" + step_parameter(params, "kind") + "-" +
           step_parameter(params, "batch") + "x" + step_parameter(params, "length");
}

CaseKey case_key(std::string_view op, std::string_view params) {
    if (op == step_op) return {step_parameter(params, "model"), ""};
    if (!is_operator(op)) {
        return {params.empty() ? std::string(op) : std::string(op) + " " + std::string(params), ""};
    }
    const workloads::OperatorInfo& info = workloads::find_operator(op);
    const workloads::Operation operation = workloads::make_operation(op, parse_params(params));
    CaseKey key{workloads::key_of(operation), ""};
    for (const auto& [name, value] : operation.parameters) {
        const workloads::ParameterInfo* parameter = workloads::find_parameter(info, name);
        // The implementation is neither part of the shape nor of a sweep. So a row keeps its split when
        // another library is recorded.
        if (parameter == nullptr || parameter->part_of_key || name == "implementation") continue;
        if (!key.configuration.empty()) key.configuration += ' ';
        key.configuration += name + "=" + value;
    }
    return key;
}

workloads::Operation operation_of(const RecordedRow& row) {
    auto parameters = parse_params(row.params);
    const bool chooses =
        workloads::find_parameter(workloads::find_operator(row.op), "implementation") != nullptr;
    if (chooses && !row.implementation.empty()) parameters.emplace("implementation", row.implementation);
    return workloads::make_operation(row.op, parameters);
}

workloads::Operation operation_as_compiled(const RecordedRow& row) {
    workloads::Operation operation = operation_of(row);
    const workloads::OperatorInfo& info = workloads::find_operator(row.op);
    const auto compiled = compiled_resources(row.steps);
    // The prediction chooses a library's kernel, and that kernel need not be the one that ran.
    const bool fixed = operation.parameters.find("cta_tile") != operation.parameters.end();
    if (!compiled || !fixed || workloads::find_parameter(info, "registers") == nullptr) return operation;
    operation.parameters.emplace("registers", std::to_string(compiled->registers));
    operation.parameters.emplace("shared_bytes", std::to_string(compiled->shared_bytes));
    return workloads::make_operation(row.op, operation.parameters);
}

model::prediction::Conditions conditions_of(const RecordedRow& row) {
    model::prediction::Conditions conditions;
    if (!row.cache.empty()) conditions.cache = model::prediction::parse_cache(row.cache);
    if (!row.duty.empty()) conditions.duty = model::prediction::parse_duty(row.duty);
    if (!row.data.empty()) conditions.data = model::prediction::parse_operand_data(row.data);
    if (!row.between.empty()) workloads::set_condition(conditions, "between", row.between);
    if (!row.in_turn.empty()) workloads::set_condition(conditions, "in_turn", row.in_turn);
    return conditions;
}

bool is_timed(std::string_view quantity) {
    return quantity == kernel_quantity || quantity == interval_quantity || quantity == wall_quantity;
}

bool is_microbenchmark(const RecordedRow& row) {
    return row.suite.rfind(microbenchmark_prefix, 0) == 0;
}

std::string profiled_probe(const RecordedRow& row) {
    constexpr std::string_view counters = "counters_";
    if (row.suite.rfind(counters, 0) != 0) return {};
    const std::string suite = row.suite.substr(counters.size());
    return microbench::find_family(suite, row.op) != nullptr ? suite : std::string();
}

bool is_predictable(const RecordedRow& row) {
    if (is_microbenchmark(row)) return microbench::find_family(row.suite, row.op) != nullptr;
    if (row.op == step_op) return row.quantity == kernel_quantity || row.quantity == wall_quantity;
    return (row.quantity == kernel_quantity || row.quantity == interval_quantity) && is_operator(row.op);
}

}  // namespace warptime::validate
