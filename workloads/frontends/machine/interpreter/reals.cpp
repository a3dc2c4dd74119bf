// Arithmetic of fp32: sums, products, multiply-adds, comparisons, minima.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/reals.hpp"

#include "workloads/frontends/machine/interpreter/halves.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

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

/// The usual case: rounded to nearest, nothing flushed or saturated. `has_signs`: a source has a modifier.
template <Arithmetic kind, bool has_signs>
Flow plain(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& [a, b, c, d] = instruction.sources;
    const Row& ra = warp.rows[a.row];
    const Row& rb = warp.rows[b.row];
    const Row& rc = warp.rows[c.row];
    const std::uint32_t ka = a.keep, kb = b.keep, kc = c.keep, fa = a.flip, fb = b.flip, fc = c.flip;
    const auto real = [](std::uint32_t bits, std::uint32_t keep, std::uint32_t flip) {
        return std::bit_cast<float>(has_signs ? (bits & keep) ^ flip : bits);
    };
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        return bits_of_real(
            computed<kind>(real(ra.lane[l], ka, fa), real(rb.lane[l], kb, fb), real(rc.lane[l], kc, fc)));
    });
    return Flow::next;
}

bool has_signs(const Instruction& instruction) {
    return std::ranges::any_of(instruction.sources, [](const Source& source) {
        return source.keep != all_lanes || source.flip != 0;
    });
}

/// Rounded in a direction: products of fp32 are exact in fp64, and what a sum loses there is known.
template <Arithmetic kind>
float computed_directed(float a, float b, float c, Rounding rounding) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b), z = static_cast<double>(c);
    if constexpr (kind == Arithmetic::multiply) {
        return directed(x * y, 0.0, rounding);
    } else {
        const double first = kind == Arithmetic::add ? x : x * y;
        const double second = kind == Arithmetic::add ? y : z;
        const double sum = first + second;
        const auto result = std::bit_cast<std::uint32_t>(directed(sum, lost_of_sum(first, second), rounding));
        // Numbers that cancel leave -0 when rounded down.
        const bool signs = std::signbit(first) || std::signbit(second);
        const bool cancelled = sum == 0.0 && signs && rounding == Rounding::down;
        return std::bit_cast<float>(result | (cancelled ? 0x80000000U : 0U));
    }
}

/// One lane; rounding and flushing are known at compile time where they are common.
template <Arithmetic kind>
[[gnu::always_inline]] inline std::uint32_t modified_lane(float x, float y, float z, bool flush,
                                                          bool saturate, Rounding rounding) {
    if (flush) {
        x = flushed(x);
        y = flushed(y);
        z = flushed(z);
    }
    float result =
        rounding == Rounding::nearest ? computed<kind>(x, y, z) : computed_directed<kind>(x, y, z, rounding);
    result = flush ? flushed(result) : result;
    result = saturate ? saturated(result) : result;
    return bits_of_real(result);
}

/// variant bit 0: flush; bit 1: saturate; bits 2 and 3: rounding.
template <Arithmetic kind>
Flow modified(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Source& a = instruction.sources[0];
    const Source& b = instruction.sources[1];
    const Source& c = instruction.sources[2];
    const bool flush = (instruction.variant & 1U) != 0;
    const bool saturate = (instruction.variant & 2U) != 0;
    const auto rounding = static_cast<Rounding>((instruction.variant >> 2U) & 3U);
    const auto write = [&](auto known_rounding, auto known_flush, auto known_saturate) {
        const RealSource x(warp, a), y(warp, b), z(warp, c);
        write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
            return modified_lane<kind>(x[lane], y[lane], z[lane], known_flush, known_saturate,
                                       known_rounding);
        });
    };
    using Nearest = std::integral_constant<Rounding, Rounding::nearest>;
    using Down = std::integral_constant<Rounding, Rounding::down>;
    constexpr std::true_type yes;
    constexpr std::false_type no;
    if (rounding == Rounding::nearest) {
        flush ? (saturate ? write(Nearest{}, yes, yes) : write(Nearest{}, yes, no))
              : (saturate ? write(Nearest{}, no, yes) : write(Nearest{}, no, no));
    } else if (rounding == Rounding::down && !flush && !saturate) {
        write(Down{}, no, no);
    } else {
        write(rounding, flush, saturate);
    }
    return Flow::next;
}

template <Arithmetic kind>
void decode_arithmetic(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    const std::size_t count = kind == Arithmetic::multiply_add ? 3 : 2;
    for (std::size_t i = 0; i < count; ++i) {
        instruction.sources[i] = decoder.source(i + 1, SourceType::real32);
    }
    instruction.variant = (decoder.has("FTZ") ? 1U : 0U) | (decoder.has("SAT") ? 2U : 0U) |
                          (static_cast<std::uint32_t>(rounding_of(decoder)) << 2U);
    instruction.execute = instruction.variant != 0 ? modified<kind>
                          : has_signs(instruction) ? plain<kind, true>
                                                   : plain<kind, false>;
}

struct ProductScale {
    std::string_view name;
    double factor;
};
constexpr std::array product_scales{ProductScale{"D2", 0.5},   ProductScale{"D4", 0.25},
                                    ProductScale{"D8", 0.125}, ProductScale{"M2", 2.0},
                                    ProductScale{"M4", 4.0},   ProductScale{"M8", 8.0}};

