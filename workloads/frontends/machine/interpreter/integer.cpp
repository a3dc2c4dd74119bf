// Integer arithmetic: additions, multiply-adds, shifts with addition, comparisons, minima, bit fields.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/bits.hpp"
#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/lanes.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace warptime::workloads::frontends::machine {

namespace {

std::uint32_t word(const Row& row, int lane) {
    return row.lane[static_cast<std::size_t>(lane)];
}
std::int32_t signed_word(const Row& row, int lane) {
    return static_cast<std::int32_t>(row.lane[static_cast<std::size_t>(lane)]);
}
const Row& row_of(const Warp& warp, const Source& source) {
    return warp.rows[source.row];
}
/// Bits of an integer source as an adder takes them: negation is inversion, and one more is added apart.
std::uint32_t adder_flip(const Source& source) {
    return source.negated || source.inverted ? all_lanes : 0U;
}
std::uint32_t adder_extra(const Source& source) {
    return source.negated ? 1U : 0U;
}

// ---- additions

Flow move(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row source = row_of(warp, instruction.sources[0]);
    Row& destination = warp.rows[instruction.destination];
    if (enabled == all_lanes) {
        destination = source;
    } else {
        write_lanes(destination, enabled, [&source](int lane) { return word(source, lane); });
    }
    return Flow::next;
}

/// a + b, as most address arithmetic is: no carries, no negation.
Flow add_two(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& a = row_of(warp, instruction.sources[0]);
    const Row& b = row_of(warp, instruction.sources[1]);
    write_lanes(warp.rows[instruction.destination], enabled,
                [&a, &b](int lane) { return word(a, lane) + word(b, lane); });
    return Flow::next;
}

/// a + b + c with negations, without carries.
Flow add_three(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const Row& ra = row_of(warp, a);
    const Row& rb = row_of(warp, b);
    const Row& rc = row_of(warp, c);
    const std::uint32_t fa = adder_flip(a), fb = adder_flip(b), fc = adder_flip(c);
    const std::uint32_t extra = adder_extra(a) + adder_extra(b) + adder_extra(c);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        return (word(ra, lane) ^ fa) + (word(rb, lane) ^ fb) + (word(rc, lane) ^ fc) + extra;
    });
    return Flow::next;
}

/// The same with carries in (predicates_in) and out: the sum of three words may carry two.
Flow add_carry(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const Row& ra = row_of(warp, a);
    const Row& rb = row_of(warp, b);
    const Row& rc = row_of(warp, c);
    const std::uint32_t fa = adder_flip(a), fb = adder_flip(b), fc = adder_flip(c);
    // With .X the carries take the place of the ones that complete a negation.
    const bool extended = instruction.variant != 0;
    const std::uint32_t extra = extended ? 0U : adder_extra(a) + adder_extra(b) + adder_extra(c);
    const Mask carry_0 = extended ? read_predicate(warp, instruction.predicates_in[0]) : 0U;
    const Mask carry_1 = extended ? read_predicate(warp, instruction.predicates_in[1]) : 0U;
    Row sum, carries;  // NOLINT: filled whole below.
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        const auto l = static_cast<unsigned>(lane);
        const std::uint32_t u = word(ra, lane) ^ fa, v = word(rb, lane) ^ fb, w = word(rc, lane) ^ fc;
        const std::uint32_t two = u + v;
        const std::uint32_t three = two + w;
        const std::uint32_t total = three + extra + ((carry_0 >> l) & 1U) + ((carry_1 >> l) & 1U);
        sum.lane[l] = total;
        carries.lane[l] = (two < u ? 1U : 0U) + (three < two ? 1U : 0U) + (total < three ? 1U : 0U);
    }
    write_lanes(warp.rows[instruction.destination], enabled, [&sum](int lane) { return word(sum, lane); });
    write_predicate(warp, instruction.predicates_out[0], enabled,
                    mask_of([&carries](int lane) { return word(carries, lane) >= 1; }));
    write_predicate(warp, instruction.predicates_out[1], enabled,
                    mask_of([&carries](int lane) { return word(carries, lane) >= 2; }));
    return Flow::next;
}

void choose_add(Instruction& instruction, const Decoder& decoder) {
    const auto& [a, b, c, d] = instruction.sources;
    const bool carries = instruction.predicates_out[0] != predicate_sink ||
                         instruction.predicates_out[1] != predicate_sink || instruction.variant != 0;
    const bool plain = !a.negated && !a.inverted && !b.negated && !b.inverted;
    if (carries) {
        instruction.execute = add_carry;
    } else if (plain && decoder.is(3, OperandKind::general) && decoder.operand(3).number == zero_register &&
               !c.negated && !c.inverted) {
        instruction.execute = add_two;
    } else {
        instruction.execute = add_three;
    }
}

