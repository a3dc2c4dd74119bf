// Tests of groups of lanes: random structured programs against a mask machine on the host, and each way by
// which lanes part and meet.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::size_t lanes = 32;

/// A statement of a structured program on one value a lane (R20).
struct Statement {
    enum class Kind : std::uint8_t {
        fold,    ///< value = 5 value + active lanes + constant
        branch,  ///< on a bit of the value
        loop,    ///< as often as two bits of the value say
        leave    ///< lanes with three bits of the value set store it and exit
    };
    Kind kind = Kind::fold;
    std::uint32_t constant = 0;
    unsigned bit = 0;
    std::vector<Statement> first, second;
};

std::vector<Statement> random_block(int depth);

Statement random_statement(int depth) {
    Statement statement;
    const std::uint32_t kind = random_below(depth > 0 ? 8 : 4);
    statement.constant = random_below(1000);
    statement.bit = random_below(29);
    if (kind >= 6) {
        statement.kind = Statement::Kind::loop;
        statement.first = random_block(depth - 1);
    } else if (kind >= 4) {
        statement.kind = Statement::Kind::branch;
        statement.first = random_block(depth - 1);
        statement.second = random_block(depth - 1);
    } else if (kind == 3) {
        statement.kind = Statement::Kind::leave;
    }
    return statement;
}
std::vector<Statement> random_block(int depth) {
    std::vector<Statement> block;
    const std::uint32_t count = random_below(4);
    for (std::uint32_t i = 0; i < count; ++i) {
        block.push_back(random_statement(depth));
    }
    return block;
}

/// Lines of a block, which uses convergence barrier `depth` and loop counter R40 + depth.
void write_lines(const std::vector<Statement>& block, int depth, int& labels,
                 std::vector<std::string>& lines) {
    for (const Statement& statement : block) {
        const int label = labels++;
        switch (statement.kind) {
            case Statement::Kind::fold:
                lines.emplace_back("VOTE.ANY R22, PT, PT");
                lines.push_back(fmt::format("IADD3 R22, R22, {:#x}, RZ", statement.constant));
                lines.emplace_back("IMAD R20, R20, 0x5, R22");
                break;
            case Statement::Kind::leave:
                lines.push_back(fmt::format("LOP3.LUT R21, R20, {:#x}, RZ, 0xc0, !PT", 7U << statement.bit));
                lines.push_back(fmt::format("ISETP.EQ.U32.AND P1, PT, R21, {:#x}, PT", 7U << statement.bit));
                lines.emplace_back("@P1 STG.E desc[UR4][R30.64], R20");
                lines.emplace_back("@P1 EXIT");
                break;
            case Statement::Kind::branch:
                lines.push_back(
                    fmt::format("LOP3.LUT P1, RZ, R20, {:#x}, RZ, 0xc0, !PT", 1U << statement.bit));
                lines.push_back(fmt::format("BSSY B{}, `(join{})", depth, label));
                lines.push_back(fmt::format("@P1 BRA `(then{})", label));
                write_lines(statement.second, depth + 1, labels, lines);
                lines.push_back(fmt::format("BRA `(join{})", label));
                lines.push_back(fmt::format("then{}:", label));
                write_lines(statement.first, depth + 1, labels, lines);
                lines.push_back(fmt::format("join{}:", label));
                lines.push_back(fmt::format("BSYNC B{}", depth));
                break;
            case Statement::Kind::loop:
                lines.push_back(fmt::format("SHF.R.U32.HI R21, RZ, {:#x}, R20", statement.bit));
                lines.push_back(fmt::format("LOP3.LUT R{}, R21, 0x3, RZ, 0xc0, !PT", 40 + depth));
                lines.push_back(fmt::format("BSSY B{}, `(join{})", depth, label));
                lines.push_back(fmt::format("ISETP.EQ.U32.AND P1, PT, R{}, RZ, PT", 40 + depth));
                lines.push_back(fmt::format("@P1 BRA `(join{})", label));
                lines.push_back(fmt::format("loop{}:", label));
                write_lines(statement.first, depth + 1, labels, lines);
                lines.push_back(fmt::format("IADD3 R{0}, R{0}, -0x1, RZ", 40 + depth));
                lines.push_back(fmt::format("ISETP.NE.U32.AND P1, PT, R{}, RZ, PT", 40 + depth));
                lines.push_back(fmt::format("@P1 BRA `(loop{})", label));
                lines.push_back(fmt::format("join{}:", label));
                lines.push_back(fmt::format("BSYNC B{}", depth));
                break;
        }
    }
}

