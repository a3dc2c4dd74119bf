// Tests of loops: found from the branches that warps took, nested, and counted round by round.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/loops.hpp"

#include "workloads/frontends/machine/lowering/traced_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

/// Code in which instruction i branches to instruction targets[i].
Program branches(const std::vector<std::uint32_t>& targets, const std::string& opcode = "BRA") {
    std::vector<std::string> lines;
    lines.reserve(targets.size());
    for (const std::uint32_t target : targets) {
        lines.push_back(fmt::format("{} {:#x}", opcode, 16 * target));
    }
    return Program(lines);
}

/// A warp that ran instruction `from` and then instruction `to`.
WarpTrace jump(std::uint32_t from, std::uint32_t to) {
    WarpTrace warp;
    warp.stretches = {{from, 1, all_lanes}, {to, 1, all_lanes}};
    return warp;
}

std::vector<CodeLoop> loops_of_jumps(const Program& program, const std::vector<WarpTrace>& warps) {
    std::vector<const WarpTrace*> pointers;
    for (const WarpTrace& warp : warps) {
        pointers.push_back(&warp);
    }
    return find_loops(program.code(), pointers);
}

bool inside(const CodeLoop& loop, std::uint32_t instruction) {
    return loop.first <= instruction && instruction <= loop.last;
}

TEST_CASE("loops that ran are found, and their rounds are products of trip counts") {
    CHECK(rc::check("two loops, one within the other", [] {
        const std::uint32_t outer = 1 + random_below(6);
        const std::uint32_t inner = 1 + random_below(6);
        const Program program(
            counted_loop("outer", 10, std::to_string(outer),
                         counted_loop("inner", 11, std::to_string(inner), {"IADD3 R12, R12, 0x1, RZ"})));
        const TracedRun run(program, one_cta(32));
        const std::vector<CodeLoop> loops = find_loops(program.code(), run.warps());
        // A loop that went round once has not branched back.
        RC_ASSERT(loops.size() == (outer > 1 ? 1U : 0U) + (inner > 1 ? 1U : 0U));
        const std::vector<LoopRounds> rounds = rounds_of(loops, *run.warps().front());
        if (outer > 1) {
            RC_ASSERT(loops[0].first == 1);
            RC_ASSERT(loops[0].last == 8);
            RC_ASSERT(loops[0].parent == -1);
            RC_ASSERT(loops[0].depth == 0);
            RC_ASSERT(rounds[0].entries == 1);
            RC_ASSERT(rounds[0].rounds == outer);
        }
        if (inner > 1) {
            RC_ASSERT(loops.back().first == 2);
            RC_ASSERT(loops.back().last == 5);
            RC_ASSERT(loops.back().depth == (outer > 1 ? 1 : 0));
            RC_ASSERT(loops.back().parent == (outer > 1 ? 0 : -1));
            RC_ASSERT(rounds.back().entries == outer);
            RC_ASSERT(rounds.back().rounds == outer * inner);
        }
    }));
}

TEST_CASE("lanes that leave a loop at different times make one entry of the longest run") {
    std::vector<std::string> lines{"S2R R0, SR_TID.X", "IADD3 R9, R0, 0x1, RZ", "BSSY B0, `(join)"};
    const std::vector<std::string> loop = counted_loop("loop", 10, "R9", {});
    lines.insert(lines.end(), loop.begin(), loop.end());
    lines.insert(lines.end(), {"join:", "BSYNC B0"});
    const Program program(lines);
    for (const std::uint32_t threads : {2U, 7U, 32U}) {
        CAPTURE(threads);
        const TracedRun run(program, one_cta(threads));
        const std::vector<CodeLoop> loops = find_loops(program.code(), run.warps());
        REQUIRE(loops.size() == 1);
        const std::vector<LoopRounds> rounds = rounds_of(loops, *run.warps().front());
        CHECK(rounds[0].entries == 1);
        CHECK(rounds[0].rounds == threads);
    }
}

TEST_CASE("any backward branches become loops that nest and hold their branches") {
    CHECK(rc::check("nests", [] {
        constexpr std::uint32_t instructions = 24;
        std::vector<std::uint32_t> targets(instructions);
        for (std::uint32_t& target : targets) {
            target = random_below(instructions);
        }
        const Program program = branches(targets);
        std::vector<WarpTrace> warps;
        std::vector<bool> header(instructions, false);
        for (std::uint32_t i = 0; i < 1 + random_below(8); ++i) {
            const std::uint32_t from = random_below(instructions);
            warps.push_back(jump(from, targets[from]));
            header[targets[from]] = header[targets[from]] || targets[from] <= from;
        }
        const std::vector<CodeLoop> loops = loops_of_jumps(program, warps);
        RC_ASSERT(static_cast<std::ptrdiff_t>(loops.size()) == std::ranges::count(header, true));
        for (std::size_t i = 0; i < loops.size(); ++i) {
            RC_ASSERT(header[loops[i].first]);
            RC_ASSERT((i == 0 || loops[i - 1].first < loops[i].first));
            int around = 0;
            int nearest = -1;
            for (std::size_t o = 0; o < loops.size(); ++o) {
                const bool holds_first = o != i && inside(loops[o], loops[i].first);
                // Loops nest: who holds the begin of another one holds its end.
                RC_ASSERT((!holds_first || inside(loops[o], loops[i].last)));
                around += holds_first ? 1 : 0;
                nearest = holds_first ? static_cast<int>(o) : nearest;  // Later headers are nearer.
            }
            RC_ASSERT(loops[i].depth == around);
            RC_ASSERT(loops[i].parent == nearest);
        }
        for (const WarpTrace& warp : warps) {
            const std::uint32_t from = warp.stretches[0].first;
            const std::uint32_t to = warp.stretches[1].first;
            if (to <= from) {
                const auto own = std::ranges::find(loops, to, &CodeLoop::first);
                RC_ASSERT(own != loops.end());
                RC_ASSERT(own->last >= from);
            }
        }
    }));
}

