// Text without the blanks at both its ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace warptime::hw {

/// `text` without blanks, tabs and line ends at both ends; empty where `text` holds nothing else.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace warptime::hw