/// The same on the host: blocks run for a mask of lanes, of which some exit. Gives the lanes that go on.
std::uint32_t run_block(const std::vector<Statement>& block, std::uint32_t mask, Words& value) {
    const auto those = [&value](std::uint32_t of, auto condition) {
        std::uint32_t result = 0;
        for (unsigned lane = 0; lane < lanes; ++lane) {
            result |= ((of >> lane) & 1U) != 0 && condition(value[lane], lane) ? 1U << lane : 0U;
        }
        return result;
    };
    for (const Statement& statement : block) {
        const unsigned bit = statement.bit;
        if (mask == 0) {
            return 0;
        }
        switch (statement.kind) {
            case Statement::Kind::fold:
                for (unsigned lane = 0; lane < lanes; ++lane) {
                    if (((mask >> lane) & 1U) != 0) {
                        value[lane] = 5 * value[lane] + mask + statement.constant;
                    }
                }
                break;
            case Statement::Kind::leave:
                mask &= ~those(mask, [bit](std::uint32_t v, unsigned) { return ((v >> bit) & 7U) == 7U; });
                break;
            case Statement::Kind::branch: {
                const std::uint32_t taken =
                    those(mask, [bit](std::uint32_t v, unsigned) { return ((v >> bit) & 1U) != 0; });
                mask = run_block(statement.first, taken, value) |
                       run_block(statement.second, mask & ~taken, value);
                break;
            }
            case Statement::Kind::loop: {
                Words trips(lanes);
                for (unsigned lane = 0; lane < lanes; ++lane) {
                    trips[lane] = (value[lane] >> bit) & 3U;
                }
                std::uint32_t done =
                    those(mask, [&trips](std::uint32_t, unsigned lane) { return trips[lane] == 0; });
                std::uint32_t inside = mask & ~done;
                for (std::uint32_t trip = 1; inside != 0; ++trip) {
                    inside = run_block(statement.first, inside, value);
                    const std::uint32_t ends = those(
                        inside, [&trips, trip](std::uint32_t, unsigned lane) { return trips[lane] == trip; });
                    done |= ends;
                    inside &= ~ends;
                }
                mask = done;
                break;
            }
        }
    }
    return mask;
}

TEST_CASE("nested branches, loops and exits run with the lanes that a mask machine gives them") {
    CHECK(rc::check("structured programs", [] {
        const std::vector<Statement> block = random_block(3);
        std::vector<std::string> lines{"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]",
                                       "IMAD.WIDE.U32 R30, R0, 0x4, c[0x0][0x218]",
                                       "LDG.E R20, desc[UR4][R2.64]"};
        int labels = 0;
        write_lines(block, 0, labels, lines);
        lines.emplace_back("VOTE.ANY R22, PT, PT");
        lines.emplace_back("IADD3 R20, R20, R22, RZ");
        lines.emplace_back("STG.E desc[UR4][R30.64], R20");
        ProgramOptions options;
        options.parameters = 2;
        const Program program(lines, options);
        Words value = some_words(any_word());
        const Buffer given(value);
        const Buffer results(Words(lanes, 0));
        const LaunchCounts counts = program.run(one_cta(lanes), {given.address(), results.address()});
        RC_ASSERT(counts.error == "");
        const std::uint32_t rest = run_block(block, 0xffffffffU, value);
        for (unsigned lane = 0; lane < lanes; ++lane) {
            value[lane] += ((rest >> lane) & 1U) != 0 ? rest : 0U;
        }
        RC_ASSERT(results.words() == value);
    }));
}

