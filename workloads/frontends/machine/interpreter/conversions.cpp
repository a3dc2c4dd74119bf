// Conversions between integers and reals of several widths, rounding to whole numbers.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/halves.hpp"
#include "workloads/frontends/machine/interpreter/reals.hpp"

#include <cfenv>
#include <limits>

namespace warptime::workloads::frontends::machine {

namespace {

float narrowed(double value, Rounding rounding) {
    return rounding == Rounding::nearest ? static_cast<float>(value) : directed(value, 0.0, rounding);
}
template <class Integer>
double nearest_of(Integer value, bool to_float) {
    return to_float ? static_cast<double>(static_cast<float>(value)) : static_cast<double>(value);
}
template <class Integer>
[[gnu::noinline]] double widened_rounding(Integer value, Rounding rounding, bool to_float) {
    std::fesetround(rounding == Rounding::down ? FE_DOWNWARD
                    : rounding == Rounding::up ? FE_UPWARD
                                               : FE_TOWARDZERO);
    const volatile Integer source = value;
    double result = 0.0;
    if (to_float) {
        const volatile float narrow = static_cast<float>(source);
        result = static_cast<double>(narrow);
    } else {
        const volatile double wide = static_cast<double>(source);
        result = wide;
    }
    std::fesetround(FE_TONEAREST);
    return result;
}

/// Integers of at most 52 bits, as most are, are exact in fp64.
template <class Integer>
double widened(Integer value, Rounding rounding, bool to_float) {
    if (rounding == Rounding::nearest) {
        return nearest_of(value, to_float);
    }
    const auto wide = static_cast<double>(value);
    const bool small = wide > -0x1p52 && wide < 0x1p52;
    if (small) {
        return to_float ? static_cast<double>(directed(wide, 0.0, rounding)) : wide;
    }
    return widened_rounding(value, rounding, to_float);
}

/// An fp64 that ends in a one where it is not exact, so that rounding it again is rounding once.
template <class Integer>
double sticky(Integer value) {
    const double near = widened(value, Rounding::zero, false);
    const auto bits = std::bit_cast<std::uint64_t>(near);
    return static_cast<Integer>(near) == value ? near : std::bit_cast<double>(bits | 1U);
}

enum class RealType : std::uint32_t { f16, bf16, f32, f64 };

RealType real_type(std::string_view name) {
    return name == "F64"    ? RealType::f64
           : name == "F16"  ? RealType::f16
           : name == "BF16" ? RealType::bf16
                            : RealType::f32;
}
bool is_real_type(std::string_view name) {
    return name == "F64" || name == "F32" || name == "F16" || name == "BF16";
}

double read_real(const Warp& warp, const Source& source, int lane, RealType type) {
    switch (type) {
        case RealType::f64:
            return lane_double(warp, source, lane);
        case RealType::f16:
            return static_cast<double>(
                real_of_half(static_cast<std::uint16_t>(lane_bits(warp, source, lane))));
        case RealType::bf16:
            return static_cast<double>(
                real_of_brain(static_cast<std::uint16_t>(lane_bits(warp, source, lane))));
        case RealType::f32:
            break;
    }
    return static_cast<double>(lane_real(warp, source, lane));
}

SourceType source_type(RealType type) {
    return type == RealType::f64   ? SourceType::real64
           : type == RealType::f32 ? SourceType::real32
                                   : SourceType::half2;
}

/// A 16-bit code nearest to `value`, or its neighbour where the rounding asks for that one.
std::uint16_t directed_code(std::uint16_t near, float (*real_of)(std::uint16_t), double value,
                            Rounding rounding) {
    const auto wide = static_cast<double>(real_of(near));
    const bool positive = value > 0.0;
    const bool to_up = rounding == Rounding::up || (rounding == Rounding::zero && !positive);
    const bool to_down = rounding == Rounding::down || (rounding == Rounding::zero && positive);
    const bool moves =
        rounding != Rounding::nearest && ((wide < value && to_up) || (wide > value && to_down));
    if (!moves) {
        return near;
    }
    // Codes count away from zero, and zeros have the sign of what was rounded to them.
    const bool grows = to_up == positive;
    return static_cast<std::uint16_t>(near + (grows ? 1U : 0xffffU));
}

void write_real(Warp& warp, const Instruction& instruction, Mask enabled, RealType type,
                const std::array<double, lanes_per_warp>& values, Rounding rounding, bool flush) {
    if (type == RealType::f64) {
        write_lanes64(warp.rows[instruction.destination], warp.rows[instruction.destination + 1], enabled,
                      [&values](int lane) { return bits_of_double(values[static_cast<std::size_t>(lane)]); });
        return;
    }
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) -> std::uint32_t {
        const double value = values[static_cast<std::size_t>(lane)];
        if (type == RealType::f16) {
            return directed_code(half_of_real(value), real_of_half, value, rounding);
        }
        if (type == RealType::bf16) {
            return directed_code(brain_of_double(value), real_of_brain, value, rounding);
        }
        const float narrow = narrowed(value, rounding);
        return bits_of_real(flush ? flushed(narrow) : narrow);
    });
}

