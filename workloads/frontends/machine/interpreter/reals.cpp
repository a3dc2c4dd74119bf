// Arithmetic of fp32: sums, products, multiply-adds, comparisons, minima.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/reals.hpp"

#include <algorithm>
#include <cfenv>

namespace warptime::workloads::frontends::machine {

namespace {

enum class Arithmetic : std::uint8_t { add, multiply, multiply_add };

template <Arithmetic kind>
float computed(float a, float b, float c) {
    if constexpr (kind == Arithmetic::add) {
        return a + b;
    } else if constexpr (kind == Arithmetic::multiply) {
        return a * b;
    } else {
        return std::fma(a, b, c);
    }
}

/// The usual case: rounded to nearest, nothing flushed or saturated.
template <Arithmetic kind>
Flow plain(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const Row& ra = warp.rows[a.row];
    const Row& rb = warp.rows[b.row];
    const Row& rc = warp.rows[c.row];
    const std::uint32_t ka = a.keep, kb = b.keep, kc = c.keep, fa = a.flip, fb = b.flip, fc = c.flip;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        return bits_of_real(computed<kind>(std::bit_cast<float>((ra.lane[l] & ka) ^ fa),
                                           std::bit_cast<float>((rb.lane[l] & kb) ^ fb),
                                           std::bit_cast<float>((rc.lane[l] & kc) ^ fc)));
    });
    return Flow::next;
}

template <Arithmetic kind>
[[gnu::noinline]] float computed_rounding(float a, float b, float c, Rounding rounding) {
    const int mode = rounding == Rounding::down ? FE_DOWNWARD
                     : rounding == Rounding::up ? FE_UPWARD
                                                : FE_TOWARDZERO;
    std::fesetround(mode);
    const volatile float x = a, y = b, z = c;
    const volatile float result = computed<kind>(x, y, z);
    std::fesetround(FE_TONEAREST);
    return result;
}

/// variant bit 0: flush; bit 1: saturate; bits 2 and 3: rounding.
template <Arithmetic kind>
Flow modified(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const bool flush = (instruction.variant & 1U) != 0;
    const bool saturate = (instruction.variant & 2U) != 0;
    const auto rounding = static_cast<Rounding>((instruction.variant >> 2U) & 3U);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        float x = lane_real(warp, a, lane), y = lane_real(warp, b, lane), z = lane_real(warp, c, lane);
        if (flush) {
            x = flushed(x);
            y = flushed(y);
            z = flushed(z);
        }
        float result = rounding == Rounding::nearest ? computed<kind>(x, y, z)
                                                     : computed_rounding<kind>(x, y, z, rounding);
        result = flush ? flushed(result) : result;
        result = saturate ? saturated(result) : result;
        return bits_of_real(result);
    });
    return Flow::next;
}

template <Arithmetic kind>
void decode_arithmetic(Decoder& decoder, Instruction& instruction) {
    allow_only(decoder, std::array<std::string_view, 6>{"FTZ", "SAT", "RN", "RM", "RP", "RZ"});
    instruction.destination = decoder.destination(0);
    const std::size_t count = kind == Arithmetic::multiply_add ? 3 : 2;
    for (std::size_t i = 0; i < count; ++i) {
        instruction.sources[i] = decoder.source(i + 1, SourceType::real32);
    }
    instruction.variant = (decoder.has("FTZ") ? 1U : 0U) | (decoder.has("SAT") ? 2U : 0U) |
                          (static_cast<std::uint32_t>(rounding_of(decoder)) << 2U);
    instruction.execute = instruction.variant == 0 ? plain<kind> : modified<kind>;
}

// ---- comparisons and selections

/// variant: relations; bit 8: flush; bits 9 and 10: combination.
Flow set_real_predicate(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t relations = instruction.variant & 0xfU;
    const bool flush = (instruction.variant & 0x100U) != 0;
    const std::uint32_t how = (instruction.variant >> 9U) & 3U;
    Mask result = 0;
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        float a = lane_real(warp, instruction.sources[0], lane);
        float b = lane_real(warp, instruction.sources[1], lane);
        if (flush) {
            a = flushed(a);
            b = flushed(b);
        }
        result |= relation_holds(relations, a, b) ? 1U << static_cast<unsigned>(lane) : 0U;
    }
    const Mask other = read_predicate(warp, instruction.predicates_in[0]);
    const auto combined = [how, other](Mask mask) {
        return how == 0 ? mask & other : how == 1 ? mask | other : mask ^ other;
    };
    write_predicate(warp, instruction.predicates_out[0], enabled, combined(result));
    write_predicate(warp, instruction.predicates_out[1], enabled, combined(~result));
    return Flow::next;
}

