// Tests of integer arithmetic and logic against closed forms of 64 and 128 bits on random lanes.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

__extension__ using Wide = unsigned __int128;

std::uint32_t word_of(std::int64_t value) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value));
}

TEST_CASE("IADD3 adds three words with their signs and complements") {
    CHECK(agrees({"IADD3 R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"},
                 [](const Words& in) { return Words{in[0] + in[1] + in[2]}; }));
    CHECK(agrees({"IADD3 R20, -R10, R11, -R12"}, {"R10", "R11", "R12"}, {"R20"},
                 [](const Words& in) { return Words{in[1] - in[0] - in[2]}; }));
    CHECK(agrees({"IADD3 R20, R10, -R11, RZ"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{in[0] - in[1]}; }));
    CHECK(agrees({"IADD3 R20, ~R10, R11, RZ"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{in[1] - in[0] - 1U}; }));
    CHECK(agrees({"IADD3 R20, R10, 0x5, RZ"}, {"R10"}, {"R20"},
                 [](const Words& in) { return Words{in[0] + 5U}; }));
    CHECK(agrees({"IADD3 R20, R10, -0x5, R11"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{in[0] + in[1] - 5U}; }));
    CHECK(agrees({"IADD3 R10, R11, R10, RZ"}, {"R10", "R11"}, {"R10"},
                 [](const Words& in) { return Words{in[0] + in[1]}; }));
    CHECK(agrees({"VIADD R20, R10, -R11"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{in[0] - in[1]}; }));
    CHECK(agrees({"VIADD R20, R10, 0xfffffff0"}, {"R10"}, {"R20"},
                 [](const Words& in) { return Words{in[0] - 16U}; }));
}

TEST_CASE("carries of IADD3 make sums and differences of 64 bits exact") {
    CHECK(agrees({"IADD3 R20, P1, P2, R10, R12, R14", "IADD3.X R21, R11, R13, R15, P1, P2"},
                 {"R10", "R11", "R12", "R13", "R14", "R15"}, {"R20", "R21"},
                 [](const Words& in) {
                     const std::uint64_t sum =
                         pair_of(in[0], in[1]) + pair_of(in[2], in[3]) + pair_of(in[4], in[5]);
                     return Words{low_of(sum), high_of(sum)};
                 },
                 {any_word, equal_words, false}));
    CHECK(agrees({"IADD3 R20, P1, R10, -R12, RZ", "IADD3.X R21, R11, ~R13, RZ, P1, !PT"},
                 {"R10", "R11", "R12", "R13"}, {"R20", "R21"},
                 [](const Words& in) {
                     const std::uint64_t difference = pair_of(in[0], in[1]) - pair_of(in[2], in[3]);
                     return Words{low_of(difference), high_of(difference)};
                 },
                 {any_word, equal_words, false}));
    CHECK(agrees({"IADD3 R20, P1, RZ, -R10, RZ", "IADD3.X R21, RZ, ~R11, RZ, P1, !PT"}, {"R10", "R11"},
                 {"R20", "R21"},
                 [](const Words& in) {
                     const std::uint64_t negative = 0U - pair_of(in[0], in[1]);
                     return Words{low_of(negative), high_of(negative)};
                 },
                 {any_word, equal_words, false}));
}

TEST_CASE("one carry runs through additions of 128 bits") {
    CHECK(agrees({"IADD3 R20, P1, R10, R14, RZ", "IADD3.X R21, P1, R11, R15, RZ, P1, !PT",
                  "IADD3.X R22, P1, R12, R16, RZ, P1, !PT", "IADD3.X R23, P1, R13, R17, RZ, P1, !PT"},
                 {"R10", "R11", "R12", "R13", "R14", "R15", "R16", "R17"}, {"R20", "R21", "R22", "R23", "P1"},
                 [](const Words& in) {
                     const Wide a = (Wide{pair_of(in[2], in[3])} << 64U) | pair_of(in[0], in[1]);
                     const Wide b = (Wide{pair_of(in[6], in[7])} << 64U) | pair_of(in[4], in[5]);
                     const Wide sum = a + b;
                     const auto low = static_cast<std::uint64_t>(sum);
                     const auto high = static_cast<std::uint64_t>(sum >> 64U);
                     return Words{low_of(low), high_of(low), low_of(high), high_of(high), sum < a ? 1U : 0U};
                 },
                 {any_word, equal_words, false}));
}

TEST_CASE("a carry out is one exactly when the sum needs a 33rd bit") {
    CHECK(agrees({"IADD3 R20, P1, R10, R11, RZ"}, {"R10", "R11"}, {"R20", "P1"}, [](const Words& in) {
        const std::uint64_t sum = std::uint64_t{in[0]} + in[1];
        return Words{low_of(sum), high_of(sum)};
    }));
    // A difference carries where it does not borrow.
    CHECK(agrees({"IADD3 RZ, P1, R10, -R11, RZ"}, {"R10", "R11"}, {"P1"},
                 [](const Words& in) { return Words{in[0] >= in[1] ? 1U : 0U}; }));
}

