// Tests of conversions between integers and reals, of rounding to whole numbers and of packing halves.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

__extension__ using Wide = __int128;

float real(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}
std::uint32_t bits(float value) {
    return std::isnan(value) ? 0x7fffffffU : std::bit_cast<std::uint32_t>(value);
}

/// Numbers around the limits of integers, and any others.
rc::Gen<std::uint32_t> real_near_integers() {
    return rc::gen::weightedOneOf<std::uint32_t>(
        {{3, any_real()},
         {3, rc::gen::apply(
                 [](std::uint32_t exponent, std::uint32_t fraction, std::uint32_t sign) {
                     // From a quarter to 2^66, halves and ties often.
                     const std::uint32_t kept =
                         (fraction & 3U) == 0 ? fraction & 0x700000U : fraction & 0x7fffffU;
                     return (sign << 31U) | ((exponent + 125U) << 23U) | kept;
                 },
                 any_below(68), any_word(), any_flag())}});
}
const Comparison around{real_near_integers, equal_words, true};

/// To a whole number by the fraction alone.
double whole(double value, const std::string& mode) {
    if (!std::isfinite(value) || std::fabs(value) >= 0x1p53) {
        return value;
    }
    double below = static_cast<double>(static_cast<std::int64_t>(value));
    below -= below > value ? 1.0 : 0.0;
    const double part = value - below;
    double result = below;
    if (mode == ".CEIL") {
        result = part > 0.0 ? below + 1.0 : below;
    } else if (mode == ".TRUNC") {
        result = part > 0.0 && value < 0.0 ? below + 1.0 : below;
    } else if (mode.empty()) {
        const bool odd = std::fmod(below, 2.0) != 0.0;
        result = part > 0.5 || (part == 0.5 && odd) ? below + 1.0 : below;
    }
    return std::copysign(result, value);
}

/// A whole number kept within an integer type; NaN is asked for apart.
std::uint64_t clamped(double value, unsigned width, bool is_signed) {
    const Wide least = is_signed ? -(Wide{1} << (width - 1U)) : Wide{0};
    const Wide most = is_signed ? (Wide{1} << (width - 1U)) - 1 : (Wide{1} << width) - 1;
    const Wide number = value >= 0x1p100 ? most : value <= -0x1p100 ? least : static_cast<Wide>(value);
    return static_cast<std::uint64_t>(number < least ? least : number > most ? most : number);
}

struct IntegerType {
    std::string name;
    unsigned width;
    bool is_signed;
};
const std::vector<IntegerType> integer_types{
    {".U32", 32, false}, {"", 32, true}, {".U64", 64, false}, {".S64", 64, true}};
const std::vector<std::string> whole_modes{"", ".FLOOR", ".CEIL", ".TRUNC"};

TEST_CASE("fp32 becomes the integer in its mode, kept within the type; no number is 0, or 2^63 in 64 bits") {
    for (const IntegerType& type : integer_types) {
        for (const std::string& mode : whole_modes) {
            const std::string line = "F2I" + type.name + mode + " R20, R10";
            const bool wide = type.width == 64;
            CHECK(agrees(
                {line}, {"R10"},
                wide ? std::vector<std::string>{"R20", "R21"} : std::vector<std::string>{"R20"},
                [&](const Words& in) {
                    const auto value = static_cast<double>(real(in[0]));
                    const std::uint64_t none = wide ? std::uint64_t{1} << 63U : 0U;
                    const std::uint64_t result =
                        std::isnan(value) ? none : clamped(whole(value, mode), type.width, type.is_signed);
                    return wide ? Words{low_of(result), high_of(result)} : Words{low_of(result)};
                },
                around));
        }
    }
    CHECK(agrees(
        {"F2I.FTZ.U32.TRUNC.NTZ R10, -R10"}, {"R10"}, {"R10"},
        [](const Words& in) {
            const double value = -static_cast<double>(real(in[0]));
            return Words{std::isnan(value) ? 0U : low_of(clamped(whole(value, ".TRUNC"), 32, false))};
        },
        around));
}

