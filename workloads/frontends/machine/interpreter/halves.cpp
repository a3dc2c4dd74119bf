// Arithmetic of pairs of 16-bit numbers: fp16 and bf16.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/halves.hpp"

#include "workloads/frontends/machine/interpreter/reals.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

namespace warptime::workloads::frontends::machine {

namespace {

/// Which halves of an operand make the pair: (low, high), and whether it is one fp32.
enum class Halves : std::uint32_t { both, low, high, real };

struct HalfOperands {
    std::array<Halves, 3> halves{};
};

std::uint32_t packed(Halves halves, std::size_t i) {
    return static_cast<std::uint32_t>(halves) << (2U * i);
}
Halves unpacked(std::uint32_t variant, std::size_t i) {
    return static_cast<Halves>((variant >> (2U * i)) & 3U);
}

namespace flag {
constexpr std::uint32_t brain = 0x100U, clamp = 0x200U, saturate = 0x400U, to_real = 0x800U, flush = 0x1000U,
                        keeps_nan = 0x2000U;
}

/// The least normal number of fp16; bf16 has that of fp32.
double flushed_half(double value, bool brain) {
    const double least = brain ? 0x1p-126 : 0x1p-14;
    return std::fabs(value) < least ? std::copysign(0.0, value) : value;
}

/// The value of a half of a lane; `halves` and `brain` are those of the instruction's source i.
double half_value(std::uint32_t bits, Halves halves, bool brain, unsigned part) {
    if (halves == Halves::real) {
        return static_cast<double>(std::bit_cast<float>(bits));
    }
    const bool upper = halves == Halves::high || (halves == Halves::both && part == 1);
    const auto half = static_cast<std::uint16_t>(upper ? bits >> 16U : bits);
    return static_cast<double>(brain ? real_of_brain(half) : real_of_half(half));
}
double half_value(const Warp& warp, const Instruction& instruction, std::size_t i, int lane, unsigned part) {
    const bool brain = (instruction.variant & flag::brain) != 0;
    const double value = half_value(lane_bits(warp, instruction.sources[i], lane),
                                    unpacked(instruction.variant, i), brain, part);
    return (instruction.variant & flag::flush) != 0 ? flushed_half(value, brain) : value;
}

using Doubles = std::array<double, lanes_per_warp>;

/// All lanes' values. What is known of the instruction is looked at once, so that the loops become vectors.
void half_values(const Warp& warp, const Instruction& instruction, std::size_t i, unsigned part,
                 Doubles& values) {
    const Source& source = instruction.sources[i];
    const auto fill = [&](Halves halves, bool brain) {
        for (int lane = 0; lane < lanes_per_warp; ++lane) {
            values[static_cast<std::size_t>(lane)] =
                half_value(lane_bits(warp, source, lane), halves, brain, part);
        }
    };
    const bool brain = (instruction.variant & flag::brain) != 0;
    const Halves halves = unpacked(instruction.variant, i);
    const bool upper = halves == Halves::high || (halves == Halves::both && part == 1);
    if (halves == Halves::real) {
        fill(Halves::real, false);
    } else if (upper) {
        brain ? fill(Halves::high, true) : fill(Halves::high, false);
    } else {
        brain ? fill(Halves::low, true) : fill(Halves::low, false);
    }
    if ((instruction.variant & flag::flush) != 0) {
        for (double& value : values) {
            value = flushed_half(value, brain);
        }
    }
}

[[gnu::always_inline]] inline std::uint32_t half_result(std::uint32_t variant, double value) {
    if ((variant & flag::clamp) != 0 && value < 0.0) {
        value = 0.0;
    }
    if ((variant & flag::saturate) != 0) {
        value = value > 0.0 ? (value < 1.0 ? value : 1.0) : 0.0;
    }
    const bool brain = (variant & flag::brain) != 0;
    const std::uint32_t code =
        brain ? std::uint32_t{brain_of_double(value)} : std::uint32_t{half_of_real(value)};
    const bool denormal = (code & (brain ? 0x7f80U : 0x7c00U)) == 0;
    return (variant & flag::flush) != 0 && denormal ? code & 0x8000U : code;
}

enum class HalfOperation : std::uint8_t { add, multiply, multiply_add, minimum };

template <HalfOperation operation>
double computed_half(double a, double b, double c) {
    if constexpr (operation == HalfOperation::add) {
        return a + b;
    } else if constexpr (operation == HalfOperation::multiply) {
        return a * b;
    } else {
        return a * b + c;
    }
}

template <HalfOperation operation>
void compute_halves(const Warp& warp, const Instruction& instruction, unsigned part, Doubles& results) {
    Doubles a, b, c{};  // NOLINT: filled whole below.
    half_values(warp, instruction, 0, part, a);
    half_values(warp, instruction, 1, part, b);
    if constexpr (operation == HalfOperation::multiply_add) {
        half_values(warp, instruction, 2, part, c);
    }
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        results[lane] = computed_half<operation>(a[lane], b[lane], c[lane]);
    }
}

template <HalfOperation operation>
Flow half_arithmetic(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t variant = instruction.variant;
    Row& destination = warp.rows[instruction.destination];
    Doubles low, high;  // NOLINT: filled whole below.
    compute_halves<operation>(warp, instruction, 0, low);
    if ((variant & flag::to_real) != 0) {
        write_lanes(destination, enabled, [&low](int lane) {
            return bits_of_real(static_cast<float>(low[static_cast<std::size_t>(lane)]));
        });
        return Flow::next;
    }
    compute_halves<operation>(warp, instruction, 1, high);
    const auto write = [&](auto known_variant) {
        write_lanes(destination, enabled, [&](int lane) {
            const auto l = static_cast<std::size_t>(lane);
            return half_result(known_variant, low[l]) | (half_result(known_variant, high[l]) << 16U);
        });
    };
    constexpr std::uint32_t special = flag::brain | flag::clamp | flag::saturate | flag::flush;
    if ((variant & special) == 0) {
        write(std::integral_constant<std::uint32_t, 0>{});
    } else if ((variant & special) == flag::brain) {
        write(std::integral_constant<std::uint32_t, flag::brain>{});
    } else {
        write(variant);
    }
    return Flow::next;
}

/// sources[0]: the constant row of a result that the code alone says.
Flow write_known(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& known = warp.rows[instruction.sources[0].row];
    write_lanes(warp.rows[instruction.destination], enabled,
                [&known](int lane) { return known.lane[static_cast<std::size_t>(lane)]; });
    return Flow::next;
}

/// The least or the largest of `count` pairs.
template <std::size_t count>
Flow half_minimum(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Mask smaller = read_predicate(warp, instruction.predicates_in[0]);
    const bool keeps_nan = (instruction.variant & flag::keeps_nan) != 0;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const bool less = ((smaller >> static_cast<unsigned>(lane)) & 1U) != 0;
        std::uint32_t result = 0;
        for (unsigned part = 0; part < 2; ++part) {
            double chosen = half_value(warp, instruction, 0, lane, part);
            for (std::size_t i = 1; i < count; ++i) {
                const double a = chosen;
                const double b = half_value(warp, instruction, i, lane, part);
                chosen = a != a ? b : b != b ? a : (a < b) == less ? a : b;
                if (keeps_nan && (a != a || b != b)) chosen = std::numeric_limits<double>::quiet_NaN();
            }
            result |= half_result(instruction.variant, chosen) << (16U * part);
        }
        return result;
    });
    return Flow::next;
}