TEST_CASE("the lanes of a branch run one side after the other and meet at BSYNC") {
    const LaneProgram program({"BSSY B0, `(join)", "@P0 BRA `(then)", "VOTE.ANY R20, PT, PT", "BRA `(join)",
                               "then:", "VOTE.ANY R20, PT, PT", "join:", "BSYNC B0", "VOTE.ANY R21, PT, PT"},
                              {"P0"}, {"R20", "R21"});
    CHECK(rc::check("masks of both sides", [&program] {
        const Words guard = some_words(any_flag());
        std::uint32_t taken = 0;
        for (unsigned lane = 0; lane < lanes; ++lane) {
            taken |= guard[lane] << lane;
        }
        const std::vector<Words> results = program({guard});
        for (unsigned lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(results[0][lane] == (guard[lane] != 0 ? taken : ~taken));
            RC_ASSERT(results[1][lane] == 0xffffffffU);
        }
    }));
}

TEST_CASE("a loop is counted once for each trip that any lane makes, and by its lanes") {
    const std::vector<std::string> lines{"S2R R0, SR_TID.X",
                                         "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]",
                                         "LDG.E R10, desc[UR4][R2.64]",
                                         "BSSY B0, `(join)",
                                         "loop:",
                                         "IADD3 R10, R10, -0x1, RZ",
                                         "ISETP.GT.AND P0, PT, R10, RZ, PT",
                                         "@P0 BRA `(loop)",
                                         "join:",
                                         "BSYNC B0",
                                         "NOP"};
    ProgramOptions options;
    options.parameters = 1;
    const Program program(lines, options);
    CHECK(rc::check("trips", [&program] {
        const Words trips =
            some_words(rc::gen::map(any_below(49), [](std::uint32_t below) { return below + 1; }));
        const Buffer given(trips);
        const LaunchCounts counts = program.run(one_cta(lanes), {given.address()});
        RC_ASSERT(counts.error == "");
        std::uint64_t most = 0, sum = 0;
        for (const std::uint32_t trip : trips) {
            most = std::max<std::uint64_t>(most, trip);
            sum += trip;
        }
        RC_ASSERT(counts.instructions[4].warps == most);
        RC_ASSERT(counts.instructions[4].threads == sum);
        RC_ASSERT(counts.instructions[6].enabled_threads == sum - lanes);
        // Behind the barrier all are together.
        RC_ASSERT(counts.instructions[8].warps == 1U);
        RC_ASSERT(counts.instructions[8].threads == lanes);
    }));
}

TEST_CASE("lanes that break out of a barrier are not waited for, though they live") {
    // Those that leave wait for the others behind the barrier.
    const LaneProgram before(
        {"MOV R20, RZ", "BSSY B0, `(join)", "@P0 BREAK B0", "@P0 BRA `(out)", "join:", "BSYNC B0",
         "VOTE.ANY R20, PT, PT", "out:", "WARPSYNC.ALL", "VOTE.ANY R21, PT, PT"},
        {"P0"}, {"R20", "R21"});
    // The same where the others stand at the barrier already.
    const LaneProgram after(
        {"MOV R20, RZ", "BSSY B0, `(join)", "@!P0 BRA `(join)", "BREAK B0", "BRA `(out)", "join:", "BSYNC B0",
         "VOTE.ANY R20, PT, PT", "out:", "WARPSYNC.ALL", "VOTE.ANY R21, PT, PT"},
        {"P0"}, {"R20", "R21"});
    CHECK(rc::check("those that stay", [&] {
        const Words guard = some_words(any_flag());
        std::uint32_t stay = 0;
        for (unsigned lane = 0; lane < lanes; ++lane) {
            stay |= (1U - guard[lane]) << lane;
        }
        for (const LaneProgram* const program : {&before, &after}) {
            const std::vector<Words> results = (*program)({guard});
            for (unsigned lane = 0; lane < lanes; ++lane) {
                RC_ASSERT(results[0][lane] == (guard[lane] != 0 ? 0U : stay));
            }
            RC_ASSERT(results[1] == Words(lanes, 0xffffffffU));
        }
    }));
}

