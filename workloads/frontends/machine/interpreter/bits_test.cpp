// Tests of identities between the instructions on bits, and of forms that are refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/bits.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

TEST_CASE("a funnel shift of a word with itself turns it around") {
    for (std::uint32_t amount = 0; amount < 32; ++amount) {
        CAPTURE(amount);
        const std::string by = fmt::format("{:#x}", amount);
        CHECK(
            agrees({"SHF.L.W.U32.HI R20, R10, " + by + ", R10"}, {"R10"}, {"R20"},
                   [amount](const Words& in) { return Words{std::rotl(in[0], static_cast<int>(amount))}; }));
        CHECK(agrees({"SHF.R.W.U32 R20, R10, " + by + ", R10"}, {"R10"}, {"R20"}, [amount](const Words& in) {
            return Words{std::rotr(in[0], static_cast<int>(amount))};
        }));
    }
    // The amount in a register counts modulo 32.
    CHECK(agrees({"SHF.L.W.U32.HI R20, R10, R11, R10"}, {"R10", "R11"}, {"R20"},
                 [](const Words& in) { return Words{std::rotl(in[0], static_cast<int>(in[1] % 32))}; }));
}

TEST_CASE("a shift by a constant is the shift by a register of the same amount") {
    for (const std::string form :
         {"SHF.L.U32 R{}, R10, {}, RZ", "SHF.R.U32.HI R{}, RZ, {}, R10", "SHF.R.S32.HI R{}, RZ, {}, R10",
          "SHF.L.U64.HI R{}, R10, {}, R11", "SHF.R.U64 R{}, R10, {}, R11", "SHF.R.S32.HI R{}, R10, {}, R11",
          "SHF.L.U32.HI R{}, R10, {}, R11", "SHF.R.U32 R{}, R10, {}, R11", "SHF.R.U32 R{}, R10, {}, RZ",
          "SHF.L.W.U32 R{}, R10, {}, R11", "SHF.R.W.U32.HI R{}, R10, {}, R11",
          "SHF.R.S64 R{}, R10, {}, R11"}) {
        CAPTURE(form);
        std::vector<std::string> body, outputs;
        for (std::uint32_t amount = 0; amount < 40; amount += 3) {
            body.push_back(fmt::format("MOV R30, {:#x}", amount));
            body.push_back(fmt::format(fmt::runtime(form), 20, fmt::format("{:#x}", amount)));
            body.push_back(fmt::format(fmt::runtime(form), 21, "R30"));
            body.push_back(fmt::format("LOP3.LUT R{}, R20, R21, RZ, 0x3c, !PT", 40 + amount));
            outputs.push_back(fmt::format("R{}", 40 + amount));
        }
        const LaneProgram program(body, {"R10", "R11"}, outputs);
        CHECK(rc::check(form, [&program] {
            for (const Words& differences : program({some_words(any_word()), some_words(any_word())})) {
                RC_ASSERT(differences == Words(32, 0));
            }
        }));
    }
}

TEST_CASE("64 bits shifted up and down again lose their upper bits, and nothing else") {
    CHECK(agrees({"SHF.L.U32 R30, R10, R12, RZ", "SHF.L.U64.HI R31, R10, R12, R11",
                  "SHF.R.U64 R20, R30, R12, R31", "SHF.R.U32.HI R21, RZ, R12, R31"},
                 {"R10", "R11", "R12"}, {"R20", "R21"},
                 [](const Words& in) {
                     const std::uint64_t kept = in[2] < 64 ? pair_of(in[0], in[1]) << in[2] >> in[2] : 0U;
                     return Words{low_of(kept), high_of(kept)};
                 },
                 {.word = [] { return any_below(80); }, .guarded = false}));
    CHECK(agrees({"SHF.R.S64 R20, R10, R12, R11", "SHF.R.S32.HI R21, R10, R12, R11"}, {"R10", "R11", "R12"},
                 {"R20", "R21"},
                 [](const Words& in) {
                     const auto number = static_cast<std::int64_t>(pair_of(in[0], in[1]));
                     const auto by = std::min<std::uint32_t>(in[2], 63);
                     const auto upper = std::min<std::uint32_t>(in[2], 31);
                     return Words{static_cast<std::uint32_t>(number >> by),
                                  static_cast<std::uint32_t>(as_signed(in[1]) >> upper)};
                 },
                 {.guarded = false}));
}

