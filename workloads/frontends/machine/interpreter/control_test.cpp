// Tests of computed jumps and calls, of what exits, and of control flow that is refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::size_t lanes = 32;
constexpr std::uint32_t code_window_high = static_cast<std::uint32_t>(code_window >> 32U);
static_assert(static_cast<std::uint32_t>(code_window) == 0);

TEST_CASE("a relative jump adds the pair of registers, its offset and its own place") {
    // Case c of 6 sits at 2 c instructions behind the one after the jump; the offset takes two cases off.
    for (const int offset : {0, -0x40, 0x20}) {
        CAPTURE(offset);
        std::vector<std::string> body{fmt::format("IMAD R30, R10, 0x20, RZ"),
                                      fmt::format("IADD3 R30, P0, R30, {}, RZ", -offset),
                                      fmt::format("IADD3.X R31, RZ, {}, RZ, P0, !PT", offset > 0 ? -1 : 0),
                                      "BSSY B0, `(join)", fmt::format("BRX R30 {}", offset)};
        for (int i = 0; i < 6; ++i) {
            body.push_back(fmt::format("MOV R20, {:#x}", 500 + i));
            body.emplace_back("BRA `(join)");
        }
        body.insert(body.end(), {"join:", "BSYNC B0", "VOTE.ANY R21, PT, PT"});
        const LaneProgram program(body, {"R10"}, {"R20", "R21"});
        CHECK(rc::check("cases", [&program] {
            const Words cases = some_words(any_below(6));
            const std::vector<Words> results = program({cases});
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                RC_ASSERT(results[0][lane] == 500 + cases[lane]);
                RC_ASSERT(results[1][lane] == 0xffffffffU);
            }
        }));
    }
}

TEST_CASE("a jump backwards makes a loop that each lane leaves on its own") {
    // R30 and R31 are -0x40: four instructions before the one behind BRX.
    const LaneProgram program({"MOV R30, -0x40", "MOV R31, -0x1", "MOV R20, RZ", "BSSY B0, `(join)",
                               "IADD3 R20, R20, R10, RZ", "IADD3 R10, R10, -0x1, RZ",
                               "ISETP.GT.AND P0, PT, R10, RZ, PT", "@P0 BRX R30 0x0", "join:", "BSYNC B0"},
                              {"R10"}, {"R20"});
    CHECK(rc::check("sums from n to 1", [&program] {
        const Words n = some_words(any_below(12));
        const Words sums = program({n})[0];
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(sums[lane] == n[lane] * (n[lane] + 1) / 2);
        }
    }));
}

TEST_CASE("lanes call functions by their addresses and return to where they came from") {
    const LaneProgram program(
        {"BSSY B0, `(join)", fmt::format("MOV R31, {:#x}", code_window_high),
         fmt::format("MOV R33, {:#x}", code_window_high), "MOV R30, `(back)", "MOV R32, `(twice)",
         "@P0 MOV R32, `(square)", "CALL.ABS.NOINC R32", "back:", "IADD3 R20, R20, 0x1, RZ", "BRA `(join)",
         "twice:", "IADD3 R20, R10, R10, RZ", "RET.ABS.NODEC R30 0x0", "square:", "IMAD R20, R10, R10, RZ",
         "RET.ABS.NODEC R30 0x0", "join:", "BSYNC B0", "VOTE.ANY R21, PT, PT"},
        {"R10", "P0"}, {"R20", "R21"});
    CHECK(rc::check("two functions", [&program] {
        const Words value = some_words(any_word());
        const Words squares = some_words(any_flag());
        const std::vector<Words> results = program({value, squares});
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::uint32_t v = value[lane];
            RC_ASSERT(results[0][lane] == (squares[lane] != 0 ? v * v : v + v) + 1);
            RC_ASSERT(results[1][lane] == 0xffffffffU);
        }
    }));
}