/// IADD3 Rd, [Pu, [Pv,]] Ra, Rb, Rc [, Pa, Pb]
void decode_add3(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    std::size_t next = 1;
    for (std::size_t i = 0; i < 2 && (decoder.is(next, OperandKind::predicate) ||
                                      decoder.is(next, OperandKind::uniform_predicate));
         ++i) {
        instruction.predicates_out[i] = decoder.predicate_out(next++);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        instruction.sources[i] = decoder.source(next++);
    }
    if (decoder.has("X")) {
        instruction.variant = 1;
        // !PT: no carry.
        instruction.predicates_in[0].flip = all_lanes;
        instruction.predicates_in[1].flip = all_lanes;
        for (std::size_t i = 0; i < 2 && next < decoder.operands(); ++i) {
            instruction.predicates_in[i] = decoder.predicate_in(next++);
        }
    }
    choose_add(instruction, decoder);
}

/// The two halves of a word by themselves.
Flow add_halves(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& ra = row_of(warp, instruction.sources[0]);
    const Row& rb = row_of(warp, instruction.sources[1]);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const std::uint32_t a = word(ra, lane), b = word(rb, lane);
        return ((a + b) & 0xffffU) | ((a & 0xffff0000U) + (b & 0xffff0000U));
    });
    return Flow::next;
}

/// VIADD[.16x2] Rd, Ra, Rb and IADD Rd, Ra, Rb
void decode_add(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    instruction.sources[1] = decoder.source(2);
    instruction.sources[2].row = decoder.general_row(zero_register);
    const bool plain = !instruction.sources[0].negated && !instruction.sources[1].negated &&
                       !instruction.sources[0].inverted && !instruction.sources[1].inverted;
    instruction.execute = plain ? add_two : add_three;
    if (decoder.has("16x2")) {
        if (!plain) {
            decoder.refuse("an addition of halves with a sign");
        }
        instruction.execute = add_halves;
    }
}

// ---- multiply-adds

/// a b + c, lower word. variant 1: c + carry, of IMAD.X.
Flow multiply_add(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const Row& ra = row_of(warp, a);
    const Row& rb = row_of(warp, b);
    const Row& rc = row_of(warp, c);
    const std::uint32_t sign = a.negated != b.negated ? all_lanes : 0U;
    const std::uint32_t fc = adder_flip(c), extra = adder_extra(c);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const std::uint32_t product = word(ra, lane) * word(rb, lane);
        return (product ^ sign) - sign + (word(rc, lane) ^ fc) + extra;
    });
    return Flow::next;
}

Flow multiply_add_carry(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const Row& ra = row_of(warp, a);
    const Row& rb = row_of(warp, b);
    const Row& rc = row_of(warp, c);
    const std::uint32_t fa = adder_flip(a), fc = adder_flip(c);
    const Mask carry = read_predicate(warp, instruction.predicates_in[0]);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        return (word(ra, lane) ^ fa) * word(rb, lane) + (word(rc, lane) ^ fc) +
               ((carry >> static_cast<unsigned>(lane)) & 1U);
    });
    return Flow::next;
}

/// a << shift + c where b is a power of two, the usual multiply-add of addresses, or any other plain one.
Flow multiply_add_plain(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& a = row_of(warp, instruction.sources[0]);
    const Row& b = row_of(warp, instruction.sources[1]);
    const Row& c = row_of(warp, instruction.sources[2]);
    write_lanes(warp.rows[instruction.destination], enabled,
                [&](int lane) { return word(a, lane) * word(b, lane) + word(c, lane); });
    return Flow::next;
}

template <bool is_signed>
std::uint64_t product(const Row& a, const Row& b, int lane) {
    if constexpr (is_signed) {
        return static_cast<std::uint64_t>(std::int64_t{signed_word(a, lane)} * signed_word(b, lane));
    } else {
        return std::uint64_t{word(a, lane)} * word(b, lane);
    }
}

/// 64-bit a b + c as addresses are computed: no signs, no carries. `high` keeps the upper word alone.
template <bool is_signed, bool high>
Flow multiply_wide_plain(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& a = row_of(warp, instruction.sources[0]);
    const Row& b = row_of(warp, instruction.sources[1]);
    const Row& c_low = row_of(warp, instruction.sources[2]);
    const Row& c_high = warp.rows[instruction.sources[2].row + 1];
    const auto total = [&](int lane) {
        return product<is_signed>(a, b, lane) +
               (std::uint64_t{word(c_low, lane)} | (std::uint64_t{word(c_high, lane)} << 32U));
    };
    Row& destination = warp.rows[instruction.destination];
    if constexpr (high) {
        write_lanes(destination, enabled,
                    [&total](int lane) { return static_cast<std::uint32_t>(total(lane) >> 32U); });
    } else {
        write_lanes64(destination, warp.rows[instruction.destination + 1], enabled, total);
    }
    return Flow::next;
}

