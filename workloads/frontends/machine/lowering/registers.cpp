// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/registers.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint16_t first_uniform = 256;
constexpr std::uint16_t first_predicate = 512;
constexpr std::uint16_t first_uniform_predicate_place = 520;

/// Opcodes that write no register: stores, reductions, control.
bool writes_nothing(std::string_view opcode) {
    constexpr std::array none{"STG",   "ST",      "STS",     "STL",    "STSM",      "RED",
                              "REDG",  "BAR",     "BRA",     "BRX",    "RET",       "CALL",
                              "EXIT",  "BSSY",    "BSYNC",   "BREAK",  "NOP",       "LDGSTS",
                              "CCTL",  "MEMBAR",  "ERRBAR",  "DEPBAR", "LDGDEPBAR", "WARPSYNC",
                              "YIELD", "UTMALDG", "UTMASTG", "UBLKCP", "WARPGROUP", "JMP"};
    return std::ranges::find(none, opcode) != none.end();
}

/// Registers of a result or of stored data: 64 and 128 bits by the modifiers, and by the opcode.
int words_of(const AssemblyLine& line, bool result) {
    if (line.has("128")) {
        return 4;
    }
    const std::string_view opcode = line.opcode;
    if (line.has("64") || line.has("WIDE") || opcode.starts_with("DFMA") || opcode.starts_with("DADD") ||
        opcode.starts_with("DMUL")) {
        return 2;
    }
    if (opcode == "LDSM" || opcode == "LDSM.T") {
        return result ? (line.has("4") ? 4 : line.has("2") ? 2 : 1) : 1;
    }
    if (opcode == "HMMA" || opcode == "IMMA" || opcode == "QMMA") {
        return 4;
    }
    if (opcode == "HGMMA" || opcode == "QGMMA" || opcode == "IGMMA") {
        for (const std::string& modifier : line.modifiers) {
            const std::size_t cross = modifier.find('x');
            if (cross != std::string::npos && modifier.starts_with("64x")) {
                const int n = std::atoi(modifier.c_str() + cross + 1);
                return result ? (n * 64 / 128) : 4;
            }
        }
    }
    return 1;
}

void add(std::vector<std::uint16_t>& places, std::uint16_t first, int number, int words) {
    if (number == zero_register) {
        return;
    }
    for (int w = 0; w < words && number + w < zero_register; ++w) {
        places.push_back(static_cast<std::uint16_t>(first + number + w));
    }
}

void add_operand(std::vector<std::uint16_t>& places, const Operand& operand, int words) {
    switch (operand.kind) {
        case OperandKind::general:
            add(places, 0, operand.number, words);
            break;
        case OperandKind::uniform:
            if (operand.number < 63) {
                add(places, first_uniform, operand.number, words);
            }
            break;
        case OperandKind::predicate:
            if (operand.number != true_predicate) {
                places.push_back(static_cast<std::uint16_t>(first_predicate + operand.number));
            }
            break;
        case OperandKind::uniform_predicate:
            if (operand.number != true_predicate) {
                places.push_back(static_cast<std::uint16_t>(first_uniform_predicate_place + operand.number));
            }
            break;
        case OperandKind::address:
        case OperandKind::constant:
            if (operand.base >= 0) {
                add(places, 0, operand.base, operand.base_is_64 ? 2 : 1);
            }
            if (operand.uniform_base >= 0 && operand.uniform_base < 63) {
                add(places, first_uniform, operand.uniform_base, 2);
            }
            if (operand.descriptor >= 0 && operand.descriptor < 63) {
                add(places, first_uniform, operand.descriptor, 2);
            }
            break;
        default:
            break;
    }
}

bool is_register(const Operand& operand) {
    return operand.kind == OperandKind::general || operand.kind == OperandKind::uniform;
}
bool is_predicate(const Operand& operand) {
    return operand.kind == OperandKind::predicate || operand.kind == OperandKind::uniform_predicate;
}

}  // namespace

RegisterUse registers_of(const AssemblyLine& line) {
    RegisterUse use;
    if (line.guard != true_predicate) {
        use.reads.push_back(static_cast<std::uint16_t>(
            (line.guard_uniform ? first_uniform_predicate_place : first_predicate) + line.guard));
    }
    std::size_t next = 0;
    if (!writes_nothing(line.opcode)) {
        // Predicate results come before or behind the register result; comparisons have two of them.
        bool has_register = false;
        const bool compares = line.opcode.ends_with("SETP") || line.opcode.ends_with("PLOP3");
        while (next < line.operands.size()) {
            const Operand& operand = line.operands[next];
            if (is_predicate(operand) && (compares ? next < 2 : !has_register || next < 3)) {
                // A source predicate stands last.
                if (!compares && has_register && next + 1 == line.operands.size()) {
                    break;
                }
                add_operand(use.writes, operand, 1);
            } else if (is_register(operand) && !has_register && !compares) {
                add_operand(use.writes, operand, words_of(line, true));
                has_register = true;
            } else {
                break;
            }
            ++next;
        }
    }
    for (; next < line.operands.size(); ++next) {
        add_operand(use.reads, line.operands[next], words_of(line, false));
    }
    return use;
}

}  // namespace warptime::workloads::frontends::machine
