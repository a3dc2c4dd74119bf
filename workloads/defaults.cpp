// Defaults that depend on other parameters, in one place for lowering, keys and reports.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/defaults.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

namespace warptime::workloads {

namespace {

std::string gemm_default(const Operation& gemm, std::string_view parameter) {
    const auto value = [&gemm](std::string_view name) { return value_or_default(gemm, name); };
    if (parameter == "dtype_b") {
        return value("dtype");
    }
    if (parameter == "acc_dtype" || parameter == "out_dtype") {
        const std::string dtype = value("dtype");
        if (dtype == "int8") {
            return "int32";
        }
        if (parameter == "acc_dtype") {
            return dtype == "fp64" ? "fp64" : "fp32";
        }
        return dtype == "fp8" ? "bf16" : dtype;
    }
    if (parameter == "lda") {
        return value(value("a_major") == "k" ? "k" : "m");
    }
    if (parameter == "ldb") {
        return value(value("b_major") == "k" ? "k" : "n");
    }
    return parameter == "ldc" ? value("n") : "";
}

}  // namespace

std::string default_of(const Operation& operation, std::string_view parameter) {
    const ParameterInfo* info = find_parameter(find_operator(operation.op), parameter);
    if (info == nullptr) {
        throw Error(fmt::format("{} parameter", operation.op), std::string(parameter),
                    "a parameter of the operator");
    }
    if (!info->default_value.empty() || info->required) {
        return std::string(info->default_value);
    }
    return operation.op == "gemm" ? gemm_default(operation, parameter) : "";
}

std::string value_or_default(const Operation& operation, std::string_view parameter) {
    const auto given = operation.parameters.find(parameter);
    return given != operation.parameters.end() ? given->second : default_of(operation, parameter);
}

}  // namespace warptime::workloads