/// The same with signs and with carries in and out.
template <bool is_signed, bool high>
Flow multiply_wide(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const Row& ra = row_of(warp, a);
    const Row& rb = row_of(warp, b);
    const Row& c_low = row_of(warp, c);
    const Row& c_high = warp.rows[c.row + 1];
    const std::uint64_t sign = a.negated != b.negated ? ~std::uint64_t{0} : 0U;
    const std::uint64_t flip = c.negated || c.inverted ? ~std::uint64_t{0} : 0U;
    const std::uint64_t extra = c.negated ? 1U : 0U;
    const Mask carry_in = instruction.variant != 0 ? read_predicate(warp, instruction.predicates_in[0]) : 0U;
    Row low, upper, carries;  // NOLINT: filled whole below.
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        const auto l = static_cast<std::size_t>(lane);
        const std::uint64_t multiplied = (product<is_signed>(ra, rb, lane) ^ sign) - sign;
        const std::uint64_t addend =
            ((std::uint64_t{c_low.lane[l]} | (std::uint64_t{c_high.lane[l]} << 32U)) ^ flip) + extra;
        const std::uint64_t sum = multiplied + addend;
        const std::uint64_t total = sum + ((carry_in >> static_cast<unsigned>(lane)) & 1U);
        carries.lane[l] = sum < multiplied || total < sum ? all_lanes : 0U;
        low.lane[l] = static_cast<std::uint32_t>(total);
        upper.lane[l] = static_cast<std::uint32_t>(total >> 32U);
    }
    const Row& first = high ? upper : low;
    write_lanes(warp.rows[instruction.destination], enabled,
                [&first](int lane) { return word(first, lane); });
    if constexpr (!high) {
        write_lanes(warp.rows[instruction.destination + 1], enabled,
                    [&upper](int lane) { return word(upper, lane); });
    }
    write_predicate(warp, instruction.predicates_out[0], enabled, mask_of_signs(carries));
    return Flow::next;
}

template <bool high>
Execute multiply_wide_of(const Instruction& instruction, bool is_unsigned) {
    const auto& [a, b, c, d] = instruction.sources;
    const bool plain = a.negated == b.negated && !c.negated && !c.inverted && instruction.variant == 0 &&
                       instruction.predicates_out[0] == predicate_sink;
    if (plain) {
        return is_unsigned ? multiply_wide_plain<false, high> : multiply_wide_plain<true, high>;
    }
    return is_unsigned ? multiply_wide<false, high> : multiply_wide<true, high>;
}

/// IMAD[.MOV|.IADD|.SHL|.X|.WIDE|.HI][.U32] Rd, [P,] Ra, Rb, Rc [, P]
void decode_multiply_add(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    std::size_t next = 1;
    if (decoder.is(next, OperandKind::predicate) || decoder.is(next, OperandKind::uniform_predicate)) {
        instruction.predicates_out[0] = decoder.predicate_out(next++);
    }
    const bool wide = decoder.has("WIDE") || decoder.has("HI");
    instruction.sources[0] = decoder.source(next);
    instruction.sources[1] = decoder.source(next + 1);
    instruction.sources[2] = decoder.source(next + 2, SourceType::integer, wide ? 2 : 1);
    next += 3;
    const bool carry = decoder.has("X");
    if (carry && next < decoder.operands()) {
        instruction.variant = 1;
        instruction.predicates_in[0] = decoder.predicate_in(next);
    }
    const bool is_unsigned = decoder.has("U32");
    const auto& [a, b, c, d] = instruction.sources;
    if (decoder.has("WIDE")) {
        instruction.execute = multiply_wide_of<false>(instruction, is_unsigned);
    } else if (decoder.has("HI")) {
        instruction.execute = multiply_wide_of<true>(instruction, is_unsigned);
    } else if (instruction.predicates_out[0] != predicate_sink) {
        decoder.refuse("a narrow multiply-add with a carry out");
    } else if (carry) {
        instruction.execute = multiply_add_carry;
    } else if (decoder.has("MOV") && !c.negated && !c.inverted) {
        instruction.sources[0] = c;
        instruction.execute = move;
    } else if (decoder.has("IADD") && !a.negated && !c.negated && !c.inverted && !b.negated) {
        instruction.sources[1] = c;
        instruction.execute = add_two;
    } else if (!a.negated && !b.negated && !c.negated && !c.inverted) {
        instruction.execute = multiply_add_plain;
    } else {
        instruction.execute = multiply_add;
    }
}