TEST_CASE("fp64 and fp16 become integers too") {
    for (const IntegerType& type : integer_types) {
        const LaneProgram program({"F2I" + type.name + ".F64.FLOOR R20, R10"}, {"R10", "R11"},
                                  {"R20", "R21"});
        CHECK(rc::check("F2I.F64" + type.name, [&] {
            Words low(32), high(32);
            std::vector<double> given(32);
            for (std::size_t lane = 0; lane < 32; ++lane) {
                given[lane] = std::ldexp(static_cast<double>(static_cast<std::int32_t>(*any_word())),
                                         static_cast<int>(random_below(80)) - 40) +
                              static_cast<double>(random_below(3)) * 0.25;
                low[lane] = low_of(std::bit_cast<std::uint64_t>(given[lane]));
                high[lane] = high_of(std::bit_cast<std::uint64_t>(given[lane]));
            }
            const std::vector<Words> results = program({low, high});
            for (std::size_t lane = 0; lane < 32; ++lane) {
                const std::uint64_t expected = clamped(std::floor(given[lane]), type.width, type.is_signed);
                RC_ASSERT(results[0][lane] == low_of(expected));
                if (type.width == 64) {
                    RC_ASSERT(results[1][lane] == high_of(expected));
                }
            }
        }));
    }
    CHECK(agrees({"F2I.F16.TRUNC R20, R10"}, {"R10"}, {"R20"}, [](const Words& in) {
        const auto value = static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(in[0])));
        return Words{std::isnan(value) ? 0U : low_of(clamped(std::trunc(value), 32, true))};
    }));
}

/// A whole number as the float that is nearest or lies on a side, by the bits below its fraction.
std::uint32_t float_of(Wide number, const std::string& mode) {
    const bool negative = number < 0;
    Wide magnitude = negative ? -number : number;
    unsigned shift = 0;
    while ((magnitude >> shift) >= (Wide{1} << 24U)) {
        ++shift;
    }
    const Wide kept = magnitude >> shift, rest = magnitude - (kept << shift);
    const Wide tie = shift == 0 ? Wide{0} : Wide{1} << (shift - 1U);
    bool up = false;
    if (rest != 0) {
        const bool away = mode == ".RP" ? !negative : mode == ".RM" && negative;
        const bool nearest = rest > tie || (rest == tie && (kept & 1) != 0);
        up = mode.empty() ? nearest : away;
    }
    const double value = std::ldexp(static_cast<double>(kept + (up ? 1 : 0)), static_cast<int>(shift));
    return std::bit_cast<std::uint32_t>(static_cast<float>(negative ? -value : value));
}

TEST_CASE("integers become the fp32 of their mode") {
    for (const std::string mode : {"", ".RM", ".RP", ".RZ"}) {
        CHECK(agrees({"I2F" + mode + " R20, R10"}, {"R10"}, {"R20"},
                     [&](const Words& in) { return Words{float_of(as_signed(in[0]), mode)}; }));
        CHECK(agrees({"I2F.U32" + mode + " R20, R10"}, {"R10"}, {"R20"},
                     [&](const Words& in) { return Words{float_of(in[0], mode)}; }));
        CHECK(agrees({"I2F.S64" + mode + " R20, R10"}, {"R10", "R11"}, {"R20"}, [&](const Words& in) {
            return Words{float_of(static_cast<std::int64_t>(pair_of(in[0], in[1])), mode)};
        }));
        CHECK(agrees({"I2F.U64" + mode + " R20, R10"}, {"R10", "R11"}, {"R20"},
                     [&](const Words& in) { return Words{float_of(pair_of(in[0], in[1]), mode)}; }));
        CHECK(agrees({"I2FP.F32.S32" + mode + " R20, R10"}, {"R10"}, {"R20"},
                     [&](const Words& in) { return Words{float_of(as_signed(in[0]), mode)}; }));
    }
    CHECK(agrees({"I2FP.F32.U32 R10, R10"}, {"R10"}, {"R10"},
                 [](const Words& in) { return Words{float_of(in[0], "")}; }));
    CHECK(agrees({"I2F.S32 R20, -R10"}, {"R10"}, {"R20"},
                 [](const Words& in) { return Words{float_of(-Wide{as_signed(in[0])}, "")}; }));
}

