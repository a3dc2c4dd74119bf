// Opcodes whose results are predicates alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace warptime::workloads::frontends::machine {

/// How many of the first operands are predicates that the opcode writes, where it writes no register; 0 for
/// all other opcodes.
[[nodiscard]] inline std::size_t compared_predicates(std::string_view opcode) {
    return opcode.ends_with("SETP") || opcode.ends_with("SETP2") || opcode.ends_with("PLOP3") ? 2
           : opcode == "FCHK"                                                                 ? 1
                                                                                              : 0;
}

}  // namespace warptime::workloads::frontends::machine