/// Predicates of the lower and the upper half. immediate: relations; bits 9 and 10 the combination; bit 11
/// both together.
Flow set_half_predicates(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto relations = static_cast<std::uint32_t>(instruction.immediate & 0xf);
    const auto how = static_cast<std::uint32_t>((instruction.immediate >> 9U) & 3);
    Mask low = 0, high = 0;
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        const Mask bit = 1U << static_cast<unsigned>(lane);
        for (unsigned part = 0; part < 2; ++part) {
            const bool own = relation_holds(relations, half_value(warp, instruction, 0, lane, part),
                                            half_value(warp, instruction, 1, lane, part));
            (part == 0 ? low : high) |= own ? bit : 0U;
        }
    }
    const Mask other = read_predicate(warp, instruction.predicates_in[0]);
    const auto combined = [how, other](Mask mask) {
        return how == 0 ? mask & other : how == 1 ? mask | other : mask ^ other;
    };
    if ((instruction.immediate & 0x800) != 0) {
        low &= high;
        high = ~low;
    }
    write_predicate(warp, instruction.predicates_out[0], enabled, combined(low));
    write_predicate(warp, instruction.predicates_out[1], enabled, combined(high));
    return Flow::next;
}

Halves halves_of(const Decoder& decoder, std::size_t i) {
    Halves halves = Halves::both;
    for (const std::string& modifier : decoder.operand(i).modifiers) {
        if (modifier == "H0_H0") {
            halves = Halves::low;
        } else if (modifier == "H1_H1") {
            halves = Halves::high;
        } else if (modifier == "F32") {
            halves = Halves::real;
        } else {
            decoder.refuse("an operand ." + modifier);
        }
    }
    return halves;
}

/// A source of halves. `known`: an immediate or the zero register, whose bits the code alone says.
struct HalfSource {
    Source source;
    Halves halves = Halves::both;
    bool known = false;
    std::uint32_t bits = 0;
};