TEST_CASE("parts of a word become reals") {
    CHECK(agrees({"I2F.U8 R20, R10"}, {"R10"}, {"R20"},
                 [](const Words& in) { return Words{float_of(in[0] & 0xffU, "")}; }));
    for (unsigned byte = 1; byte < 4; ++byte) {
        CHECK(agrees({fmt::format("I2F.U8 R20, R10.B{}", byte)}, {"R10"}, {"R20"}, [byte](const Words& in) {
            return Words{float_of((in[0] >> (8U * byte)) & 0xffU, "")};
        }));
    }
    CHECK(agrees({"I2F.S8 R20, R10.B3"}, {"R10"}, {"R20"}, [](const Words& in) {
        return Words{float_of(static_cast<std::int8_t>(in[0] >> 24U), "")};
    }));
    CHECK(agrees({"I2F.S16 R20, R10.H1"}, {"R10"}, {"R20"}, [](const Words& in) {
        return Words{float_of(static_cast<std::int16_t>(in[0] >> 16U), "")};
    }));
}

TEST_CASE("integers become fp64 and fp16") {
    const auto both = [](double value) {
        const auto word = std::bit_cast<std::uint64_t>(value);
        return Words{low_of(word), high_of(word)};
    };
    CHECK(agrees({"I2F.F64 R20, R10"}, {"R10"}, {"R20", "R21"},
                 [&](const Words& in) { return both(static_cast<double>(as_signed(in[0]))); }));
    CHECK(agrees({"I2F.F64.U32 R20, R10"}, {"R10"}, {"R20", "R21"},
                 [&](const Words& in) { return both(static_cast<double>(in[0])); }));
    CHECK(agrees({"I2F.F64.S64 R20, R10"}, {"R10", "R11"}, {"R20", "R21"}, [&](const Words& in) {
        return both(static_cast<double>(static_cast<std::int64_t>(pair_of(in[0], in[1]))));
    }));
    CHECK(agrees({"I2F.F16 R20, R10"}, {"R10"}, {"R20"}, [](const Words& in) {
        const auto half = static_cast<_Float16>(static_cast<double>(as_signed(in[0])));
        return Words{std::bit_cast<std::uint16_t>(half)};
    }));
}

TEST_CASE("FRND gives whole numbers of the same type and keeps the sign of zero") {
    for (const std::string& mode : whole_modes) {
        CHECK(agrees(
            {"FRND" + mode + " R20, R10"}, {"R10"}, {"R20"},
            [&](const Words& in) {
                return Words{bits(static_cast<float>(whole(static_cast<double>(real(in[0])), mode)))};
            },
            around));
        CHECK(agrees({"FRND.F64" + mode + " R20, R10"}, {"R10", "R11"}, {"R20", "R21"},
                     [&](const Words& in) {
                         const double value = std::bit_cast<double>(pair_of(in[0], in[1]));
                         const double result = whole(value, mode);
                         const std::uint64_t word = std::isnan(result) ? 0x7fffffffffffffffULL
                                                                       : std::bit_cast<std::uint64_t>(result);
                         return Words{low_of(word), high_of(word)};
                     },
                     {any_word, equal_words, true}));
    }
    CHECK(agrees(
        {"FRND.FTZ.CEIL R20, |R10|"}, {"R10"}, {"R20"},
        [](const Words& in) {
            const float value = std::fabs(real(in[0]));
            const float kept = std::fpclassify(value) == FP_SUBNORMAL ? 0.0F : value;
            return Words{bits(std::ceil(kept))};
        },
        around));
}

