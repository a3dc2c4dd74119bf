// Tests of fp32 arithmetic: results are compared with exact sums, rounded by a second derivation.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/reals.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
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

/// A number beyond what a double holds: the sum of two that do not overlap.
struct Exact {
    double head, tail;
};
/// Knuth's two-sum: a + b without any rounding.
Exact exact_sum(double a, double b) {
    const double head = a + b;
    const double other = head - a;
    return {head, (a - (head - other)) + (b - other)};
}
/// -1, 0 or 1 as the exact number is below, at or above a float.
int compared(const Exact& exact, double with) {
    if (exact.head != with) {
        return exact.head < with ? -1 : 1;
    }
    return exact.tail < 0.0 ? -1 : exact.tail > 0.0 ? 1 : 0;
}

/// The float of an exact number that is not zero, by the two floats around it.
float rounded_real(const Exact& exact, Rounding rounding) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    float below = static_cast<float>(exact.head);
    while (compared(exact, static_cast<double>(below)) < 0) {
        below = std::nextafterf(below, -infinity);
    }
    if (compared(exact, static_cast<double>(below)) == 0) {
        return below;
    }
    const float above = std::nextafterf(below, infinity);
    const bool negative = exact.head < 0.0;
    switch (rounding) {
        case Rounding::down:
            return below;
        case Rounding::up:
            return above;
        case Rounding::zero:
            return negative ? above : below;
        case Rounding::nearest:
            break;
    }
    // Beyond the greatest number, the next one counts as 2^128.
    const double low = std::isinf(below) ? -0x1p128 : static_cast<double>(below);
    const double high = std::isinf(above) ? 0x1p128 : static_cast<double>(above);
    const int side = compared(exact, low + (high - low) / 2.0);
    if (side == 0) {
        return (std::bit_cast<std::uint32_t>(below) & 1U) == 0 ? below : above;
    }
    return side < 0 ? below : above;
}

/// a b + c (or a + c where b is 1), of numbers that are finite.
std::uint32_t expected_bits(float a, float b, float c, Rounding rounding) {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) {
        return bits(static_cast<float>(product + static_cast<double>(c)));
    }
    const Exact exact = exact_sum(product, static_cast<double>(c));
    if (exact.head == 0.0) {
        // Zeros of one sign keep it; others give +0, or -0 when rounding down.
        const bool same = std::signbit(product) == std::signbit(c);
        const bool both_zero = product == 0.0 && c == 0.0F;
        const bool negative = both_zero && same ? std::signbit(c) : rounding == Rounding::down;
        return negative ? 0x80000000U : 0U;
    }
    return bits(rounded_real(exact, rounding));
}

