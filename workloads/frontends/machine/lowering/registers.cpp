// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/registers.hpp"

#include "workloads/frontends/machine/assembly/comparisons.hpp"
#include "workloads/frontends/machine/interpreter/instruction.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <string>
#include <string_view>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint16_t first_uniform = 256;
constexpr std::uint16_t first_predicate = 512;
constexpr std::uint16_t first_uniform_predicate_place = 520;

constexpr std::uint16_t first_scoreboard = 528;
constexpr unsigned scoreboards = 6;

constexpr int predicate_count = 7;

/// Opcodes that write no register: stores, reductions, control.
bool writes_nothing(std::string_view opcode) {
    constexpr std::array none{
        "STG",     "ST",        "STS",      "STL",      "STSM",      "RED",     "REDG",     "BAR",
        "BRA",     "BRX",       "BRXU",     "RET",      "CALL",      "EXIT",    "BSSY",     "BSYNC",
        "BREAK",   "NOP",       "LDGSTS",   "CCTL",     "CCTLL",     "MEMBAR",  "ERRBAR",   "DEPBAR",
        "ARRIVES", "LDGDEPBAR", "YIELD",    "WARPSYNC", "UTMALDG",   "UTMASTG", "UTMAREDG", "UBLKCP",
        "UBLKRED", "UTMAPF",    "UBLKPF",   "UTMACCTL", "WARPGROUP", "JMP",     "JMX",      "BPT",
        "KILL",    "R2P",       "NANOSLEEP"};
    return std::ranges::find(none, opcode) != none.end();
}

constexpr int result = -1;  ///< in place of the number of a source

/// Do the types of a conversion make its result, or its source, a pair?
bool converts_pair(const AssemblyLine& line, int source) {
    const bool real = line.has("F64");
    const bool integer = line.has("S64") || line.has("U64");
    if (line.opcode == "FRND") {
        return real;
    }
    if (line.opcode == "F2I") {
        return source == result ? integer : real;
    }
    if (line.opcode == "I2F") {
        return source == result ? real : integer;
    }
    // F2F.F64.F32: the result's type first, then the source's.
    int place = result;
    for (const std::string& modifier : line.modifiers) {
        if (modifier == "F64" || modifier == "F32" || modifier == "F16" || modifier == "BF16") {
            if (place == source) {
                return modifier == "F64";
            }
            ++place;
        }
    }
    return false;
}

/// DMMA.16x8x4, or DMMA for 8 x 8 x 4: two words an element, which the lanes share evenly.
int words_of_double_product(const AssemblyLine& line, int source) {
    constexpr int n = 8;
    constexpr std::string_view tall = "16x8x";
    int m = 8;
    int k = 4;
    for (const std::string& modifier : line.modifiers) {
        if (modifier.starts_with(tall)) {
            m = 16;
            k = std::atoi(modifier.c_str() + tall.size());
        }
    }
    const int elements = source == 0 ? m * k : source == 1 ? k * n : m * n;
    return 2 * elements / lanes_per_warp;
}