TEST_CASE("a jump between instructions or out of the window of code names its thread") {
    const auto error = [](const std::string& low, const std::string& high, const std::string& jump) {
        // Thread 5 alone jumps.
        const Program program({"S2R R0, SR_TID.X", "ISETP.EQ.AND P0, PT, R0, 0x5, PT", "MOV R10, " + low,
                               "MOV R11, " + high, "@P0 " + jump});
        return program.error(one_cta(lanes));
    };
    const std::string window = fmt::format("{:#x}", code_window_high);
    CHECK(error("0x50", window, "JMX R10 0x0").empty());
    CHECK(error("0x0", "0x0", "BRX R10 0x0").empty());
    for (const std::string& message :
         {error("0x58", window, "JMX R10 0x0"), error("0x50", window, "JMX R10 0x4"),
          error("0x50", "0x0", "JMX R10 0x0"), error("0x8", "0x0", "BRX R10 0x0"),
          error("-0x60", "-0x1", "BRX R10 0x0")}) {
        CAPTURE(message);
        CHECK(has_parts(message, {"a jump to no instruction", "thread (5, 0, 0)", "kernel test"}));
    }
}

TEST_CASE("a jump beyond the end of the code, or before its begin, names its target") {
    const auto error = [](const std::string& low, const std::string& high, const std::string& jump) {
        // Thread 5 alone jumps; the code ends behind EXIT at 0x60.
        const Program program({"S2R R0, SR_TID.X", "ISETP.EQ.AND P0, PT, R0, 0x5, PT", "MOV R10, " + low,
                               "MOV R11, " + high, "@P0 " + jump, "NOP"});
        return program.error(one_cta(lanes));
    };
    struct Case {
        std::string low;
        std::string high;
        std::string jump;
        std::int64_t target;  ///< bytes from the start of the code; 0x60 is the last instruction
    };
    const std::string window = fmt::format("{:#x}", code_window_high);
    for (const std::string jump : {"BRA 0x60", "JMP 0x60", "CALL.REL.NOINC 0x60"}) {
        CHECK(error("0x0", "0x0", jump).empty());
    }
    CHECK(error("0x60", window, "JMX R10 0x0").empty());
    CHECK(error("0x10", "0x0", "BRX R10 0x0").empty());
    for (const Case& own :
         {Case{"0x0", "0x0", "BRA 0x70", 0x70}, Case{"0x0", "0x0", "BRA P0, 0x70", 0x70},
          Case{"0x0", "0x0", "BRA.ANY 0x170", 0x170}, Case{"0x0", "0x0", "JMP 0x10000", 0x10000},
          Case{"0x0", "0x0", "CALL.REL.NOINC 0x80", 0x80}, Case{"0x70", window, "JMX R10 0x0", 0x70},
          Case{"0x60", window, "RET.ABS.NODEC R10 0x20", 0x80},
          Case{"0x60", window, "CALL.ABS.NOINC R10 0x10", 0x70},
          Case{"0x0", "0x1", "BRX R10 0x0", 0x1'0000'0050},
          Case{"0x0", "0x10", "BRX R10 0x0", 0x10'0000'0050}, Case{"0x20", "0x0", "BRX R10 0x0", 0x70},
          Case{"-0x60", "-0x1", "BRX R10 0x0", -0x10}}) {
        CAPTURE(own.jump);
        const std::string message = error(own.low, own.high, own.jump);
        CAPTURE(message);
        const std::uint64_t address = code_window + static_cast<std::uint64_t>(own.target);
        CHECK(has_parts(message,
                        {fmt::format("a jump to no instruction: target {:#x}, ", address),
                         fmt::format("to {:#x} in", code_window + 0x70), "kernel test at 0x40", own.jump}));
        // All lanes take a BRA.ANY that one is enabled for.
        CHECK(has_parts(message, {own.jump == "BRA.ANY 0x170" ? "thread (0, 0, 0)" : "thread (5, 0, 0)"}));
    }
}

TEST_CASE("lanes whose guard fails go on behind a jump") {
    const LaneProgram program(
        {"MOV R20, 0x1", "MOV R30, RZ", "MOV R31, RZ", "BSSY B0, `(join)", "@P0 CALL.REL.NOINC `(far)",
         "MOV R20, 0x2", "BRA `(join)", "far:", "MOV R20, 0x3", "join:", "BSYNC B0"},
        {"P0"}, {"R20"});
    CHECK(rc::check("two ways", [&program] {
        const Words calls = some_words(any_flag());
        const Words results = program({calls})[0];
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(results[lane] == (calls[lane] != 0 ? 3U : 2U));
        }
    }));
}

