// The text form of a description: one record a line, named fields, defaults left out, bodies indented.
// Ignores: capacity and array slots beyond a record's counts, which carry no meaning.
//
//   kernel "copy"
//     grid 8 1 1
//     cta 128 1 1
//     buffer "a" extent=4096
//     role "all" warps=4
//       loop trips={item_end + -1*item_begin}
//         op 0 ld_global
//           access read a contiguous bytes=16 origin={512*tile.0 + 128*warp}
//         op 1 st_global deps=0
//       end
//     end
//   end
//
// An index is `constant + coefficient*variable.position/divisor%modulus[low,high] + ...`. A nested expression
// stands in parentheses, or as nested.N. `@N` gives the place in the pool of terms that an index shares with
// an earlier index. `//` begins a comment.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <string>
#include <string_view>

namespace warptime::model::kernel {

/// Needs a kernel that check() accepts; throws its Error otherwise. parse_text(to_text(k)) == k.
[[nodiscard]] std::string to_text(const Kernel& kernel);
/// Text of a program: its steps in order, kernels written out.
[[nodiscard]] std::string to_text(const Program& program);

/// Reads one kernel. Throws Error naming line and column, the text found and the text expected. An accepted
/// text is also checked as a kernel. Memory stays proportional to the text.
[[nodiscard]] Kernel parse_text(std::string_view text);
[[nodiscard]] Program parse_program_text(std::string_view text);

}  // namespace warptime::model::kernel
