// Tests of special functions against their identities, and of double precision against arithmetic in parts.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t nan_bits = 0x7fffffffU;

float real(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}
std::uint32_t bits(float value) {
    return std::isnan(value) ? nan_bits : std::bit_cast<std::uint32_t>(value);
}
bool denormal(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL;
}
float flushed_real(float value) {
    return denormal(value) ? std::copysign(0.0F, value) : value;
}

/// Within two units of the last place, which is what the PTX ISA grants the approximations, or the same bits.
bool near(std::uint32_t got, std::uint32_t expected) {
    const std::int64_t distance = std::int64_t{as_signed(got)} - as_signed(expected);
    return distance >= -2 && distance <= 2;
}

TEST_CASE("reciprocals and roots undo products and squares") {
    const Comparison close{any_real, near, true};
    CHECK(agrees(
        {"MUFU.RCP R20, R10"}, {"R10"}, {"R20"},
        [](const Words& in) { return Words{bits(flushed_real(1.0F / flushed_real(real(in[0]))))}; }, close));
    CHECK(agrees(
        {"MUFU.SQRT R20, |R10|"}, {"R10"}, {"R20"},
        [](const Words& in) { return Words{bits(std::sqrt(flushed_real(std::fabs(real(in[0])))))}; }, close));
    CHECK(agrees(
        {"MUFU.RSQ R20, |R10|"}, {"R10"}, {"R20"},
        [](const Words& in) {
            const double root = std::sqrt(static_cast<double>(flushed_real(std::fabs(real(in[0])))));
            return Words{bits(static_cast<float>(1.0 / root))};
        },
        close));
}

TEST_CASE("special functions at zeros, infinities and what is no number") {
    constexpr std::uint32_t infinity = 0x7f800000U, sign = 0x80000000U, one = 0x3f800000U;
    struct Case {
        std::string function;
        std::uint32_t argument, expected;
    };
    // CUDA C++ programming guide, and the tables of special values of the PTX ISA.
    const std::vector<Case> cases{
        {"RCP", 0, infinity},
        {"RCP", sign, infinity | sign},
        {"RCP", infinity, 0},
        {"RCP", infinity | sign, sign},
        {"RCP", 1, infinity},
        {"RCP", 0x7f000000U, 0},
        {"RSQ", 0, infinity},
        {"RSQ", sign, infinity | sign},
        {"RSQ", infinity, 0},
        {"RSQ", sign | one, nan_bits},
        {"SQRT", sign, sign},
        {"SQRT", infinity, infinity},
        {"SQRT", sign | one, nan_bits},
        {"EX2", infinity, infinity},
        {"EX2", infinity | sign, 0},
        {"EX2", 0, one},
        {"EX2", sign, one},
        {"LG2", 0, infinity | sign},
        {"LG2", one, 0},
        {"LG2", infinity, infinity},
        {"LG2", sign | one, nan_bits},
        {"SIN", infinity, nan_bits},
        {"COS", infinity, nan_bits},
        {"SIN", 0, 0},
        {"COS", 0, one},
        {"TANH", infinity, one},
        {"TANH", infinity | sign, one | sign},
        {"TANH", 0, 0},
    };
    for (const Case& one_case : cases) {
        CAPTURE(one_case.function);
        CAPTURE(one_case.argument);
        const LaneProgram program({"MUFU." + one_case.function + " R20, R10"}, {"R10"}, {"R20"});
        CHECK(program({Words(32, one_case.argument)})[0] == Words(32, one_case.expected));
        CHECK(program({Words(32, 0x7fc00001U)})[0] == Words(32, nan_bits));
    }
}

TEST_CASE("powers of two and their logarithms are exact at whole numbers") {
    const LaneProgram program({"MUFU.EX2 R20, R10", "MUFU.LG2 R21, R20"}, {"R10"}, {"R20", "R21"});
    for (int first = -126; first < 128; first += 32) {
        Words exponents(32);
        for (int lane = 0; lane < 32; ++lane) {
            exponents[static_cast<std::size_t>(lane)] =
                std::bit_cast<std::uint32_t>(static_cast<float>(std::min(first + lane, 127)));
        }
        const std::vector<Words> results = program({exponents});
        for (std::size_t lane = 0; lane < 32; ++lane) {
            CHECK(real(results[0][lane]) == std::ldexp(1.0F, static_cast<int>(real(exponents[lane]))));
            CHECK(real(results[1][lane]) == real(exponents[lane]));
        }
    }
    // Powers below the normal numbers are flushed.
    CHECK(program({Words(32, std::bit_cast<std::uint32_t>(-130.0F))})[0] == Words(32, 0));
}

