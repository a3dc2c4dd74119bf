// One parameter of an operator: its name, form and default.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace warptime::workloads {

enum class ParameterKind : std::uint8_t { size, integer, boolean, dtype, choice, extent2, extent3, text };

/// Names of the kinds: "size", "integer", "boolean", "dtype", "choice", "MxN", "MxNxK", "text".
[[nodiscard]] std::string_view to_string(ParameterKind kind);

/// A parameter. `extent2` reads "2x1", `extent3` "128x256x64". `choices` lists the words of a choice. An
/// empty `default_value` means that the value is worked out. `required` parameters are also the positional
/// ones, in order.
struct ParameterInfo {
    std::string_view name;
    ParameterKind kind;
    bool required;
    std::string_view default_value;
    std::span<const std::string_view> choices;
    std::string_view meaning;
    /// False for a parameter that chooses an implementation (tile, stages). The key of a recorded case omits
    /// it.
    bool part_of_key;
    std::string_view alias = {};    ///< another accepted name; answers use `name`
    std::string_view instead = {};  ///< a parameter whose value makes a required one unneeded
};

/// A required size, for operators over arrays.
[[nodiscard]] constexpr ParameterInfo required_size(std::string_view name, std::string_view meaning) {
    return {name, ParameterKind::size, true, "", {}, meaning, true};
}

/// The largest value of a size or an integer.
[[nodiscard]] std::int64_t largest_number(ParameterKind kind);

/// Reads a whole number from 1 to `largest`; refuses signs, fractions, exponents and overflow.
[[nodiscard]] std::int64_t parse_whole(std::string_view text, std::string_view parameter,
                                       std::int64_t largest);
/// Reads a size from 1 to the largest size, 2^53, in the same way.
[[nodiscard]] std::int64_t parse_size(std::string_view text, std::string_view parameter);

}  // namespace warptime::workloads