/// FSETP.GT.FTZ.AND Pu, Pv, Ra, Rb, Pc
void decode_real_compare(Decoder& decoder, Instruction& instruction) {
    instruction.predicates_out[0] = decoder.predicate_out(0);
    instruction.predicates_out[1] = decoder.predicate_out(1);
    instruction.sources[0] = decoder.source(2, SourceType::real32);
    instruction.sources[1] = decoder.source(3, SourceType::real32);
    instruction.predicates_in[0] = decoder.predicate_in(4);
    const std::uint32_t how = decoder.has("AND") ? 0U : decoder.has("OR") ? 1U : 2U;
    instruction.variant = relations_of(decoder) | (decoder.has("FTZ") ? 0x100U : 0U) | (how << 9U);
    instruction.execute = set_real_predicate;
}

/// FSET.BF.GT.AND Rd, Ra, Rb, Pc: 1.0 or 0 (BF), or all ones or 0. variant bit 11: BF.
Flow set_real(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t how = (instruction.variant >> 9U) & 3U;
    const Mask other = read_predicate(warp, instruction.predicates_in[0]);
    const std::uint32_t yes = (instruction.variant & 0x800U) != 0 ? 0x3f800000U : all_lanes;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const bool own =
            relation_holds(instruction.variant & 0xfU, lane_real(warp, instruction.sources[0], lane),
                           lane_real(warp, instruction.sources[1], lane));
        const bool more = ((other >> static_cast<unsigned>(lane)) & 1U) != 0;
        const bool result = how == 0 ? own && more : how == 1 ? own || more : own != more;
        return result ? yes : 0U;
    });
    return Flow::next;
}
void decode_real_set(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, SourceType::real32);
    instruction.sources[1] = decoder.source(2, SourceType::real32);
    instruction.predicates_in[0] = decoder.predicate_in(3);
    const std::uint32_t how = decoder.has("AND") ? 0U : decoder.has("OR") ? 1U : 2U;
    instruction.variant = relations_of(decoder) | (how << 9U) | (decoder.has("BF") ? 0x800U : 0U);
    instruction.execute = set_real;
}

Flow select_real(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Mask first = read_predicate(warp, instruction.predicates_in[0]);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const bool one = ((first >> static_cast<unsigned>(lane)) & 1U) != 0;
        return lane_bits(warp, instruction.sources[one ? 0 : 1], lane);
    });
    return Flow::next;
}
void decode_real_select(Decoder& decoder, Instruction& instruction) {
    allow_only(decoder, std::array<std::string_view, 1>{"FTZ"});
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, SourceType::real32);
    instruction.sources[1] = decoder.source(2, SourceType::real32);
    instruction.predicates_in[0] = decoder.predicate_in(3);
    instruction.execute = select_real;
}

/// -0 is less than +0; one operand that is no number gives the other (variant bit 1: gives no number).
float lesser(float a, float b, bool less) {
    if (a != a) {
        return b;
    }
    if (b != b) {
        return a;
    }
    if (a == b) {
        return std::signbit(a) == less ? a : b;
    }
    return (a < b) == less ? a : b;
}
Flow real_minimum(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Mask smaller = read_predicate(warp, instruction.predicates_in[0]);
    const bool flush = (instruction.variant & 1U) != 0;
    const bool keeps_nan = (instruction.variant & 2U) != 0;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        float a = lane_real(warp, instruction.sources[0], lane);
        float b = lane_real(warp, instruction.sources[1], lane);
        if (flush) {
            a = flushed(a);
            b = flushed(b);
        }
        if (keeps_nan && (a != a || b != b)) {
            return real_nan;
        }
        return bits_of_real(lesser(a, b, ((smaller >> static_cast<unsigned>(lane)) & 1U) != 0));
    });
    return Flow::next;
}
void decode_real_minimum(Decoder& decoder, Instruction& instruction) {
    allow_only(decoder, std::array<std::string_view, 2>{"FTZ", "NAN"});
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, SourceType::real32);
    instruction.sources[1] = decoder.source(2, SourceType::real32);
    instruction.predicates_in[0] = decoder.predicate_in(3);
    instruction.variant = (decoder.has("FTZ") ? 1U : 0U) | (decoder.has("NAN") ? 2U : 0U);
    instruction.execute = real_minimum;
}

