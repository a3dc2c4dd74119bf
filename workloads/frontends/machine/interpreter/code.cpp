// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/code.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"
#include "workloads/frontends/machine/interpreter/modifiers.hpp"
#include "workloads/frontends/machine/interpreter/pace.hpp"
#include "workloads/frontends/machine/interpreter/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint64_t bytes_per_instruction = 16;

Flow refused(Warp& warp, const Instruction& instruction, Mask enabled) {
    fault(warp, instruction, std::countr_zero(enabled | warp.active),
          warp.launch->code->refused.at(instruction.index));
}

/// Turns the operand that a relocation of the line fills into one of relocated_bank, or into a target.
void relocate(AssemblyLine& line, const Relocation& relocation, Code& code) {
    for (Operand& operand : line.operands) {
        if (operand.kind == OperandKind::target) {
            return;  // The reader of the disassembly has resolved it.
        }
    }
    for (std::size_t i = line.operands.size(); i-- > 0;) {
        Operand& operand = line.operands[i];
        if (operand.kind == OperandKind::text || operand.kind == OperandKind::immediate) {
            operand.kind = OperandKind::immediate;
            operand.bank = relocated_bank;
            operand.value = static_cast<std::int64_t>(code.relocations.size());
            code.relocations.push_back(relocation);
            return;
        }
    }
}

Instruction decode_line(const AssemblyLine& line, std::uint32_t index, std::uint32_t first, Code& code,
                        std::map<std::uint64_t, std::uint16_t>& known_constants) {
    Instruction instruction;
    instruction.index = index;
    instruction.control = line.control;
    instruction.guard.index =
        static_cast<std::uint8_t>(line.guard + (line.guard_uniform ? first_uniform_predicate : 0));
    instruction.guard.flip = line.guard_negated ? all_lanes : 0U;
    instruction.destination = code.layout.sink();
    instruction.second_destination = code.layout.sink();
    for (Source& source : instruction.sources) {
        source.row = code.layout.zero();
    }
    try {
        const Decode decode = find_opcode(line.opcode);
        if (decode == nullptr) {
            throw Error(fmt::format("instruction at {:#x}", line.address), line.text,
                        fmt::format("an opcode that the interpreter knows; '{}' is none", line.opcode));
        }
        check_modifiers(line);
        Decoder decoder(line, code.layout, known_constants, first);
        decode(decoder, instruction);
    } catch (const Error& error) {
        code.refused.emplace(index, error.what());
        instruction.execute = refused;
    }
    return instruction;
}

void write_bytes(std::vector<std::byte>& bank, std::uint64_t offset, std::uint64_t value, std::size_t bytes) {
    if (bank.size() < offset + bytes) {
        bank.resize(offset + bytes);
    }
    std::memcpy(bank.data() + offset, &value, bytes);
}

}  // namespace

int Code::kernel(std::string_view name) const {
    for (std::size_t i = 0; i < module.functions.size(); ++i) {
        if (module.functions[i].kernel && module.functions[i].name == name) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

bool Code::polls_in(int function) const {
    return std::ranges::any_of(polls, [this, function](const PollingLoop& loop) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            const bool holds =
                loop.first >= places[i].first && loop.first < places[i].first + places[i].count;
            if (holds) return static_cast<int>(i) == function || !module.functions[i].kernel;
        }
        return true;
    });
}

const std::string& Code::function_of(std::uint32_t instruction) const {
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (instruction >= places[i].first && instruction < places[i].first + places[i].count) {
            return module.functions[i].name;
        }
    }
    static const std::string none = "?";
    return none;
}

SourceLine Code::line_of(std::uint32_t instruction) const {
    constexpr std::uint32_t bytes = 16;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (instruction < places[i].first || instruction >= places[i].first + places[i].count) continue;
        const auto table = module.lines.functions.find(module.functions[i].name);
        if (table == module.lines.functions.end()) return {};
        const std::uint32_t address = (instruction - places[i].first) * bytes;
        const auto next = std::ranges::upper_bound(table->second, address, {}, &SourceLine::address);
        if (next == table->second.begin()) return {};
        const SourceLine& found = *(next - 1);
        const bool known =
            found.file >= 0 && static_cast<std::size_t>(found.file) < module.lines.files.size();
        return known ? found : SourceLine{};
    }
    return {};
}