TEST_CASE("2^x 2^y is 2^(x + y), and sines and cosines of turns lie on the circle") {
    const LaneProgram powers(
        {"FADD R12, R10, R11", "MUFU.EX2 R20, R10", "MUFU.EX2 R21, R11", "MUFU.EX2 R22, R12"}, {"R10", "R11"},
        {"R20", "R21", "R22"});
    const LaneProgram circle(
        {"MUFU.SIN R20, R10", "MUFU.COS R21, R10", "FADD R12, R10, 0.25", "MUFU.SIN R22, R12"}, {"R10"},
        {"R20", "R21", "R22"});
    CHECK(rc::check("identities", [&] {
        const auto some = [](float scale) {
            Words words(32);
            for (std::uint32_t& word : words) {
                // Multiples of 2^-12, so that sums are exact.
                word = std::bit_cast<std::uint32_t>((static_cast<float>(random_below(1U << 16U)) - 32768.0F) *
                                                    0x1p-12F * scale);
            }
            return words;
        };
        const Words x = some(1.0F), y = some(1.0F), turns = some(0.25F);
        const std::vector<Words> of_powers = powers({x, y});
        const std::vector<Words> of_circle = circle({turns});
        for (std::size_t lane = 0; lane < 32; ++lane) {
            const double product =
                static_cast<double>(real(of_powers[0][lane])) * static_cast<double>(real(of_powers[1][lane]));
            RC_ASSERT(std::fabs(product / static_cast<double>(real(of_powers[2][lane])) - 1.0) < 1e-6);
            const auto sine = static_cast<double>(real(of_circle[0][lane]));
            const auto cosine = static_cast<double>(real(of_circle[1][lane]));
            RC_ASSERT(std::fabs(sine * sine + cosine * cosine - 1.0) < 1e-6);
            RC_ASSERT(std::fabs(static_cast<double>(real(of_circle[2][lane])) - cosine) < 1e-6);
            const double angle = 2.0 * std::numbers::pi * static_cast<double>(real(turns[lane]));
            RC_ASSERT(std::fabs(std::sin(angle) - sine) < 1e-6);
        }
    }));
}

TEST_CASE("tangents follow from powers") {
    CHECK(agrees({"MUFU.TANH R20, R10"}, {"R10"}, {"R20"},
                 [](const Words& in) {
                     const auto x = static_cast<double>(real(in[0]));
                     const double square = std::exp(2.0 * x);
                     return Words{bits(static_cast<float>((square - 1.0) / (square + 1.0)))};
                 },
                 {[] {
                      return rc::gen::map(any_below(80001), [](std::uint32_t n) {
                          return std::bit_cast<std::uint32_t>((static_cast<float>(n) - 40000.0F) * 1e-4F);
                      });
                  },
                  [](std::uint32_t a, std::uint32_t b) {
                      return std::fabs(static_cast<double>(real(a)) - static_cast<double>(real(b))) < 1e-6;
                  },
                  true}));
}

TEST_CASE("estimates of doubles are good enough to iterate from") {
    const LaneProgram program({"MUFU.RCP64H R20, R11", "MUFU.RSQ64H R21, R11"}, {"R10", "R11"},
                              {"R20", "R21"});
    CHECK(rc::check("relative error", [&program] {
        Words low(32), high(32);
        std::vector<double> given(32);
        for (std::size_t lane = 0; lane < 32; ++lane) {
            given[lane] = std::ldexp(1.0 + static_cast<double>(random_below(1U << 30U)) * 0x1p-30,
                                     static_cast<int>(random_below(200)) - 100);
            low[lane] = low_of(std::bit_cast<std::uint64_t>(given[lane]));
            high[lane] = high_of(std::bit_cast<std::uint64_t>(given[lane]));
        }
        const std::vector<Words> results = program({low, high});
        for (std::size_t lane = 0; lane < 32; ++lane) {
            const double reciprocal = std::bit_cast<double>(pair_of(0, results[0][lane]));
            const double root = std::bit_cast<double>(pair_of(0, results[1][lane]));
            RC_ASSERT(std::fabs(reciprocal * given[lane] - 1.0) < 1e-5);
            RC_ASSERT(std::fabs(root * root * given[lane] - 1.0) < 1e-5);
        }
    }));
}