/// True where a / b needs the slow way: exponents at the ends of the range, zeros among them.
bool division_is_hard(float a, float b) {
    const auto exponent = [](float value) {
        return static_cast<int>((std::bit_cast<std::uint32_t>(value) >> 23U) & 0xffU) - 127;
    };
    const int ea = exponent(a), eb = exponent(b);
    if (ea == 128 || eb == 128 || eb <= -127 || eb >= 126) {
        return true;
    }
    return ea <= -104 || ea - eb >= 126 || ea - eb <= -126;
}
Flow check_division(Warp& warp, const Instruction& instruction, Mask enabled) {
    Mask hard = 0;
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        const bool own = division_is_hard(lane_real(warp, instruction.sources[0], lane),
                                          lane_real(warp, instruction.sources[1], lane));
        hard |= own ? 1U << static_cast<unsigned>(lane) : 0U;
    }
    write_predicate(warp, instruction.predicates_out[0], enabled, hard);
    return Flow::next;
}
/// FCHK P, Ra, Rb
void decode_check_division(Decoder& decoder, Instruction& instruction) {
    instruction.predicates_out[0] = decoder.predicate_out(0);
    instruction.sources[0] = decoder.source(1, SourceType::real32);
    instruction.sources[1] = decoder.source(2, SourceType::real32);
    instruction.execute = check_division;
}

constexpr std::array opcodes{
    Opcode{"FADD", decode_arithmetic<Arithmetic::add>},
    Opcode{"FADD32I", decode_arithmetic<Arithmetic::add>},
    Opcode{"FMUL", decode_arithmetic<Arithmetic::multiply>},
    Opcode{"FMUL32I", decode_arithmetic<Arithmetic::multiply>},
    Opcode{"FFMA", decode_arithmetic<Arithmetic::multiply_add>},
    Opcode{"FFMA32I", decode_arithmetic<Arithmetic::multiply_add>},
    Opcode{"FSETP", decode_real_compare},
    Opcode{"FSET", decode_real_set},
    Opcode{"FSEL", decode_real_select},
    Opcode{"FMNMX", decode_real_minimum},
    Opcode{"FCHK", decode_check_division},
    Opcode{"F2F", decode_real_conversion},
    Opcode{"F2I", decode_real_to_integer},
    Opcode{"I2F", decode_integer_to_real},
    Opcode{"I2FP", decode_integer_to_real},
    Opcode{"FRND", decode_round},
    Opcode{"F2FP", decode_pack},
    Opcode{"MUFU", decode_special_function},
    Opcode{"DADD", decode_double},
    Opcode{"DMUL", decode_double},
    Opcode{"DFMA", decode_double},
    Opcode{"DSETP", decode_double_compare},
    Opcode{"DMNMX", decode_double_minimum},
};

}  // namespace

std::uint32_t relations_of(const Decoder& decoder) {
    struct Named {
        std::string_view name;
        std::uint32_t relations;
    };
    constexpr std::array names{Named{"F", 0U},    Named{"LT", 1U},   Named{"EQ", 2U},   Named{"LE", 3U},
                               Named{"GT", 4U},   Named{"NE", 5U},   Named{"GE", 6U},   Named{"NUM", 7U},
                               Named{"NAN", 8U},  Named{"LTU", 9U},  Named{"EQU", 10U}, Named{"LEU", 11U},
                               Named{"GTU", 12U}, Named{"NEU", 13U}, Named{"GEU", 14U}, Named{"T", 15U}};
    for (const std::string& modifier : decoder.line().modifiers) {
        const auto found = std::ranges::find(names, modifier, &Named::name);
        if (found != names.end()) {
            return found->relations;
        }
    }
    decoder.refuse("another comparison of reals");
}

std::span<const Opcode> real_opcodes() {
    return opcodes;
}

}  // namespace warptime::workloads::frontends::machine
