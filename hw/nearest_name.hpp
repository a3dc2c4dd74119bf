// The known name closest to a mistyped one, for error messages.
// Source: Levenshtein edit distance with unit costs (Wagner and Fischer, J. ACM 21, 1974).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace warptime::hw {

/// Fewest insertions, deletions and replacements of one character that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate at the smallest distance, the first one of equals; empty when there is none.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            std::span<const std::string_view> candidates);

/// "one of a, b, c" for up to eight candidates, else "a known name"; then "; nearest: 'b'".
[[nodiscard]] std::string expected_names(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace warptime::hw