/// IMUL Rd, Ra, Rb
void decode_multiply(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    instruction.sources[1] = decoder.source(2);
    instruction.sources[2].row = decoder.general_row(zero_register);
    const bool is_unsigned = decoder.has("U32");
    if (decoder.has("WIDE")) {
        instruction.execute = multiply_wide_of<false>(instruction, is_unsigned);
    } else if (decoder.has("HI")) {
        instruction.execute = multiply_wide_of<true>(instruction, is_unsigned);
    } else {
        instruction.execute = multiply_add;
    }
}

// ---- shift and add

/// The part of a shifted number of 64 bits that LEA adds to: variant bits 0 to 7 the shift, bit 8: its upper
/// word; bit 10: the number is the 32-bit a, extended by its sign; otherwise c is its upper word.
template <bool negated>
void shifted_part(const Warp& warp, const Instruction& instruction, Row& part) {
    const Row& ra = row_of(warp, instruction.sources[0]);
    const Row& rc = row_of(warp, instruction.sources[2]);
    const unsigned shift = instruction.variant & 0xffU;
    const unsigned down = (instruction.variant & 0x100U) != 0 ? 32U : 0U;
    const bool sign_extended = (instruction.variant & 0x400U) != 0;
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        const auto extended = static_cast<std::uint64_t>(std::int64_t{signed_word(ra, lane)});
        const std::uint64_t joined = std::uint64_t{word(ra, lane)} | (std::uint64_t{word(rc, lane)} << 32U);
        const std::uint64_t value = (sign_extended ? extended : joined) << shift;
        part.lane[static_cast<std::size_t>(lane)] =
            static_cast<std::uint32_t>((negated ? 0U - value : value) >> down);
    }
}

/// variant: shift; bit 8: .HI; bit 9: .X; bit 10: .SX32.
Flow shift_add(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const bool high = (instruction.variant & 0x100U) != 0;
    const bool extended = (instruction.variant & 0x200U) != 0;
    // -a is taken of the whole shifted number; with .X its one came with the carry.
    const bool whole = high && a.negated && !extended;
    Row part;  // NOLINT: filled whole below.
    if (whole) {
        shifted_part<true>(warp, instruction, part);
    } else {
        shifted_part<false>(warp, instruction, part);
    }
    const std::uint32_t fa = whole ? 0U : adder_flip(a), fb = adder_flip(b);
    const std::uint32_t extra = extended ? 0U : (whole ? 0U : adder_extra(a)) + adder_extra(b);
    const Mask carry_in = extended ? read_predicate(warp, instruction.predicates_in[0]) : 0U;
    const Row& rb = row_of(warp, b);
    Row sum, carries;  // NOLINT: filled whole below.
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        const auto l = static_cast<std::size_t>(lane);
        const std::uint32_t u = part.lane[l] ^ fa;
        const std::uint32_t two = u + (word(rb, lane) ^ fb);
        const std::uint32_t total = two + extra + ((carry_in >> static_cast<unsigned>(lane)) & 1U);
        sum.lane[l] = total;
        carries.lane[l] = two < u || total < two ? all_lanes : 0U;
    }
    write_lanes(warp.rows[instruction.destination], enabled, [&sum](int lane) { return word(sum, lane); });
    write_predicate(warp, instruction.predicates_out[0], enabled, mask_of_signs(carries));
    return Flow::next;
}

Flow shift_add_plain(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& a = row_of(warp, instruction.sources[0]);
    const Row& b = row_of(warp, instruction.sources[1]);
    const unsigned shift = instruction.variant;
    write_lanes(warp.rows[instruction.destination], enabled,
                [&](int lane) { return (word(a, lane) << shift) + word(b, lane); });
    return Flow::next;
}

/// LEA[.HI][.X][.SX32] Rd, [P,] Ra, Rb, [Rc,] shift [, P]
void decode_shift_add(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    std::size_t next = 1;
    if (decoder.is(next, OperandKind::predicate) || decoder.is(next, OperandKind::uniform_predicate)) {
        instruction.predicates_out[0] = decoder.predicate_out(next++);
    }
    instruction.sources[0] = decoder.source(next++);
    instruction.sources[1] = decoder.source(next++);
    instruction.sources[2].row = decoder.general_row(zero_register);
    const bool sign_extended = decoder.has("SX32");
    if (decoder.has("HI") && !sign_extended) {
        instruction.sources[2] = decoder.source(next++);
    }
    instruction.variant = static_cast<std::uint32_t>(decoder.operand(next++).value) & 0x1fU;
    const bool plain = !decoder.has("HI") && !decoder.has("X") && !instruction.sources[0].negated &&
                       !instruction.sources[1].negated && !instruction.sources[0].inverted &&
                       !instruction.sources[1].inverted && instruction.predicates_out[0] == predicate_sink;
    if (plain) {
        instruction.execute = shift_add_plain;
        return;
    }
    instruction.variant |=
        (decoder.has("HI") ? 0x100U : 0U) | (decoder.has("X") ? 0x200U : 0U) | (sign_extended ? 0x400U : 0U);
    if (decoder.has("X")) {
        instruction.predicates_in[0] = decoder.predicate_in(next);
    }
    instruction.execute = shift_add;
}