TEST_CASE("IMAD multiplies and adds in 32 bits") {
    CHECK(agrees({"IMAD R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"},
                 [](const Words& in) { return Words{in[0] * in[1] + in[2]}; }));
    CHECK(agrees({"IMAD R20, R10, R11, -R12"}, {"R10", "R11", "R12"}, {"R20"},
                 [](const Words& in) { return Words{in[0] * in[1] - in[2]}; }));
    CHECK(agrees({"IMAD R20, R10, -R11, R12"}, {"R10", "R11", "R12"}, {"R20"},
                 [](const Words& in) { return Words{in[2] - in[0] * in[1]}; }));
    CHECK(agrees({"IMAD R12, R10, -0x7, R12"}, {"R10", "R12"}, {"R12"},
                 [](const Words& in) { return Words{in[1] - 7U * in[0]}; }));
    CHECK(agrees({"IMAD.MOV.U32 R20, RZ, RZ, R10"}, {"R10"}, {"R20"},
                 [](const Words& in) { return Words{in[0]}; }));
    CHECK(agrees({"IMAD.MOV R20, RZ, RZ, -R10"}, {"R10"}, {"R20"},
                 [](const Words& in) { return Words{0U - in[0]}; }));
    CHECK(agrees({"IMAD.IADD R20, R10, 0x1, R11"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{in[0] + in[1]}; }));
    CHECK(agrees({"IMAD.IADD R20, R10, 0x1, -R11"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{in[0] - in[1]}; }));
    CHECK(agrees({"IMAD.IADD R20, R10, 0x1, ~R11"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{in[0] - in[1] - 1U}; }));
    CHECK(agrees({"IMAD.SHL.U32 R20, R10, 0x100, RZ"}, {"R10"}, {"R20"},
                 [](const Words& in) { return Words{in[0] << 8U}; }));
    CHECK(agrees({"IMAD.X R20, R10, 0x1, R11, P0"}, {"R10", "R11", "P0"}, {"R20"},
                 [](const Words& in) { return Words{in[0] + in[1] + in[2]}; }));
    CHECK(agrees({"IMAD.X R20, R10, 0x1, ~R11, P0"}, {"R10", "R11", "P0"}, {"R20"},
                 [](const Words& in) { return Words{in[0] + ~in[1] + in[2]}; }));
    CHECK(agrees({"IMAD.X R20, RZ, RZ, ~R11, !P0"}, {"R11", "P0"}, {"R20"},
                 [](const Words& in) { return Words{~in[0] + (1U - in[1])}; }));
}

TEST_CASE("IMAD.WIDE gives all 64 bits, signed or not") {
    const auto is_signed = [](const Words& in) {
        const std::int64_t product = std::int64_t{as_signed(in[0])} * as_signed(in[1]);
        const std::uint64_t sum = static_cast<std::uint64_t>(product) + pair_of(in[2], in[3]);
        return Words{low_of(sum), high_of(sum)};
    };
    const auto is_unsigned = [](const Words& in) {
        const std::uint64_t sum = std::uint64_t{in[0]} * in[1] + pair_of(in[2], in[3]);
        return Words{low_of(sum), high_of(sum)};
    };
    CHECK(agrees({"IMAD.WIDE R20, R10, R11, R12"}, {"R10", "R11", "R12", "R13"}, {"R20", "R21"}, is_signed));
    CHECK(agrees({"IMAD.WIDE.U32 R20, R10, R11, R12"}, {"R10", "R11", "R12", "R13"}, {"R20", "R21"},
                 is_unsigned));
    CHECK(agrees({"IMAD.WIDE R12, R10, R11, R12"}, {"R10", "R11", "R12", "R13"}, {"R12", "R13"}, is_signed));
    CHECK(agrees({"IMAD.WIDE.U32 R10, R10, R11, R12"}, {"R10", "R11", "R12", "R13"}, {"R10", "R11"},
                 is_unsigned));
    CHECK(
        agrees({"IMAD.WIDE R20, R10, -0x7, R12"}, {"R10", "R12", "R13"}, {"R20", "R21"}, [](const Words& in) {
            const std::uint64_t sum =
                pair_of(in[1], in[2]) - 7U * static_cast<std::uint64_t>(as_signed(in[0]));
            return Words{low_of(sum), high_of(sum)};
        }));
    CHECK(agrees({"IMAD.WIDE.U32 R20, P1, R10, R11, R12"}, {"R10", "R11", "R12", "R13"}, {"R20", "R21", "P1"},
                 [](const Words& in) {
                     const Wide sum = Wide{in[0]} * in[1] + pair_of(in[2], in[3]);
                     const auto low = static_cast<std::uint64_t>(sum);
                     return Words{low_of(low), high_of(low), static_cast<std::uint32_t>(sum >> 64U)};
                 }));
    CHECK(agrees({"IMAD.WIDE.U32.X R20, R10, R11, R12, P0"}, {"R10", "R11", "R12", "R13", "P0"},
                 {"R20", "R21"}, [](const Words& in) {
                     const std::uint64_t sum = std::uint64_t{in[0]} * in[1] + pair_of(in[2], in[3]) + in[4];
                     return Words{low_of(sum), high_of(sum)};
                 }));
}

TEST_CASE("IMAD.HI gives the upper word of the same sum") {
    CHECK(agrees({"IMAD.HI.U32 R20, R10, R11, R12"}, {"R10", "R11", "R12", "R13"}, {"R20"},
                 [](const Words& in) {
                     return Words{high_of(std::uint64_t{in[0]} * in[1] + pair_of(in[2], in[3]))};
                 }));
    CHECK(agrees({"IMAD.HI R20, R10, R11, RZ"}, {"R10", "R11"}, {"R20"}, [](const Words& in) {
        return Words{high_of(static_cast<std::uint64_t>(std::int64_t{as_signed(in[0])} * as_signed(in[1])))};
    }));
}

TEST_CASE("a division by the compiler's sequence of IMAD.HI and corrections is exact") {
    // q = umulhi(n, 0xcccccccd) >> 3 is n / 10.
    CHECK(agrees({"IMAD.HI.U32 R20, R10, -0x33333333, RZ", "SHF.R.U32.HI R20, RZ, 0x3, R20"}, {"R10"},
                 {"R20"}, [](const Words& in) { return Words{in[0] / 10U}; },
                 {any_word, equal_words, false}));
}