TEST_CASE("reals change their width") {
    CHECK(agrees(
        {"F2F.F64.F32 R20, R10"}, {"R10"}, {"R20", "R21"},
        [](const Words& in) {
            const auto value = static_cast<double>(real(in[0]));
            const std::uint64_t word =
                std::isnan(value) ? 0x7fffffffffffffffULL : std::bit_cast<std::uint64_t>(value);
            return Words{low_of(word), high_of(word)};
        },
        around));
    CHECK(agrees({"F2F.F32.F64 R20, R10"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) {
                     return Words{bits(static_cast<float>(std::bit_cast<double>(pair_of(in[0], in[1]))))};
                 },
                 {[] {
                      // Exponents of fp32 are near 0x3ff in the upper word.
                      return rc::gen::weightedOneOf<std::uint32_t>(
                          {{1, any_word()}, {2, rc::gen::map(any_word(), [](std::uint32_t word) {
                                                 return (word & 0x8fffffffU) + 0x38000000U;
                                             })}});
                  },
                  equal_words, true}));
    for (const std::string mode : {".RM", ".RP", ".RZ"}) {
        CHECK(agrees({"F2F.F32.F64" + mode + " R20, R10"}, {"R10", "R11"}, {"R20"},
                     [&](const Words& in) {
                         const double value = std::bit_cast<double>(pair_of(in[0], in[1]));
                         float result = static_cast<float>(value);
                         const bool wants_less = mode == ".RM" || (mode == ".RZ" && value > 0.0);
                         if (wants_less && static_cast<double>(result) > value) {
                             result = std::nextafterf(result, -std::numeric_limits<float>::infinity());
                         } else if (!wants_less && static_cast<double>(result) < value) {
                             result = std::nextafterf(result, std::numeric_limits<float>::infinity());
                         }
                         return Words{bits(result)};
                     },
                     {[] {
                          return rc::gen::map(any_word(), [](std::uint32_t word) {
                              return (word & 0x8fffffffU) + 0x38000000U;
                          });
                      },
                      equal_words, true}));
    }
    CHECK(agrees(
        {"F2F.F16.F32 R20, R10"}, {"R10"}, {"R20"},
        [](const Words& in) {
            const float value = real(in[0]);
            return Words{std::isnan(value) ? 0x7fffU
                                           : std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))};
        },
        around));
}

TEST_CASE("F2FP packs two reals into halves, the first above, and clamps with RELU") {
    const auto half = [](float value) {
        return std::isnan(value) ? 0x7fffU
                                 : std::uint32_t{std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))};
    };
    const auto brain = [](float value) {
        // Nearest, ties to even, by the two candidates.
        if (std::isnan(value)) {
            return 0x7fffU;
        }
        const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t below = word >> 16U, rest = word & 0xffffU;
        return below + (rest > 0x8000U || (rest == 0x8000U && (below & 1U) != 0) ? 1U : 0U);
    };
    CHECK(agrees({"F2FP.F16.F32.PACK_AB R20, R10, R11"}, {"R10", "R11"}, {"R20"},
                 [&](const Words& in) { return Words{(half(real(in[0])) << 16U) | half(real(in[1]))}; },
                 {any_real, equal_words, true}));
    CHECK(agrees({"F2FP.BF16.F32.PACK_AB R20, R10, -R11"}, {"R10", "R11"}, {"R20"},
                 [&](const Words& in) { return Words{(brain(real(in[0])) << 16U) | brain(-real(in[1]))}; },
                 {any_real, equal_words, true}));
    CHECK(agrees({"F2FP.RELU.F16.F32.PACK_AB R20, RZ, R11"}, {"R11"}, {"R20"},
                 [&](const Words& in) {
                     const float value = real(in[0]);
                     return Words{value < 0.0F ? 0U : value == 0.0F ? 0U : half(value)};
                 },
                 {any_real, equal_words, true}));
}

/// Whether `code` is the nearest value in the rounding's direction: value(code) and its neighbour enclose it.
template <class Value>
bool is_directed(std::uint32_t code, double exact, const std::string& mode, Value value) {
    const double got = value(code);
    const double bound = mode == ".RM" || (mode == ".RZ" && exact > 0.0) ? got : -got;
    const double wanted = mode == ".RM" || (mode == ".RZ" && exact > 0.0) ? exact : -exact;
    // The neighbour on the far side lies beyond the exact number.
    const bool outward = (got < exact) == (exact > 0.0) && got != exact;
    const double next = value(outward ? code + 1 : code - 1);
    return bound <= wanted && (got == exact || (got < exact ? next > exact : next < exact));
}