/// A product that a power of two multiplies before it is rounded; fp64 holds it exactly. variant bits 0 and 1
/// as above; bits 4 to 6: place of the scale.
Flow scaled_product(Warp& warp, const Instruction& instruction, Mask enabled) {
    const bool flush = (instruction.variant & 1U) != 0;
    const bool saturate = (instruction.variant & 2U) != 0;
    const double factor = product_scales[instruction.variant >> 4U].factor;
    const RealSource x(warp, instruction.sources[0]), y(warp, instruction.sources[1]);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const float a = flush ? flushed(x[lane]) : x[lane];
        const float b = flush ? flushed(y[lane]) : y[lane];
        auto result = static_cast<float>(static_cast<double>(a) * static_cast<double>(b) * factor);
        result = flush ? flushed(result) : result;
        return bits_of_real(saturate ? saturated(result) : result);
    });
    return Flow::next;
}

void decode_product(Decoder& decoder, Instruction& instruction) {
    decode_arithmetic<Arithmetic::multiply>(decoder, instruction);
    for (std::size_t i = 0; i < product_scales.size(); ++i) {
        if (!decoder.has(product_scales[i].name)) continue;
        if (rounding_of(decoder) != Rounding::nearest) decoder.refuse("a scale with a directed rounding");
        instruction.variant |= static_cast<std::uint32_t>(i) << 4U;
        instruction.execute = scaled_product;
    }
}

// ---- comparisons and selections

/// variant: relations; bit 8: flush; bits 9 and 10: combination.
Flow set_real_predicate(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t relations = instruction.variant & 0xfU;
    const bool flush = (instruction.variant & 0x100U) != 0;
    const std::uint32_t how = (instruction.variant >> 9U) & 3U;
    const std::array<RealSource, 2> sources{RealSource(warp, instruction.sources[0]),
                                            RealSource(warp, instruction.sources[1])};
    const Mask result =
        flush ? lanes_related(relations, [&](std::size_t i, int lane) { return flushed(sources[i][lane]); })
              : lanes_related(relations, [&](std::size_t i, int lane) { return sources[i][lane]; });
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

/// FSET.BF.GT.AND Rd, Ra, Rb, Pc: 1.0 or 0 (BF), or all ones or 0. variant as above; bit 11: BF.
Flow set_real(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t how = (instruction.variant >> 9U) & 3U;
    const bool flush = (instruction.variant & 0x100U) != 0;
    const Mask other = read_predicate(warp, instruction.predicates_in[0]);
    const std::uint32_t yes = (instruction.variant & 0x800U) != 0 ? 0x3f800000U : all_lanes;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const bool own = relation_holds(instruction.variant & 0xfU,
                                        flushed_if(flush, lane_real(warp, instruction.sources[0], lane)),
                                        flushed_if(flush, lane_real(warp, instruction.sources[1], lane)));
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
    instruction.variant = relations_of(decoder) | (decoder.has("FTZ") ? 0x100U : 0U) | (how << 9U) |
                          (decoder.has("BF") ? 0x800U : 0U);
    instruction.execute = set_real;
}

Flow select_real(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Mask first = read_predicate(warp, instruction.predicates_in[0]);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const std::uint32_t a = lane_bits(warp, instruction.sources[0], lane);
        const std::uint32_t b = lane_bits(warp, instruction.sources[1], lane);
        return ((first >> static_cast<unsigned>(lane)) & 1U) != 0 ? a : b;
    });
    return Flow::next;
}
void decode_real_select(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, SourceType::real32);
    instruction.sources[1] = decoder.source(2, SourceType::real32);
    instruction.predicates_in[0] = decoder.predicate_in(3);
    instruction.execute = select_real;
}

/// Integers in the order of the reals; -0 is less than +0.
std::int32_t order_of(float value) {
    const auto bits = std::bit_cast<std::int32_t>(value);
    return bits ^ ((bits >> 31) & 0x7fffffff);
}
/// One operand that is no number gives the other.
float lesser(float a, float b, bool less) {
    const float chosen = (order_of(a) < order_of(b)) == less ? a : b;
    const float number = a != a ? b : a;
    return a != a || b != b ? number : chosen;
}
Flow real_minimum(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Mask smaller = read_predicate(warp, instruction.predicates_in[0]);
    const bool flush = (instruction.variant & 1U) != 0;
    const bool keeps_nan = (instruction.variant & 2U) != 0;
    const RealSource first(warp, instruction.sources[0]), second(warp, instruction.sources[1]);
    const auto write = [&](auto known_flush, auto known_keeps_nan) {
        write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
            const float a = known_flush ? flushed(first[lane]) : first[lane];
            const float b = known_flush ? flushed(second[lane]) : second[lane];
            const std::uint32_t result =
                bits_of_real(lesser(a, b, ((smaller >> static_cast<unsigned>(lane)) & 1U) != 0));
            return chosen(known_keeps_nan && (a != a || b != b), real_nan, result);
        });
    };
    constexpr std::true_type yes;
    constexpr std::false_type no;
    flush ? (keeps_nan ? write(yes, yes) : write(yes, no)) : (keeps_nan ? write(no, yes) : write(no, no));
    return Flow::next;
}
void decode_real_minimum(Decoder& decoder, Instruction& instruction) {
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
    Opcode{"FMUL", decode_product},
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