TEST_CASE("LEA shifts and adds, and its upper half continues with the carry") {
    CHECK(agrees({"LEA R20, R10, R11, 0x3"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{(in[0] << 3U) + in[1]}; }));
    CHECK(agrees({"LEA R20, R10, -R11, 0x2"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{(in[0] << 2U) - in[1]}; }));
    CHECK(agrees({"LEA R20, -R10, R11, 0x2"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{in[1] - (in[0] << 2U)}; }));
    CHECK(agrees({"LEA.HI R20, R10, R11, RZ, 0x5"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{(in[0] >> 27U) + in[1]}; }));
    CHECK(agrees({"LEA.HI R20, R10, R11, R12, 0x7"}, {"R10", "R11", "R12"}, {"R20"},
                 [](const Words& in) { return Words{high_of(pair_of(in[0], in[2]) << 7U) + in[1]}; }));
    CHECK(agrees({"LEA R20, P1, R10, R12, 0x2", "LEA.HI.X R21, R10, R13, R11, 0x2, P1"},
                 {"R10", "R11", "R12", "R13"}, {"R20", "R21"},
                 [](const Words& in) {
                     const std::uint64_t sum = (pair_of(in[0], in[1]) << 2U) + pair_of(in[2], in[3]);
                     return Words{low_of(sum), high_of(sum)};
                 },
                 {any_word, equal_words, false}));
    CHECK(agrees({"LEA R20, P1, R10, R12, 0x3", "LEA.HI.X.SX32 R21, R10, R13, 0x3, P1"},
                 {"R10", "R12", "R13"}, {"R20", "R21"},
                 [](const Words& in) {
                     const std::uint64_t sum =
                         static_cast<std::uint64_t>(std::int64_t{as_signed(in[0])} * 8) +
                         pair_of(in[1], in[2]);
                     return Words{low_of(sum), high_of(sum)};
                 },
                 {any_word, equal_words, false}));
    CHECK(agrees({"LEA.HI.SX32 R20, R10, R11, 0x1f"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{word_of(as_signed(in[0]) >> 1) + in[1]}; }));
}

struct Relation {
    std::string name;
    bool (*holds)(std::int64_t a, std::int64_t b);
};
const std::vector<Relation> relations{
    {"LT", [](std::int64_t a, std::int64_t b) { return a < b; }},
    {"LE", [](std::int64_t a, std::int64_t b) { return a <= b; }},
    {"GT", [](std::int64_t a, std::int64_t b) { return a > b; }},
    {"GE", [](std::int64_t a, std::int64_t b) { return a >= b; }},
    {"EQ", [](std::int64_t a, std::int64_t b) { return a == b; }},
    {"NE", [](std::int64_t a, std::int64_t b) { return a != b; }},
};

TEST_CASE("ISETP compares signed and unsigned words and combines with a predicate") {
    for (const Relation& relation : relations) {
        for (const bool is_unsigned : {false, true}) {
            for (const std::string how : {"AND", "OR", "XOR"}) {
                const std::string line = fmt::format("ISETP.{}{}.{} P1, P2, R10, R11, P0", relation.name,
                                                     is_unsigned ? ".U32" : "", how);
                CHECK(agrees({line}, {"R10", "R11", "P0"}, {"P1", "P2"}, [&](const Words& in) {
                    const bool own = is_unsigned ? relation.holds(in[0], in[1])
                                                 : relation.holds(as_signed(in[0]), as_signed(in[1]));
                    const bool other = in[2] != 0;
                    const auto combined = [&](bool value) {
                        return how == "AND" ? value && other : how == "OR" ? value || other : value != other;
                    };
                    return Words{combined(own) ? 1U : 0U, combined(!own) ? 1U : 0U};
                }));
            }
        }
    }
    CHECK(agrees({"ISETP.GT.AND P0, PT, R10, -0x1, !P0"}, {"R10", "P0"}, {"P0"},
                 [](const Words& in) { return Words{as_signed(in[0]) > -1 && in[1] == 0 ? 1U : 0U}; }));
    CHECK(agrees({"ISETP.NE.U32.AND P1, PT, R10, 0x7fffffff, PT"}, {"R10"}, {"P1"},
                 [](const Words& in) { return Words{in[0] != 0x7fffffffU ? 1U : 0U}; }));
}

