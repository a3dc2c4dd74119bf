// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/bits.hpp"

#include "workloads/frontends/machine/interpreter/lanes.hpp"

#include <algorithm>
#include <utility>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::size_t tables = 256;

/// Value of a look-up table of three inputs: bit 4 a + 2 b + c of the table, for each bit of the words.
template <std::uint8_t table>
std::uint32_t looked_up(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t result = 0;
    result |= (table & 0x01U) != 0 ? ~a & ~b & ~c : 0U;
    result |= (table & 0x02U) != 0 ? ~a & ~b & c : 0U;
    result |= (table & 0x04U) != 0 ? ~a & b & ~c : 0U;
    result |= (table & 0x08U) != 0 ? ~a & b & c : 0U;
    result |= (table & 0x10U) != 0 ? a & ~b & ~c : 0U;
    result |= (table & 0x20U) != 0 ? a & ~b & c : 0U;
    result |= (table & 0x40U) != 0 ? a & b & ~c : 0U;
    result |= (table & 0x80U) != 0 ? a & b & c : 0U;
    return result;
}

using LookUpRow = void (*)(Row& out, const Row& a, const Row& b, const Row& c);
template <std::uint8_t table>
void look_up_row(Row& out, const Row& a, const Row& b, const Row& c) {
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        out.lane[lane] = looked_up<table>(a.lane[lane], b.lane[lane], c.lane[lane]);
    }
}
template <std::size_t... table>
constexpr std::array<LookUpRow, tables> rows_of(std::index_sequence<table...> /*all*/) {
    return {look_up_row<static_cast<std::uint8_t>(table)>...};
}
constexpr std::array<LookUpRow, tables> look_up = rows_of(std::make_index_sequence<tables>{});

using LookUpMask = Mask (*)(Mask a, Mask b, Mask c);
template <std::size_t... table>
constexpr std::array<LookUpMask, tables> masks_of(std::index_sequence<table...> /*all*/) {
    return {looked_up<static_cast<std::uint8_t>(table)>...};
}
constexpr std::array<LookUpMask, tables> look_up_masks = masks_of(std::make_index_sequence<tables>{});

Row flipped(const Warp& warp, const Source& source) {
    Row row = warp.rows[source.row];
    if (source.flip != 0) {
        for (std::uint32_t& lane : row.lane) {
            lane ^= source.flip;
        }
    }
    return row;
}

/// variant: the table; bit 8: the predicate result is combined by and (otherwise by or).
Flow logic(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    Row result;
    if ((a.flip | b.flip | c.flip) == 0) {
        look_up[instruction.variant & 0xffU](result, warp.rows[a.row], warp.rows[b.row], warp.rows[c.row]);
    } else {
        look_up[instruction.variant & 0xffU](result, flipped(warp, a), flipped(warp, b), flipped(warp, c));
    }
    if (enabled == all_lanes) {
        warp.rows[instruction.destination] = result;
    } else {
        write_lanes(warp.rows[instruction.destination], enabled,
                    [&result](int lane) { return result.lane[static_cast<std::size_t>(lane)]; });
    }
    if (instruction.predicates_out[0] != predicate_sink) {
        Mask set = 0;
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            set |= result.lane[lane] != 0 ? 1U << lane : 0U;
        }
        const Mask other = read_predicate(warp, instruction.predicates_in[0]);
        set = (instruction.variant & 0x100U) != 0 ? set & other : set | other;
        write_predicate(warp, instruction.predicates_out[0], enabled, set);
    }
    return Flow::next;
}

Flow predicate_logic(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Mask a = read_predicate(warp, instruction.predicates_in[0]);
    const Mask b = read_predicate(warp, instruction.predicates_in[1]);
    const Mask c = read_predicate(warp, instruction.predicates_in[2]);
    write_predicate(warp, instruction.predicates_out[0], enabled,
                    look_up_masks[instruction.variant & 0xffU](a, b, c));
    write_predicate(warp, instruction.predicates_out[1], enabled,
                    look_up_masks[(instruction.variant >> 8U) & 0xffU](a, b, c));
    return Flow::next;
}