TEST_CASE("a convergence barrier survives a trip through a register") {
    const LaneProgram program(
        {"BSSY B0, `(join)", "BMOV.32.CLEAR R30, B0", "BSSY B0, `(other)", "other:", "BSYNC B0",
         "BMOV.32 B0, R30", "@P0 BRA `(join)", "NOP", "join:", "BSYNC B0", "VOTE.ANY R20, PT, PT"},
        {"P0"}, {"R20", "R30"});
    Words guard(lanes);
    guard[3] = 1;
    guard[30] = 1;
    const std::vector<Words> results = program({guard});
    CHECK(results[0] == Words(lanes, 0xffffffffU));
    CHECK(results[1] == Words(lanes, 0xffffffffU));
}

TEST_CASE("frames of a recursion wait at the same instruction, each for its own lanes") {
    // Even lanes go one frame deeper, where multiples of four wait for the others of them. Odd lanes wait
    // outside.
    const LaneProgram program({"MOV R12, RZ",
                               "MOV R20, RZ",
                               "LOP3.LUT R8, R0, 0x1, RZ, 0xc0, !PT",
                               "ISETP.NE.U32.AND P0, PT, R8, RZ, PT",
                               "BSSY B0, `(join)",
                               "@P0 BRA `(join)",
                               "BMOV.32.CLEAR R11, B0",
                               "MOV R12, 0x1",
                               "BSSY B0, `(join)",
                               "LOP3.LUT R8, R0, 0x3, RZ, 0xc0, !PT",
                               "ISETP.EQ.U32.AND P0, PT, R8, RZ, PT",
                               "@P0 BRA `(join)",
                               "IADD3 R20, R20, 0x64, RZ",
                               "join:",
                               "BSYNC B0",
                               "ISETP.EQ.U32.AND P0, PT, R12, RZ, PT",
                               "@P0 BRA `(end)",
                               "VOTE.ANY R21, PT, PT",
                               "MOV R12, RZ",
                               "BMOV.32 B0, R11",
                               "BRA `(join)",
                               "end:",
                               "VOTE.ANY R22, PT, PT"},
                              {}, {"R20", "R21", "R22"});
    const std::vector<Words> got = program({});
    for (std::size_t lane = 0; lane < 32; ++lane) {
        CHECK(got[0][lane] == (lane % 4 == 2 ? 100U : 0U));
        if (lane % 2 == 0) CHECK(got[1][lane] == 0x55555555U);
        CHECK(got[2][lane] == 0xffffffffU);
    }
}

TEST_CASE("WARPSYNC brings lanes together wherever they come from") {
    for (const std::string sync : {"WARPSYNC.ALL", "WARPSYNC R11"}) {
        const LaneProgram program(
            {"MOV R11, 0xffffffff", "@P0 BRA `(meet)", "NOP", "meet:", sync, "VOTE.ANY R20, PT, PT"}, {"P0"},
            {"R20"});
        Words guard(lanes);
        for (std::size_t lane = 0; lane < lanes; lane += 3) {
            guard[lane] = 1;
        }
        CHECK(program({guard})[0] == Words(lanes, 0xffffffffU));
    }
    // Only the lanes named wait for each other.
    const LaneProgram program({"MOV R11, 0x0000ffff", "@P0 BRA `(meet)", "MOV R11, 0xffff0000",
                               "meet:", "WARPSYNC R11", "VOTE.ANY R20, PT, PT"},
                              {"P0"}, {"R20"});
    Words guard(lanes);
    std::fill(guard.begin(), guard.begin() + 16, 1U);
    const Words results = program({guard})[0];
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        CHECK(results[lane] == (lane < 16 ? 0x0000ffffU : 0xffff0000U));
    }
}