/// variant: result type, source type from bit 4, rounding from bit 8, bit 12 flush, bit 13 whole numbers.
Flow convert_real(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto to = static_cast<RealType>(instruction.variant & 0xfU);
    const auto from = static_cast<RealType>((instruction.variant >> 4U) & 0xfU);
    const auto rounding = static_cast<Rounding>((instruction.variant >> 8U) & 3U);
    const bool flush = (instruction.variant & 0x1000U) != 0;
    const bool whole = (instruction.variant & 0x2000U) != 0;
    std::array<double, lanes_per_warp> values{};
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        double value = read_real(warp, instruction.sources[0], lane, from);
        if (flush && from == RealType::f32) {
            value = static_cast<double>(flushed(static_cast<float>(value)));
        }
        values[static_cast<std::size_t>(lane)] = whole ? rounded(value, rounding) : value;
    }
    write_real(warp, instruction, enabled, to, values, whole ? Rounding::nearest : rounding, flush);
    return Flow::next;
}

std::uint32_t conversion_variant(const Decoder& decoder, RealType to, RealType from, bool whole) {
    return static_cast<std::uint32_t>(to) | (static_cast<std::uint32_t>(from) << 4U) |
           (static_cast<std::uint32_t>(rounding_of(decoder)) << 8U) | (decoder.has("FTZ") ? 0x1000U : 0U) |
           (whole ? 0x2000U : 0U);
}

/// variant: bits 0 and 1: bytes as a power of two; bit 2: signed; source type from bit 4; rounding from bit
/// 8; bit 12 flush.
Flow real_to_integer(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t bits = 8U << (instruction.variant & 3U);
    const bool is_signed = (instruction.variant & 4U) != 0;
    const auto from = static_cast<RealType>((instruction.variant >> 4U) & 0xfU);
    const auto rounding = static_cast<Rounding>((instruction.variant >> 8U) & 3U);
    const bool flush = (instruction.variant & 0x1000U) != 0 && from == RealType::f32;
    const double limit = std::ldexp(1.0, static_cast<int>(bits) - (is_signed ? 1 : 0));
    std::array<std::uint64_t, lanes_per_warp> values{};
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        double given = read_real(warp, instruction.sources[0], lane, from);
        if (flush) {
            given = static_cast<double>(flushed(static_cast<float>(given)));
        }
        const double value = rounded(given, rounding);
        std::uint64_t& out = values[static_cast<std::size_t>(lane)];
        if (value != value) {
            // PTX ISA, cvt: 0, and the top bit alone where either side has 64 bits.
            out = bits == 64 || from == RealType::f64 ? std::uint64_t{1} << (bits - 1U) : 0U;
        } else if (is_signed) {
            const std::int64_t most = static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1U)) - 1U);
            out = static_cast<std::uint64_t>(value >= limit   ? most
                                             : value < -limit ? -most - 1
                                                              : static_cast<std::int64_t>(value));
        } else {
            const std::uint64_t most = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1U;
            out = value >= limit ? most : value <= 0.0 ? 0U : static_cast<std::uint64_t>(value);
        }
    }
    write_lanes(warp.rows[instruction.destination], enabled, [&values](int lane) {
        return static_cast<std::uint32_t>(values[static_cast<std::size_t>(lane)]);
    });
    if (bits == 64) {
        write_lanes(warp.rows[instruction.destination + 1], enabled, [&values](int lane) {
            return static_cast<std::uint32_t>(values[static_cast<std::size_t>(lane)] >> 32U);
        });
    }
    return Flow::next;
}

struct IntegerType {
    std::uint32_t log_bytes = 2;
    bool is_signed = true;
};
bool integer_type(std::string_view name, IntegerType& type) {
    constexpr std::array<std::string_view, 4> sizes{"8", "16", "32", "64"};
    if (name.size() < 2 || (name.front() != 'U' && name.front() != 'S')) {
        return false;
    }
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        if (name.substr(1) == sizes[i]) {
            type = {i, name.front() == 'S'};
            return true;
        }
    }
    return false;
}

/// variant as above, with the result's real type from bit 4. bits 16 to 19: byte of the source.
Flow integer_to_real(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t bits = 8U << (instruction.variant & 3U);
    const bool is_signed = (instruction.variant & 4U) != 0;
    const auto to = static_cast<RealType>((instruction.variant >> 4U) & 0xfU);
    const auto rounding = static_cast<Rounding>((instruction.variant >> 8U) & 3U);
    const std::uint32_t shift = 8U * ((instruction.variant >> 16U) & 0xfU);
    const Source& source = instruction.sources[0];
    const bool narrow = to == RealType::f16 || to == RealType::bf16;
    std::array<double, lanes_per_warp> values{};
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        std::uint64_t raw = warp.rows[source.row].lane[static_cast<std::size_t>(lane)] >> shift;
        if (bits == 64) {
            raw |= std::uint64_t{warp.rows[source.row + 1].lane[static_cast<std::size_t>(lane)]} << 32U;
        }
        const std::uint32_t above = 64U - bits;
        const std::uint64_t moved = raw << above;
        double& out = values[static_cast<std::size_t>(lane)];
        const bool exact = bits < 64 && to == RealType::f64;
        const bool again = bits == 64 && narrow && rounding == Rounding::nearest;
        if (is_signed) {
            std::int64_t number = static_cast<std::int64_t>(moved) >> above;
            number = source.negated ? -number : number;
            out = exact   ? static_cast<double>(number)
                  : again ? sticky(number)
                          : widened(number, rounding, to == RealType::f32);
        } else {
            const std::uint64_t number = moved >> above;
            out = exact   ? static_cast<double>(number)
                  : again ? sticky(number)
                          : widened(number, rounding, to == RealType::f32);
        }
    }
    // What becomes fp32 or fp64 is rounded already.
    write_real(warp, instruction, enabled, to, values, narrow ? rounding : Rounding::nearest, false);
    return Flow::next;
}