/// Shift of the pair {c, a}. variant bit 0: right; bit 1: signed; bit 2: the upper word; bit 3: the amount
/// wraps; bit 4: the pair is one 64-bit number, so that amounts up to 63 count.
template <bool right, bool is_signed, bool high>
Flow shift(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row a = warp.rows[instruction.sources[0].row];
    const Row b = warp.rows[instruction.sources[1].row];
    const Row c = warp.rows[instruction.sources[2].row];
    const bool wraps = (instruction.variant & 8U) != 0;
    const std::uint32_t limit = (instruction.variant & 16U) != 0 ? 64U : 32U;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const std::uint64_t pair = std::uint64_t{a.lane[l]} | (std::uint64_t{c.lane[l]} << 32U);
        const std::uint32_t amount = wraps ? b.lane[l] & (limit - 1U) : std::min(b.lane[l], limit);
        std::uint64_t result = 0;
        if constexpr (right) {
            if constexpr (is_signed) {
                result = static_cast<std::uint64_t>(static_cast<std::int64_t>(pair) >> std::min(amount, 63U));
            } else {
                result = amount >= 64U ? 0U : pair >> amount;
            }
        } else {
            result = amount >= 64U ? 0U : pair << amount;
        }
        return static_cast<std::uint32_t>(high ? result >> 32U : result);
    });
    return Flow::next;
}

/// The upper word of {a, 0} or {0, c} shifted by a constant below 32: the usual shift of one word.
template <bool right, bool is_signed>
Flow shift_word(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& a = warp.rows[instruction.sources[0].row];
    const std::uint32_t amount = instruction.variant;
    write_lanes(warp.rows[instruction.destination], enabled, [&a, amount](int lane) {
        const std::uint32_t value = a.lane[static_cast<std::size_t>(lane)];
        if constexpr (!right) {
            return value << amount;
        } else if constexpr (is_signed) {
            return static_cast<std::uint32_t>(static_cast<std::int32_t>(value) >> amount);
        } else {
            return value >> amount;
        }
    });
    return Flow::next;
}

/// The middle of {c, a} shifted by a constant from 1 to 31: rotations and shifts of long numbers.
template <bool right>
Flow funnel(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& a = warp.rows[instruction.sources[0].row];
    const Row& c = warp.rows[instruction.sources[2].row];
    const std::uint32_t amount = instruction.variant;
    const std::uint32_t rest = 32U - amount;
    write_lanes(warp.rows[instruction.destination], enabled, [&a, &c, amount, rest](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        return right ? (a.lane[l] >> amount) | (c.lane[l] << rest)
                     : (c.lane[l] << amount) | (a.lane[l] >> rest);
    });
    return Flow::next;
}

Flow permute(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row a = warp.rows[instruction.sources[0].row];
    const Row selectors = warp.rows[instruction.sources[1].row];
    const Row c = warp.rows[instruction.sources[2].row];
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const std::uint64_t bytes = std::uint64_t{a.lane[l]} | (std::uint64_t{c.lane[l]} << 32U);
        std::uint32_t result = 0;
        for (unsigned i = 0; i < 4; ++i) {
            const std::uint32_t selector = (selectors.lane[l] >> (4U * i)) & 0xfU;
            auto byte = static_cast<std::uint32_t>(bytes >> (8U * (selector & 7U))) & 0xffU;
            // The fourth bit of a selector asks for the byte's sign in every bit.
            if ((selector & 8U) != 0) {
                byte = (byte & 0x80U) != 0 ? 0xffU : 0U;
            }
            result |= byte << (8U * i);
        }
        return result;
    });
    return Flow::next;
}

template <class Value>
Flow of_one_word(Warp& warp, const Instruction& instruction, Mask enabled, Value value) {
    const Row a = flipped(warp, instruction.sources[0]);
    write_lanes(warp.rows[instruction.destination], enabled,
                [&a, &value](int lane) { return value(a.lane[static_cast<std::size_t>(lane)]); });
    return Flow::next;
}

Flow count_bits(Warp& warp, const Instruction& instruction, Mask enabled) {
    return of_one_word(warp, instruction, enabled,
                       [](std::uint32_t value) { return static_cast<std::uint32_t>(std::popcount(value)); });
}

/// variant bit 0: signed, looks for the first bit that is not the sign; bit 1: the distance from the top
/// instead of the place.
Flow find_leading(Warp& warp, const Instruction& instruction, Mask enabled) {
    const bool is_signed = (instruction.variant & 1U) != 0;
    const bool distance = (instruction.variant & 2U) != 0;
    const Flow flow = of_one_word(warp, instruction, enabled, [is_signed, distance](std::uint32_t value) {
        const std::uint32_t looked_at = is_signed && static_cast<std::int32_t>(value) < 0 ? ~value : value;
        if (looked_at == 0) {
            return all_lanes;
        }
        const auto zeros = static_cast<std::uint32_t>(std::countl_zero(looked_at));
        return distance ? zeros : 31U - zeros;
    });
    if (instruction.predicates_out[0] != predicate_sink) {
        Mask found = 0;
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            found |= warp.rows[instruction.destination].lane[lane] != all_lanes ? 1U << lane : 0U;
        }
        write_predicate(warp, instruction.predicates_out[0], enabled, found);
    }
    return flow;
}

