// Check of a key's value against its rule. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/key_rule.hpp"

#include "hw/error.hpp"
#include "hw/key_rules.hpp"
#include "hw/unit.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warptime::hw {

const KeyRule& rule_of(std::size_t key) {
    return key_rules.at(key);
}

std::string allowed_text(std::size_t key) {
    const KeyRule& rule = rule_of(key);
    const KeyInfo& info = key_info[key];
    return fmt::format("{}{} from {} to {}", rule.or_zero ? "0 or " : "",
                       info.integer ? "a whole number" : "a value", format_value(rule.least, info.unit),
                       format_value(rule.most, info.unit));
}

void check_value(std::size_t key, double value, const std::string& owner, const std::string& given) {
    const KeyRule& rule = rule_of(key);
    // The form of this comparison refuses a value that is no number (NaN).
    const bool inside = value >= rule.least && value <= rule.most;
    const bool whole = !key_info[key].integer || std::floor(value) == value;
    if (!(inside && whole) && !(rule.or_zero && value == 0.0)) {
        throw Error(owner, given, allowed_text(key));
    }
}

}  // namespace warptime::hw
