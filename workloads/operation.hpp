// One operator with its parameters, as text from a command line, a CSV row or Python, checked against the
// registry. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace warptime::workloads {

enum class ParameterKind : std::uint8_t { size, integer, boolean, dtype, choice, extent2, extent3, text };

/// "size", "integer", "boolean", "dtype", "choice", "MxN", "MxNxK", "text".
[[nodiscard]] std::string_view to_string(ParameterKind kind);

/// `extent2` reads "2x1", `extent3` "128x256x64". `choices` lists the words of a choice. An empty
/// `default_value` means: worked out when not given. `required` parameters are also the positional ones, in
/// order.
struct ParameterInfo {
    std::string_view name;
    ParameterKind kind;
    bool required;
    std::string_view default_value;
    std::span<const std::string_view> choices;
    std::string_view meaning;
    /// False for what chooses an implementation (tile, stages, ...): not part of the key of a recorded case.
    bool part_of_key;
};

struct OperatorInfo {
    std::string_view name;
    std::string_view meaning;
    std::string_view example;  ///< a command line that works
    std::span<const ParameterInfo> parameters;
};

/// All operators, sorted by name.
[[nodiscard]] std::span<const OperatorInfo> operators();
/// Throws Error naming the nearest operator.
[[nodiscard]] const OperatorInfo& find_operator(std::string_view name);
[[nodiscard]] const ParameterInfo* find_parameter(const OperatorInfo& info, std::string_view name);

/// Parameter values as given, in canonical spelling; absent = default.
struct Operation {
    std::string op;
    std::map<std::string, std::string, std::less<>> parameters;
};

/// Checks names and forms (nearest name in the Error); leaves meaning (a tile that does not fit) to the
/// lowering.
[[nodiscard]] Operation make_operation(std::string_view op,
                                       const std::map<std::string, std::string, std::less<>>& parameters);

/// One value in canonical spelling. Throws Error for another form.
[[nodiscard]] std::string canonical_value(const OperatorInfo& info, const ParameterInfo& parameter,
                                          std::string_view text);
/// The largest value of a size or an integer.
[[nodiscard]] std::int64_t largest_number(ParameterKind kind);

/// "gemm dtype=bf16 k=4096 m=4096 n=4096": operator and given non-default key parameters, sorted.
[[nodiscard]] std::string key_of(const Operation& operation);

/// Reads a whole positive number of at most 2^53; refuses signs, fractions, exponents and overflow.
[[nodiscard]] std::int64_t parse_size(std::string_view text, std::string_view parameter);

}  // namespace warptime::workloads
