// Which modifiers of which instructions the interpreter understands: a table, checked when code is decoded.
// SPDX-License-Identifier: Apache-2.0
//
// A modifier that nobody looks at would run as if it were not there. So what is not in the table is refused,
// as opcodes are that no handler knows. Reading of operands may refuse more: the table does not know which
// modifiers exclude each other.
#pragma once

#include "workloads/frontends/machine/assembly/assembly.hpp"

#include <span>
#include <string_view>

namespace warptime::workloads::frontends::machine {

/// One row of the table. Names are separated by spaces; one that ends with '*' stands for all that begin so.
struct KnownModifiers {
    std::string_view opcodes = {};
    std::string_view acts = {};      ///< the handlers do what they say
    std::string_view harmless = {};  ///< no result and no count of a launch depends on them here
    std::string_view why = {};       ///< they are harmless
    std::string_view operands = {};  ///< modifiers of operands that the handlers do
    std::string_view signs = {};  ///< signs of registers and constants that the handlers do: "-", "|" and "~"
};

[[nodiscard]] std::span<const KnownModifiers> known_modifiers();

/// The row of an opcode, or null.
[[nodiscard]] const KnownModifiers* modifiers_of(std::string_view opcode);

/// True when `name` is one of `names`, which are separated by spaces.
[[nodiscard]] bool is_listed(std::string_view names, std::string_view name);

/// Throws Error that names instruction, modifier and address when the line has one that is not in the table.
void check_modifiers(const AssemblyLine& line);

}  // namespace warptime::workloads::frontends::machine