Flow reverse(Warp& warp, const Instruction& instruction, Mask enabled) {
    return of_one_word(warp, instruction, enabled, [](std::uint32_t value) {
        value = ((value >> 1U) & 0x55555555U) | ((value & 0x55555555U) << 1U);
        value = ((value >> 2U) & 0x33333333U) | ((value & 0x33333333U) << 2U);
        value = ((value >> 4U) & 0x0f0f0f0fU) | ((value & 0x0f0f0f0fU) << 4U);
        return __builtin_bswap32(value);
    });
}

/// Ones of width b from place a on. variant 1: place and width wrap at 32.
Flow bit_mask(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row a = warp.rows[instruction.sources[0].row];
    const Row b = warp.rows[instruction.sources[1].row];
    const bool wraps = instruction.variant != 0;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const std::uint32_t place = wraps ? a.lane[l] & 31U : std::min(a.lane[l], 32U);
        const std::uint32_t width = wraps ? b.lane[l] & 31U : std::min(b.lane[l], 32U);
        const std::uint64_t ones = (std::uint64_t{1} << width) - 1U;
        return static_cast<std::uint32_t>(ones << place);
    });
    return Flow::next;
}

/// The lower b bits of a, with their sign (variant bit 0 clear) or zeros above. variant bit 1: the width
/// wraps.
Flow sign_extend(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row a = flipped(warp, instruction.sources[0]);
    const Row b = warp.rows[instruction.sources[1].row];
    const bool is_unsigned = (instruction.variant & 1U) != 0;
    const bool wraps = (instruction.variant & 2U) != 0;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const std::uint32_t width = wraps ? b.lane[l] & 31U : std::min(b.lane[l], 32U);
        if (width == 0) {
            return 0U;
        }
        const std::uint32_t above = 32U - width;
        const std::uint32_t moved = a.lane[l] << above;
        return is_unsigned ? moved >> above
                           : static_cast<std::uint32_t>(static_cast<std::int32_t>(moved) >> above);
    });
    return Flow::next;
}

constexpr std::size_t predicate_registers = 7;

/// variant: first bit of the byte that takes or gives the predicates. immediate: which.
Flow predicates_to_register(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row a = warp.rows[instruction.sources[0].row];
    const Row which = warp.rows[instruction.sources[1].row];
    const std::array<Mask, predicate_places> predicates = warp.predicates;
    const unsigned first = instruction.variant;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        std::uint32_t bits = 0;
        for (unsigned p = 0; p < predicate_registers; ++p) {
            bits |= ((predicates[p] >> static_cast<unsigned>(lane)) & 1U) << p;
        }
        const auto l = static_cast<std::size_t>(lane);
        const std::uint32_t taken = which.lane[l] & 0x7fU;
        return (a.lane[l] & ~(taken << first)) | ((bits & taken) << first);
    });
    return Flow::next;
}

Flow register_to_predicates(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& a = warp.rows[instruction.sources[0].row];
    const std::uint32_t which = warp.rows[instruction.sources[1].row].lane[0];
    for (unsigned p = 0; p < predicate_registers; ++p) {
        if (((which >> p) & 1U) == 0) {
            continue;
        }
        Mask set = 0;
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            set |= ((a.lane[lane] >> (p + instruction.variant)) & 1U) << lane;
        }
        write_predicate(warp, static_cast<std::uint8_t>(p), enabled, set);
    }
    return Flow::next;
}

std::uint32_t byte_of(const Decoder& decoder) {
    return decoder.has("B1") ? 8U : decoder.has("B2") ? 16U : decoder.has("B3") ? 24U : 0U;
}

bool is_predicate(const Decoder& decoder, std::size_t i) {
    return decoder.is(i, OperandKind::predicate) || decoder.is(i, OperandKind::uniform_predicate);
}

}  // namespace

void decode_logic(Decoder& decoder, Instruction& instruction) {
    if (!decoder.has("LUT")) {
        decoder.refuse("LOP3.LUT");
    }
    std::size_t next = 0;
    if (is_predicate(decoder, next)) {
        instruction.predicates_out[0] = decoder.predicate_out(next++);
    }
    instruction.destination = decoder.destination(next++);
    for (std::size_t i = 0; i < 3; ++i) {
        instruction.sources[i] = decoder.source(next++);
    }
    instruction.variant = static_cast<std::uint32_t>(decoder.operand(next++).value) & 0xffU;
    instruction.predicates_in[0].flip = all_lanes;
    if (next < decoder.operands()) {
        instruction.predicates_in[0] = decoder.predicate_in(next);
    }
    if (decoder.has("PAND")) {
        instruction.variant |= 0x100U;
    }
    instruction.execute = logic;
}

