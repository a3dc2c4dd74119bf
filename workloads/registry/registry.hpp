// The operators that Warptime knows, and operations checked against them.
// A new operator is a record in its family's folder and one entry here. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace warptime::workloads {

/// All operators, sorted by name.
[[nodiscard]] std::span<const OperatorInfo> operators();
/// Names count in any case. Throws Error naming the nearest operator.
[[nodiscard]] const OperatorInfo& find_operator(std::string_view name);
[[nodiscard]] const ParameterInfo* find_parameter(const OperatorInfo& info, std::string_view name);

/// Checks names and forms (nearest name in the Error) and spells them one way; leaves meaning (a tile that
/// does not fit) to the lowering.
[[nodiscard]] Operation make_operation(std::string_view op,
                                       const std::map<std::string, std::string, std::less<>>& parameters);

/// One value in canonical spelling. Throws Error for another form.
[[nodiscard]] std::string canonical_value(const OperatorInfo& info, const ParameterInfo& parameter,
                                          std::string_view text);

/// "gemm dtype=bf16 k=4096 m=4096 n=4096": operator and given non-default key parameters, sorted.
[[nodiscard]] std::string key_of(const Operation& operation);

/// Default of a parameter in this operation, which may follow from others. Empty where the lowering chooses
/// (a tile, stages). Throws Error for a parameter that the operator does not have.
[[nodiscard]] std::string default_of(const Operation& operation, std::string_view parameter);

/// The value given, or the default.
[[nodiscard]] std::string value_or_default(const Operation& operation, std::string_view parameter);

}  // namespace warptime::workloads