// ---- comparisons

enum class Compare : std::uint8_t {
    never,
    less,
    equal,
    less_equal,
    greater,
    not_equal,
    greater_equal,
    always
};

template <Compare compare, class T>
bool holds(T a, T b) {
    switch (compare) {
        case Compare::never:
            return false;
        case Compare::less:
            return a < b;
        case Compare::equal:
            return a == b;
        case Compare::less_equal:
            return a <= b;
        case Compare::greater:
            return a > b;
        case Compare::not_equal:
            return a != b;
        case Compare::greater_equal:
            return a >= b;
        case Compare::always:
            return true;
    }
    return false;
}

/// The predicate that the comparison is combined with, and how: variant 0 and, 1 or, 2 xor.
Mask combine(std::uint32_t how, Mask a, Mask b) {
    return how == 0 ? a & b : how == 1 ? a | b : a ^ b;
}

template <Compare compare, bool is_unsigned, bool extended>
Flow set_predicate(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const Row& ra = row_of(warp, a);
    const Row& rb = row_of(warp, b);
    Mask result = 0;
    if (!a.negated && !b.negated) {
        result = mask_of([&](int lane) {
            if constexpr (is_unsigned) {
                return holds<compare>(word(ra, lane), word(rb, lane));
            } else {
                return holds<compare>(signed_word(ra, lane), signed_word(rb, lane));
            }
        });
    } else {
        const std::uint32_t na = a.negated ? all_lanes : 0U, nb = b.negated ? all_lanes : 0U;
        result = mask_of([&](int lane) {
            const std::uint32_t u = (word(ra, lane) ^ na) - na, v = (word(rb, lane) ^ nb) - nb;
            if constexpr (is_unsigned) {
                return holds<compare>(u, v);
            } else {
                return holds<compare>(static_cast<std::int32_t>(u), static_cast<std::int32_t>(v));
            }
        });
    }
    if constexpr (extended) {
        // Upper words that are equal leave the decision to the lower ones, whose result comes as a predicate.
        const Mask equal = mask_of([&](int lane) { return word(ra, lane) == word(rb, lane); });
        result = (result & ~equal) | (equal & read_predicate(warp, instruction.predicates_in[1]));
    }
    const Mask other = read_predicate(warp, instruction.predicates_in[0]);
    write_predicate(warp, instruction.predicates_out[0], enabled,
                    combine(instruction.variant, result, other));
    write_predicate(warp, instruction.predicates_out[1], enabled,
                    combine(instruction.variant, ~result, other));
    return Flow::next;
}

template <Compare compare>
Execute set_predicate_of(bool is_unsigned, bool extended) {
    if (extended) {
        return is_unsigned ? set_predicate<compare, true, true> : set_predicate<compare, false, true>;
    }
    return is_unsigned ? set_predicate<compare, true, false> : set_predicate<compare, false, false>;
}

std::uint32_t combination_of(const Decoder& decoder) {
    return decoder.has("AND") ? 0U : decoder.has("OR") ? 1U : 2U;
}

/// ISETP.GE.U32.AND[.EX] Pu, Pv, Ra, Rb, Pc [, Plow]
void decode_set_predicate(Decoder& decoder, Instruction& instruction) {
    instruction.predicates_out[0] = decoder.predicate_out(0);
    instruction.predicates_out[1] = decoder.predicate_out(1);
    instruction.sources[0] = decoder.source(2);
    instruction.sources[1] = decoder.source(3);
    instruction.predicates_in[0] = decoder.predicate_in(4);
    const bool extended = decoder.has("EX");
    if (extended) {
        instruction.predicates_in[1] = decoder.predicate_in(5);
    }
    instruction.variant = combination_of(decoder);
    const bool is_unsigned = decoder.has("U32");
    const auto& modifiers = decoder.line().modifiers;
    const std::string_view compare = modifiers.empty() ? std::string_view{} : modifiers.front();
    if (compare == "LT") {
        instruction.execute = set_predicate_of<Compare::less>(is_unsigned, extended);
    } else if (compare == "EQ") {
        instruction.execute = set_predicate_of<Compare::equal>(is_unsigned, extended);
    } else if (compare == "LE") {
        instruction.execute = set_predicate_of<Compare::less_equal>(is_unsigned, extended);
    } else if (compare == "GT") {
        instruction.execute = set_predicate_of<Compare::greater>(is_unsigned, extended);
    } else if (compare == "NE") {
        instruction.execute = set_predicate_of<Compare::not_equal>(is_unsigned, extended);
    } else if (compare == "GE") {
        instruction.execute = set_predicate_of<Compare::greater_equal>(is_unsigned, extended);
    } else if (compare == "T") {
        instruction.execute = set_predicate_of<Compare::always>(is_unsigned, false);
    } else if (compare == "F") {
        instruction.execute = set_predicate_of<Compare::never>(is_unsigned, false);
    } else {
        decoder.refuse("another comparison");
    }
}

