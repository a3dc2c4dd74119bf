// A module decoded for the interpreter, and the same module loaded into a device's memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/assembly/disassemble.hpp"
#include "workloads/frontends/machine/image/module.hpp"
#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/waits.hpp"
#include "workloads/frontends/machine/memory/device_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// The instructions of all functions of a module, one function behind the other.
struct Code {
    struct Place {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };
    Module module;
    std::vector<AssemblyFunction> assembly;
    std::vector<Instruction> instructions;
    std::vector<const AssemblyLine*> lines;  ///< by instruction
    std::vector<Place> places;               ///< by function of the module
    std::vector<PollingLoop> polls;          ///< Instruction::poll counts them from 1
    std::vector<bool> races;                 ///< by function of the module: a loop of it races
    RowLayout layout;
    std::vector<Relocation> relocations;  ///< what rows of relocated_bank hold
    /// By instruction: why it cannot run ("opcode 'TEX' at 0x120: ..."); only refused when it is executed.
    std::map<std::uint32_t, std::string> refused;

    /// Index in module.functions of the kernel; -1 when there is none of the name.
    [[nodiscard]] int kernel(std::string_view name) const;
    /// Whether the kernel may wait for other warps: a polling loop stands in its own code, or in a function
    /// that any kernel may call.
    [[nodiscard]] bool polls_in(int function) const;
    /// Name of the function that holds the instruction.
    [[nodiscard]] const std::string& function_of(std::uint32_t instruction) const;
    /// Line of source of an instruction; file -1 where the module has none.
    [[nodiscard]] SourceLine line_of(std::uint32_t instruction) const;
};

/// Reads, disassembles and decodes a cubin. Throws Error for a broken image; instructions that the
/// interpreter does not know are kept in `refused`.
[[nodiscard]] Code decode_cubin(std::span<const std::byte> cubin, std::string_view origin);
/// The same where the disassembly is at hand.
[[nodiscard]] Code decode_module(Module module, std::vector<AssemblyFunction> assembly);

/// Code whose variables have addresses in a device memory.
struct LoadedCode {
    const Code* code = nullptr;
    std::map<std::string, std::uint64_t> variables;  ///< addresses of __device__ variables
    std::vector<std::vector<std::byte>>
        constant_banks;                    ///< of the module, relocated; constants are written here
    std::vector<std::uint32_t> relocated;  ///< value of each relocation of the code
};

/// Gives every variable memory and its initial bytes. Throws Error when the memory is full.
[[nodiscard]] LoadedCode load_code(const Code& code, DeviceMemory& memory);

/// Byte address by which device code names instruction i, in function pointers and return addresses.
inline constexpr std::uint64_t code_window = 0x7f03'0000'0000ULL;

}  // namespace warptime::workloads::frontends::machine