void decode_predicate_logic(Decoder& decoder, Instruction& instruction) {
    instruction.predicates_out[0] = decoder.predicate_out(0);
    instruction.predicates_out[1] = decoder.predicate_out(1);
    for (std::size_t i = 0; i < 3; ++i) {
        instruction.predicates_in[i] = decoder.predicate_in(i + 2);
    }
    instruction.variant = (static_cast<std::uint32_t>(decoder.operand(5).value) & 0xffU) |
                          ((static_cast<std::uint32_t>(decoder.operand(6).value) & 0xffU) << 8U);
    instruction.execute = predicate_logic;
}

void decode_shift(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    for (std::size_t i = 0; i < 3; ++i) {
        instruction.sources[i] = decoder.source(i + 1);
    }
    const bool right = decoder.has("R");
    const bool high = decoder.has("HI");
    const bool wide = decoder.has("U64") || decoder.has("S64");
    const bool is_signed = decoder.has("S32") || decoder.has("S64");
    const bool wraps = decoder.has("W");
    const auto zero = [&decoder](std::size_t i) {
        const Operand& operand = decoder.operand(i);
        return (operand.kind == OperandKind::general || operand.kind == OperandKind::uniform) &&
               operand.number == zero_register;
    };
    const bool constant = decoder.is(2, OperandKind::immediate) && decoder.operand(2).value >= 0 &&
                          decoder.operand(2).value < 32;
    if (constant && right && high && !wide) {
        // The upper word alone decides the upper word of the result.
        instruction.sources[0] = instruction.sources[2];
        instruction.variant = static_cast<std::uint32_t>(decoder.operand(2).value);
        instruction.execute = is_signed ? shift_word<true, true> : shift_word<true, false>;
        return;
    }
    if (constant && !right && !high && zero(3)) {
        instruction.variant = static_cast<std::uint32_t>(decoder.operand(2).value);
        instruction.execute = shift_word<false, false>;
        return;
    }
    if (constant && decoder.operand(2).value > 0 && right != high) {
        instruction.variant = static_cast<std::uint32_t>(decoder.operand(2).value);
        instruction.execute = right ? funnel<true> : funnel<false>;
        return;
    }
    instruction.variant = (wraps ? 8U : 0U) | (wide ? 16U : 0U);
    if (right) {
        instruction.execute = is_signed ? (high ? shift<true, true, true> : shift<true, true, false>)
                                        : (high ? shift<true, false, true> : shift<true, false, false>);
    } else {
        instruction.execute = high ? shift<false, false, true> : shift<false, false, false>;
    }
}

void decode_permute(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    for (std::size_t i = 0; i < 3; ++i) {
        instruction.sources[i] = decoder.source(i + 1);
    }
    instruction.execute = permute;
}

void decode_count_bits(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    instruction.execute = count_bits;
}

void decode_find_leading(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    std::size_t next = 1;
    if (is_predicate(decoder, next)) {
        instruction.predicates_out[0] = decoder.predicate_out(next++);
    }
    instruction.sources[0] = decoder.source(next);
    instruction.variant = (decoder.has("U32") ? 0U : 1U) | (decoder.has("SH") ? 2U : 0U);
    instruction.execute = find_leading;
}

void decode_reverse(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    instruction.execute = reverse;
}

void decode_bit_mask(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    instruction.sources[1] = decoder.source(2);
    instruction.variant = decoder.has("W") ? 1U : 0U;
    instruction.execute = bit_mask;
}

void decode_sign_extend(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    instruction.sources[1] = decoder.source(2);
    instruction.variant = (decoder.has("U32") ? 1U : 0U) | (decoder.has("W") ? 2U : 0U);
    instruction.execute = sign_extend;
}

/// P2R[.B1] Rd, PR, Ra, which
void decode_predicates_to_register(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(2);
    instruction.sources[1] = decoder.source(3);
    instruction.variant = byte_of(decoder);
    instruction.execute = predicates_to_register;
}

/// R2P PR, Ra[.B1], which
void decode_register_to_predicates(Decoder& decoder, Instruction& instruction) {
    instruction.sources[0] = decoder.source(1);
    instruction.sources[1] = decoder.source(2);
    instruction.variant = byte_of(decoder);
    for (const std::string& modifier : decoder.operand(1).modifiers) {
        instruction.variant = modifier == "B1" ? 8U : modifier == "B2" ? 16U : modifier == "B3" ? 24U : 0U;
    }
    instruction.execute = register_to_predicates;
}

}  // namespace warptime::workloads::frontends::machine