TEST_CASE("ISETP.EX completes a comparison of 64 bits") {
    // Words from a small set, so that upper words are often equal.
    const auto few = [] { return rc::gen::element<std::uint32_t>(0U, 1U, 0xffffffffU, 0x80000000U); };
    for (const Relation& relation : relations) {
        for (const bool is_unsigned : {false, true}) {
            const std::string low = fmt::format("ISETP.{}.U32.AND P1, PT, R10, R12, PT", relation.name);
            const std::string high = fmt::format("ISETP.{}{}.AND.EX P1, PT, R11, R13, PT, P1", relation.name,
                                                 is_unsigned ? ".U32" : "");
            CHECK(agrees({low, high}, {"R10", "R11", "R12", "R13"}, {"P1"},
                         [&](const Words& in) {
                             std::uint64_t a = pair_of(in[0], in[1]), b = pair_of(in[2], in[3]);
                             // Turning the top bits makes an unsigned order a signed one.
                             const std::uint64_t turn = is_unsigned ? std::uint64_t{1} << 63U : 0U;
                             a ^= turn;
                             b ^= turn;
                             const bool own =
                                 relation.holds(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
                             return Words{own ? 1U : 0U};
                         },
                         {few, equal_words, false}));
        }
    }
}

TEST_CASE("SEL chooses by a predicate") {
    CHECK(agrees({"SEL R20, R10, R11, P0"}, {"R10", "R11", "P0"}, {"R20"},
                 [](const Words& in) { return Words{in[2] != 0 ? in[0] : in[1]}; }));
    CHECK(agrees({"SEL R10, R10, 0x7b, !P0"}, {"R10", "P0"}, {"R10"},
                 [](const Words& in) { return Words{in[1] == 0 ? in[0] : 123U}; }));
}

TEST_CASE("minima and maxima, of words, of halves, clamped and of sums") {
    for (const std::string opcode : {"VIMNMX", "IMNMX"}) {
        CHECK(agrees({opcode + " R20, R10, R11, PT"}, {"R10", "R11"}, {"R20"}, [](const Words& in) {
            return Words{word_of(std::min(as_signed(in[0]), as_signed(in[1])))};
        }));
        CHECK(agrees({opcode + ".U32 R20, R10, R11, !PT"}, {"R10", "R11"}, {"R20"},
                     [](const Words& in) { return Words{std::max(in[0], in[1])}; }));
    }
    CHECK(agrees({"VIMNMX R20, R10, R11, P0"}, {"R10", "R11", "P0"}, {"R20"}, [](const Words& in) {
        const std::int32_t a = as_signed(in[0]), b = as_signed(in[1]);
        return Words{word_of(in[2] != 0 ? std::min(a, b) : std::max(a, b))};
    }));
    CHECK(agrees({"VIMNMX.U32 R20, R10, R11, PT"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{std::min(in[0], in[1])}; }));
    CHECK(agrees({"VIMNMX.RELU R20, R10, R11, !PT"}, {"R10", "R11"}, {"R20"}, [](const Words& in) {
        return Words{word_of(std::max({as_signed(in[0]), as_signed(in[1]), 0}))};
    }));
    CHECK(agrees({"VIADDMNMX R20, R10, R11, R12, PT"}, {"R10", "R11", "R12"}, {"R20"}, [](const Words& in) {
        return Words{word_of(std::min(as_signed(in[0] + in[1]), as_signed(in[2])))};
    }));
    CHECK(agrees({"VIADDMNMX.U32 R20, R10, -0x4, R12, !PT"}, {"R10", "R12"}, {"R20"},
                 [](const Words& in) { return Words{std::max(in[0] - 4U, in[1])}; }));
    const auto sums_of_halves = [](const Words& in) {
        std::uint32_t result = 0;
        for (unsigned part = 0; part < 32; part += 16) {
            const auto sum = static_cast<std::int16_t>((in[0] >> part) + (in[1] >> part));
            const auto other = static_cast<std::int16_t>(in[2] >> part);
            result |= std::uint32_t{static_cast<std::uint16_t>(std::max<int>(std::max(sum, other), 0))}
                      << part;
        }
        return Words{result};
    };
    CHECK(agrees({"VIADDMNMX.S16x2.RELU R20, R10, R11, R12, !PT"}, {"R10", "R11", "R12"}, {"R20"},
                 sums_of_halves));
    const auto of_halves = [](auto choose) {
        return [choose](const Words& in) {
            std::uint32_t result = 0;
            for (unsigned part = 0; part < 32; part += 16) {
                const auto a = static_cast<std::uint16_t>(in[0] >> part);
                const auto b = static_cast<std::uint16_t>(in[1] >> part);
                result |= std::uint32_t{static_cast<std::uint16_t>(choose(a, b))} << part;
            }
            return Words{result};
        };
    };
    CHECK(agrees({"VIMNMX.U16x2 R20, R10, R11, PT"}, {"R10", "R11"}, {"R20"},
                 of_halves([](std::uint16_t a, std::uint16_t b) { return std::min(a, b); })));
    CHECK(agrees({"VIMNMX.S16x2 R20, R10, R11, !PT"}, {"R10", "R11"}, {"R20"},
                 of_halves([](std::uint16_t a, std::uint16_t b) {
                     return std::max(static_cast<std::int16_t>(a), static_cast<std::int16_t>(b));
                 })));
    CHECK(agrees({"VIMNMX.S16x2.RELU R20, R10, R11, PT"}, {"R10", "R11"}, {"R20"},
                 of_halves([](std::uint16_t a, std::uint16_t b) {
                     return std::max<int>(
                         std::min(static_cast<std::int16_t>(a), static_cast<std::int16_t>(b)), 0);
                 })));
}

TEST_CASE("minima and maxima of three words, and of three halves at a time") {
    const std::vector<std::string> three{"R10", "R11", "R12"};
    const auto smallest = [](const Words& in) {
        return Words{word_of(std::min({as_signed(in[0]), as_signed(in[1]), as_signed(in[2])}))};
    };
    const auto largest = [](const Words& in) {
        return Words{word_of(std::max({as_signed(in[0]), as_signed(in[1]), as_signed(in[2])}))};
    };
    CHECK(agrees({"VIMNMX3 R20, R10, R11, R12, PT"}, three, {"R20"}, smallest));
    CHECK(agrees({"VIMNMX3 R20, R10, R11, R12, !PT"}, three, {"R20"}, largest));
    // The destination may be a source, and a source zero or a constant.
    CHECK(agrees({"VIMNMX3 R11, R11, RZ, R12, !PT"}, {"R11", "R12"}, {"R11"}, [](const Words& in) {
        return Words{word_of(std::max({as_signed(in[0]), 0, as_signed(in[1])}))};
    }));
    CHECK(agrees({"VIMNMX3 R20, R10, 0x64, R12, PT"}, {"R10", "R12"}, {"R20"}, [](const Words& in) {
        return Words{word_of(std::min({as_signed(in[0]), 100, as_signed(in[1])}))};
    }));
    CHECK(agrees({"VIMNMX3 R20, R10, R11, R12, P0"}, {"R10", "R11", "R12", "P0"}, {"R20"},
                 [&](const Words& in) { return in[3] != 0 ? smallest(in) : largest(in); }));
    CHECK(agrees({"VIMNMX3.U32 R20, R10, R11, R12, PT"}, three, {"R20"}, [](const Words& in) {
        return Words{std::min({in[0], in[1], in[2]})};
    }));
    CHECK(agrees({"VIMNMX3.U32 R20, R10, R11, R12, !PT"}, three, {"R20"}, [](const Words& in) {
        return Words{std::max({in[0], in[1], in[2]})};
    }));
    CHECK(agrees({"VIMNMX3.RELU R20, R10, R11, R12, !PT"}, three, {"R20"},
                 [&](const Words& in) { return Words{word_of(std::max(as_signed(largest(in)[0]), 0))}; }));
    CHECK(agrees({"VIMNMX3.RELU R20, R10, R11, R12, PT"}, three, {"R20"},
                 [&](const Words& in) { return Words{word_of(std::max(as_signed(smallest(in)[0]), 0))}; }));
    const auto of_halves = [](auto choose) {
        return [choose](const Words& in) {
            std::uint32_t result = 0;
            for (unsigned part = 0; part < 32; part += 16) {
                const auto half = [&](std::size_t i) { return static_cast<std::uint16_t>(in[i] >> part); };
                result |= std::uint32_t{static_cast<std::uint16_t>(choose(half(0), half(1), half(2)))}
                          << part;
            }
            return Words{result};
        };
    };
    using Half = std::uint16_t;
    const auto as_short = [](Half half) { return static_cast<std::int16_t>(half); };
    CHECK(agrees({"VIMNMX3.U16x2 R20, R10, R11, R12, PT"}, three, {"R20"},
                 of_halves([](Half a, Half b, Half c) {
                     return std::min({a, b, c});
                 })));
    CHECK(agrees({"VIMNMX3.U16x2 R20, R10, R11, R12, !PT"}, three, {"R20"},
                 of_halves([](Half a, Half b, Half c) {
                     return std::max({a, b, c});
                 })));
    CHECK(agrees({"VIMNMX3.S16x2 R20, R10, R11, R12, !PT"}, three, {"R20"},
                 of_halves([&](Half a, Half b, Half c) {
                     return std::max({as_short(a), as_short(b), as_short(c)});
                 })));
    CHECK(agrees({"VIMNMX3.S16x2.RELU R20, R10, R11, R12, PT"}, three, {"R20"},
                 of_halves([&](Half a, Half b, Half c) {
                     return std::max<int>(std::min({as_short(a), as_short(b), as_short(c)}), 0);
                 })));
}

TEST_CASE("magnitudes, and sums of the magnitudes of differences") {
    CHECK(agrees({"IABS R20, R10"}, {"R10"}, {"R20"},
                 [](const Words& in) { return Words{as_signed(in[0]) < 0 ? 0U - in[0] : in[0]}; }));
    CHECK(agrees({"VABSDIFF.U32 R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"}, [](const Words& in) {
        return Words{std::max(in[0], in[1]) - std::min(in[0], in[1]) + in[2]};
    }));
    CHECK(agrees({"VABSDIFF.S32 R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"}, [](const Words& in) {
        const std::int64_t a = as_signed(in[0]), b = as_signed(in[1]);
        return Words{word_of(a > b ? a - b : b - a) + in[2]};
    }));
    const auto magnitude_of_byte = [](const Words& in, unsigned i) {
        const int a = static_cast<std::uint8_t>(in[0] >> (8U * i));
        const int b = static_cast<std::uint8_t>(in[1] >> (8U * i));
        return static_cast<std::uint32_t>(a > b ? a - b : b - a);
    };
    CHECK(agrees({"VABSDIFF4.U8 R20, R10, R11, RZ"}, {"R10", "R11"}, {"R20"}, [&](const Words& in) {
        std::uint32_t result = 0;
        for (unsigned i = 0; i < 4; ++i) {
            result |= magnitude_of_byte(in, i) << (8U * i);
        }
        return Words{result};
    }));
    CHECK(
        agrees({"VABSDIFF4.U8.ACC R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"}, [&](const Words& in) {
            std::uint32_t sum = in[2];
            for (unsigned i = 0; i < 4; ++i) {
                sum += magnitude_of_byte(in, i);
            }
            return Words{sum};
        }));
}

TEST_CASE("dot products of bytes, each side signed or not") {
    const auto byte = [](std::uint32_t word, unsigned i, bool is_signed) {
        const auto bits = static_cast<std::uint8_t>(word >> (8U * i));
        return is_signed ? std::int64_t{static_cast<std::int8_t>(bits)} : std::int64_t{bits};
    };
    for (const bool a_signed : {false, true}) {
        for (const bool b_signed : {false, true}) {
            const std::string types = fmt::format("{}.{}", a_signed ? "S8" : "U8", b_signed ? "S8" : "U8");
            CHECK(agrees({fmt::format("IDP.4A.{} R20, R10, R11, R12", types)}, {"R10", "R11", "R12"}, {"R20"},
                         [&](const Words& in) {
                             std::int64_t sum = in[2];
                             for (unsigned i = 0; i < 4; ++i) {
                                 sum += byte(in[0], i, a_signed) * byte(in[1], i, b_signed);
                             }
                             return Words{word_of(sum)};
                         }));
        }
    }
    for (const bool high : {false, true}) {
        CHECK(agrees({fmt::format("IDP.2A.{}.S16.U8 R20, R10, R11, R12", high ? "HI" : "LO")},
                     {"R10", "R11", "R12"}, {"R20"}, [&](const Words& in) {
                         std::int64_t sum = in[2];
                         for (unsigned i = 0; i < 2; ++i) {
                             const auto half = static_cast<std::int16_t>(in[0] >> (16U * i));
                             sum += half * byte(in[1], high ? i + 2U : i, false);
                         }
                         return Words{word_of(sum)};
                     }));
    }
}

std::uint32_t table_of_three(unsigned table, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t result = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
        const unsigned index = 4U * ((a >> bit) & 1U) + 2U * ((b >> bit) & 1U) + ((c >> bit) & 1U);
        result |= ((table >> index) & 1U) << bit;
    }
    return result;
}