TEST_CASE("a loop is as long as its overlaps make it, through others as well") {
    // Branches 4 -> 1, 6 -> 3 and 8 -> 5.
    const Program program = branches({0, 0, 0, 0, 1, 0, 3, 0, 5, 0});
    const std::vector<CodeLoop> loops = loops_of_jumps(program, {jump(4, 1), jump(6, 3), jump(8, 5)});
    REQUIRE(loops.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(loops[i].first == 1 + 2 * i);
        CHECK(loops[i].last == 8);
        CHECK(loops[i].parent == static_cast<int>(i) - 1);
        CHECK(loops[i].depth == static_cast<int>(i));
    }
}

TEST_CASE("calls, and lanes that go on further back, make no loops") {
    const std::vector<WarpTrace> backward{jump(4, 1)};
    CHECK(loops_of_jumps(branches({0, 0, 0, 0, 1, 0}), backward).size() == 1);
    CHECK(loops_of_jumps(branches({0, 0, 0, 0, 1, 0}, "CALL.REL.NOINC"), backward).empty());
    // The branch leads elsewhere: other lanes of the warp went on.
    CHECK(loops_of_jumps(branches({0, 0, 0, 0, 5, 0}), backward).empty());
    CHECK(loops_of_jumps(branches({0, 0, 0, 0, 5, 0}), {jump(4, 5)}).empty());
}

TEST_CASE("the loop of an instruction is the shortest range that holds it") {
    const Program program = branches({0, 0, 0, 2, 0, 0, 5, 0, 1, 0, 0, 10, 0});
    const std::vector<CodeLoop> loops =
        loops_of_jumps(program, {jump(3, 2), jump(6, 5), jump(8, 1), jump(11, 10)});
    REQUIRE(loops.size() == 4);
    for (std::uint32_t instruction = 0; instruction < 14; ++instruction) {
        CAPTURE(instruction);
        int shortest = -1;
        for (std::size_t i = 0; i < loops.size(); ++i) {
            const bool better = shortest < 0 || loops[i].last - loops[i].first <
                                                    loops[static_cast<std::size_t>(shortest)].last -
                                                        loops[static_cast<std::size_t>(shortest)].first;
            shortest = inside(loops[i], instruction) && better ? static_cast<int>(i) : shortest;
        }
        CHECK(loop_of(loops, instruction) == shortest);
    }
}

TEST_CASE("rounds are numbered from 0 at every entry, and code out of line belongs to its round") {
    const std::vector<CodeLoop> loops{{2, 9, -1, 0}, {4, 6, 0, 1}};
    LoopPosition position(loops);
    struct Step {
        Stretch stretch;
        std::int64_t outer, inner;
    };
    const std::vector<Step> steps{
        {{0, 2, all_lanes}, -1, -1},  // before
        {{2, 5, all_lanes}, 0, 0},    // 2 to 6
        {{4, 3, all_lanes}, 0, 1},    // 4 to 6
        {{4, 1, all_lanes}, 0, 2},    // leaves for code out of line
        {{20, 2, all_lanes}, 0, 2},   // there
        {{5, 2, all_lanes}, 0, 2},    // back in the middle
        {{4, 6, all_lanes}, 0, 3},    // 4 to 9
        {{2, 5, all_lanes}, 1, 0},    // the outer loop's next round begins the inner one anew
        {{4, 6, all_lanes}, 1, 1},    // 4 to 9
        {{10, 3, all_lanes}, 1, 1},   // behind
        {{0, 3, all_lanes}, 0, 1},    // from before the loop: a new entry
        {{3, 2, all_lanes}, 0, 0},    // 3 to 4
        {{2, 5, all_lanes}, 1, 0},    // the next round, by the branch at 4
        {{12, 1, all_lanes}, 1, 0},   // behind
        {{2, 5, all_lanes}, 0, 0},    // straight to the header from there: a new entry
    };
    for (std::size_t i = 0; i < steps.size(); ++i) {
        CAPTURE(i);
        position.enter(steps[i].stretch);
        CHECK(position.round(0) == steps[i].outer);
        CHECK(position.round(1) == steps[i].inner);
    }
}

TEST_CASE("lanes that take turns stay in their rounds of a loop") {
    const std::vector<CodeLoop> loops{{2, 5, -1, 0}};
    constexpr Mask few = 0xffU, others = ~few;
    LoopPosition position(loops);
    struct Step {
        Stretch stretch;
        std::int64_t round;
    };
    const std::vector<Step> steps{
        {{0, 6, all_lanes}, 0},                                               // 0 to 5
        {{2, 4, all_lanes}, 1}, {{2, 4, others}, 2},                          // few have left
        {{6, 1, few}, 1},                                                     // and wait behind the loop
        {{2, 4, others}, 3},                                                  // the others go on
        {{2, 2, others}, 4},                                                  // 2 and 3
        {{6, 3, few}, 1},       {{4, 2, others}, 4},    {{2, 5, others}, 5},  // 2 to 6: all have left
        {{7, 3, all_lanes}, 1}, {{2, 4, all_lanes}, 0},  // a new entry, whatever the groups did before
    };
    for (std::size_t i = 0; i < steps.size(); ++i) {
        CAPTURE(i);
        position.enter(steps[i].stretch);
        CHECK(position.round(0) == steps[i].round);
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
