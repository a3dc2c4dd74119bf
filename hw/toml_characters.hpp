// Where a TOML text may hold characters beyond ASCII: in comments and in strings of one line.
// Ignores: everything else about the text, which the parser checks. Narrower than TOML 1.0, which also allows
// them in strings of several lines; toml++ 3.3 is undefined for them there and between tokens.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace warptime::hw {

/// Offset of the first byte beyond ASCII outside of comments and one-line strings; npos when there is none.
[[nodiscard]] std::size_t find_misplaced_character(std::string_view text);

}  // namespace warptime::hw