TEST_CASE("conversions to fp16 and bf16 are rounded once, in the direction of their mode") {
    struct Target {
        std::string name;
        double (*value)(std::uint32_t code);
    };
    const std::vector<Target> targets{
        {"F16",
         [](std::uint32_t code) {
             return static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(code)));
         }},
        {"BF16", [](std::uint32_t code) { return static_cast<double>(real(code << 16U)); }}};
    for (const Target& target : targets) {
        for (const std::string mode : {".RM", ".RP", ".RZ"}) {
            const LaneProgram program({"I2F." + target.name + mode + " R20, R10",
                                       "F2F." + target.name + ".F64" + mode + " R21, R10"},
                                      {"R10", "R11"}, {"R20", "R21"});
            CHECK(rc::check(target.name + mode, [&] {
                Words low(32), high(32);
                std::vector<double> given(32);
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    const auto whole = static_cast<std::int32_t>(random_below(120000)) - 60000;
                    given[lane] = static_cast<double>(whole) + static_cast<double>(random_below(5)) * 0x1p-30;
                    low[lane] = low_of(std::bit_cast<std::uint64_t>(given[lane]));
                    high[lane] = high_of(std::bit_cast<std::uint64_t>(given[lane]));
                }
                const std::vector<Words> results = program({low, high});
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    RC_ASSERT(is_directed(results[1][lane], given[lane], mode, target.value));
                }
                // The integers alone.
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    given[lane] = std::trunc(given[lane]);
                    low[lane] = static_cast<std::uint32_t>(static_cast<std::int32_t>(given[lane]));
                }
                const std::vector<Words> of_integers = program({low, high});
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    RC_ASSERT(given[lane] == 0.0 ||
                              is_directed(of_integers[0][lane], given[lane], mode, target.value));
                }
            }));
        }
    }
    // Just above a tie of two bf16: rounded to fp32 first it would be the tie.
    const double above = 1.0 + 0x1p-8 + 0x1p-40;
    const LaneProgram once({"F2F.BF16.F64 R20, R10"}, {"R10", "R11"}, {"R20"});
    const auto of = [&once](double value) {
        const auto word = std::bit_cast<std::uint64_t>(value);
        return once({Words(32, low_of(word)), Words(32, high_of(word))})[0][0];
    };
    CHECK(of(above) == 0x3f81U);
    CHECK(of(-above) == 0xbf81U);
    CHECK(of(1.0 + 0x1p-8) == 0x3f80U);
    CHECK(of(1.0 + 0x1p-7 + 0x1p-8 - 0x1p-40) == 0x3f81U);
    CHECK(of(1e300) == 0x7f80U);
    CHECK(of(-1e-300) == 0x8000U);
    const LaneProgram of_words({"I2F.BF16.U64 R20, R10"}, {"R10", "R11"}, {"R20"});
    const std::uint64_t tie_and_one = (std::uint64_t{0x101} << 55U) + 1U;
    CHECK(of_words({Words(32, low_of(tie_and_one)), Words(32, high_of(tie_and_one))})[0][0] == 0x5f01U);
}

TEST_CASE("FRND.BF16 rounds a bf16") {
    const LaneProgram program({"FRND.BF16.FLOOR R20, R10"}, {"R10"}, {"R20"});
    // 2.5, -2.5, 0.75
    CHECK(program({Words(32, 0x4020U)})[0][0] == 0x4000U);
    CHECK(program({Words(32, 0xc020U)})[0][0] == 0xc040U);
    CHECK(program({Words(32, 0x3f40U)})[0][0] == 0U);
}

TEST_CASE("F2I.FTZ takes denormals for zero, and no number of fp64 becomes the top bit") {
    const LaneProgram up({"F2I.FTZ.CEIL R20, R10", "F2I.CEIL R21, R10"}, {"R10"}, {"R20", "R21"});
    const std::vector<Words> results = up({Words(32, 1U)});
    CHECK(results[0][0] == 0U);
    CHECK(results[1][0] == 1U);
    for (const std::string type : {"", ".U32"}) {
        const LaneProgram program({"F2I" + type + ".F64 R20, R10"}, {"R10", "R11"}, {"R20"});
        CHECK(program({Words(32, 0U), Words(32, 0x7ff80000U)})[0][0] == 0x80000000U);
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