Code decode_module(Module module, std::vector<AssemblyFunction> assembly) {
    Code code;
    code.module = std::move(module);
    code.assembly = std::move(assembly);
    int registers = 16;
    std::uint32_t first = 0;
    for (const Function& function : code.module.functions) {
        registers = std::max(registers, function.registers);
        const auto own = std::ranges::find(code.assembly, function.name, &AssemblyFunction::name);
        if (own == code.assembly.end()) {
            throw Error("disassembly of " + function.name, "none", "one for every function of the module");
        }
        const auto count = static_cast<std::uint32_t>(own->lines.size());
        code.places.push_back({first, count});
        first += count;
    }
    // Wide results of the last register may reach beyond what the kernel declares: at most 255 exist.
    code.layout.general = static_cast<std::uint16_t>(std::min(registers + 4, 255));
    std::map<std::uint64_t, std::uint16_t> known_constants;
    code.instructions.reserve(first);
    code.lines.reserve(first);
    for (std::size_t f = 0; f < code.module.functions.size(); ++f) {
        const Function& function = code.module.functions[f];
        AssemblyFunction& own = *std::ranges::find(code.assembly, function.name, &AssemblyFunction::name);
        for (const Relocation& relocation : function.relocations) {
            const std::uint64_t line = relocation.offset / bytes_per_instruction;
            if (line < own.lines.size()) {
                relocate(own.lines[line], relocation, code);
            }
        }
        for (const AssemblyLine& line : own.lines) {
            const auto index = static_cast<std::uint32_t>(code.instructions.size());
            code.instructions.push_back(
                decode_line(line, index, code.places[f].first, code, known_constants));
            code.lines.push_back(&line);
        }
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> functions;
    for (const Code::Place& place : code.places) functions.emplace_back(place.first, place.count);
    code.polls = find_polls(code.lines, functions, code.instructions);
    code.races = find_races(code.lines, functions, code.instructions);
    find_load_waits(code.lines, functions, code.instructions);
    return code;
}

Code decode_cubin(std::span<const std::byte> cubin, std::string_view origin) {
    Module module = read_module(cubin, origin);
    std::vector<AssemblyFunction> assembly = disassemble(cubin, module);
    return decode_module(std::move(module), std::move(assembly));
}

LoadedCode load_code(const Code& code, DeviceMemory& memory) {
    LoadedCode loaded;
    loaded.code = &code;
    for (const Variable& variable : code.module.variables) {
        if (variable.constant) {
            continue;
        }
        const auto address = memory.allocate(std::max<std::uint64_t>(variable.bytes, 1),
                                             std::max<std::uint64_t>(variable.alignment, 256));
        if (!address) {
            throw Error("variable " + variable.name, std::to_string(variable.bytes),
                        "bytes that are free in the device's memory");
        }
        loaded.variables[variable.name] = *address;
        if (!variable.initial.empty()) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): the arena's addresses are this process's.
            std::memcpy(reinterpret_cast<void*>(*address), variable.initial.data(),
                        std::min<std::size_t>(variable.initial.size(), variable.bytes));
        }
    }
    const auto value_of = [&code, &loaded](const Relocation& relocation) -> std::uint64_t {
        const auto addend = static_cast<std::uint64_t>(relocation.addend);
        const auto variable = loaded.variables.find(relocation.symbol);
        if (variable != loaded.variables.end()) {
            return variable->second + addend;
        }
        for (std::size_t f = 0; f < code.module.functions.size(); ++f) {
            const Function& function = code.module.functions[f];
            if (function.name == relocation.symbol) {
                return code_window + std::uint64_t{code.places[f].first} * bytes_per_instruction + addend;
            }
            const auto inner = function.entry_points.find(relocation.symbol);
            if (inner != function.entry_points.end()) {
                return code_window + std::uint64_t{code.places[f].first} * bytes_per_instruction +
                       inner->second + addend;
            }
        }
        for (const Variable& constant : code.module.variables) {
            if (constant.name == relocation.symbol) {
                return constant.offset + addend;
            }
        }
        return addend;
    };
    const auto part_of = [&value_of](const Relocation& relocation) {
        const std::uint64_t value = value_of(relocation);
        return relocation.part == RelocationPart::high  ? value >> 32U
               : relocation.part == RelocationPart::low ? value & 0xffffffffU
                                                        : value;
    };
    for (const Relocation& relocation : code.relocations) {
        loaded.relocated.push_back(static_cast<std::uint32_t>(part_of(relocation)));
    }
    for (const auto& [bank, bytes] : code.module.constants) {
        const auto number = static_cast<std::size_t>(bank);
        loaded.constant_banks.resize(std::max(loaded.constant_banks.size(), number + 1));
        loaded.constant_banks[number] = bytes;
    }
    const auto bytes_of = [](const Relocation& relocation) {
        return relocation.part == RelocationPart::whole ? std::size_t{8} : std::size_t{4};
    };
    for (const auto& [bank, relocations] : code.module.constant_relocations) {
        const auto number = static_cast<std::size_t>(bank);
        loaded.constant_banks.resize(std::max(loaded.constant_banks.size(), number + 1));
        for (const Relocation& relocation : relocations) {
            write_bytes(loaded.constant_banks[number], relocation.offset, part_of(relocation),
                        bytes_of(relocation));
        }
    }
    for (const Variable& variable : code.module.variables) {
        for (const Relocation& relocation : variable.relocations) {
            if (variable.constant) {
                loaded.constant_banks.resize(std::max(loaded.constant_banks.size(), std::size_t{4}));
                write_bytes(loaded.constant_banks[3], variable.offset + relocation.offset,
                            part_of(relocation), bytes_of(relocation));
            } else if (relocation.offset + bytes_of(relocation) <= variable.bytes) {
                const std::uint64_t value = part_of(relocation);
                // NOLINTNEXTLINE(performance-no-int-to-ptr): the arena's addresses are this process's.
                std::memcpy(reinterpret_cast<void*>(loaded.variables.at(variable.name) + relocation.offset),
                            &value, bytes_of(relocation));
            }
        }
    }
    return loaded;
}

}  // namespace warptime::workloads::frontends::machine