TEST_CASE("LOP3 looks every bit up in each of the 256 tables") {
    constexpr unsigned tables = 256, together = 32, first_register = 20;
    std::vector<LaneProgram> programs;
    for (unsigned first = 0; first < tables; first += together) {
        std::vector<std::string> body, outputs;
        for (unsigned i = 0; i < together; ++i) {
            outputs.push_back(fmt::format("R{}", first_register + i));
            body.push_back(fmt::format("LOP3.LUT {}, R10, R11, R12, {:#x}, !PT", outputs.back(), first + i));
        }
        programs.emplace_back(body, std::vector<std::string>{"R10", "R11", "R12"}, outputs);
    }
    CHECK(rc::check("all tables", [&] {
        const std::vector<Words> values{some_words(any_word()), some_words(any_word()),
                                        some_words(any_word())};
        for (unsigned p = 0; p < programs.size(); ++p) {
            const std::vector<Words> results = programs[p](values);
            for (unsigned i = 0; i < together; ++i) {
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    RC_ASSERT(results[i][lane] == table_of_three(p * together + i, values[0][lane],
                                                                 values[1][lane], values[2][lane]));
                }
            }
        }
    }));
}

TEST_CASE("LOP3 complements its sources and tells whether the result is not zero") {
    CHECK(agrees({"LOP3.LUT R20, ~R10, R11, ~R12, 0x6a, !PT"}, {"R10", "R11", "R12"}, {"R20"},
                 [](const Words& in) { return Words{table_of_three(0x6a, ~in[0], in[1], ~in[2])}; }));
    CHECK(agrees({"LOP3.LUT R10, R10, 0xff00, RZ, 0xc0, !PT"}, {"R10"}, {"R10"},
                 [](const Words& in) { return Words{in[0] & 0xff00U}; }));
    CHECK(agrees({"LOP3.LUT P1, R20, R10, 0x1, RZ, 0xc0, !PT"}, {"R10"}, {"R20", "P1"}, [](const Words& in) {
        return Words{in[0] & 1U, in[0] & 1U};
    }));
    CHECK(agrees({"LOP3.LUT P1, RZ, R10, 0x3, RZ, 0xc0, P0"}, {"R10", "P0"}, {"P1"},
                 [](const Words& in) { return Words{(in[0] & 3U) != 0 || in[1] != 0 ? 1U : 0U}; }));
    CHECK(agrees({"LOP3.LUT.PAND P1, RZ, R10, 0x3, RZ, 0xc0, P0"}, {"R10", "P0"}, {"P1"},
                 [](const Words& in) { return Words{(in[0] & 3U) != 0 && in[1] != 0 ? 1U : 0U}; }));
}

