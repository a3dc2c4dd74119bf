// Disassembly of a module by nvdisasm: its JSON becomes assembly lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/assembly/assembly.hpp"
#include "workloads/frontends/machine/image/module.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Takes apart the printed form of one instruction: "R7,desc[UR6][R6.64]". Throws Error on text that is no
/// operand.
[[nodiscard]] std::vector<Operand> parse_operands(std::string_view text);

/// Reads nvdisasm's JSON of the cubin that `module` was read from. Encodings and control fields come from the
/// module, names of internal functions become targets.
[[nodiscard]] std::vector<AssemblyFunction> read_disassembly(std::string_view json, const Module& module);

/// Runs nvdisasm on the cubin, or takes its output from the cache of earlier runs.
[[nodiscard]] std::vector<AssemblyFunction> disassemble(std::span<const std::byte> cubin,
                                                        const Module& module);

}  // namespace warptime::workloads::frontends::machine
