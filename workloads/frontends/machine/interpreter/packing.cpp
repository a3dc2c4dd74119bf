// F2FP: reals of fewer bits, two in a word.
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, cvt: the first operand becomes the upper one of a pair. Which half of a word MERGE_C moves up was
// read off code that ptxas makes of two conversions to one word.
#include "workloads/frontends/machine/interpreter/halves.hpp"
#include "workloads/frontends/machine/interpreter/reals.hpp"

namespace warptime::workloads::frontends::machine {

namespace {

enum class Packed : std::uint32_t { f16, bf16, tf32, e4m3, e5m2 };

/// Bits of Instruction::variant beside the target in bits 0 to 3.
constexpr std::uint32_t clamps = 0x10U, towards_zero = 0x20U, of_upper_half = 0x40U;

/// fp32 with the eleven leading bits of a tf32.
std::uint32_t tf32_of_real(float value, bool cut) {
    constexpr std::uint32_t rest = 0x1fffU;
    if (value != value) {
        return real_nan;
    }
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return (cut ? bits : bits + (rest >> 1U) + ((bits >> 13U) & 1U)) & ~rest;
}

std::uint32_t half_of(float value, Packed to, bool cut) {
    const bool brain = to == Packed::bf16;
    const std::uint16_t near = brain ? brain_of_real(value) : half_of_real(static_cast<double>(value));
    const float back = brain ? real_of_brain(near) : real_of_half(near);
    return near - (cut && std::fabs(back) > std::fabs(value) ? 1U : 0U);
}

std::uint32_t code_of(float value, std::uint32_t variant) {
    const auto to = static_cast<Packed>(variant & 0xfU);
    value = (variant & clamps) != 0 && value <= 0.0F ? 0.0F : value;
    switch (to) {
        case Packed::e4m3:
            return e4m3_of_real(value);
        case Packed::e5m2:
            return e5m2_of_real(value);
        case Packed::tf32:
            return tf32_of_real(value, (variant & towards_zero) != 0);
        default:
            return half_of(value, to, (variant & towards_zero) != 0);
    }
}

/// Two fp32 of sources[0] and sources[1], the first one above; to a pair of bytes with the lower half of
/// sources[2] above it.
template <unsigned bits>
Flow pack_two(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t variant = instruction.variant;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const std::uint32_t upper = code_of(lane_real(warp, instruction.sources[0], lane), variant);
        const std::uint32_t lower = code_of(lane_real(warp, instruction.sources[1], lane), variant);
        const std::uint32_t pair = (upper << bits) | lower;
        return bits == 16 ? pair : pair | (lane_bits(warp, instruction.sources[2], lane) << 16U);
    });
    return Flow::next;
}

Flow pack_one(Warp& warp, const Instruction& instruction, Mask enabled) {
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        return code_of(lane_real(warp, instruction.sources[0], lane), instruction.variant);
    });
    return Flow::next;
}

/// A pair of fp16 to a pair of bytes.
Flow pack_halves(Warp& warp, const Instruction& instruction, Mask enabled) {
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const std::uint32_t word = lane_bits(warp, instruction.sources[0], lane);
        const auto code = [&](unsigned shift) {
            return code_of(real_of_half(static_cast<std::uint16_t>(word >> shift)), instruction.variant);
        };
        return (code(16) << 8U) | code(0) | (lane_bits(warp, instruction.sources[2], lane) << 16U);
    });
    return Flow::next;
}

/// A pair of bytes to a pair of fp16.
Flow unpack(Warp& warp, const Instruction& instruction, Mask enabled) {
    const bool e4m3 = static_cast<Packed>(instruction.variant & 0xfU) == Packed::e4m3;
    const unsigned first = (instruction.variant & of_upper_half) != 0 ? 16U : 0U;
    const bool clamp = (instruction.variant & clamps) != 0;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const std::uint32_t word = lane_bits(warp, instruction.sources[0], lane);
        const auto code = [&](unsigned shift) {
            const auto byte = static_cast<std::uint8_t>(word >> (first + shift));
            const float value = e4m3 ? real_of_e4m3(byte) : real_of_e5m2(byte);
            return std::uint32_t{half_of_real(static_cast<double>(clamp && value <= 0.0F ? 0.0F : value))};
        };
        return (code(8) << 16U) | code(0);
    });
    return Flow::next;
}

}  // namespace

/// F2FP.BF16.F32.PACK_AB[.RZ] Rd, Ra, Rb; F2FP.TF32.F32.PACK_B Rd, Ra; F2FP.F16.E4M3.UNPACK_B Rd, Ra[.H1];
/// F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C Rd, Ra, Rb, Rc; F2FP.SATFINITE.E5M2.F16.UNPACK_B_MERGE_C Rd, Ra,
/// Rc
void decode_pack(Decoder& decoder, Instruction& instruction) {
    const Packed to = decoder.has("E4M3")   ? Packed::e4m3
                      : decoder.has("E5M2") ? Packed::e5m2
                      : decoder.has("TF32") ? Packed::tf32
                      : decoder.has("BF16") ? Packed::bf16
                                            : Packed::f16;
    const bool bytes = to == Packed::e4m3 || to == Packed::e5m2;
    instruction.destination = decoder.destination(0);
    instruction.variant = static_cast<std::uint32_t>(to) | (decoder.has("RELU") ? clamps : 0U) |
                          (decoder.has("RZ") ? towards_zero : 0U);
    if (!decoder.has("UNPACK_B") && !decoder.operand(1).modifiers.empty()) {
        decoder.refuse("a half of a number that has none");
    }
    if (decoder.has("UNPACK_B")) {
        instruction.sources[0] = decoder.source(1);
        instruction.variant |= decoder.operand(1).modifiers.empty() ? 0U : of_upper_half;
        instruction.execute = unpack;
    } else if (decoder.has("UNPACK_B_MERGE_C")) {
        instruction.sources[0] = decoder.source(1, SourceType::half2);
        instruction.sources[2] = decoder.source(2);
        instruction.execute = pack_halves;
    } else if (to == Packed::tf32 && decoder.has("PACK_B")) {
        instruction.sources[0] = decoder.source(1, SourceType::real32);
        instruction.execute = pack_one;
    } else {
        instruction.sources[0] = decoder.source(1, SourceType::real32);
        instruction.sources[1] = decoder.source(2, SourceType::real32);
        instruction.execute = bytes ? pack_two<8> : pack_two<16>;
        if (bytes != decoder.has("PACK_AB_MERGE_C") || to == Packed::tf32 || decoder.has("PACK_B")) {
            decoder.refuse("another way to pack");
        }
        if (bytes) {
            instruction.sources[2] = decoder.source(3);
        }
    }
}

}  // namespace warptime::workloads::frontends::machine
