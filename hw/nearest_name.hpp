// Compares a given name with the known names, and finds the closest one for error messages.
// Source: Levenshtein edit distance with unit costs (Wagner and Fischer, J. ACM 21, 1974).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace warptime::hw {

/// Whether two names are one: case does not count, and `-` and `_` are alike.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

/// The index of the candidate that is the same name, an exact spelling first; nothing where none is.
[[nodiscard]] std::optional<std::size_t> find_name(std::string_view name,
                                                   std::span<const std::string_view> candidates);

/// Fewest insertions, deletions and replacements of one character that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that begins with the name, else the one at the smallest distance; empty when there is none.
/// The distance to the first words of a candidate counts too ("h300" is near "h200-sxm"). Among equals, the
/// longest common beginning wins, then the length, then the first. Names are compared as `same_name` does.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            std::span<const std::string_view> candidates);

/// "one of a, b, c" for up to eight candidates, else "a known name"; then "; nearest: 'b'".
[[nodiscard]] std::string expected_names(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace warptime::hw