TEST_CASE("WARPSYNC.EXCLUSIVE lets lanes of one mask go on alone, though others stand beside them") {
    // All lanes are together when they name their masks, in whatever parts.
    const LaneProgram together({"WARPSYNC.EXCLUSIVE R10", "VOTE.ANY R20, PT, PT"}, {"R10"}, {"R20"});
    // Those with a flag come by another way.
    const LaneProgram apart(
        {"@P0 BRA `(meet)", "NOP", "meet:", "WARPSYNC.EXCLUSIVE R10", "VOTE.ANY R20, PT, PT"}, {"R10", "P0"},
        {"R20"});
    CHECK(rc::check("parts of a warp", [&] {
        const Words part = some_words(any_below(3));
        const Words guard = some_words(any_flag());
        std::array<std::uint32_t, 3> masks{};
        for (unsigned lane = 0; lane < lanes; ++lane) {
            masks.at(part[lane]) |= 1U << lane;
        }
        Words named(lanes);
        for (unsigned lane = 0; lane < lanes; ++lane) {
            named[lane] = masks.at(part[lane]);
        }
        RC_ASSERT(together({named})[0] == named);
        RC_ASSERT(apart({named, guard})[0] == named);
    }));
}

TEST_CASE("a branch with its own predicate, and one that any lane decides") {
    const LaneProgram own({"MOV R20, 0x1", "BRA P0, `(over)", "MOV R20, 0x2", "over:", "NOP"}, {"P0"},
                          {"R20"});
    const LaneProgram any({"MOV R20, 0x1", "@P0 BRA.ANY `(over)", "MOV R20, 0x2", "over:", "NOP"}, {"P0"},
                          {"R20"});
    Words guard(lanes);
    CHECK(any({guard})[0] == Words(lanes, 2));
    guard[11] = 1;
    CHECK(any({guard})[0] == Words(lanes, 1));
    Words expected(lanes, 2);
    expected[11] = 1;
    CHECK(own({guard})[0] == expected);
}

TEST_CASE("a branch may ask whether the lanes of a mask are together") {
    for (const bool when_together : {false, true}) {
        const std::string branch = when_together ? "BRA.CONV R11, `(over)" : "BRA.DIV R11, `(over)";
        const LaneProgram program({"MOV R20, 0x1", branch, "MOV R20, 0x2", "over:", "NOP"}, {"R11"}, {"R20"});
        CHECK(program({Words(lanes, 0xffffffffU)})[0] == Words(lanes, when_together ? 1 : 2));
        const LaneProgram parted({"BSSY B0, `(join)", "@P0 BRA `(join)", "MOV R20, 0x1", branch,
                                  "MOV R20, 0x2", "over:", "NOP", "join:", "BSYNC B0"},
                                 {"R11", "P0", "R20"}, {"R20"});
        Words guard(lanes), expected(lanes, 9);
        std::fill(guard.begin(), guard.begin() + 16, 1U);
        // The upper half asks for itself, then for all.
        std::fill(expected.begin() + 16, expected.end(), when_together ? 1U : 2U);
        CHECK(parted({Words(lanes, 0xffff0000U), guard, Words(lanes, 9)})[0] == expected);
        std::fill(expected.begin() + 16, expected.end(), when_together ? 2U : 1U);
        CHECK(parted({Words(lanes, 0xffff0001U), guard, Words(lanes, 9)})[0] == expected);
    }
}

