// The operators that Warptime knows, and operations checked against them.
// A new operator is a record in its family's folder and one entry here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace warptime::workloads {

/// All operators, sorted by name.
[[nodiscard]] std::span<const OperatorInfo> operators();
/// Finds an operator; names ignore case. Throws Error naming the nearest operator.
[[nodiscard]] const OperatorInfo& find_operator(std::string_view name);
[[nodiscard]] const ParameterInfo* find_parameter(const OperatorInfo& info, std::string_view name);

/// Checks names and forms and spells them one way; an Error gives the nearest name. The lowering checks the
/// meaning (a tile that does not fit).
[[nodiscard]] Operation make_operation(std::string_view op,
                                       const std::map<std::string, std::string, std::less<>>& parameters);

/// One value in canonical spelling. Throws Error for another form.
[[nodiscard]] std::string canonical_value(const OperatorInfo& info, const ParameterInfo& parameter,
                                          std::string_view text);

/// The key of a case, for example "gemm dtype=bf16 k=4096 m=4096 n=4096". Operator, then sorted parameters:
/// the required ones, dtype, and given key parameters that differ from their defaults.
[[nodiscard]] std::string key_of(const Operation& operation);

/// The default of a parameter in this operation, which may follow from other parameters. Empty where the
/// lowering chooses (a tile, stages). Throws Error for a parameter that the operator does not have.
[[nodiscard]] std::string default_of(const Operation& operation, std::string_view parameter);

/// The given value, or the default.
[[nodiscard]] std::string value_or_default(const Operation& operation, std::string_view parameter);

}  // namespace warptime::workloads