TEST_CASE("PLOP3 looks predicates up in all tables, two at a time") {
    for (unsigned table = 0; table < 256; table += 5) {
        const unsigned second = (table * 7U + 3U) % 256U;
        const LaneProgram program({fmt::format("PLOP3.LUT P3, P4, P0, P1, !P2, {:#x}, {:#x}", table, second)},
                                  {"P0", "P1", "P2"}, {"P3", "P4"});
        std::vector<Words> values(3, Words(32));
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            for (unsigned p = 0; p < 3; ++p) {
                values[p][lane] = (lane >> p) & 1U;
            }
        }
        const std::vector<Words> results = program(values);
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            const unsigned index = 4U * values[0][lane] + 2U * values[1][lane] + (1U - values[2][lane]);
            CHECK(results[0][lane] == ((table >> index) & 1U));
            CHECK(results[1][lane] == ((second >> index) & 1U));
        }
    }
}

/// Amounts around every limit, and any others.
rc::Gen<std::uint32_t> amount() {
    return rc::gen::weightedOneOf<std::uint32_t>({{4, any_below(70)}, {1, any_word()}});
}

TEST_CASE("shifts of one word by any amount") {
    const Comparison amounts{amount, equal_words, true};
    CHECK(agrees(
        {"SHF.L.U32 R20, R10, R11, RZ"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) { return Words{in[1] >= 32 ? 0U : in[0] << in[1]}; }, amounts));
    CHECK(agrees(
        {"SHF.R.U32.HI R20, RZ, R11, R10"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) { return Words{in[1] >= 32 ? 0U : in[0] >> in[1]}; }, amounts));
    CHECK(agrees(
        {"SHF.R.S32.HI R20, RZ, R11, R10"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) { return Words{word_of(as_signed(in[0]) >> std::min(in[1], 31U))}; }, amounts));
    CHECK(agrees(
        {"SHF.L.W.U32 R20, R10, R11, RZ"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) { return Words{in[0] << (in[1] % 32U)}; }, amounts));
    CHECK(agrees(
        {"SHF.R.W.U32.HI R20, RZ, R11, R10"}, {"R10", "R11"}, {"R20"},
        [](const Words& in) { return Words{in[0] >> (in[1] % 32U)}; }, amounts));
    for (const unsigned by : {0U, 1U, 7U, 31U}) {
        CHECK(agrees({fmt::format("SHF.L.U32 R20, R10, {:#x}, RZ", by)}, {"R10"}, {"R20"},
                     [by](const Words& in) { return Words{in[0] << by}; }));
        CHECK(agrees({fmt::format("SHF.R.U32.HI R20, RZ, {:#x}, R10", by)}, {"R10"}, {"R20"},
                     [by](const Words& in) { return Words{in[0] >> by}; }));
        CHECK(agrees({fmt::format("SHF.R.S32.HI R10, RZ, {:#x}, R10", by)}, {"R10"}, {"R10"},
                     [by](const Words& in) { return Words{word_of(as_signed(in[0]) >> by)}; }));
    }
}

