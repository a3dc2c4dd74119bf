// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/decoder.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint32_t bytes_per_instruction = 16;

/// Key of a pair of words among the known constants: rows of single words and of pairs are told apart.
std::uint64_t key_of(const ConstantRow& row, bool pair) {
    const auto bank = static_cast<std::uint64_t>(std::int64_t{row.bank} + 2);
    const std::uint64_t word = row.bank == value_bank ? row.value : row.offset;
    return (bank << 40U) | (pair ? std::uint64_t{1} << 60U : 0U) | word;
}

}  // namespace

const Operand& Decoder::operand(std::size_t i) const {
    if (i >= line_.operands.size()) {
        refuse(fmt::format("with {} operands", line_.operands.size()));
    }
    return line_.operands[i];
}

void Decoder::refuse(std::string_view what) const {
    throw Error(fmt::format("instruction at {:#x}", line_.address), line_.text,
                fmt::format("one that the interpreter knows: {}", what));
}

std::uint16_t Decoder::general_row(int number) const {
    if (number == zero_register) {
        return layout_.zero();
    }
    if (number >= layout_.general) {
        refuse(fmt::format("register R{} is beyond the kernel's registers", number));
    }
    return static_cast<std::uint16_t>(number);
}

std::uint16_t Decoder::uniform_row(int number) const {
    if (number == zero_register || number == zero_uniform_register) {
        return layout_.zero();
    }
    if (number >= RowLayout::uniform_rows) {
        refuse(fmt::format("uniform register UR{}", number));
    }
    return static_cast<std::uint16_t>(layout_.uniform() + number);
}

std::uint16_t Decoder::row_of(const ConstantRow& first, const ConstantRow* second) {
    // Pairs are looked up by their first word: a second word that differs makes a new pair.
    const std::uint64_t key = key_of(first, second != nullptr);
    const auto known = known_constants_.find(key);
    if (known != known_constants_.end()) {
        if (second == nullptr) {
            return known->second;
        }
        const ConstantRow& next =
            layout_.constants[std::size_t{known->second} - layout_.first_constant() + 1];
        if (next.bank == second->bank && next.offset == second->offset && next.value == second->value) {
            return known->second;
        }
    }
    const auto row = static_cast<std::uint16_t>(layout_.rows());
    layout_.constants.push_back(first);
    if (second != nullptr) {
        layout_.constants.push_back(*second);
    }
    known_constants_[key] = row;
    return row;
}

std::uint16_t Decoder::constant_row(std::uint32_t value) {
    return row_of({value_bank, 0, value}, nullptr);
}

std::uint16_t Decoder::constant_pair(std::uint64_t value) {
    const ConstantRow high{value_bank, 0, static_cast<std::uint32_t>(value >> 32U)};
    return row_of({value_bank, 0, static_cast<std::uint32_t>(value)}, &high);
}

std::uint16_t Decoder::constant_bank_row(int bank, std::uint32_t offset, int words) {
    const ConstantRow second{bank, offset + 4, 0};
    return row_of({bank, offset, 0}, words == 2 ? &second : nullptr);
}

Source Decoder::source(std::size_t i, SourceType type, int words) {
    const Operand& from = operand(i);
    const bool wide = words == 2 || type == SourceType::real64;
    Source source;
    source.negated = from.negated;
    source.inverted = from.inverted;
    const std::uint32_t sign = type == SourceType::half2 ? 0x80008000U : 0x80000000U;
    if (type == SourceType::integer) {
        if (from.absolute) {
            refuse("an integer operand in bars");
        }
        if (from.inverted) {
            source.flip = all_lanes;
        }
    } else {
        source.keep = from.absolute ? ~sign : ~0U;
        source.flip = from.negated ? sign : 0U;
    }
    switch (from.kind) {
        case OperandKind::general:
            source.row = general_row(from.number);
            break;
        case OperandKind::uniform:
            source.row = uniform_row(from.number);
            break;
        case OperandKind::immediate: {
            // The upper word of an fp64 is what is printed and encoded.
            const auto bits = static_cast<std::uint64_t>(from.value);
            if (from.bank == relocated_bank) {
                source.row = row_of({relocated_bank, static_cast<std::uint32_t>(bits), 0}, nullptr);
            } else if (type == SourceType::real64) {
                source.row = constant_pair(bits << 32U);
            } else if (wide) {
                source.row = constant_pair(bits);
            } else {
                source.row = constant_row(static_cast<std::uint32_t>(bits));
            }
            break;
        }
        case OperandKind::constant: {
            if (from.bank < 0 || from.base >= 0 || from.uniform_base >= 0) {
                refuse("a constant whose place is not known before the launch");
            }
            source.row = constant_bank_row(from.bank, static_cast<std::uint32_t>(from.value), wide ? 2 : 1);
            break;
        }
        default:
            refuse(fmt::format("operand '{}' as a number", from.text));
    }
    return source;
}

std::uint16_t Decoder::destination(std::size_t i) const {
    const Operand& to = operand(i);
    const bool nowhere = to.number == zero_register;
    if (to.kind == OperandKind::general) {
        return nowhere ? layout_.sink() : general_row(to.number);
    }
    if (to.kind == OperandKind::uniform) {
        const std::uint16_t row = uniform_row(to.number);
        return row == layout_.zero() ? layout_.sink() : row;
    }
    refuse(fmt::format("operand '{}' as a result", to.text));
}

std::uint8_t Decoder::predicate_out(std::size_t i) const {
    const Operand& to = operand(i);
    if (to.kind == OperandKind::predicate || to.kind == OperandKind::uniform_predicate) {
        if (to.number == true_predicate) {
            return predicate_sink;
        }
        return static_cast<std::uint8_t>(
            to.number + (to.kind == OperandKind::uniform_predicate ? first_uniform_predicate : 0));
    }
    refuse(fmt::format("operand '{}' as a predicate", to.text));
}

PredicateSource Decoder::predicate_in(std::size_t i) const {
    const Operand& from = operand(i);
    if (from.kind != OperandKind::predicate && from.kind != OperandKind::uniform_predicate) {
        refuse(fmt::format("operand '{}' as a predicate", from.text));
    }
    const int first = from.kind == OperandKind::uniform_predicate ? first_uniform_predicate : 0;
    return {static_cast<std::uint8_t>(from.number + first), from.negated ? all_lanes : 0U};
}

std::uint32_t Decoder::target(std::size_t i) const {
    const Operand& to = operand(i);
    if (to.kind != OperandKind::target && to.kind != OperandKind::immediate) {
        refuse(fmt::format("operand '{}' as a place in the code", to.text));
    }
    return first_instruction_ + static_cast<std::uint32_t>(to.value) / bytes_per_instruction;
}

Decode find_opcode(std::string_view name) {
    const std::array tables{control_opcodes(),      integer_opcodes(), uniform_opcodes(), warp_opcodes(),
                            real_opcodes(),         half_opcodes(),    memory_opcodes(),  matrix_opcodes(),
                            asynchronous_opcodes(), texture_opcodes()};
    for (const std::span<const Opcode> table : tables) {
        const auto found = std::ranges::find(table, name, &Opcode::name);
        if (found != table.end()) {
            return found->decode;
        }
    }
    return nullptr;
}

}  // namespace warptime::workloads::frontends::machine