TEST_CASE("lanes that are killed or exit store nothing behind it, the others do") {
    for (const std::string opcode : {"EXIT", "KILL"}) {
        CAPTURE(opcode);
        const LaneProgram program({"@P0 " + opcode, "MOV R20, 0x7"}, {"P0"}, {"R20"});
        CHECK(rc::check("the others", [&program] {
            const Words leaves = some_words(any_flag());
            const Words results = program({leaves})[0];
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                RC_ASSERT(results[lane] == (leaves[lane] != 0 ? 0U : 7U));
            }
        }));
    }
}

TEST_CASE("an exit with a predicate of its own lets go only the lanes for which guard and predicate hold") {
    const LaneProgram program({"@P0 EXIT P1", "MOV R20, 0x7"}, {"P0", "P1"}, {"R20"});
    const LaneProgram otherwise({"@!P0 EXIT !P1", "MOV R20, 0x7"}, {"P0", "P1"}, {"R20"});
    CHECK(rc::check("two flags", [&] {
        const Words guard = some_words(any_flag()), own = some_words(any_flag());
        const Words results = program({guard, own})[0], inverted = otherwise({guard, own})[0];
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(results[lane] == (guard[lane] != 0 && own[lane] != 0 ? 0U : 7U));
            RC_ASSERT(inverted[lane] == (guard[lane] == 0 && own[lane] == 0 ? 0U : 7U));
        }
    }));
}

TEST_CASE("a barrier that no lane's guard lets through neither begins nor ends") {
    // B0 is not set again by the guarded BSSY, so that its lanes still meet at the end; the guarded BSYNC in
    // the branch would wait for the others for ever.
    const LaneProgram program(
        {"ISETP.NE.AND P1, PT, RZ, RZ, PT", "BSSY B0, `(join)", "@P0 BRA `(join)", "@P1 BSSY B0, `(join)",
         "@P1 BSYNC B0", "MOV R20, 0x5", "join:", "BSYNC B0", "VOTE.ANY R21, PT, PT"},
        {"P0", "R20"}, {"R20", "R21"});
    CHECK(rc::check("all meet", [&program] {
        const Words skips = some_words(any_flag());
        const std::vector<Words> results = program({skips, Words(lanes, 3)});
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(results[0][lane] == (skips[lane] != 0 ? 3U : 5U));
            RC_ASSERT(results[1][lane] == 0xffffffffU);
        }
    }));
}

TEST_CASE("nested barriers bring back the lanes that each was set for") {
    const LaneProgram program(
        {"BSSY B3, `(outer)", "@P0 BRA `(outer)", "BSSY B7, `(inner)", "@P1 BRA `(inner)", "NOP",
         "inner:", "BSYNC B7", "VOTE.ANY R20, PT, PT", "outer:", "BSYNC B3", "VOTE.ANY R21, PT, PT"},
        {"P0", "P1", "R20"}, {"R20", "R21"});
    CHECK(rc::check("masks", [&program] {
        const Words first = some_words(any_flag());
        const Words second = some_words(any_flag());
        const std::vector<Words> results = program({first, second, Words(lanes, 0)});
        std::uint32_t within = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            within |= (first[lane] ^ 1U) << lane;
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(results[0][lane] == (first[lane] != 0 ? 0U : within));
            RC_ASSERT(results[1][lane] == 0xffffffffU);
        }
    }));
}

TEST_CASE("forms of control flow that are not known are refused with their text") {
    for (const RefusedLine& own : {RefusedLine{"BREAK P0, B0", "BREAK with a predicate"},
                                   RefusedLine{"WARPSYNC.SHARED R10", "WARPSYNC.SHARED"},
                                   RefusedLine{"BSSY R10, 0x20", "a convergence barrier expected"},
                                   RefusedLine{"BSYNC P0", "a convergence barrier expected"},
                                   RefusedLine{"BMOV.32 R10, R11", "a convergence barrier expected"},
                                   RefusedLine{"BRA R10", "operand 'R10' as a place in the code"},
                                   RefusedLine{"JMX P0 0x0", "operand 'P0' as a number"}}) {
        CAPTURE(own.line);
        const Program program({own.line});
        CHECK(has_parts(refusal_of(own.line), {"instruction at 0x0", own.line, own.part}));
        CHECK(has_parts(program.error(one_cta(1)), {own.part, "kernel test at 0x0"}));
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