/// Source from operand `next`; two immediates are the upper and the lower half.
HalfSource half_source(Decoder& decoder, std::size_t& next, bool brain) {
    HalfSource from;
    if (decoder.is(next, OperandKind::immediate)) {
        const auto bits = [brain](const Operand& operand) -> std::uint32_t {
            const double value = operand.is_real ? operand.real : static_cast<double>(operand.value);
            return brain ? brain_of_double(value) : half_of_real(value);
        };
        const std::uint32_t upper = bits(decoder.operand(next++));
        std::uint32_t lower = upper;
        if (decoder.is(next, OperandKind::immediate)) {
            lower = bits(decoder.operand(next++));
        }
        from.known = true;
        from.bits = (upper << 16U) | lower;
        from.source.row = decoder.constant_row(from.bits);
        return from;
    }
    from.known = decoder.is(next, OperandKind::general) && decoder.operand(next).number == zero_register;
    from.halves = halves_of(decoder, next);
    from.source =
        decoder.source(next++, from.halves == Halves::real ? SourceType::real32 : SourceType::half2);
    from.bits = from.source.flip;
    return from;
}

/// The result of a multiply-add of known sources.
std::uint32_t known_result(std::uint32_t variant, const std::array<HalfSource, 3>& from) {
    std::uint32_t result = 0;
    for (unsigned part = 0; part < 2; ++part) {
        const auto value = [&](std::size_t i) {
            return half_value(from[i].bits, from[i].halves, (variant & flag::brain) != 0, part);
        };
        result |=
            half_result(variant, computed_half<HalfOperation::multiply_add>(value(0), value(1), value(2)))
            << (16U * part);
    }
    return result;
}

void decode_half(Decoder& decoder, Instruction& instruction) {
    const std::string& opcode = decoder.line().opcode;
    const bool brain = decoder.has("BF16_V2") || decoder.has("BF16");
    instruction.destination = decoder.destination(0);
    std::size_t next = 1;
    std::uint32_t variant =
        (brain ? flag::brain : 0U) | (decoder.has("RELU") ? flag::clamp : 0U) |
        (decoder.has("SAT") ? flag::saturate : 0U) | (decoder.has("F32") ? flag::to_real : 0U) |
        (decoder.has("FTZ") ? flag::flush : 0U) | (decoder.has("NAN") ? flag::keeps_nan : 0U);
    const std::size_t count = opcode == "HFMA2" || opcode == "VHMNMX" ? 3 : 2;
    std::array<HalfSource, 3> from;
    for (std::size_t i = 0; i < count; ++i) {
        from[i] = half_source(decoder, next, brain);
        instruction.sources[i] = from[i].source;
        variant |= packed(from[i].halves, i);
    }
    instruction.variant = variant;
    // Compilers make constants by 0 x 0 + c, where the units for halves are idle.
    if (opcode == "HFMA2" && (variant & (flag::to_real | flag::flush)) == 0 &&
        std::ranges::all_of(from, &HalfSource::known)) {
        instruction.sources[0] = {.row = decoder.constant_row(known_result(variant, from))};
        instruction.execute = write_known;
        return;
    }
    if (opcode == "HMNMX2" || opcode == "VHMNMX") {
        instruction.predicates_in[0] = decoder.predicate_in(next);
        instruction.execute = count == 3 ? half_minimum<3> : half_minimum<2>;
        return;
    }
    instruction.execute = opcode == "HADD2"   ? half_arithmetic<HalfOperation::add>
                          : opcode == "HMUL2" ? half_arithmetic<HalfOperation::multiply>
                                              : half_arithmetic<HalfOperation::multiply_add>;
}

/// HSETP2.GT.AND Pu, Pv, Ra, Rb, Pc
void decode_half_compare(Decoder& decoder, Instruction& instruction) {
    const bool brain = decoder.has("BF16_V2");
    instruction.predicates_out[0] = decoder.predicate_out(0);
    instruction.predicates_out[1] = decoder.predicate_out(1);
    std::size_t next = 2;
    std::uint32_t variant = (brain ? flag::brain : 0U) | (decoder.has("FTZ") ? flag::flush : 0U);
    for (std::size_t i = 0; i < 2; ++i) {
        const HalfSource from = half_source(decoder, next, brain);
        instruction.sources[i] = from.source;
        variant |= packed(from.halves, i);
    }
    instruction.variant = variant;
    instruction.predicates_in[0] = decoder.predicate_in(next);
    const std::uint32_t how = decoder.has("AND") ? 0U : decoder.has("OR") ? 1U : 2U;
    instruction.immediate =
        static_cast<std::int64_t>(relations_of(decoder) | (how << 9U) | (decoder.has("H_AND") ? 0x800U : 0U));
    instruction.execute = set_half_predicates;
}

constexpr std::array opcodes{
    Opcode{"HADD2", decode_half},  Opcode{"HMUL2", decode_half},  Opcode{"HFMA2", decode_half},
    Opcode{"HMNMX2", decode_half}, Opcode{"VHMNMX", decode_half}, Opcode{"HSETP2", decode_half_compare},
};

}  // namespace

std::span<const Opcode> half_opcodes() {
    return opcodes;
}

}  // namespace warptime::workloads::frontends::machine