// ---- selections

Flow select(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row a = row_of(warp, instruction.sources[0]);
    const Row b = row_of(warp, instruction.sources[1]);
    const std::uint32_t fa = instruction.sources[0].flip, fb = instruction.sources[1].flip;
    const Mask first = read_predicate(warp, instruction.predicates_in[0]);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        return ((first >> static_cast<unsigned>(lane)) & 1U) != 0 ? word(a, lane) ^ fa : word(b, lane) ^ fb;
    });
    return Flow::next;
}

void decode_select(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    instruction.sources[1] = decoder.source(2);
    instruction.predicates_in[0] = decoder.predicate_in(3);
    instruction.execute = select;
}

std::uint32_t with_sign(const Source& source, std::uint32_t value) {
    return source.negated ? 0U - value : value ^ source.flip;
}

/// Minimum where the predicate holds, maximum elsewhere. variant bit 0: signed; bit 1: negative results
/// become 0; bit 2: the sum of the first two sources is compared with the third; bit 3: of three sources.
Flow minimum(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const Row& ra = row_of(warp, a);
    const Row& rb = row_of(warp, b);
    const Row& rc = row_of(warp, c);
    const Mask smaller = read_predicate(warp, instruction.predicates_in[0]);
    const bool is_signed = (instruction.variant & 1U) != 0;
    const bool clamp = (instruction.variant & 2U) != 0;
    const bool adds = (instruction.variant & 4U) != 0;
    const bool three = (instruction.variant & 8U) != 0;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): rows are written when the warp begins.
        std::uint32_t u = with_sign(a, word(ra, lane)), v = with_sign(b, word(rb, lane));
        if (adds) {
            u += v;
            v = with_sign(c, word(rc, lane));
        }
        const bool wants_less = ((smaller >> static_cast<unsigned>(lane)) & 1U) != 0;
        const auto choose = [&](std::uint32_t one, std::uint32_t other) {
            const bool less =
                is_signed ? static_cast<std::int32_t>(one) < static_cast<std::int32_t>(other) : one < other;
            return less == wants_less ? one : other;
        };
        std::uint32_t chosen = choose(u, v);
        if (three) chosen = choose(chosen, word(rc, lane));
        return clamp && static_cast<std::int32_t>(chosen) < 0 ? 0U : chosen;
    });
    return Flow::next;
}

/// Two halves of a word at a time.
Flow minimum_halves(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row ra = row_of(warp, instruction.sources[0]);
    const Row rb = row_of(warp, instruction.sources[1]);
    const Row rc = row_of(warp, instruction.sources[2]);
    const Mask smaller = read_predicate(warp, instruction.predicates_in[0]);
    const bool is_signed = (instruction.variant & 1U) != 0;
    const bool clamp = (instruction.variant & 2U) != 0;
    const bool adds = (instruction.variant & 4U) != 0;
    const bool three = (instruction.variant & 8U) != 0;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const bool wants_less = ((smaller >> static_cast<unsigned>(lane)) & 1U) != 0;
        const auto choose = [&](std::uint16_t one, std::uint16_t other) {
            const bool less =
                is_signed ? static_cast<std::int16_t>(one) < static_cast<std::int16_t>(other) : one < other;
            return less == wants_less ? one : other;
        };
        const auto half = [lane](const Row& row, unsigned part) {
            return static_cast<std::uint16_t>(word(row, lane) >> part);
        };
        std::uint32_t result = 0;
        for (unsigned part = 0; part < 32; part += 16) {
            const auto sum = static_cast<std::uint16_t>(half(ra, part) + half(rb, part));
            std::uint16_t chosen =
                adds ? choose(sum, half(rc, part)) : choose(half(ra, part), half(rb, part));
            if (three) chosen = choose(chosen, half(rc, part));
            chosen = clamp && static_cast<std::int16_t>(chosen) < 0 ? std::uint16_t{0} : chosen;
            result |= std::uint32_t{chosen} << part;
        }
        return result;
    });
    return Flow::next;
}