/// Registers of a result, or of source number `source` counted from the first one: by the modifiers, and by
/// the opcode.
int words_of(const AssemblyLine& line, int source) {
    const std::string_view opcode = line.opcode;
    constexpr std::array doubles{"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"};
    constexpr std::array conversions{"F2F", "F2I", "I2F", "FRND"};
    constexpr std::array atomics{"ATOM", "ATOMG", "ATOMS", "RED", "REDG"};
    if (opcode == "IMAD" || opcode == "UIMAD" || opcode == "IMUL" || opcode == "UIMUL") {
        // The addend is wide, the factors are not; HI is the upper word of a wide sum.
        const bool wide = line.has("WIDE");
        return (source == result && wide) || (source == 2 && (wide || line.has("HI"))) ? 2 : 1;
    }
    if (std::ranges::find(doubles, opcode) != doubles.end()) {
        return 2;
    }
    if (std::ranges::find(conversions, opcode) != conversions.end()) {
        return converts_pair(line, source) ? 2 : 1;
    }
    if (std::ranges::find(atomics, opcode) != atomics.end() &&
        (line.has("F64") || line.has("S64") || line.has("U64") || line.has("F32x2"))) {
        return 2;
    }
    if (opcode == "CS2R") {
        return line.has("32") ? 1 : 2;
    }
    if (opcode == "SYNCS" && line.has("ARRIVE")) {
        return source == result ? 2 : 1;
    }
    if (opcode == "DMMA") {
        return words_of_double_product(line, source);
    }
    if (opcode == "LDSM" || opcode == "STSM") {
        return line.has("4") ? 4 : line.has("2") ? 2 : 1;
    }
    if (line.has("128") || line.has("F32x4")) {
        return 4;
    }
    if (line.has("64")) {
        return 2;
    }
    if (opcode == "HMMA" || opcode == "IMMA" || opcode == "QMMA") {
        return 4;
    }
    if (opcode == "HGMMA" || opcode == "QGMMA" || opcode == "IGMMA") {
        for (const std::string& modifier : line.modifiers) {
            const std::size_t cross = modifier.find('x');
            if (cross != std::string::npos && modifier.starts_with("64x")) {
                const int n = std::atoi(modifier.c_str() + cross + 1);
                return source == result ? (n * 64 / 128) : 4;
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

/// Adds the results, which come first. Gives the number of the first source.
std::size_t add_results(RegisterUse& use, const AssemblyLine& line) {
    const std::size_t compared = compared_predicates(line.opcode);
    const bool votes = line.opcode == "VOTE" || line.opcode == "VOTEU";
    std::size_t next = 0;
    bool has_register = false;
    for (; next < line.operands.size(); ++next) {
        const Operand& operand = line.operands[next];
        const bool last = next + 1 == line.operands.size();
        if (compared > 0) {
            if (next >= compared || !is_predicate(operand)) {
                break;
            }
            add_operand(use.writes, operand, 1);
        } else if (is_predicate(operand)) {
            // Predicate results come before or behind the register result; a source predicate stands last.
            const bool source = last && (has_register || votes) && line.opcode != "B2R";
            if (source || (has_register && next >= 3)) {
                break;
            }
            add_operand(use.writes, operand, 1);
        } else if (is_register(operand) && !has_register) {
            add_operand(use.writes, operand, words_of(line, result));
            has_register = true;
        } else {
            break;
        }
    }
    return next;
}

bool reads_texture(std::string_view opcode) {
    return opcode == "TEX" || opcode == "TLD" || opcode == "TLD4";
}

/// 1D to 3D, or ARRAY_1D and ARRAY_2D, whose layer comes first.
int coordinates_of(std::string_view form) {
    const bool layered = form.find("ARRAY") != std::string_view::npos;
    const std::size_t digit = form.find_first_of("123");
    return digit == std::string_view::npos ? 1 : form[digit] - '0' + (layered ? 1 : 0);
}

/// TEX.LL Rd2, Rd, Ra, Rb, URc, 0x0, 2D, 0x1: the first two components go to Rd, the others to Rd2.
void add_texture(RegisterUse& use, const AssemblyLine& line) {
    int components = 4, coordinates = 1;
    for (std::size_t i = 2; i < line.operands.size(); ++i) {
        const Operand& operand = line.operands[i];
        if (operand.kind != OperandKind::text) continue;
        coordinates = coordinates_of(operand.text);
        if (i + 1 < line.operands.size()) {
            components = std::popcount(static_cast<unsigned>(line.operands[i + 1].value));
        }
    }
    if (line.operands.size() < 3) return;
    add_operand(use.writes, line.operands[1], std::min(2, components));
    add_operand(use.writes, line.operands[0], std::max(0, components - 2));
    for (std::size_t i = 2; i < line.operands.size(); ++i) {
        add_operand(use.reads, line.operands[i], i == 2 ? coordinates : 1);
    }
}

/// SULD.D.BA.2D Rd, [Ra], URc, 0x0 and SUST.D.BA.2D [Ra], Rs, URc, 0x0: coordinates from Ra on.
void add_surface(RegisterUse& use, const AssemblyLine& line) {
    const int words = words_of(line, result);
    for (const Operand& operand : line.operands) {
        if (operand.kind == OperandKind::general) {
            add_operand(line.opcode == "SULD" ? use.writes : use.reads, operand, words);
        } else if (operand.kind != OperandKind::address) {
            add_operand(use.reads, operand, 1);
        } else if (operand.base >= 0) {
            for (const std::string& modifier : line.modifiers) {
                const bool form = modifier.find_first_of("123") == 0 && modifier.find('D') == 1;
                if (form) add(use.reads, 0, operand.base, coordinates_of(modifier));
            }
        }
    }
}

/// R2P PR, Ra, mask and P2R Rd, PR, Ra, mask: the predicates of the mask, or all where it is a register.
void add_predicates(std::vector<std::uint16_t>& places, const AssemblyLine& line) {
    const bool known = !line.operands.empty() && line.operands.back().kind == OperandKind::immediate;
    for (int p = 0; p < predicate_count; ++p) {
        if (!known || ((line.operands.back().value >> p) & 1) != 0) {
            places.push_back(static_cast<std::uint16_t>(first_predicate + p));
        }
    }
}

}  // namespace

RegisterUse registers_of(const AssemblyLine& line) {
    RegisterUse use;
    if (line.guard != true_predicate) {
        use.reads.push_back(static_cast<std::uint16_t>(
            (line.guard_uniform ? first_uniform_predicate_place : first_predicate) + line.guard));
    }
    if (reads_texture(line.opcode)) {
        add_texture(use, line);
    } else if (line.opcode == "SULD" || line.opcode == "SUST") {
        add_surface(use, line);
    } else {
        const std::size_t first = writes_nothing(line.opcode) ? 0 : add_results(use, line);
        for (std::size_t i = first; i < line.operands.size(); ++i) {
            add_operand(use.reads, line.operands[i], words_of(line, static_cast<int>(i - first)));
        }
    }
    for (unsigned board = 0; board < scoreboards; ++board) {
        if (((line.control.wait_mask >> board) & 1U) != 0) {
            use.reads.push_back(static_cast<std::uint16_t>(first_scoreboard + board));
        }
    }
    if (line.control.write_barrier < scoreboards) {
        use.writes.push_back(static_cast<std::uint16_t>(first_scoreboard + line.control.write_barrier));
    }
    if (line.opcode == "R2P") {
        add_predicates(use.writes, line);
    } else if (line.opcode == "P2R") {
        add_predicates(use.reads, line);
    }
    return use;
}

}  // namespace warptime::workloads::frontends::machine