TEST_CASE("reversals undo themselves, and turn the highest bit into the lowest") {
    CHECK(agrees({"BREV R20, R10", "FLO.U32.SH R22, R20", "FLO.U32 R23, R10", "FLO.U32.SH R24, R10",
                  "POPC R25, R20", "BREV R21, R20"},
                 {"R10"}, {"R21", "R22", "R23", "R24", "R25"},
                 [](const Words& in) {
                     const std::uint32_t x = in[0];
                     const std::uint32_t none = 0xffffffffU;
                     return Words{x, x == 0 ? none : static_cast<std::uint32_t>(std::countr_zero(x)),
                                  x == 0 ? none : static_cast<std::uint32_t>(std::bit_width(x)) - 1,
                                  x == 0 ? none : static_cast<std::uint32_t>(std::countl_zero(x)),
                                  static_cast<std::uint32_t>(std::popcount(x))};
                 },
                 {.guarded = false}));
    // Signed: the highest bit that is not the sign.
    CHECK(agrees({"FLO R20, R10"}, {"R10"}, {"R20"}, [](const Words& in) {
        const std::uint32_t x = as_signed(in[0]) < 0 ? ~in[0] : in[0];
        return Words{x == 0 ? 0xffffffffU : static_cast<std::uint32_t>(std::bit_width(x)) - 1};
    }));
}

TEST_CASE("a field that a mask takes out is what sign extension without a sign gives") {
    // (x >> begin) cut to its width, both ways.
    CHECK(
        agrees({"BMSK R30, R11, R12", "LOP3.LUT R30, R30, R10, RZ, 0xc0, !PT",
                "SHF.R.U32.HI R20, RZ, R11, R30", "SHF.R.U32.HI R31, RZ, R11, R10", "SGXT.U32 R21, R31, R12"},
               {"R10", "R11", "R12"}, {"R20", "R21"},
               [](const Words& in) {
                   const std::uint64_t shifted = in[1] < 32 ? in[0] >> in[1] : 0U;
                   const std::uint64_t ones = in[2] < 32 ? (std::uint64_t{1} << in[2]) - 1 : 0xffffffffU;
                   return Words(2, static_cast<std::uint32_t>(shifted & ones));
               },
               {.word = [] { return any_below(40); }, .guarded = false}));
}

TEST_CASE("a table and its complement, and tables with their inputs exchanged") {
    CHECK(rc::check("identities of look-up tables", [] {
        const std::uint32_t table = random_below(256);
        // Bit 4 a + 2 b + c of the table; with a and c exchanged bit 4 c + 2 b + a.
        std::uint32_t exchanged = 0;
        for (unsigned i = 0; i < 8; ++i) {
            exchanged |= ((table >> ((i & 1U) << 2U | (i & 2U) | i >> 2U)) & 1U) << i;
        }
        const LaneProgram program({fmt::format("LOP3.LUT R20, R10, R11, R12, {:#x}, !PT", table),
                                   fmt::format("LOP3.LUT R21, R10, R11, R12, {:#x}, !PT", ~table & 0xffU),
                                   fmt::format("LOP3.LUT R22, R12, R11, R10, {:#x}, !PT", exchanged)},
                                  {"R10", "R11", "R12"}, {"R20", "R21", "R22"});
        const std::vector<Words> results =
            program({some_words(any_word()), some_words(any_word()), some_words(any_word())});
        for (std::size_t lane = 0; lane < 32; ++lane) {
            RC_ASSERT(results[0][lane] == ~results[1][lane]);
            RC_ASSERT(results[0][lane] == results[2][lane]);
        }
    }));
}

TEST_CASE("selectors of bytes compose") {
    // One permutation of bytes, and the one that undoes it.
    std::vector<std::uint32_t> order{0, 1, 2, 3};
    do {
        std::uint32_t there = 0;
        std::uint32_t back = 0;
        for (std::uint32_t i = 0; i < 4; ++i) {
            there |= order[i] << (4 * i);
            back |= i << (4 * order[i]);
        }
        CAPTURE(there);
        CHECK(agrees(
            {fmt::format("PRMT R21, R10, {:#x}, R11", there), fmt::format("PRMT R20, R21, {:#x}, R11", back)},
            {"R10", "R11"}, {"R20"}, [](const Words& in) { return Words{in[0]}; }, {.guarded = false}));
    } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("forms that are not known are refused by name") {
    for (const RefusedLine& own : {RefusedLine{"LOP3 R10, R11, R12, R13, 0x80, !PT", "LOP3.LUT"},
                                   RefusedLine{"PRMT.B4E R10, R11, R12, R13", "'.B4E' of PRMT"},
                                   RefusedLine{"SHF.L.U32 R10, -R11, R12, RZ", "'-' of operand '-R11'"},
                                   RefusedLine{"SHF.L.U32 R10, R11, R12, ~R13", "'~' of operand '~R13'"},
                                   RefusedLine{"POPC P0, R11", "operand 'P0' as a result"},
                                   RefusedLine{"BREV R10", "with 1 operands"}}) {
        CAPTURE(own.line);
        CHECK(has_parts(refusal_of(own.line), {own.line, own.part}));
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
