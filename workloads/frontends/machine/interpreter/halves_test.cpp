// Tests of numbers of 16 and 8 bits: every code by powers of two, roundings by search, pairs on random lanes.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/halves.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

/// A binary format with a sign bit, as IEEE 754 defines it.
struct Format {
    unsigned exponent_bits, fraction_bits;

    [[nodiscard]] double value(std::uint32_t code) const {
        const std::uint32_t fraction = code & ((1U << fraction_bits) - 1U);
        const std::uint32_t exponent = (code >> fraction_bits) & ((1U << exponent_bits) - 1U);
        const bool negative = (code >> (fraction_bits + exponent_bits)) != 0;
        const int bias = (1 << (exponent_bits - 1U)) - 1;
        const int scale = static_cast<int>(std::max(exponent, 1U)) - bias - static_cast<int>(fraction_bits);
        double magnitude =
            std::ldexp(static_cast<double>(fraction + (exponent == 0 ? 0U : 1U << fraction_bits)), scale);
        if (exponent == (1U << exponent_bits) - 1U) {
            magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                                      : std::numeric_limits<double>::quiet_NaN();
        }
        return negative ? -magnitude : magnitude;
    }
    /// The code nearest to a number, ties to the even one, by search over the finite codes.
    [[nodiscard]] std::uint32_t nearest(double number) const {
        if (std::isnan(number)) {
            return 0x7fffU;
        }
        const std::uint32_t sign = std::signbit(number) ? 0x8000U : 0U;
        const double magnitude = std::fabs(number);
        const std::uint32_t infinite = ((1U << exponent_bits) - 1U) << fraction_bits;
        std::uint32_t low = 0, high = infinite;  // value(low) <= magnitude < value(high)
        if (std::isinf(magnitude)) {
            return sign | infinite;
        }
        while (high - low > 1) {
            const std::uint32_t middle = low + (high - low) / 2;
            (value(middle) <= magnitude ? low : high) = middle;
        }
        // The step beyond the greatest number is as long as the one before it.
        const double step = high == infinite ? value(low) - value(low - 1) : value(high) - value(low);
        const double above = magnitude - value(low);
        const bool up = above > step / 2.0 || (above == step / 2.0 && low % 2 == 1);
        return sign | (up ? high : low);
    }
};
constexpr Format half_format{5, 10}, brain_format{8, 7};