TEST_CASE("special functions of halves") {
    CHECK(agrees({"MUFU.TANH.F16 R20, R10"}, {"R10"}, {"R20"},
                 [](const Words& in) {
                     const auto x =
                         static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(in[0])));
                     const auto result = static_cast<_Float16>(std::tanh(x));
                     return Words{std::isnan(x) ? 0x7fffU : std::bit_cast<std::uint16_t>(result)};
                 },
                 {any_word, near, true}));
}

// ---- double precision

double number(std::uint32_t low, std::uint32_t high) {
    return std::bit_cast<double>(pair_of(low, high));
}
Words words_of(double value) {
    const std::uint64_t word =
        std::isnan(value) ? 0x7fffffffffffffffULL : std::bit_cast<std::uint64_t>(value);
    return {low_of(word), high_of(word)};
}
/// Upper words of doubles near 1 often, so that sums interact.
rc::Gen<std::uint32_t> word_of_double() {
    return rc::gen::weightedOneOf<std::uint32_t>(
        {{2, any_word()},
         {3, rc::gen::map(any_word(), [](std::uint32_t word) { return (word & 0x80ffffffU) + 0x3f000000U; })},
         {1, rc::gen::element<std::uint32_t>(0U, 0x80000000U, 0x3ff00000U, 0x7ff00000U, 0xfff00000U,
                                             0x7ff80000U)}});
}
const Comparison doubles{word_of_double, equal_words, true};
const std::vector<std::string> two_doubles{"R10", "R11", "R12", "R13"};

TEST_CASE("sums and products of doubles, with signs, magnitudes and constants") {
    CHECK(agrees(
        {"DADD R20, R10, -R12"}, two_doubles, {"R20", "R21"},
        [](const Words& in) { return words_of(number(in[0], in[1]) - number(in[2], in[3])); }, doubles));
    CHECK(agrees(
        {"DADD R20, R10, -RZ, |R12|"}, two_doubles, {"R20", "R21"},
        [](const Words& in) { return words_of(number(in[0], in[1]) + std::fabs(number(in[2], in[3]))); },
        doubles));
    CHECK(agrees(
        {"DMUL R10, R10, R12"}, two_doubles, {"R10", "R11"},
        [](const Words& in) { return words_of(number(in[0], in[1]) * number(in[2], in[3])); }, doubles));
    CHECK(agrees(
        {"DMUL R20, R10, 0.5"}, {"R10", "R11"}, {"R20", "R21"},
        [](const Words& in) { return words_of(number(in[0], in[1]) * 0.5); }, doubles));
}

TEST_CASE("DFMA rounds once") {
    // Products of numbers of 26 bits are exact, so that a sum rounds as the whole does.
    const auto short_number = [] {
        return std::ldexp(static_cast<double>(as_signed(*any_word()) >> 6),
                          static_cast<int>(random_below(20)) - 10);
    };
    const LaneProgram program({"DFMA R20, R10, -R12, R14"}, {"R10", "R11", "R12", "R13", "R14", "R15"},
                              {"R20", "R21"});
    CHECK(rc::check("exact products", [&] {
        std::vector<Words> values(6, Words(32));
        std::vector<double> expected(32);
        for (std::size_t lane = 0; lane < 32; ++lane) {
            const double a = short_number(), b = short_number();
            const double c = std::ldexp(short_number(), static_cast<int>(random_below(60)) - 20);
            expected[lane] = c - a * b;
            const std::vector<Words> parts{words_of(a), words_of(b), words_of(c)};
            for (std::size_t i = 0; i < 6; ++i) {
                values[i][lane] = parts[i / 2][i % 2];
            }
        }
        const std::vector<Words> results = program(values);
        for (std::size_t lane = 0; lane < 32; ++lane) {
            RC_ASSERT(number(results[0][lane], results[1][lane]) == expected[lane]);
        }
    }));
    const Words a = words_of(1.0 + 0x1p-52), b = words_of(1.0 - 0x1p-52), c = words_of(1.0);
    const std::vector<Words> results = program({Words(32, a[0]), Words(32, a[1]), Words(32, b[0]),
                                                Words(32, b[1]), Words(32, c[0]), Words(32, c[1])});
    CHECK(number(results[0][0], results[1][0]) == 0x1p-104);
}