float flushed_real(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

struct Mode {
    std::string modifier;
    Rounding rounding;
};
const std::vector<Mode> modes{
    {"", Rounding::nearest}, {".RM", Rounding::down}, {".RP", Rounding::up}, {".RZ", Rounding::zero}};

const Comparison reals{any_real, equal_words, true};

TEST_CASE("the rounding of this test agrees with numbers known by hand") {
    CHECK(rounded_real({1.0, 0x1p-60}, Rounding::up) == std::nextafterf(1.0F, 2.0F));
    CHECK(rounded_real({1.0, -0x1p-60}, Rounding::down) == std::nextafterf(1.0F, 0.0F));
    CHECK(rounded_real({1.0 + 0x1p-24, 0.0}, Rounding::nearest) == 1.0F);
    CHECK(rounded_real({1.0 + 0x1p-24, 0x1p-90}, Rounding::nearest) == std::nextafterf(1.0F, 2.0F));
    CHECK(rounded_real({0x1.ffffffp127, 0.0}, Rounding::nearest) == std::numeric_limits<float>::infinity());
    CHECK(rounded_real({0x1.ffffffp127, 0.0}, Rounding::zero) == std::numeric_limits<float>::max());
    CHECK(rounded_real({0x1p-150, 0.0}, Rounding::nearest) == 0.0F);
    CHECK(rounded_real({0x1.8p-150, 0.0}, Rounding::nearest) == 0x1p-149F);
}

TEST_CASE("sums, products and multiply-adds are the exact ones, rounded once in each mode") {
    for (const Mode& mode : modes) {
        CHECK(agrees(
            {"FADD" + mode.modifier + " R20, R10, R11"}, {"R10", "R11"}, {"R20"},
            [&](const Words& in) {
                return Words{expected_bits(real(in[0]), 1.0F, real(in[1]), mode.rounding)};
            },
            reals));
        CHECK(agrees(
            {"FFMA" + mode.modifier + " R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"},
            [&](const Words& in) {
                return Words{expected_bits(real(in[0]), real(in[1]), real(in[2]), mode.rounding)};
            },
            reals));
        CHECK(agrees(
            {"FMUL" + mode.modifier + " R20, R10, R11"}, {"R10", "R11"}, {"R20"},
            [&](const Words& in) {
                const float a = real(in[0]), b = real(in[1]);
                const double product = static_cast<double>(a) * static_cast<double>(b);
                if (product == 0.0 || !std::isfinite(product)) {
                    return Words{bits(static_cast<float>(product))};
                }
                return Words{bits(rounded_real({product, 0.0}, mode.rounding))};
            },
            reals));
    }
}

TEST_CASE("a product is scaled by a power of two before it is rounded") {
    for (const auto& [name, factor] : {std::pair{"D2", 0.5}, std::pair{"D4", 0.25}, std::pair{"D8", 0.125},
                                       std::pair{"M2", 2.0}, std::pair{"M4", 4.0}, std::pair{"M8", 8.0}}) {
        CAPTURE(name);
        const double scale = factor;
        CHECK(agrees(
            {std::string("FMUL.") + name + " R20, R10, R11"}, {"R10", "R11"}, {"R20"},
            [scale](const Words& in) {
                const double product = static_cast<double>(real(in[0])) * static_cast<double>(real(in[1]));
                return Words{bits(static_cast<float>(product * scale))};
            },
            reals));
    }
}

TEST_CASE("signs turn and bars drop them before the operation") {
    CHECK(agrees(
        {"FADD R20, -R10, |R11|"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) { return Words{bits(std::fabs(real(in[1])) - real(in[0]))}; }, reals));
    CHECK(agrees(
        {"FADD R20, -|R10|, R11"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) { return Words{bits(real(in[1]) - std::fabs(real(in[0])))}; }, reals));
    CHECK(agrees(
        {"FMUL R20, R10, -R11"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) { return Words{bits(real(in[0]) * -real(in[1]))}; }, reals));
    CHECK(agrees(
        {"FFMA R12, -R10, R11, -R12"}, {"R10", "R11", "R12"}, {"R12"},
        [](const Words& in) {
            return Words{expected_bits(-real(in[0]), real(in[1]), -real(in[2]), Rounding::nearest)};
        },
        reals));
    CHECK(agrees(
        {"FADD R20, R10, 1.5"}, {"R10"}, {"R20"},
        [](const Words& in) { return Words{bits(real(in[0]) + 1.5F)}; }, reals));
    CHECK(agrees(
        {"FMUL R20, R10, -INF"}, {"R10"}, {"R20"},
        [](const Words& in) { return Words{bits(real(in[0]) * -std::numeric_limits<float>::infinity())}; },
        reals));
    CHECK(agrees(
        {"FFMA R20, R10, 0.0625, R11"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) {
            return Words{expected_bits(real(in[0]), 0.0625F, real(in[1]), Rounding::nearest)};
        },
        reals));
}

TEST_CASE("FTZ flushes denormal sources and results, SAT keeps results within 0 and 1") {
    CHECK(agrees(
        {"FADD.FTZ R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) {
            return Words{bits(flushed_real(flushed_real(real(in[0])) + flushed_real(real(in[1]))))};
        },
        reals));
    CHECK(agrees(
        {"FMUL.FTZ R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) {
            return Words{bits(flushed_real(flushed_real(real(in[0])) * flushed_real(real(in[1]))))};
        },
        reals));
    CHECK(agrees(
        {"FFMA.SAT R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"},
        [](const Words& in) {
            const float value = real(expected_bits(real(in[0]), real(in[1]), real(in[2]), Rounding::nearest));
            // No number becomes 0.
            return Words{bits(value >= 1.0F ? 1.0F : value > 0.0F ? value : 0.0F)};
        },
        reals));
    CHECK(agrees(
        {"FADD.FTZ.SAT R20, R10, -R11"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) {
            const float value = flushed_real(flushed_real(real(in[0])) - flushed_real(real(in[1])));
            return Words{bits(value >= 1.0F ? 1.0F : value > 0.0F ? value : 0.0F)};
        },
        reals));
}

TEST_CASE("every result that is no number is the same one") {
    const LaneProgram program({"FADD R20, R10, R11", "FMUL R21, R10, R11", "FFMA R22, R10, R11, R12"},
                              {"R10", "R11", "R12"}, {"R20", "R21", "R22"});
    const std::vector<Words> results =
        program({Words(32, 0xffc12345U), Words(32, 0x3f800000U), Words(32, 0x3f800000U)});
    for (const Words& result : results) {
        CHECK(result == Words(32, nan_bits));
    }
    const LaneProgram infinities({"FADD R20, R10, -R10", "FMUL R21, R10, RZ"}, {"R10"}, {"R20", "R21"});
    for (const Words& result : infinities({Words(32, 0x7f800000U)})) {
        CHECK(result == Words(32, nan_bits));
    }
}

/// A comparison holds for some of: less, equal, greater, unordered.
struct Relation {
    std::string name;
    bool less, equal, greater, unordered;
};
const std::vector<Relation> relations{
    {"LT", true, false, false, false}, {"LE", true, true, false, false},   {"GT", false, false, true, false},
    {"GE", false, true, true, false},  {"EQ", false, true, false, false},  {"NE", true, false, true, false},
    {"LTU", true, false, false, true}, {"LEU", true, true, false, true},   {"GTU", false, false, true, true},
    {"GEU", false, true, true, true},  {"EQU", false, true, false, true},  {"NEU", true, false, true, true},
    {"NUM", true, true, true, false},  {"NAN", false, false, false, true}, {"T", true, true, true, true},
    {"F", false, false, false, false}};

bool holds(const Relation& relation, float a, float b) {
    if (std::isnan(a) || std::isnan(b)) {
        return relation.unordered;
    }
    return (relation.less && a < b) || (relation.equal && a == b) || (relation.greater && a > b);
}
rc::Gen<std::uint32_t> often_equal() {
    return rc::gen::weightedOneOf<std::uint32_t>(
        {{1, any_real()},
         {2, rc::gen::element<std::uint32_t>(0U, 0x80000000U, 1U, 0x80000002U, 0x3f800000U, 0xbf800000U,
                                             0x7f800000U, 0x7fc00000U)}});
}
const Comparison close{often_equal, equal_words, true};

TEST_CASE("FSETP compares by the fourteen relations and two constants, and combines") {
    for (const Relation& relation : relations) {
        CHECK(agrees(
            {"FSETP." + relation.name + ".AND P1, P2, R10, |R11|, P0"}, {"R10", "R11", "P0"}, {"P1", "P2"},
            [&](const Words& in) {
                const bool own = holds(relation, real(in[0]), std::fabs(real(in[1])));
                return Words{own && in[2] != 0 ? 1U : 0U, !own && in[2] != 0 ? 1U : 0U};
            },
            close));
        CHECK(agrees(
            {"FSETP." + relation.name + ".FTZ.OR P1, PT, R10, -R11, P0"}, {"R10", "R11", "P0"}, {"P1"},
            [&](const Words& in) {
                const bool own = holds(relation, flushed_real(real(in[0])), flushed_real(-real(in[1])));
                return Words{own || in[2] != 0 ? 1U : 0U};
            },
            close));
    }
    CHECK(agrees(
        {"FSETP.GT.XOR P1, P2, R10, R11, P0"}, {"R10", "R11", "P0"}, {"P1", "P2"},
        [](const Words& in) {
            const bool own = real(in[0]) > real(in[1]);
            return Words{own != (in[2] != 0) ? 1U : 0U, own == (in[2] != 0) ? 1U : 0U};
        },
        close));
}

TEST_CASE("FSET writes one or all ones, FSEL chooses bits") {
    CHECK(agrees(
        {"FSET.BF.LT.AND R20, R10, R11, P0"}, {"R10", "R11", "P0"}, {"R20"},
        [](const Words& in) { return Words{real(in[0]) < real(in[1]) && in[2] != 0 ? 0x3f800000U : 0U}; },
        close));
    CHECK(agrees(
        {"FSET.GEU.OR R20, R10, R11, P0"}, {"R10", "R11", "P0"}, {"R20"},
        [](const Words& in) { return Words{!(real(in[0]) < real(in[1])) || in[2] != 0 ? 0xffffffffU : 0U}; },
        close));
    CHECK(agrees(
        {"FSEL R20, -R10, |R11|, P0"}, {"R10", "R11", "P0"}, {"R20"},
        [](const Words& in) { return Words{in[2] != 0 ? in[0] ^ 0x80000000U : in[1] & 0x7fffffffU}; },
        close));
}

TEST_CASE("FMNMX orders zeros by sign and prefers numbers, unless it keeps what is none") {
    // A total order: -0 below +0.
    const auto below = [](float a, float b) {
        return a < b || (a == b && std::signbit(a) && !std::signbit(b));
    };
    const auto lesser = [&](float a, float b) {
        return std::isnan(a) ? b : std::isnan(b) ? a : below(a, b) ? a : b;
    };
    const auto greater = [&](float a, float b) {
        return std::isnan(a) ? b : std::isnan(b) ? a : below(a, b) ? b : a;
    };
    CHECK(agrees(
        {"FMNMX R20, R10, R11, PT"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) { return Words{bits(lesser(real(in[0]), real(in[1])))}; }, close));
    CHECK(agrees(
        {"FMNMX R20, R10, -R11, !PT"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) { return Words{bits(greater(real(in[0]), -real(in[1])))}; }, close));
    CHECK(agrees(
        {"FMNMX.NAN R20, R10, R11, P0"}, {"R10", "R11", "P0"}, {"R20"},
        [&](const Words& in) {
            const float a = real(in[0]), b = real(in[1]);
            if (std::isnan(a) || std::isnan(b)) {
                return Words{nan_bits};
            }
            return Words{bits(in[2] != 0 ? lesser(a, b) : greater(a, b))};
        },
        close));
    CHECK(agrees(
        {"FMNMX.FTZ R20, R10, R11, PT"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) {
            return Words{bits(lesser(flushed_real(real(in[0])), flushed_real(real(in[1]))))};
        },
        close));
}

TEST_CASE("the check before a division passes ordinary numbers and stops at the ends of the range") {
    const LaneProgram program({"FCHK P0, R10, R11"}, {"R10", "R11"}, {"P0"});
    CHECK(rc::check("ordinary numbers", [&program] {
        const auto ordinary = [] {
            return std::bit_cast<std::uint32_t>(
                std::ldexp(1.0F + static_cast<float>(random_below(1U << 20U)) * 0x1p-20F,
                           static_cast<int>(random_below(100)) - 50));
        };
        Words a(32), b(32);
        for (std::size_t lane = 0; lane < 32; ++lane) {
            a[lane] = ordinary();
            b[lane] = ordinary();
        }
        RC_ASSERT(program({a, b})[0] == Words(32, 0));
    }));
    for (const float divisor : {0.0F, 1e-40F, 0x1p127F, std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::quiet_NaN()}) {
        CHECK(program({Words(32, 0x3f800000U), Words(32, std::bit_cast<std::uint32_t>(divisor))})[0] ==
              Words(32, 1));
    }
    for (const float dividend :
         {1e-40F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        CHECK(program({Words(32, std::bit_cast<std::uint32_t>(dividend)), Words(32, 0x3f800000U)})[0] ==
              Words(32, 1));
    }
}

TEST_CASE("FSET.FTZ takes denormals for zero") {
    const LaneProgram program({"FSET.BF.GT.FTZ.AND R20, R10, RZ, PT", "FSET.BF.GT.AND R21, R10, RZ, PT"},
                              {"R10"}, {"R20", "R21"});
    const std::vector<Words> results = program({Words(32, 1U)});
    CHECK(results[0][0] == 0U);
    CHECK(results[1][0] == 0x3f800000U);
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
