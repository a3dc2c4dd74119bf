// Operands of one instruction from their printed form.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/frontends/machine/assembly/disassemble.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr int last_barrier = 15;
/// Instructions have five bits for the bank of a constant.
constexpr int last_bank = 31;

/// Parts between separators that stand outside of brackets.
std::vector<std::string_view> split_outside(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '[' || text[i] == '(' ? 1 : 0;
        depth -= text[i] == ']' || text[i] == ')' ? 1 : 0;
        if (depth == 0 && text[i] == separator) {
            parts.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        }
    }
    parts.push_back(text.substr(begin));
    return parts;
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') {
        text.remove_prefix(1);
    }
    while (!text.empty() && text.back() == ' ') {
        text.remove_suffix(1);
    }
    return text;
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) {
        return false;
    }
    text.remove_prefix(prefix.size());
    return true;
}

/// A whole number in decimal or hexadecimal, all of the text.
std::optional<std::int64_t> integer(std::string_view text) {
    const bool negative = take(text, "-");
    if (!negative) {
        take(text, "+");
    }
    const int base = take(text, "0x") ? 16 : 10;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(negative ? 0U - value : value);
}

std::optional<double> real(std::string_view text) {
    bool negative = take(text, "-");
    if (!negative) {
        take(text, "+");
    }
    if (text == "INF" || text == "INF ") {
        const double infinity = std::numeric_limits<double>::infinity();
        return negative ? -infinity : infinity;
    }
    if (text == "QNAN" || text == "SNAN" || text == "NAN") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || end != copy.c_str() + copy.size()) {
        return std::nullopt;
    }
    return negative ? -value : value;
}

/// Number of a register with the prefix: "R12" gives 12, "RZ" 255. No register is above `last`.
std::optional<int> register_number(std::string_view text, std::string_view prefix, int zero,
                                   int last = zero_register) {
    if (!take(text, prefix)) {
        return std::nullopt;
    }
    if (text == "Z" || text == "T") {
        return zero;
    }
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > last) {
        return std::nullopt;
    }
    return number;
}

bool set_register(Operand& operand, std::string_view name) {
    struct Form {
        std::string_view prefix;
        OperandKind kind;
        int zero;
        int last;
    };
    constexpr Form forms[] = {{"UR", OperandKind::uniform, zero_register, zero_register},
                              {"UP", OperandKind::uniform_predicate, true_predicate, true_predicate},
                              {"R", OperandKind::general, zero_register, zero_register},
                              {"P", OperandKind::predicate, true_predicate, true_predicate},
                              {"SB", OperandKind::scoreboard, 0, zero_register},
                              {"B", OperandKind::barrier, 0, last_barrier}};
    for (const Form& form : forms) {
        if (const auto number = register_number(name, form.prefix, form.zero, form.last)) {
            operand.kind = form.kind;
            operand.number = static_cast<std::uint8_t>(*number);
            return true;
        }
    }
    return false;
}

void set_modifiers(Operand& operand, const std::vector<std::string_view>& parts) {
    for (std::size_t i = 1; i < parts.size(); ++i) {
        if (parts[i] != "reuse") {
            operand.modifiers.emplace_back(parts[i]);
        }
    }
}

/// "R2.64+UR4+0x10" and the like: what stands in brackets.
bool set_sum(Operand& operand, std::string_view sum) {
    std::string_view rest = sum;
    while (!rest.empty()) {
        // A negative offset is printed behind a plus: R5+-0x2000.
        take(rest, "+");
        const std::size_t next = rest.find_first_of("+-", 1);
        const std::string_view piece = rest.substr(0, next);
        rest = next == std::string_view::npos ? std::string_view{} : rest.substr(next);
        const bool negative = piece.starts_with('-');
        if (const auto number = integer(piece)) {
            // Unsigned, since a sum beyond 64 bits wraps around.
            operand.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(operand.value) +
                                                      static_cast<std::uint64_t>(*number));
            continue;
        }
        if (negative) {
            return false;
        }
        const std::vector<std::string_view> parts = split_outside(piece, '.');
        if (const auto number = register_number(parts[0], "UR", zero_register)) {
            operand.uniform_base = *number;
            for (std::size_t i = 1; i < parts.size(); ++i) {
                if (parts[i] != "64") {  // A uniform base of 64 bits is what it is where nothing is said.
                    operand.modifiers.emplace_back(parts[i]);
                }
            }
            continue;
        }
        const auto number = register_number(parts[0], "R", zero_register);
        if (!number) {
            return false;
        }
        operand.base = *number;
        for (std::size_t i = 1; i < parts.size(); ++i) {
            if (parts[i] == "64") {
                operand.base_is_64 = true;
            } else if (parts[i] == "U32") {
                operand.base_is_unsigned = true;
            } else if (parts[i] == "X4" || parts[i] == "X8" || parts[i] == "X16") {
                operand.scale = std::atoi(std::string(parts[i].substr(1)).c_str());
            } else if (parts[i] != "reuse") {
                operand.modifiers.emplace_back(parts[i]);
            }
        }
    }
    return true;
}