TEST_CASE("funnel shifts of two words, clamped at 32 or wrapping there") {
    const Comparison amounts{amount, equal_words, true};
    const std::vector<std::string> inputs{"R10", "R11", "R12"};  // lower word, amount, upper word
    CHECK(agrees(
        {"SHF.L.U32.HI R20, R10, R11, R12"}, inputs, {"R20"},
        [](const Words& in) { return Words{high_of(pair_of(in[0], in[2]) << std::min(in[1], 32U))}; },
        amounts));
    CHECK(agrees(
        {"SHF.R.U32 R20, R10, R11, R12"}, inputs, {"R20"},
        [](const Words& in) { return Words{low_of(pair_of(in[0], in[2]) >> std::min(in[1], 32U))}; },
        amounts));
    CHECK(agrees(
        {"SHF.L.W.U32.HI R20, R10, R11, R12"}, inputs, {"R20"},
        [](const Words& in) { return Words{high_of(pair_of(in[0], in[2]) << (in[1] % 32U))}; }, amounts));
    CHECK(agrees(
        {"SHF.R.W.U32 R20, R10, R11, R12"}, inputs, {"R20"},
        [](const Words& in) { return Words{low_of(pair_of(in[0], in[2]) >> (in[1] % 32U))}; }, amounts));
    for (const unsigned by : {1U, 13U, 31U}) {
        CHECK(agrees({fmt::format("SHF.L.W.U32.HI R20, R10, {:#x}, R10", by)}, {"R10"}, {"R20"},
                     [by](const Words& in) { return Words{std::rotl(in[0], static_cast<int>(by))}; }));
        CHECK(agrees({fmt::format("SHF.R.U32 R20, R10, {:#x}, R12", by)}, {"R10", "R12"}, {"R20"},
                     [by](const Words& in) { return Words{low_of(pair_of(in[0], in[1]) >> by)}; }));
    }
}

TEST_CASE("shifts of 64-bit numbers by amounts up to 63 and beyond") {
    const Comparison amounts{amount, equal_words, false};
    const std::vector<std::string> inputs{"R10", "R11", "R12"};
    CHECK(agrees(
        {"SHF.L.U32 R20, R10, R11, RZ", "SHF.L.U64.HI R21, R10, R11, R12"}, inputs, {"R20", "R21"},
        [](const Words& in) {
            const std::uint64_t value = in[1] >= 64 ? 0U : pair_of(in[0], in[2]) << in[1];
            return Words{low_of(value), high_of(value)};
        },
        amounts));
    CHECK(agrees(
        {"SHF.R.U64 R20, R10, R11, R12", "SHF.R.U32.HI R21, RZ, R11, R12"}, inputs, {"R20", "R21"},
        [](const Words& in) {
            const std::uint64_t value = in[1] >= 64 ? 0U : pair_of(in[0], in[2]) >> in[1];
            return Words{low_of(value), high_of(value)};
        },
        amounts));
    CHECK(agrees(
        {"SHF.R.S64 R20, R10, R11, R12", "SHF.R.S32.HI R21, RZ, R11, R12"}, inputs, {"R20", "R21"},
        [](const Words& in) {
            const auto number = static_cast<std::int64_t>(pair_of(in[0], in[2]));
            const auto value = static_cast<std::uint64_t>(number >> std::min(in[1], 63U));
            return Words{low_of(value), high_of(value)};
        },
        amounts));
    for (const unsigned by : {1U, 31U, 32U, 40U, 63U}) {
        CHECK(agrees({fmt::format("SHF.R.U64 R20, R10, {:#x}, R12", by)}, {"R10", "R12"}, {"R20"},
                     [by](const Words& in) { return Words{low_of(pair_of(in[0], in[1]) >> by)}; }));
        CHECK(agrees({fmt::format("SHF.L.U64.HI R20, R10, {:#x}, R12", by)}, {"R10", "R12"}, {"R20"},
                     [by](const Words& in) { return Words{high_of(pair_of(in[0], in[1]) << by)}; }));
    }
}

TEST_CASE("PRMT takes bytes and signs by each of the 65536 selectors") {
    constexpr std::size_t selectors = 65536;
    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same words each time.
    std::vector<Words> values(3, Words(selectors));
    for (std::size_t i = 0; i < selectors; ++i) {
        values[0][i] = static_cast<std::uint32_t>(random());
        values[1][i] = static_cast<std::uint32_t>(i);
        values[2][i] = static_cast<std::uint32_t>(random());
    }
    const LaneProgram program({"PRMT R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"});
    const Words results = program(values, selectors)[0];
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < selectors; ++i) {
        std::array<std::uint8_t, 8> bytes{};
        std::memcpy(bytes.data(), &values[0][i], 4);
        std::memcpy(bytes.data() + 4, &values[2][i], 4);
        std::array<std::uint8_t, 4> expected{};
        for (std::size_t b = 0; b < 4; ++b) {
            const std::size_t nibble = i >> (4 * b) & 15U;
            const std::uint8_t taken = bytes.at(nibble % 8);
            expected.at(b) = nibble < 8 ? taken : taken >= 128 ? std::uint8_t{255} : std::uint8_t{0};
        }
        wrong += results[i] != std::bit_cast<std::uint32_t>(expected) ? 1U : 0U;
    }
    CHECK(wrong == 0);
    CHECK(agrees({"PRMT R10, R10, 0x123, RZ"}, {"R10"}, {"R10"},
                 [](const Words& in) { return Words{__builtin_bswap32(in[0])}; }));
}

TEST_CASE("counts of bits, the highest bit, and bits in reverse") {
    const auto count = [](std::uint32_t word) {
        std::uint32_t bits = 0;
        for (; word != 0; word &= word - 1U) {
            ++bits;
        }
        return bits;
    };
    CHECK(agrees({"POPC R20, R10"}, {"R10"}, {"R20"}, [&](const Words& in) { return Words{count(in[0])}; }));
    CHECK(agrees({"POPC R20, ~R10"}, {"R10"}, {"R20"},
                 [&](const Words& in) { return Words{32U - count(in[0])}; }));
    const auto highest = [](std::uint32_t word) {
        std::uint32_t place = 0xffffffffU;
        for (std::uint32_t bit = 0; bit < 32; ++bit) {
            place = ((word >> bit) & 1U) != 0 ? bit : place;
        }
        return place;
    };
    CHECK(agrees({"FLO.U32 R20, R10"}, {"R10"}, {"R20"},
                 [&](const Words& in) { return Words{highest(in[0])}; }));
    CHECK(agrees({"FLO.U32.SH R20, R10"}, {"R10"}, {"R20"},
                 [&](const Words& in) { return Words{in[0] == 0 ? 0xffffffffU : 31U - highest(in[0])}; }));
    CHECK(agrees({"FLO R20, R10"}, {"R10"}, {"R20"},
                 [&](const Words& in) { return Words{highest(as_signed(in[0]) < 0 ? ~in[0] : in[0])}; }));
    CHECK(agrees({"FLO.U32 R20, P1, R10"}, {"R10"}, {"R20", "P1"}, [&](const Words& in) {
        return Words{highest(in[0]), in[0] != 0 ? 1U : 0U};
    }));
    const auto reversed = [](std::uint32_t word) {
        std::uint32_t result = 0;
        for (unsigned bit = 0; bit < 32; ++bit) {
            result |= ((word >> bit) & 1U) << (31U - bit);
        }
        return result;
    };
    CHECK(
        agrees({"BREV R20, R10"}, {"R10"}, {"R20"}, [&](const Words& in) { return Words{reversed(in[0])}; }));
}