bool same_number(double a, double b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

TEST_CASE("each of the 65536 codes of fp16 and bf16 has its value, and comes back from it") {
    std::size_t wrong = 0;
    for (std::uint32_t code = 0; code < 65536; ++code) {
        const auto bits = static_cast<std::uint16_t>(code);
        const double of_half = half_format.value(code), of_brain = brain_format.value(code);
        wrong += same_number(static_cast<double>(real_of_half(bits)), of_half) ? 0U : 1U;
        wrong += same_number(static_cast<double>(real_of_brain(bits)), of_brain) ? 0U : 1U;
        wrong += half_of_real(of_half) == (std::isnan(of_half) ? 0x7fffU : code) ? 0U : 1U;
        wrong +=
            brain_of_real(static_cast<float>(of_brain)) == (std::isnan(of_brain) ? 0x7fffU : code) ? 0U : 1U;
    }
    CHECK(wrong == 0);
}

TEST_CASE("numbers between two codes go to the nearer one, ties to the even one") {
    std::size_t wrong = 0;
    for (std::uint32_t code = 0; code < 0x7c00; ++code) {
        const double low = half_format.value(code);
        const double step = code < 0x400 ? 0x1p-24 : half_format.value(code) - half_format.value(code - 1);
        for (const double part : {0.25, 0.5, 0.5000001, 0.75}) {
            const double number = low + step * part;
            wrong += half_of_real(number) == half_format.nearest(number) ? 0U : 1U;
            wrong += half_of_real(-number) == half_format.nearest(-number) ? 0U : 1U;
        }
    }
    CHECK(wrong == 0);
    CHECK(half_of_real(65504.0) == 0x7bff);
    CHECK(half_of_real(65519.9) == 0x7bff);
    CHECK(half_of_real(65520.0) == 0x7c00);
    CHECK(half_of_real(0x1p-25) == 0);
    CHECK(half_of_real(0x1.8p-25) == 1);
    CHECK(rc::check("bf16 of any fp32", [] {
        for (const std::uint32_t word : some_words(any_real())) {
            const float number = std::bit_cast<float>(word);
            RC_ASSERT(brain_of_real(number) == brain_format.nearest(static_cast<double>(number)));
            RC_ASSERT(half_of_real(static_cast<double>(number)) ==
                      half_format.nearest(static_cast<double>(number)));
        }
    }));
}

TEST_CASE("each of the 256 codes of fp8 has its value") {
    constexpr Format e4m3{4, 3}, e5m2{5, 2};
    for (std::uint32_t code = 0; code < 256; ++code) {
        const auto bits = static_cast<std::uint8_t>(code);
        CAPTURE(code);
        CHECK(same_number(static_cast<double>(real_of_e5m2(bits)), e5m2.value(code)));
        // OCP OFP8: the greatest exponent of E4M3 is one like the others, but for a single NaN.
        double expected = e4m3.value(code);
        if ((code & 0x78U) == 0x78U) {
            const double magnitude = std::ldexp(8.0 + (code & 7U), 5);
            expected = (code & 7U) == 7U ? std::numeric_limits<double>::quiet_NaN()
                       : code < 128      ? magnitude
                                         : -magnitude;
        }
        CHECK(same_number(static_cast<double>(real_of_e4m3(bits)), expected));
    }
    CHECK(real_of_e4m3(0x7e) == 448.0F);
    CHECK(real_of_e5m2(0x7b) == 57344.0F);
}

// ---- pairs in a word

rc::Gen<std::uint32_t> any_pair() {
    const auto any_half = [] {
        return rc::gen::weightedOneOf<std::uint32_t>(
            {{4, any_below(65536)},
             {2, rc::gen::map(any_below(0x1800), [](std::uint32_t code) { return code + 0x3000U; })},
             {1, rc::gen::element<std::uint32_t>(0U, 0x8000U, 0x3c00U, 0xbc00U, 0x7c00U, 0xfc00U, 0x7e00U, 1U,
                                                 0x7bffU, 0x0400U)}});
    };
    return rc::gen::apply([](std::uint32_t low, std::uint32_t high) { return low | (high << 16U); },
                          any_half(), any_half());
}
const Comparison pairs{any_pair, equal_words, true};

double part_of(std::uint32_t word, unsigned part) {
    return half_format.value((word >> (16U * part)) & 0xffffU);
}
std::uint32_t pair_from(double low, double high) {
    return half_format.nearest(low) | (half_format.nearest(high) << 16U);
}

TEST_CASE("sums, products and multiply-adds of fp16 pairs are exact ones rounded once") {
    CHECK(agrees(
        {"HADD2 R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) {
            return Words{
                pair_from(part_of(in[0], 0) + part_of(in[1], 0), part_of(in[0], 1) + part_of(in[1], 1))};
        },
        pairs));
    CHECK(agrees(
        {"HMUL2 R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) {
            return Words{
                pair_from(part_of(in[0], 0) * part_of(in[1], 0), part_of(in[0], 1) * part_of(in[1], 1))};
        },
        pairs));
    for (const std::string opcode : {"HFMA2", "HFMA2.MMA"}) {
        CHECK(agrees(
            {opcode + " R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"},
            [](const Words& in) {
                // 22 bits and 11 bits at most 64 apart, of which a half sees 53 at most.
                return Words{pair_from(std::fma(part_of(in[0], 0), part_of(in[1], 0), part_of(in[2], 0)),
                                       std::fma(part_of(in[0], 1), part_of(in[1], 1), part_of(in[2], 1)))};
            },
            pairs));
    }
}

TEST_CASE("operands choose halves, signs and magnitudes, and immediates give the upper half first") {
    CHECK(agrees(
        {"HADD2 R20, R10.H0_H0, -R11.H1_H1"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) {
            const double sum = part_of(in[0], 0) - part_of(in[1], 1);
            return Words{pair_from(sum, sum)};
        },
        pairs));
    CHECK(agrees(
        {"HMUL2 R20, |R10|, R11.H0_H0"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) {
            const double by = part_of(in[1], 0);
            return Words{pair_from(std::fabs(part_of(in[0], 0)) * by, std::fabs(part_of(in[0], 1)) * by)};
        },
        pairs));
    CHECK(agrees(
        {"HFMA2 R20, R10, 2, 0.5, -R11"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) {
            return Words{pair_from(part_of(in[0], 0) * 0.5 - part_of(in[1], 0),
                                   part_of(in[0], 1) * 2.0 - part_of(in[1], 1))};
        },
        pairs));
    CHECK(agrees(
        {"HADD2.F32 R20, -RZ, R10.H1_H1"}, {"R10"}, {"R20"},
        [](const Words& in) {
            const double value = part_of(in[0], 1);
            // -0 + -0 stays -0.
            return Words{std::isnan(value) ? 0x7fffffffU
                                           : std::bit_cast<std::uint32_t>(static_cast<float>(value))};
        },
        pairs));
}

TEST_CASE("multiply-adds of zeros and immediates are constants, on the enabled lanes alone") {
    const auto is = [](const std::string& line, std::uint32_t constant) {
        CHECK(agrees({line}, {}, {"R20"}, [constant](const Words& /*in*/) { return Words{constant}; }));
    };
    is("HFMA2.MMA R20, -RZ, RZ, 1.5, -2", 0x3e00c000U);
    is("HFMA2 R20, RZ, RZ, 0, 5.9604644775390625e-08", 0x00000001U);
    is("HFMA2.BF16_V2 R20, -RZ, RZ, 1, 0", 0x3f800000U);
    is("HFMA2.RELU R20, -RZ, RZ, -1, 2", 0x00004000U);
    is("HFMA2 R20, -RZ, RZ, -RZ", 0x80008000U);  // -0 + -0
    is("HFMA2 R20, RZ, RZ, -RZ", 0U);            // 0 + -0
}

TEST_CASE("results of pairs may be clamped at 0 or to between 0 and 1") {
    CHECK(agrees(
        {"HFMA2.RELU R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"},
        [](const Words& in) {
            std::array<double, 2> result{};
            for (unsigned part = 0; part < 2; ++part) {
                const double value =
                    std::fma(part_of(in[0], part), part_of(in[1], part), part_of(in[2], part));
                result.at(part) = value < 0.0 ? 0.0 : value;
            }
            return Words{pair_from(result[0], result[1])};
        },
        pairs));
    CHECK(agrees(
        {"HADD2.SAT R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) {
            std::array<double, 2> result{};
            for (unsigned part = 0; part < 2; ++part) {
                const double value = part_of(in[0], part) + part_of(in[1], part);
                result.at(part) = value >= 1.0 ? 1.0 : value > 0.0 ? value : 0.0;
            }
            return Words{pair_from(result[0], result[1])};
        },
        pairs));
}

/// Pairs of bf16 that are small multiples of powers of two, whose sums and products a float holds.
rc::Gen<std::uint32_t> small_brains() {
    const auto any_brain = [] {
        return rc::gen::apply(
            [](std::uint32_t whole, std::uint32_t scale, std::uint32_t sign) {
                const float value = std::ldexp(static_cast<float>(whole), static_cast<int>(scale) - 3);
                return std::bit_cast<std::uint32_t>(sign != 0 ? -value : value) >> 16U;
            },
            any_below(256), any_below(5), any_flag());
    };
    return rc::gen::apply([](std::uint32_t low, std::uint32_t high) { return low | (high << 16U); },
                          any_brain(), any_brain());
}

TEST_CASE("pairs of bf16 are added, multiplied and accumulated in their format") {
    const auto brain = [](std::uint32_t word, unsigned part) {
        return brain_format.value((word >> (16U * part)) & 0xffffU);
    };
    const auto both = [](double low, double high) {
        return brain_format.nearest(low) | (brain_format.nearest(high) << 16U);
    };
    const Comparison brains{small_brains, equal_words, true};
    CHECK(agrees(
        {"HADD2.BF16_V2 R20, R10, -R11"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) {
            return Words{both(brain(in[0], 0) - brain(in[1], 0), brain(in[0], 1) - brain(in[1], 1))};
        },
        brains));
    CHECK(agrees(
        {"HMUL2.BF16_V2 R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) {
            return Words{both(brain(in[0], 0) * brain(in[1], 0), brain(in[0], 1) * brain(in[1], 1))};
        },
        brains));
    CHECK(agrees(
        {"HFMA2.BF16_V2 R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"},
        [&](const Words& in) {
            return Words{both(brain(in[0], 0) * brain(in[1], 0) + brain(in[2], 0),
                              brain(in[0], 1) * brain(in[1], 1) + brain(in[2], 1))};
        },
        brains));
    CHECK(agrees(
        {"HFMA2.BF16_V2 R20, R10, 1, 1, R11.H0_H0"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) {
            return Words{both(brain(in[0], 0) + brain(in[1], 0), brain(in[0], 1) + brain(in[1], 0))};
        },
        brains));
}

TEST_CASE("minima and maxima of pairs prefer numbers") {
    CHECK(agrees({"HMNMX2 R20, R10, R11, P0"}, {"R10", "R11", "P0"}, {"R20"},
                 [](const Words& in) {
                     std::array<double, 2> result{};
                     for (unsigned part = 0; part < 2; ++part) {
                         const double a = part_of(in[0], part), b = part_of(in[1], part);
                         result.at(part) = in[2] != 0 ? std::fmin(a, b) : std::fmax(a, b);
                     }
                     return Words{pair_from(result[0], result[1])};
                 },
                 {any_pair,
                  [](std::uint32_t a, std::uint32_t b) {
                      // Zeros of either sign are alike here.
                      const auto plain = [](std::uint32_t word, std::uint32_t at) {
                          const std::uint32_t code = (word >> at) & 0xffffU;
                          return code == 0x8000U ? 0U : code;
                      };
                      return plain(a, 0) == plain(b, 0) && plain(a, 16) == plain(b, 16);
                  },
                  true}));
}

TEST_CASE("comparisons of pairs set a predicate for each half, or one for both") {
    struct Relation {
        std::string name;
        bool (*holds)(double a, double b);
    };
    const std::vector<Relation> relations{
        {"LT", [](double a, double b) { return a < b; }},
        {"GE", [](double a, double b) { return a >= b; }},
        {"EQ", [](double a, double b) { return a == b; }},
        {"NEU", [](double a, double b) { return !(a == b); }},
        {"GTU", [](double a, double b) { return !(a <= b); }},
        {"NAN", [](double a, double b) { return std::isnan(a) || std::isnan(b); }}};
    for (const Relation& relation : relations) {
        CHECK(agrees(
            {"HSETP2." + relation.name + ".AND P1, P2, R10, R11, P0"}, {"R10", "R11", "P0"}, {"P1", "P2"},
            [&](const Words& in) {
                const auto own = [&](unsigned part) {
                    return relation.holds(part_of(in[0], part), part_of(in[1], part)) && in[2] != 0 ? 1U : 0U;
                };
                return Words{own(0), own(1)};
            },
            pairs));
    }
    CHECK(agrees(
        {"HSETP2.GT.OR P1, P2, R10, R11.H1_H1, P0"}, {"R10", "R11", "P0"}, {"P1", "P2"},
        [](const Words& in) {
            const auto own = [&](unsigned part) {
                return part_of(in[0], part) > part_of(in[1], 1) || in[2] != 0 ? 1U : 0U;
            };
            return Words{own(0), own(1)};
        },
        pairs));
    CHECK(agrees(
        {"HSETP2.GT.H_AND.AND P1, PT, R10, R11, PT"}, {"R10", "R11"}, {"P1"},
        [](const Words& in) {
            const bool all = part_of(in[0], 0) > part_of(in[1], 0) && part_of(in[0], 1) > part_of(in[1], 1);
            return Words{all ? 1U : 0U};
        },
        pairs));
}

/// fp16 with zero for denormals.
double flushed_part(std::uint32_t word, unsigned part) {
    const double value = part_of(word, part);
    return std::fabs(value) < 0x1p-14 ? std::copysign(0.0, value) : value;
}

TEST_CASE("FTZ of pairs takes denormals for zero, as sources and as results") {
    const auto flushed_pair = [](double low, double high) {
        const auto flush = [](std::uint32_t code) { return (code & 0x7c00U) == 0 ? code & 0x8000U : code; };
        return flush(half_format.nearest(low)) | (flush(half_format.nearest(high)) << 16U);
    };
    CHECK(agrees(
        {"HADD2.FTZ R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) {
            return Words{flushed_pair(flushed_part(in[0], 0) + flushed_part(in[1], 0),
                                      flushed_part(in[0], 1) + flushed_part(in[1], 1))};
        },
        pairs));
    CHECK(agrees(
        {"HFMA2.MMA.FTZ R20, R10, R11, -RZ"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) {
            return Words{flushed_pair(flushed_part(in[0], 0) * flushed_part(in[1], 0) - 0.0,
                                      flushed_part(in[0], 1) * flushed_part(in[1], 1) - 0.0)};
        },
        pairs));
    CHECK(agrees(
        {"HSETP2.GT.FTZ.AND P1, P2, R10, RZ, PT"}, {"R10"}, {"P1", "P2"},
        [](const Words& in) {
            return Words{flushed_part(in[0], 0) > 0.0 ? 1U : 0U, flushed_part(in[0], 1) > 0.0 ? 1U : 0U};
        },
        pairs));
    // 2^-24 and 2^-15 are denormal, 2^-14 is not.
    const LaneProgram program(
        {"HADD2 R20, R10, -RZ", "HADD2.FTZ R21, R10, -RZ", "HADD2.BF16_V2.FTZ R22, R10, -RZ"}, {"R10"},
        {"R20", "R21", "R22"});
    const std::vector<Words> results = program({Words(32, 0x80010200U)});
    CHECK(results[0][0] == 0x80010200U);
    CHECK(results[1][0] == 0x80000000U);
    CHECK(results[2][0] == 0x80000200U);
    CHECK(program({Words(32, 0x04000400U)})[1][0] == 0x04000400U);
}

TEST_CASE("VHMNMX takes the least or the largest of three pairs, and prefers numbers") {
    const LaneProgram program(
        {"VHMNMX R20, R10, R11, R12, PT", "VHMNMX R21, R10, R11, R12, !PT",
         "VHMNMX.NAN R22, R10, R11, R12, !PT", "VHMNMX.BF16_V2 R23, R10, R11, R12, !PT"},
        {"R10", "R11", "R12"}, {"R20", "R21", "R22", "R23"});
    // Upper halves of fp16: 1, no number and 2; lower ones: 4, 3 and -5. As bf16 they are in the same order.
    const std::vector<Words> results =
        program({Words(32, 0x3c004400U), Words(32, 0x7fff4200U), Words(32, 0x4000c500U)});
    CHECK(results[0][0] == 0x3c00c500U);
    CHECK(results[1][0] == 0x40004400U);
    CHECK(results[2][0] == 0x7fff4400U);
    CHECK(results[3][0] == 0x40004400U);
}

TEST_CASE("HMNMX2.NAN keeps what is no number, FTZ takes denormals for zero") {
    const LaneProgram program(
        {"HMNMX2.NAN R20, R10, R11, PT", "HMNMX2 R21, R10, R11, PT", "HMNMX2.FTZ.NAN R22, R10, R11, !PT"},
        {"R10", "R11"}, {"R20", "R21", "R22"});
    // Upper halves: no number and 1; lower ones: 2^-24 and 2.
    const std::vector<Words> results = program({Words(32, 0x7e000001U), Words(32, 0x3c004000U)});
    CHECK(results[0][0] == 0x7fff0001U);
    CHECK(results[1][0] == 0x3c000001U);
    CHECK(results[2][0] == 0x7fff4000U);
    CHECK(program({Words(32, 0x00010001U), Words(32, 0x80008000U)})[2][0] == 0U);
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