/// c[0x0][0x210], cx[UR4][0x10], desc[UR6][R6.64], gdesc[UR4], [R2+0x10]
bool set_bracketed(Operand& operand, std::string_view text) {
    const std::size_t open = text.find('[');
    const std::string_view head = text.substr(0, open);
    std::vector<std::string_view> groups;
    std::size_t at = open;
    std::string_view tail;
    while (at < text.size() && text[at] == '[') {
        const std::size_t close = text.find(']', at);
        if (close == std::string_view::npos) {
            return false;
        }
        groups.push_back(text.substr(at + 1, close - at - 1));
        at = close + 1;
    }
    tail = text.substr(at);
    if (!tail.empty()) {
        if (tail.front() != '.') {
            return false;
        }
        set_modifiers(operand, split_outside(tail, '.'));
    }
    if (head == "c" && groups.size() == 2) {
        const auto bank = integer(groups[0]);
        if (!bank || *bank < 0 || *bank > last_bank) {
            return false;
        }
        operand.kind = OperandKind::constant;
        operand.bank = static_cast<int>(*bank);
        return set_sum(operand, groups[1]);
    }
    if ((head == "cx" || head == "desc") && groups.size() == 2) {
        const auto number = register_number(groups[0].substr(0, groups[0].find('.')), "UR", zero_register);
        if (!number) {
            return false;
        }
        operand.kind = head == "cx" ? OperandKind::constant : OperandKind::address;
        operand.descriptor = *number;
        return set_sum(operand, groups[1]);
    }
    if ((head == "gdesc" || head == "tmem" || head == "idesc") && groups.size() == 1) {
        const auto number = register_number(groups[0].substr(0, groups[0].find('.')), "UR", zero_register);
        if (!number) {
            return false;
        }
        operand.kind = OperandKind::address;
        operand.descriptor = *number;
        return true;
    }
    if (head.empty() && groups.size() == 1) {
        operand.kind = OperandKind::address;
        return set_sum(operand, groups[0]);
    }
    return false;
}

Operand parse_operand(std::string_view printed) {
    Operand operand;
    operand.text = std::string(printed);
    std::string_view text = printed;
    if (take(text, "`(")) {
        text.remove_suffix(text.empty() ? 0 : 1);
        operand.text = std::string(text);
        return operand;
    }
    if (const auto number = integer(text)) {
        operand.kind = OperandKind::immediate;
        operand.value = *number;
        return operand;
    }
    if (const auto number = real(text)) {
        operand.kind = OperandKind::immediate;
        operand.is_real = true;
        operand.real = *number;
        operand.value = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(static_cast<float>(*number)));
        return operand;
    }
    if (text.starts_with("SR") && !text.starts_with("SRC")) {
        operand.kind = OperandKind::special;
        return operand;
    }
    // Signs stand before bars: -|R4|.
    for (bool again = true; again && !text.empty();) {
        again = false;
        if (take(text, "!") || take(text, "-")) {
            operand.negated = true;
            again = true;
        } else if (take(text, "~")) {
            operand.inverted = true;
            again = true;
        } else if (take(text, "+")) {
            again = true;
        }
    }
    if (text.size() >= 2 && text.front() == '|') {
        operand.absolute = true;
        const std::size_t close = text.rfind('|');
        std::string_view inside = text.substr(1, close - 1);
        const std::string_view behind = close + 1 < text.size() ? text.substr(close + 1) : std::string_view{};
        if (behind.starts_with(".")) {
            set_modifiers(operand, split_outside(behind, '.'));
        }
        text = inside;
    }
    if (text.find('[') != std::string_view::npos) {
        if (!set_bracketed(operand, text)) {
            throw Error("operand", std::string(printed), "an address or a constant in brackets");
        }
        return operand;
    }
    const std::vector<std::string_view> parts = split_outside(text, '.');
    if (set_register(operand, parts[0])) {
        set_modifiers(operand, parts);
        return operand;
    }
    operand.kind = OperandKind::text;
    return operand;
}

/// Where an address begins that is printed behind another operand without a comma, as some versions of
/// nvdisasm do: behind a register or predicate "R2[R3+0x10]", behind an address "[UR8][UR4]", and behind a
/// descriptor's address "desc[UR4][R2.64][R11]". 0 where none does.
std::size_t joined_address(std::string_view word) {
    const std::size_t bracket = word.find('[');
    if (bracket == std::string_view::npos) {
        return 0;
    }
    std::string_view name = word.substr(0, bracket);
    if (name.empty() || name == "desc") {
        // Brackets of its own: one pair of an address, two of a descriptor's.
        std::size_t end = word.find("][", bracket);
        if (name == "desc" && end != std::string_view::npos) {
            end = word.find("][", end + 1);
        }
        return end == std::string_view::npos ? 0 : end + 1;
    }
    if (name.starts_with('!')) {
        name.remove_prefix(1);
    }
    if (name.starts_with('U')) {
        name.remove_prefix(1);
    }
    if (!name.starts_with('R') && !name.starts_with('P')) {
        return 0;
    }
    name.remove_prefix(1);
    const bool number =
        !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    return number || name == "Z" || name == "T" ? bracket : 0;
}

}  // namespace

std::vector<Operand> parse_operands(std::string_view text) {
    std::vector<Operand> operands;
    text = trim(text);
    if (text.empty()) {
        return operands;
    }
    for (const std::string_view part : split_outside(text, ',')) {
        // "BRX R16 -0x1c0" and "RET.REL.NODEC R2 0x0": two operands without a comma.
        for (const std::string_view word : split_outside(trim(part), ' ')) {
            const std::size_t address = joined_address(word);
            if (address > 0) {
                operands.push_back(parse_operand(word.substr(0, address)));
            }
            if (!word.empty()) {
                operands.push_back(parse_operand(word.substr(address)));
            }
        }
    }
    return operands;
}

}  // namespace warptime::workloads::frontends::machine