/// IMNMX, VIMNMX Rd, Ra, Rb, P; VIADDMNMX, VIMNMX3 Rd, Ra, Rb, Rc, P
void decode_minimum(Decoder& decoder, Instruction& instruction) {
    const bool adds = decoder.line().opcode == "VIADDMNMX";
    const bool three = decoder.line().opcode == "VIMNMX3";
    instruction.destination = decoder.destination(0);
    std::size_t next = 1;
    if (decoder.is(next, OperandKind::predicate)) {
        decoder.refuse("a minimum with a predicate result");
    }
    instruction.sources[0] = decoder.source(next++);
    instruction.sources[1] = decoder.source(next++);
    instruction.sources[2].row = decoder.general_row(zero_register);
    if (adds || three) {
        instruction.sources[2] = decoder.source(next++);
    }
    instruction.predicates_in[0] = decoder.predicate_in(next);
    const bool halves = decoder.has("U16x2") || decoder.has("S16x2");
    const bool is_unsigned = decoder.has("U32") || decoder.has("U16x2");
    instruction.variant =
        (is_unsigned ? 0U : 1U) | (decoder.has("RELU") ? 2U : 0U) | (adds ? 4U : 0U) | (three ? 8U : 0U);
    instruction.execute = halves ? minimum_halves : minimum;
}

Flow absolute(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row a = row_of(warp, instruction.sources[0]);
    write_lanes(warp.rows[instruction.destination], enabled, [&a](int lane) {
        const std::uint32_t value = word(a, lane);
        return static_cast<std::int32_t>(value) < 0 ? 0U - value : value;
    });
    return Flow::next;
}
void decode_absolute(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    instruction.execute = absolute;
}

// ---- dot products and differences of bytes

std::int64_t part_of(std::uint32_t value, unsigned index, unsigned bits, bool is_signed) {
    const std::uint32_t field = (value >> (index * bits)) & ((1U << bits) - 1U);
    const bool negative = is_signed && (field >> (bits - 1U)) != 0;
    return negative ? std::int64_t{field} - (std::int64_t{1} << bits) : std::int64_t{field};
}

/// Byte `index` of a word.
template <bool is_signed>
std::uint32_t byte_of(std::uint32_t value, unsigned index) {
    if constexpr (is_signed) {
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << (24U - 8U * index)) >> 24);
    } else {
        return (value >> (8U * index)) & 0xffU;
    }
}

/// Four bytes by four bytes.
template <bool signed_a, bool signed_b>
Flow dot_product_of_bytes(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& ra = row_of(warp, instruction.sources[0]);
    const Row& rb = row_of(warp, instruction.sources[1]);
    const Row& rc = row_of(warp, instruction.sources[2]);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const std::uint32_t a = word(ra, lane), b = word(rb, lane);
        return word(rc, lane) + byte_of<signed_a>(a, 0) * byte_of<signed_b>(b, 0) +
               byte_of<signed_a>(a, 1) * byte_of<signed_b>(b, 1) +
               byte_of<signed_a>(a, 2) * byte_of<signed_b>(b, 2) +
               byte_of<signed_a>(a, 3) * byte_of<signed_b>(b, 3);
    });
    return Flow::next;
}

/// Two halves of a by two bytes of b. variant bit 0: a signed; bit 1: b signed; bit 3: the upper bytes of b.
Flow dot_product_of_halves(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& ra = row_of(warp, instruction.sources[0]);
    const Row& rb = row_of(warp, instruction.sources[1]);
    const Row& rc = row_of(warp, instruction.sources[2]);
    const std::uint32_t v = instruction.variant;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        auto sum = static_cast<std::int64_t>(word(rc, lane));
        for (unsigned i = 0; i < 2; ++i) {
            sum += part_of(word(ra, lane), i, 16U, (v & 1U) != 0) *
                   part_of(word(rb, lane), (v & 8U) != 0 ? i + 2U : i, 8U, (v & 2U) != 0);
        }
        return static_cast<std::uint32_t>(sum);
    });
    return Flow::next;
}
/// IDP.4A.U8.S8 Rd, Ra, Rb, Rc; IDP.2A.LO.U16.U8
void decode_dot_product(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    for (std::size_t i = 0; i < 3; ++i) {
        instruction.sources[i] = decoder.source(i + 1);
    }
    const std::vector<std::string>& modifiers = decoder.line().modifiers;
    if (modifiers.size() < 3) {
        decoder.refuse("a dot product of another form");
    }
    const std::string& of_a = modifiers[modifiers.size() - 2];
    const std::string& of_b = modifiers.back();
    const bool signed_a = of_a.front() == 'S', signed_b = of_b.front() == 'S';
    instruction.variant = (signed_a ? 1U : 0U) | (signed_b ? 2U : 0U) | (decoder.has("HI") ? 8U : 0U);
    instruction.execute =
        decoder.has("2A") ? dot_product_of_halves
        : signed_a        ? (signed_b ? dot_product_of_bytes<true, true> : dot_product_of_bytes<true, false>)
                   : (signed_b ? dot_product_of_bytes<false, true> : dot_product_of_bytes<false, false>);
}