TEST_CASE("comparisons of doubles, ordered and unordered") {
    struct Relation {
        std::string name;
        bool (*holds)(double a, double b);
    };
    const std::vector<Relation> relations{
        {"LT", [](double a, double b) { return a < b; }},
        {"GEU", [](double a, double b) { return !(a < b); }},
        {"EQ", [](double a, double b) { return a == b; }},
        {"NEU", [](double a, double b) { return !(a == b); }},
        {"GT", [](double a, double b) { return a > b; }},
        {"NE", [](double a, double b) { return a < b || a > b; }},
        {"NAN", [](double a, double b) { return std::isnan(a) || std::isnan(b); }}};
    for (const Relation& relation : relations) {
        CHECK(agrees(
            {"DSETP." + relation.name + ".AND P1, P2, R10, |R12|, P0"}, {"R10", "R11", "R12", "R13", "P0"},
            {"P1", "P2"},
            [&](const Words& in) {
                const bool own = relation.holds(number(in[0], in[1]), std::fabs(number(in[2], in[3])));
                return Words{own && in[4] != 0 ? 1U : 0U, !own && in[4] != 0 ? 1U : 0U};
            },
            {[] {
                 return rc::gen::weightedOneOf<std::uint32_t>(
                     {{2, word_of_double()},
                      {3, rc::gen::element<std::uint32_t>(0U, 0x80000000U, 0x3ff00000U, 0x7ff80000U)}});
             },
             equal_words, true}));
    }
}

TEST_CASE("minima and maxima of doubles prefer numbers") {
    CHECK(agrees({"DMNMX R20, R10, R12, P0"}, {"R10", "R11", "R12", "R13", "P0"}, {"R20", "R21"},
                 [](const Words& in) {
                     const double a = number(in[0], in[1]), b = number(in[2], in[3]);
                     if (std::isnan(a) || std::isnan(b)) {
                         return words_of(std::isnan(a) ? b : a);
                     }
                     return words_of(in[4] != 0 ? std::min(a, b) : std::max(a, b));
                 },
                 {[] {
                      // No zeros, whose signs are a case of their own.
                      return rc::gen::map(word_of_double(), [](std::uint32_t word) { return word | 1U; });
                  },
                  equal_words, true}));
}

TEST_CASE("special functions of an upper half, and of bf16") {
    // Two halves: 3 above, 1 below; as bf16 the same.
    const LaneProgram program({"MUFU.EX2.F16 R20, R10", "MUFU.EX2.F16 R21, R10.H1", "MUFU.EX2.BF16 R22, R11",
                               "MUFU.EX2.BF16 R23, R11.H1", "MUFU.TANH.BF16 R24, R12"},
                              {"R10", "R11", "R12"}, {"R20", "R21", "R22", "R23", "R24"});
    const std::vector<Words> results =
        program({Words(32, 0x42003c00U), Words(32, 0x40403f80U), Words(32, 0x7f80U)});
    CHECK(results[0][0] == 0x4000U);
    CHECK(results[1][0] == 0x4800U);
    CHECK(results[2][0] == 0x4000U);
    CHECK(results[3][0] == 0x4100U);
    CHECK(results[4][0] == 0x3f80U);
    CHECK(has_parts(refusal_of("MUFU.EX2 R10, R11.H1"), {"a half of a number that has none"}));
}

__extension__ using Wide = __int128;