/// The usual one: 32 bits to fp32, to nearest.
template <bool is_signed>
Flow integer_to_fp32(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row source = warp.rows[instruction.sources[0].row];
    write_lanes(warp.rows[instruction.destination], enabled, [&source](int lane) {
        const std::uint32_t value = source.lane[static_cast<std::size_t>(lane)];
        if constexpr (is_signed) {
            return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(value)));
        } else {
            return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        }
    });
    return Flow::next;
}

}  // namespace

/// F2F.F64.F32 Rd, Rs: result first, then source.
void decode_real_conversion(Decoder& decoder, Instruction& instruction) {
    RealType types[2] = {RealType::f32, RealType::f32};
    std::size_t found = 0;
    for (const std::string& modifier : decoder.line().modifiers) {
        if (is_real_type(modifier) && found < 2) {
            types[found++] = real_type(modifier);
        }
    }
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, source_type(types[1]));
    const bool whole =
        types[0] == types[1] && !decoder.has("RN") &&
        (decoder.has("TRUNC") || decoder.has("FLOOR") || decoder.has("CEIL") || decoder.has("ROUND"));
    instruction.variant = conversion_variant(decoder, types[0], types[1], whole);
    instruction.execute = convert_real;
}

/// FRND[.F64|.F16|.BF16][.FLOOR|.CEIL|.TRUNC] Rd, Rs
void decode_round(Decoder& decoder, Instruction& instruction) {
    const RealType type = decoder.has("F64")    ? RealType::f64
                          : decoder.has("F16")  ? RealType::f16
                          : decoder.has("BF16") ? RealType::bf16
                                                : RealType::f32;
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, source_type(type));
    instruction.variant = conversion_variant(decoder, type, type, true);
    instruction.execute = convert_real;
}

/// F2I[.FTZ][.U32|.S64|...][.F64|.F16][.TRUNC|.FLOOR|.CEIL][.NTZ] Rd, Rs
void decode_real_to_integer(Decoder& decoder, Instruction& instruction) {
    IntegerType type;
    RealType from = RealType::f32;
    for (const std::string& modifier : decoder.line().modifiers) {
        if (is_real_type(modifier)) {
            from = real_type(modifier);
        } else {
            (void)integer_type(modifier, type);
        }
    }
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, source_type(from));
    instruction.variant =
        type.log_bytes | (type.is_signed ? 4U : 0U) | (static_cast<std::uint32_t>(from) << 4U) |
        (static_cast<std::uint32_t>(rounding_of(decoder)) << 8U) | (decoder.has("FTZ") ? 0x1000U : 0U);
    instruction.execute = real_to_integer;
}

/// I2F[.F64|.F16][.U32|.S64|.U8...][.RP...] Rd, Rs; I2FP.F32.S32
void decode_integer_to_real(Decoder& decoder, Instruction& instruction) {
    IntegerType type;
    RealType to = RealType::f32;
    for (const std::string& modifier : decoder.line().modifiers) {
        if (is_real_type(modifier)) {
            to = real_type(modifier);
        } else {
            (void)integer_type(modifier, type);
        }
    }
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, SourceType::integer, type.log_bytes == 3 ? 2 : 1);
    std::uint32_t byte = 0;
    for (const std::string& modifier : decoder.operand(1).modifiers) {
        byte = modifier == "B1"                       ? 1U
               : modifier == "B2" || modifier == "H1" ? 2U
               : modifier == "B3"                     ? 3U
                                                      : byte;
    }
    const Rounding rounding = rounding_of(decoder);
    instruction.variant = type.log_bytes | (type.is_signed ? 4U : 0U) |
                          (static_cast<std::uint32_t>(to) << 4U) |
                          (static_cast<std::uint32_t>(rounding) << 8U) | (byte << 16U);
    instruction.execute = integer_to_real;
    if (to == RealType::f32 && type.log_bytes == 2 && rounding == Rounding::nearest &&
        !instruction.sources[0].negated) {
        instruction.execute = type.is_signed ? integer_to_fp32<true> : integer_to_fp32<false>;
    }
}

}  // namespace warptime::workloads::frontends::machine