/// |a - b| + c. variant bit 0: signed; bit 1: by bytes, summed.
Flow difference(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row ra = row_of(warp, instruction.sources[0]);
    const Row rb = row_of(warp, instruction.sources[1]);
    const Row rc = row_of(warp, instruction.sources[2]);
    const bool is_signed = (instruction.variant & 1U) != 0;
    const bool bytes = (instruction.variant & 2U) != 0;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        auto sum = static_cast<std::int64_t>(word(rc, lane));
        const unsigned parts = bytes ? 4U : 1U;
        for (unsigned i = 0; i < parts; ++i) {
            std::int64_t u = bytes ? part_of(word(ra, lane), i, 8, is_signed) : std::int64_t{word(ra, lane)};
            std::int64_t v = bytes ? part_of(word(rb, lane), i, 8, is_signed) : std::int64_t{word(rb, lane)};
            if (is_signed && !bytes) {
                u = signed_word(ra, lane);
                v = signed_word(rb, lane);
            }
            sum += u > v ? u - v : v - u;
        }
        return static_cast<std::uint32_t>(sum);
    });
    return Flow::next;
}
/// The difference of each byte by itself.
Flow difference_of_bytes(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row ra = row_of(warp, instruction.sources[0]);
    const Row rb = row_of(warp, instruction.sources[1]);
    const bool is_signed = (instruction.variant & 1U) != 0;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        std::uint32_t result = 0;
        for (unsigned i = 0; i < 4; ++i) {
            const std::int64_t u = part_of(word(ra, lane), i, 8, is_signed);
            const std::int64_t v = part_of(word(rb, lane), i, 8, is_signed);
            result |= (static_cast<std::uint32_t>(u > v ? u - v : v - u) & 0xffU) << (8U * i);
        }
        return result;
    });
    return Flow::next;
}
void decode_difference(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    for (std::size_t i = 0; i < 3; ++i) {
        instruction.sources[i] = decoder.source(i + 1);
    }
    const bool bytes = decoder.line().opcode == "VABSDIFF4";
    // Signed where nothing is said, as comparisons are.
    const bool is_signed = !decoder.has("U32") && !decoder.has("U8");
    instruction.variant = (is_signed ? 1U : 0U) | (bytes ? 2U : 0U);
    instruction.execute = bytes && !decoder.has("ACC") ? difference_of_bytes : difference;
}

void decode_move(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    if (decoder.operands() > 2 && decoder.operand(2).value != 0xf) {
        decoder.refuse("a move of some lanes");
    }
    instruction.execute = move;
}

/// UMOV of a pair: MOV.64 and UMOV.64.
constexpr std::array opcodes{
    Opcode{"MOV", decode_move},
    Opcode{"MOV32I", decode_move},
    Opcode{"IADD3", decode_add3},
    Opcode{"IADD", decode_add},
    Opcode{"VIADD", decode_add},
    Opcode{"IMAD", decode_multiply_add},
    Opcode{"IMUL", decode_multiply},
    Opcode{"LEA", decode_shift_add},
    Opcode{"ISETP", decode_set_predicate},
    Opcode{"SEL", decode_select},
    Opcode{"IMNMX", decode_minimum},
    Opcode{"VIMNMX", decode_minimum},
    Opcode{"VIMNMX3", decode_minimum},
    Opcode{"VIADDMNMX", decode_minimum},
    Opcode{"IABS", decode_absolute},
    Opcode{"IDP", decode_dot_product},
    Opcode{"VABSDIFF", decode_difference},
    Opcode{"VABSDIFF4", decode_difference},
    Opcode{"LOP3", decode_logic},
    Opcode{"LOP", decode_logic},
    Opcode{"PLOP3", decode_predicate_logic},
    Opcode{"SHF", decode_shift},
    Opcode{"PRMT", decode_permute},
    Opcode{"POPC", decode_count_bits},
    Opcode{"FLO", decode_find_leading},
    Opcode{"BREV", decode_reverse},
    Opcode{"BMSK", decode_bit_mask},
    Opcode{"SGXT", decode_sign_extend},
    Opcode{"P2R", decode_predicates_to_register},
    Opcode{"R2P", decode_register_to_predicates},
};

}  // namespace

std::span<const Opcode> integer_opcodes() {
    return opcodes;
}

}  // namespace warptime::workloads::frontends::machine