/// What is exact as a whole number lies between the result and its neighbour in the direction of the mode.
bool encloses(double result, Wide exact, const std::string& mode) {
    const bool down = mode == ".RM" || (mode == ".RZ" && exact > 0);
    const double infinity = std::numeric_limits<double>::infinity();
    const double next = std::nextafter(result, down ? infinity : -infinity);
    const auto got = static_cast<Wide>(result);
    return got == exact || (down ? got<exact&& static_cast<Wide>(next)> exact
                                 : got > exact && static_cast<Wide>(next) < exact);
}

TEST_CASE("doubles are rounded in the direction of a mode") {
    for (const std::string mode : {".RM", ".RP", ".RZ"}) {
        const LaneProgram program({"DMUL" + mode + " R20, R10, R12", "DFMA" + mode + " R22, R10, R12, R14",
                                   "DADD" + mode + " R24, R10, R14"},
                                  {"R10", "R11", "R12", "R13", "R14", "R15"},
                                  {"R20", "R21", "R22", "R23", "R24", "R25"});
        CHECK(rc::check(mode, [&] {
            std::array<std::vector<std::int64_t>, 3> given;
            std::vector<Words> words;
            for (std::vector<std::int64_t>& numbers : given) {
                Words low(32), high(32);
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    const std::uint64_t some = pair_of(*any_word(), *any_word()) >> 13U;
                    numbers.push_back(static_cast<std::int64_t>(some) - (std::int64_t{1} << 50U));
                    // The addend is 2^9 times a number, so that sums of two do not fit.
                    numbers.back() *= &numbers == &given[2] ? 512 : 1;
                    const auto bits_of = std::bit_cast<std::uint64_t>(static_cast<double>(numbers.back()));
                    low[lane] = low_of(bits_of);
                    high[lane] = high_of(bits_of);
                }
                words.push_back(low);
                words.push_back(high);
            }
            const std::vector<Words> results = program(words);
            for (std::size_t lane = 0; lane < 32; ++lane) {
                const Wide a = given[0][lane], b = given[1][lane], c = given[2][lane];
                const auto result = [&](std::size_t i) {
                    return std::bit_cast<double>(pair_of(results[2 * i][lane], results[2 * i + 1][lane]));
                };
                RC_ASSERT(encloses(result(0), a * b, mode));
                RC_ASSERT(encloses(result(1), a * b + c, mode));
                RC_ASSERT(encloses(result(2), a + c, mode));
            }
        }));
    }
}

TEST_CASE("DSETP.MIN and .MAX choose as the code of fmin and fmax expects") {
    for (const bool least : {true, false}) {
        const std::string line =
            least ? "DSETP.MIN.AND P0, P1, R10, R12, PT" : "DSETP.MAX.AND P0, P1, R10, R12, PT";
        // What nvcc makes of fmin(a, b).
        const LaneProgram program({line, "FSEL R21, R11, R13, P0", "SEL R20, R10, R12, P0",
                                   "@P1 LOP3.LUT R21, R13, 0x80000, RZ, 0xfc, !PT"},
                                  {"R10", "R11", "R12", "R13"}, {"R20", "R21"});
        const std::vector<double> numbers{0.0,
                                          -0.0,
                                          1.5,
                                          -1.5,
                                          1e300,
                                          -1e-310,
                                          std::numeric_limits<double>::infinity(),
                                          -std::numeric_limits<double>::infinity(),
                                          std::numeric_limits<double>::quiet_NaN()};
        for (const double a : numbers) {
            for (const double b : numbers) {
                CAPTURE(a);
                CAPTURE(b);
                const auto word_a = std::bit_cast<std::uint64_t>(a), word_b = std::bit_cast<std::uint64_t>(b);
                const std::vector<Words> results =
                    program({Words(32, low_of(word_a)), Words(32, high_of(word_a)), Words(32, low_of(word_b)),
                             Words(32, high_of(word_b))});
                const double got = std::bit_cast<double>(pair_of(results[0][0], results[1][0]));
                const double expected = least ? std::fmin(a, b) : std::fmax(a, b);
                CHECK((std::isnan(expected) ? std::isnan(got) : got == expected));
                if (a == 0.0 && b == 0.0) {
                    // PTX ISA, min: -0 is less than +0.
                    CHECK(std::signbit(got) ==
                          (least ? std::signbit(a) || std::signbit(b) : std::signbit(a) && std::signbit(b)));
                }
            }
        }
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
