// Lines of source by address, from the DWARF line table that -lineinfo leaves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/image/elf.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// From `address` (bytes from the start of the function) on.
struct SourceLine {
    std::uint32_t address = 0;
    int file = -1;  ///< index of LineTable::files
    int line = 0;
};

struct LineTable {
    std::vector<std::string> files;
    std::map<std::string, std::vector<SourceLine>> functions;  ///< by name, ascending addresses
};

/// Reads the section .debug_line (DWARF versions 2 to 4, section 6.2 of either). Empty without it; what is
/// cut off or of another version ends the reading, since lines are only for messages and reports.
[[nodiscard]] LineTable read_line_table(const Elf& elf);

}  // namespace warptime::workloads::frontends::machine
