// A compiled module: the kernels, constants, variables and line table of one cubin.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/image/line_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// A parameter of a kernel: `offset` bytes into the parameters.
struct Parameter {
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
};

/// What a relocation writes: the whole 64-bit address of the symbol plus addend, or its lower or upper 32
/// bits.
enum class RelocationPart : std::uint8_t { whole, low, high };

struct Relocation {
    std::uint64_t offset = 0;  ///< bytes from the start of the function's code or of the variable's section
    std::string symbol;        ///< a variable or a function
    std::int64_t addend = 0;
    RelocationPart part = RelocationPart::whole;
};

/// A function with its own code section: a kernel, or a device function compiled apart.
struct Function {
    std::string name;
    bool kernel = false;
    std::vector<std::array<std::uint64_t, 2>> code;  ///< 128 bits an instruction
    int registers = 0;                               ///< a thread
    std::int64_t static_shared = 0;    ///< bytes of a CTA, with the reserved ones before shared_begin
    std::int64_t shared_begin = 0;     ///< first byte of static shared memory: 1024 on sm_90, 0 before
    std::int64_t local_bytes = 0;      ///< of a thread: its stack frame
    int barriers = 0;                  ///< named barriers
    std::uint32_t parameter_base = 0;  ///< offset of the parameters in constant bank 0
    std::uint32_t parameter_bytes = 0;
    std::vector<Parameter> parameters;
    std::array<int, 3> required_block{};                ///< zeros: none required
    int max_threads = 0;                                ///< 0: not stated
    std::array<int, 3> cluster{};                       ///< zeros: none required
    std::map<int, std::vector<std::byte>> constants;    ///< own banks beside 0: bank 2, literals
    std::vector<Relocation> relocations;                ///< of the code
    std::map<std::string, std::uint32_t> entry_points;  ///< symbols inside the code by their offset
    /// Static shared memory without the bytes before shared_begin.
    [[nodiscard]] std::int64_t own_shared() const {
        return std::max<std::int64_t>(0, static_shared - shared_begin);
    }
};

/// A __device__ or __constant__ variable.
struct Variable {
    std::string name;
    bool constant = false;  ///< in constant bank 3, at `offset`
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 1;
    std::uint64_t offset = 0;             ///< of a constant, in its bank
    std::vector<std::byte> initial;       ///< empty: zeros
    std::vector<Relocation> relocations;  ///< offsets from the start of the variable
};

struct Module {
    int architecture = 0;  ///< 90
    std::vector<Function> functions;
    std::vector<Variable> variables;
    std::map<int, std::vector<std::byte>>
        constants;  ///< banks of the module: 3 (__constant__), 4 (addresses)
    std::map<int, std::vector<Relocation>> constant_relocations;
    LineTable lines;  ///< empty without -lineinfo

    [[nodiscard]] const Function* find(std::string_view name) const;
};

/// Reads a cubin. Throws Error naming what is wrong: not an ELF, not of CUDA, truncated, an architecture
/// before sm_80. `origin` is the file's name, for messages.
[[nodiscard]] Module read_module(std::span<const std::byte> cubin, std::string_view origin);

}  // namespace warptime::workloads::frontends::machine
