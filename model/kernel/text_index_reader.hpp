// Reader of index expressions in the text form, into a kernel's pools of terms and nested expressions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/text_cursor.hpp"

namespace warptime::model::kernel::detail {

/// Most terms of a kernel that is read from text.
inline constexpr std::size_t most_terms = std::size_t{1} << 26;

/// `coefficient*variable.position/divisor%modulus[low,high]`; parentheses append to the nested pool. Two
/// variables or expressions in parentheses may be multiplied, and `2^` stands before an exponent.
[[nodiscard]] Term read_term(TextCursor& cursor, Kernel& kernel, int depth = 0);
/// Expression without braces. New terms are appended, unless `@N` names the place of equal ones.
[[nodiscard]] Index read_bare_index(TextCursor& cursor, Kernel& kernel, int depth = 0);
/// `{expression}`.
[[nodiscard]] Index read_index(TextCursor& cursor, Kernel& kernel);

}  // namespace warptime::model::kernel::detail
