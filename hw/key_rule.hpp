// Rule of a hardware key: its allowed values, its better direction, and the resource whose speed it is.
// Ignores: contradictions between keys (checks.hpp).
// Source: hw/keys.toml, from which the table `key_rules` of hw/key_rules.hpp is generated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warptime::hw {

/// Values that make no kernel slower; either: that depends on the kernel.
enum class Better : std::uint8_t { either, more, less };

/// Change of the key when a setting changes sm.count. shrinks: an SM's share of a chip-wide total. grows: the
/// total of all SMs.
enum class WithSms : std::uint8_t { stays, shrinks, grows };

struct KeyRule {
    double least = 0.0, most = 0.0;  ///< in the base unit
    bool or_zero = false;            ///< 0 says that the chip lacks the feature
    Better better = Better::either;
    WithSms with_sms = WithSms::stays;
    std::string_view resource;  ///< "l2"; empty where the key is no speed
};

[[nodiscard]] const KeyRule& rule_of(std::size_t key);

/// Throws Error naming `owner`, the given value and the values allowed.
void check_value(std::size_t key, double value, const std::string& owner, const std::string& given);

/// Requirement of check_value in words: "a whole number from 1 to 65536".
[[nodiscard]] std::string allowed_text(std::size_t key);

}  // namespace warptime::hw