TEST_CASE("fields of bits: masks and sign extension, clamped or wrapping") {
    const Comparison amounts{amount, equal_words, true};
    // PTX ISA, bmsk and szext.
    const auto ones = [](std::uint64_t place, std::uint64_t width) {
        std::uint32_t result = 0;
        for (std::uint64_t bit = place; bit < place + width && bit < 32; ++bit) {
            result |= 1U << static_cast<unsigned>(bit);
        }
        return result;
    };
    CHECK(agrees(
        {"BMSK R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) { return Words{ones(in[0], in[1])}; }, amounts));
    CHECK(agrees(
        {"BMSK.W R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) { return Words{ones(in[0] % 32U, in[1] % 32U)}; }, amounts));
    const auto extended = [](std::uint32_t value, std::uint32_t width, bool is_signed) {
        std::uint32_t result = 0;
        for (std::uint32_t bit = 0; bit < 32 && width > 0; ++bit) {
            const std::uint32_t from = bit < width ? bit : width - 1U;
            result |= bit < width || is_signed ? ((value >> from) & 1U) << bit : 0U;
        }
        return result;
    };
    CHECK(agrees(
        {"SGXT R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) { return Words{extended(in[0], std::min(in[1], 32U), true)}; }, amounts));
    CHECK(agrees(
        {"SGXT.U32 R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) { return Words{extended(in[0], std::min(in[1], 32U), false)}; }, amounts));
    CHECK(agrees(
        {"SGXT.W R20, R10, R11"}, {"R10", "R11"}, {"R20"},
        [&](const Words& in) { return Words{extended(in[0], in[1] % 32U, true)}; }, amounts));
    for (const unsigned width : {1U, 8U, 24U}) {
        CHECK(agrees({fmt::format("SGXT R20, R10, {:#x}", width)}, {"R10"}, {"R20"},
                     [&](const Words& in) { return Words{extended(in[0], width, true)}; }));
    }
}

TEST_CASE("predicates go to a byte of a register and come back") {
    CHECK(agrees({"P2R R20, PR, R10, 0x5"}, {"R10", "P0", "P1", "P2"}, {"R20"},
                 [](const Words& in) { return Words{(in[0] & ~5U) | in[1] | (in[3] << 2U)}; }));
    CHECK(agrees({"P2R.B2 R20, PR, R10, 0x3"}, {"R10", "P0", "P1"}, {"R20"}, [](const Words& in) {
        return Words{(in[0] & ~0x30000U) | (in[1] << 16U) | (in[2] << 17U)};
    }));
    CHECK(agrees({"R2P PR, R10, 0x6"}, {"R10", "P0"}, {"P0", "P1", "P2"}, [](const Words& in) {
        return Words{in[1], (in[0] >> 1U) & 1U, (in[0] >> 2U) & 1U};
    }));
    CHECK(agrees({"R2P PR, R10.B1, 0x7f"}, {"R10"}, {"P0", "P5"}, [](const Words& in) {
        return Words{(in[0] >> 8U) & 1U, (in[0] >> 13U) & 1U};
    }));
}

TEST_CASE("moves give the lanes a register, an immediate or a word of a constant bank") {
    CHECK(agrees({"MOV R20, R10"}, {"R10"}, {"R20"}, [](const Words& in) { return Words{in[0]}; }));
    CHECK(agrees({"MOV R20, 0xdeadbeef"}, {}, {"R20"}, [](const Words&) { return Words{0xdeadbeefU}; }));
    CHECK(agrees({"MOV R20, c[0x0][0x0]"}, {}, {"R20"}, [](const Words&) { return Words{32U}; }));
    CHECK(agrees({"MOV R20, RZ"}, {}, {"R20"}, [](const Words&) { return Words{0U}; }));
}

TEST_CASE("a result for RZ is dropped") {
    CHECK(agrees({"IMAD.WIDE.U32 RZ, R10, R11, R10", "IADD3 R20, RZ, RZ, R10"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{in[0]}; }));
    CHECK(agrees({"ISETP.EQ.AND PT, P1, R10, R11, PT", "SEL R20, R10, R11, PT"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{in[0]}; }));
}

TEST_CASE("VIADD.16x2 adds halves by themselves, and differences are signed where nothing is said") {
    CHECK(agrees({"VIADD.16x2 R20, R10, R11"}, {"R10", "R11"}, {"R20"}, [](const Words& in) {
        const auto low = static_cast<std::uint16_t>(in[0] + in[1]);
        const auto high = static_cast<std::uint16_t>((in[0] >> 16U) + (in[1] >> 16U));
        return Words{low | (std::uint32_t{high} << 16U)};
    }));
    CHECK(agrees({"VABSDIFF R20, R10, R11, R12"}, {"R10", "R11", "R12"}, {"R20"}, [](const Words& in) {
        const std::int64_t a = as_signed(in[0]), b = as_signed(in[1]);
        return Words{word_of(a > b ? a - b : b - a) + in[2]};
    }));
    CHECK(has_parts(refusal_of("VIADD.16x2 R20, R10, -R11"), {"an addition of halves with a sign"}));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