TEST_CASE("lanes jump through a table, each to its own case") {
    std::vector<std::string> body{"IMAD.SHL.U32 R30, R10, 0x20, RZ",
                                  "MOV R31, RZ",
                                  "BSSY B0, `(join)",
                                  "@P0 BRX R30 0x0",
                                  "MOV R20, 0x7b",
                                  "BRA `(join)"};
    for (int i = 0; i < 5; ++i) {
        body.push_back(fmt::format("MOV R20, {:#x}", 100 + i));
        body.emplace_back("BRA `(join)");
    }
    body.insert(body.end(), {"join:", "BSYNC B0", "VOTE.ANY R21, PT, PT"});
    const LaneProgram program(body, {"R10", "P0"}, {"R20", "R21"});
    CHECK(rc::check("cases", [&program] {
        // Case 0 is the one of lanes that do not jump.
        const Words cases = some_words(any_below(6)), jumps = some_words(any_flag());
        const std::vector<Words> results = program({cases, jumps});
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const bool named = jumps[lane] != 0 && cases[lane] != 0;
            RC_ASSERT(results[0][lane] == (named ? 99 + cases[lane] : 0x7bU));
            RC_ASSERT(results[1][lane] == 0xffffffffU);
        }
    }));
}

TEST_CASE("calls return to where each lane came from") {
    const LaneProgram program(
        {"MOV R31, RZ", "BSSY B0, `(join)", "@P0 BRA `(second)", "MOV R30, `(back1)",
         "CALL.REL.NOINC `(square)", "back1:", "IADD3 R20, R20, 0x1, RZ", "BRA `(join)",
         "second:", "MOV R30, `(back2)", "CALL.REL.NOINC `(square)", "back2:", "IADD3 R20, R20, 0x2, RZ",
         "BRA `(join)", "square:", "IMAD R20, R10, R10, RZ", "RET.REL.NODEC R30 0x0", "join:", "BSYNC B0"},
        {"R10", "P0"}, {"R20"});
    CHECK(rc::check("squares", [&program] {
        const Words value = some_words(any_word());
        const Words guard = some_words(any_flag());
        const Words results = program({value, guard})[0];
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(results[lane] == value[lane] * value[lane] + 1 + guard[lane]);
        }
    }));
}

TEST_CASE("lanes that exit in a branch are not waited for") {
    const LaneProgram program(
        {"BSSY B0, `(join)", "@!P0 BRA `(join)", "EXIT", "join:", "BSYNC B0", "VOTE.ANY R20, PT, PT"}, {"P0"},
        {"R20"});
    CHECK(rc::check("the rest goes on", [&program] {
        const Words guard = some_words(any_flag());
        const Words results = program({guard})[0];
        std::uint32_t stay = 0;
        for (unsigned lane = 0; lane < lanes; ++lane) {
            stay |= (1U - guard[lane]) << lane;
        }
        for (unsigned lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(results[lane] == (guard[lane] != 0 ? 0U : stay));
        }
    }));
}

TEST_CASE("lanes that wait for each other at different barriers are a deadlock that is named") {
    const Program program({"S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x4, PT", "BSSY B0, `(first)",
                           "BSSY B1, `(second)", "@P0 BRA `(second)", "first:", "BSYNC B0", "BRA `(end)",
                           "second:", "BSYNC B1", "end:", "NOP"});
    const std::string message = program.error(one_cta(lanes));
    CHECK(has_parts(message, {"a deadlock: lanes", "0x0000000f", "0xfffffff0", "kernel test", "BSYNC"}));
}

TEST_CASE("a trap ends the launch where a lane comes to it, and a jump must go to an instruction") {
    const Program program({"S2R R0, SR_TID.X", "ISETP.EQ.AND P0, PT, R0, 0x6, PT", "@P0 BPT.TRAP 0x1"});
    CHECK(has_parts(program.error(one_cta(lanes)), {"a trap", "thread (6, 0, 0)"}));
    CHECK(program.error(one_cta(4)).empty());
    const Program wild({"MOV R10, 0x1234", "MOV R11, RZ", "RET.ABS.NODEC R10 0x0"});
    CHECK(has_parts(wild.error(one_cta(lanes)), {"a jump to no instruction", "kernel test"}));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
