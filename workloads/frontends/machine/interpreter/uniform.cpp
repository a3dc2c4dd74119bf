// The uniform datapath: the same arithmetic on values that all lanes share.
// SPDX-License-Identifier: Apache-2.0
//
// A uniform register is a row whose lanes are equal, so the handlers of the other datapath serve. The run
// loop lets a uniform instruction write every lane.
#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/lanes.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace warptime::workloads::frontends::machine {

namespace {

/// Decodes UIADD3 as IADD3, and so on.
void decode_as_vector(Decoder& decoder, Instruction& instruction) {
    const std::string_view name = std::string_view(decoder.line().opcode).substr(1);
    const std::span<const Opcode> table = integer_opcodes();
    const auto found = std::ranges::find(table, name, &Opcode::name);
    if (found == table.end()) {
        decoder.refuse("an instruction of the uniform datapath");
    }
    found->decode(decoder, instruction);
    instruction.counts_all_lanes = true;
}

/// UMOV.64 and the like: two words.
Flow move_pair(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row low = warp.rows[instruction.sources[0].row];
    const Row high = warp.rows[instruction.sources[0].row + 1];
    write_lanes(warp.rows[instruction.destination], enabled,
                [&low](int lane) { return low.lane[static_cast<std::size_t>(lane)]; });
    write_lanes(warp.rows[instruction.destination + 1], enabled,
                [&high](int lane) { return high.lane[static_cast<std::size_t>(lane)]; });
    return Flow::next;
}

void decode_uniform_move(Decoder& decoder, Instruction& instruction) {
    if (!decoder.has("64")) {
        decode_as_vector(decoder, instruction);
        return;
    }
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, SourceType::integer, 2);
    instruction.execute = move_pair;
    instruction.counts_all_lanes = true;
}

/// UIADD3.64 URd, URa, URb, URc: pairs of registers. Bit i of variant: source i is none.
Flow add_pairs(Warp& warp, const Instruction& instruction, Mask enabled) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        if (((instruction.variant >> i) & 1U) != 0) {
            continue;
        }
        const Source& source = instruction.sources[i];
        // All lanes of a uniform register hold the same.
        const std::uint64_t value =
            warp.rows[source.row].lane[0] | (std::uint64_t{warp.rows[source.row + 1U].lane[0]} << 32U);
        sum += source.negated ? ~value + 1 : value;
    }
    write_lanes(warp.rows[instruction.destination], enabled,
                [sum](int) { return static_cast<std::uint32_t>(sum); });
    write_lanes(warp.rows[instruction.destination + 1], enabled,
                [sum](int) { return static_cast<std::uint32_t>(sum >> 32U); });
    return Flow::next;
}

void decode_uniform_add(Decoder& decoder, Instruction& instruction) {
    if (!decoder.has("64")) {
        decode_as_vector(decoder, instruction);
        return;
    }
    if (decoder.has("X") || decoder.operands() != 4) {
        decoder.refuse("an addition of pairs with carries");
    }
    instruction.destination = decoder.destination(0);
    for (std::size_t i = 0; i < 3; ++i) {
        const Operand& operand = decoder.operand(i + 1);
        if (operand.inverted) {
            decoder.refuse("an addition of inverted pairs");
        }
        if (operand.kind == OperandKind::uniform &&
            (operand.number == zero_register || operand.number == zero_uniform_register)) {
            instruction.variant |= 1U << i;
            continue;
        }
        instruction.sources[i] = decoder.source(i + 1, SourceType::integer, 2);
    }
    instruction.execute = add_pairs;
    instruction.counts_all_lanes = true;
}

/// R2UR[.OR] [P,] URd, Ra: the value of the first enabled lane; the predicate holds where a lane has another
/// value, which makes loops over the distinct values of a warp.
Flow to_uniform(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    const Row source = warp.rows[instruction.sources[0].row];
    const std::uint32_t value = source.lane[static_cast<std::size_t>(std::countr_zero(enabled))];
    warp.rows[instruction.destination].lane.fill(value);
    if (instruction.predicates_out[0] != predicate_sink) {
        Mask differs = 0;
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            differs |= source.lane[lane] != value ? 1U << lane : 0U;
        }
        if (instruction.variant != 0) {
            differs |= warp.predicates[instruction.predicates_out[0]];
        }
        write_predicate(warp, instruction.predicates_out[0], enabled, differs);
    }
    return Flow::next;
}

void decode_to_uniform(Decoder& decoder, Instruction& instruction) {
    std::size_t next = 0;
    if (decoder.is(0, OperandKind::predicate)) {
        instruction.predicates_out[0] = decoder.predicate_out(next++);
    }
    instruction.destination = decoder.destination(next++);
    instruction.sources[0] = decoder.source(next);
    instruction.variant = decoder.has("OR") ? 1U : 0U;
    instruction.execute = to_uniform;
}

constexpr std::array opcodes{
    Opcode{"UMOV", decode_uniform_move}, Opcode{"UIADD3", decode_uniform_add},
    Opcode{"UIMAD", decode_as_vector},   Opcode{"ULEA", decode_as_vector},
    Opcode{"UISETP", decode_as_vector},  Opcode{"USEL", decode_as_vector},
    Opcode{"UIMNMX", decode_as_vector},  Opcode{"UIABS", decode_as_vector},
    Opcode{"ULOP3", decode_as_vector},   Opcode{"UPLOP3", decode_as_vector},
    Opcode{"USHF", decode_as_vector},    Opcode{"UPRMT", decode_as_vector},
    Opcode{"UPOPC", decode_as_vector},   Opcode{"UFLO", decode_as_vector},
    Opcode{"UBREV", decode_as_vector},   Opcode{"UBMSK", decode_as_vector},
    Opcode{"USGXT", decode_as_vector},   Opcode{"UVIADD", decode_as_vector},
    Opcode{"R2UR", decode_to_uniform},
};

}  // namespace

std::span<const Opcode> uniform_opcodes() {
    return opcodes;
}

}  // namespace warptime::workloads::frontends::machine
