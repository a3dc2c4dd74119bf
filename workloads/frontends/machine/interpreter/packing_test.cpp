// Tests of F2FP: bytes by search over all codes, tf32 and halves by their neighbours.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/halves.hpp"
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

float real(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}

/// The finite code nearest to a number, ties to the even one, by search.
std::uint32_t nearest_byte(float value, bool e4m3) {
    if (std::isnan(value)) {
        return 0x7fU;
    }
    const std::uint32_t greatest = e4m3 ? 0x7eU : 0x7bU;
    const auto at = [e4m3](std::uint32_t code) {
        const auto byte = static_cast<std::uint8_t>(code);
        return static_cast<double>(e4m3 ? real_of_e4m3(byte) : real_of_e5m2(byte));
    };
    // Beyond every code; far beyond, distances would all be the same.
    const double magnitude = std::min(std::fabs(static_cast<double>(value)), 1e6);
    std::uint32_t best = 0;
    for (std::uint32_t code = 1; code <= greatest; ++code) {
        const double own = std::fabs(at(code) - magnitude), before = std::fabs(at(best) - magnitude);
        best = own < before || (own == before && code % 2 == 0) ? code : best;
    }
    return best | (std::signbit(value) ? 0x80U : 0U);
}

/// Numbers within the range of bytes, ties among them, and any others.
rc::Gen<std::uint32_t> near_bytes() {
    return rc::gen::weightedOneOf<std::uint32_t>(
        {{1, any_real()}, {4, rc::gen::map(any_word(), [](std::uint32_t word) {
                               const std::uint32_t fraction =
                                   (word & 1U) != 0 ? word & 0x780000U : word & 0x7fffffU;
                               return (word & 0x80000000U) | ((0x6cU + (word >> 8U) % 34U) << 23U) | fraction;
                           })}});
}
const Comparison around{near_bytes, equal_words, true};

TEST_CASE("two reals become the nearest bytes, below the half that is merged") {
    for (const bool e4m3 : {true, false}) {
        const std::string name = e4m3 ? "E4M3" : "E5M2";
        CHECK(agrees(
            {"F2FP.SATFINITE." + name + ".F32.PACK_AB_MERGE_C R20, R10, -R11, R12"}, {"R10", "R11", "R12"},
            {"R20"},
            [e4m3](const Words& in) {
                return Words{(nearest_byte(real(in[0]), e4m3) << 8U) | nearest_byte(-real(in[1]), e4m3) |
                             (in[2] << 16U)};
            },
            around));
        CHECK(agrees(
            {"F2FP.SATFINITE.RELU." + name + ".F32.PACK_AB_MERGE_C R20, R10, RZ, RZ"}, {"R10"}, {"R20"},
            [e4m3](const Words& in) {
                const float value = real(in[0]);
                return Words{value <= 0.0F ? 0U : nearest_byte(value, e4m3) << 8U};
            },
            around));
        CHECK(agrees({"F2FP.SATFINITE." + name + ".F16.UNPACK_B_MERGE_C R20, R10, R11"}, {"R10", "R11"},
                     {"R20"}, [e4m3](const Words& in) {
                         const auto byte = [&](unsigned shift) {
                             return nearest_byte(real_of_half(static_cast<std::uint16_t>(in[0] >> shift)),
                                                 e4m3);
                         };
                         return Words{(byte(16) << 8U) | byte(0) | (in[1] << 16U)};
                     }));
    }
}

TEST_CASE("bytes become fp16, of the lower or the upper half of a word") {
    for (const std::string half : {"", ".H1"}) {
        const unsigned first = half.empty() ? 0U : 16U;
        CHECK(agrees({"F2FP.F16.E4M3.UNPACK_B R20, R10" + half}, {"R10"}, {"R20"}, [first](const Words& in) {
            const auto code = [&](unsigned shift) {
                const float value = real_of_e4m3(static_cast<std::uint8_t>(in[0] >> (first + shift)));
                return std::uint32_t{half_of_real(static_cast<double>(value))};
            };
            return Words{(code(8) << 16U) | code(0)};
        }));
        CHECK(agrees({"F2FP.F16.E5M2.UNPACK_B R20, R10" + half}, {"R10"}, {"R20"}, [first](const Words& in) {
            // The upper byte of an fp16; every code that is no number is one.
            const auto code = [&](unsigned shift) {
                const std::uint32_t byte = (in[0] >> (first + shift)) & 0xffU;
                return (byte & 0x7fU) > 0x7cU ? 0x7fffU : byte << 8U;
            };
            return Words{(code(8) << 16U) | code(0)};
        }));
    }
}

TEST_CASE("tf32 keeps eleven bits, to nearest or cut, and RZ cuts halves") {
    const auto cut = [](std::uint32_t word, std::uint32_t bits) { return word & ~((1U << bits) - 1U); };
    CHECK(agrees(
        {"F2FP.TF32.F32.PACK_B.RZ R20, R10"}, {"R10"}, {"R20"},
        [&](const Words& in) { return Words{std::isnan(real(in[0])) ? 0x7fffffffU : cut(in[0], 13)}; },
        around));
    CHECK(agrees(
        {"F2FP.TF32.F32.PACK_B R20, R10"}, {"R10"}, {"R20"},
        [&](const Words& in) {
            const std::uint32_t below = cut(in[0], 13), rest = in[0] - below;
            const bool up = rest > 0x1000U || (rest == 0x1000U && (below & 0x2000U) != 0);
            return Words{std::isnan(real(in[0])) ? 0x7fffffffU : below + (up ? 0x2000U : 0U)};
        },
        around));
    CHECK(agrees(
        {"F2FP.BF16.F32.PACK_AB.RZ R20, R10, RZ"}, {"R10"}, {"R20"},
        [&](const Words& in) { return Words{std::isnan(real(in[0])) ? 0x7fff0000U : cut(in[0], 16)}; },
        around));
    CHECK(agrees(
        {"F2FP.F16.F32.PACK_AB.RZ R20, RZ, R10"}, {"R10"}, {"R20"},
        [](const Words& in) {
            const float value = real(in[0]);
            std::uint32_t code = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
            while (!std::isnan(value) &&
                   std::fabs(real_of_half(static_cast<std::uint16_t>(code))) > std::fabs(value)) {
                --code;
            }
            return Words{std::isnan(value) ? 0x7fffU : code};
        },
        around));
    CHECK(has_parts(refusal_of("F2FP.F16.F32.PACK_B R20, R10, R11"), {"another way to pack"}));
    CHECK(
        has_parts(refusal_of("F2FP.F16.F32.PACK_AB R20, R10.H1, R11"), {"a half of a number that has none"}));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
