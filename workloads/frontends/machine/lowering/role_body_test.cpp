// Tests of roles: which warps belong together, how often they ran what, and in which loop it stands.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/role_body.hpp"

#include "workloads/frontends/machine/lowering/traced_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

using Lines = std::vector<std::string>;

RoleBodies bodies_of(const Program& program, const TracedRun& run) {
    return role_bodies(program.code(), run.counts(), run.trace());
}

LaunchShape launch(std::uint32_t ctas, std::uint32_t threads) {
    LaunchShape shape = one_cta(threads);
    shape.grid[0] = ctas;
    return shape;
}

/// The loop's number by instruction, over the whole tree. Throws for an instruction that stands twice.
void collect(const BodyLoop& loop, std::map<std::uint32_t, int>& found) {
    if (!std::ranges::is_sorted(loop.instructions)) {
        throw std::runtime_error("instructions out of order");
    }
    for (const std::uint32_t instruction : loop.instructions) {
        if (!found.emplace(instruction, loop.loop).second) {
            throw std::runtime_error(fmt::format("instruction {} stands twice", instruction));
        }
    }
    for (const BodyLoop& inner : loop.inner) {
        collect(inner, found);
    }
}

/// Warp w runs loop w of `loops` for two rounds, and no other.
Program loop_of_each_warp(int loops) {
    Lines lines{"S2R R0, SR_TID.X", "SHF.R.U32.HI R0, RZ, 0x5, R0"};
    for (int loop = 0; loop < loops; ++loop) {
        lines = joined({lines,
                        {fmt::format("ISETP.NE.AND P0, PT, R0, {:#x}, PT", loop),
                         fmt::format("@P0 BRA `(behind{})", loop)},
                        counted_loop(fmt::format("loop{}", loop), 10, "0x2", {}),
                        {fmt::format("behind{}:", loop)}});
    }
    return Program(lines);
}

TEST_CASE("warps that run the same loops are one role") {
    for (int loops = 1; loops <= 8; ++loops) {
        CAPTURE(loops);
        const Program program = loop_of_each_warp(loops);
        const RoleBodies bodies =
            bodies_of(program, TracedRun(program, launch(2, static_cast<std::uint32_t>(32 * loops))));
        REQUIRE(bodies.loops.size() == static_cast<std::size_t>(loops));
        REQUIRE(bodies.roles.size() == static_cast<std::size_t>(loops));
        for (int role = 0; role < loops; ++role) {
            const RoleBody& own = bodies.roles[static_cast<std::size_t>(role)];
            CHECK(own.warps == std::vector<int>{role});
            REQUIRE(own.body.inner.size() == 1);
            CHECK(own.body.inner[0].loop == role);
            CHECK(own.body.inner[0].entries == 1.0);
            CHECK(own.body.inner[0].rounds == 2.0);
        }
    }
    // Two more warps than loops: those that run none are a role, too.
    const Program program = loop_of_each_warp(2);
    const RoleBodies bodies = bodies_of(program, TracedRun(program, launch(1, 128)));
    REQUIRE(bodies.roles.size() == 3);
    CHECK(bodies.roles[2].warps == std::vector<int>{2, 3});
    CHECK(bodies.roles[2].body.inner.empty());
}

TEST_CASE("loops that other warps run in another CTA are of no role") {
    // Warp w of CTA c runs the first loop where c + w is even, and warp 1 of each runs the second.
    const Program program(joined({{"S2R R0, SR_TID.X", "SHF.R.U32.HI R0, RZ, 0x5, R0", "S2R R1, SR_CTAID.X",
                                   "IMAD.IADD R1, R0, 0x1, R1", "LOP3.LUT R1, R1, 0x1, RZ, 0xc0, !PT",
                                   "ISETP.NE.AND P0, PT, R1, RZ, PT", "@P0 BRA `(behind0)"},
                                  counted_loop("loop0", 10, "0x2", {}),
                                  {"behind0:", "ISETP.NE.AND P1, PT, R0, 0x1, PT", "@P1 BRA `(behind1)"},
                                  counted_loop("loop1", 12, "0x3", {}),
                                  {"behind1:"}}));
    const RoleBodies bodies = bodies_of(program, TracedRun(program, launch(6, 96)));
    REQUIRE(bodies.loops.size() == 2);
    REQUIRE(bodies.roles.size() == 2);
    CHECK(bodies.roles[0].warps == std::vector<int>{0, 2});
    CHECK(bodies.roles[1].warps == std::vector<int>{1});
    CHECK(bodies.roles[0].body.inner.size() == 1);
    REQUIRE(bodies.roles[1].body.inner.size() == 2);
    CHECK(bodies.roles[1].body.inner[1].rounds == 3.0);
}

TEST_CASE("more than eight kinds of warps are one role of averages") {
    const Program program = loop_of_each_warp(9);
    const RoleBodies bodies = bodies_of(program, TracedRun(program, launch(1, 288)));
    REQUIRE(bodies.roles.size() == 1);
    std::vector<int> all(9);
    std::iota(all.begin(), all.end(), 0);
    CHECK(bodies.roles[0].warps == all);
    REQUIRE(bodies.roles[0].body.inner.size() == 9);
    for (const BodyLoop& loop : bodies.roles[0].body.inner) {
        CHECK(loop.entries == doctest::Approx(1.0 / 9.0));
        CHECK(loop.rounds == doctest::Approx(2.0 / 9.0));
    }
}

TEST_CASE("frequencies and lanes of a role alone are the launch's counts by warp") {
    CHECK(rc::check("one loop", [] {
        const std::uint32_t rounds = 2 + random_below(6);
        const std::uint32_t ctas = 1 + random_below(6);
        const std::uint32_t threads = 1 + random_below(96);
        const Program program(joined({{"NOP"}, counted_loop("loop", 10, std::to_string(rounds), {"NOP"})}));
        const TracedRun run(program, launch(ctas, threads), {}, static_cast<int>(ctas));
        const RoleBodies bodies = bodies_of(program, run);
        RC_ASSERT(bodies.roles.size() == 1);
        const RoleBody& role = bodies.roles[0];
        const std::uint32_t warps = (threads + 31) / 32;
        RC_ASSERT(role.warps.size() == warps);
        RC_ASSERT(role.frequency.size() == 7);  // Two before the loop, four in it, EXIT.
        for (const auto& [pc, frequency] : role.frequency) {
            RC_ASSERT(frequency.times == (pc >= 2 && pc <= 5 ? rounds : 1));
            RC_ASSERT(frequency.lanes == static_cast<double>(threads) / warps);
        }
        RC_ASSERT(role.body.loop == -1);
        RC_ASSERT(role.body.inner.size() == 1);
        std::map<std::uint32_t, int> loops;
        collect(role.body, loops);
        RC_ASSERT(loops.size() == 7);
        for (std::uint32_t pc = 0; pc < 7; ++pc) {
            RC_ASSERT(loops.at(pc) == (pc < 2 || pc > 5 ? -1 : 0));
        }
        RC_ASSERT(role.body.inner[0].entries == 1.0);
        RC_ASSERT(role.body.inner[0].rounds == rounds);
    }));
}

/// Threads from `from` on run a loop of R8 rounds around one of R9, the others a loop of R7; the numbers are
/// of the CTA and the parameters.
Lines two_kinds(std::uint32_t from) {
    return joined({{"S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X", "LOP3.LUT R7, R1, 0x3, RZ, 0xc0, !PT",
                    "IADD3 R7, R7, 0x2, RZ", "LOP3.LUT R8, R1, 0x5, RZ, 0xc0, !PT", "IADD3 R8, R8, 0x1, RZ",
                    "LOP3.LUT R9, R1, 0x2, RZ, 0xc0, !PT", "IADD3 R9, R9, 0x3, RZ",
                    fmt::format("ISETP.GE.AND P0, PT, R0, {:#x}, PT", from), "@P0 BRA `(other)"},
                   counted_loop("a", 10, "R7", {"NOP"}),
                   {"EXIT", "other:"},
                   counted_loop("b", 10, "R8", counted_loop("c", 11, "R9", {"NOP"}))});
}

TEST_CASE("what a trace of all CTAs gives sums up to the launch, each instruction in its loop") {
    CHECK(rc::check("two roles", [] {
        const std::uint32_t ctas = 1 + random_below(9);
        const std::uint32_t from = 32 * (1 + random_below(3));
        const Program program(two_kinds(from));
        const TracedRun run(program, launch(ctas, 128 - random_below(32)), {}, static_cast<int>(ctas));
        const RoleBodies bodies = bodies_of(program, run);
        RC_ASSERT(bodies.roles.size() == 2);
        RC_ASSERT(bodies.roles[0].warps.size() == from / 32);
        std::vector<double> warps(program.code().instructions.size());
        std::vector<double> threads(program.code().instructions.size());
        for (const RoleBody& role : bodies.roles) {
            const double runners = static_cast<double>(ctas) * static_cast<double>(role.warps.size());
            std::map<std::uint32_t, int> loops;
            collect(role.body, loops);
            RC_ASSERT(loops.size() == role.frequency.size());
            for (const auto& [pc, frequency] : role.frequency) {
                // Code before loops, in them and behind them.
                RC_ASSERT(loops.at(pc) == loop_of(bodies.loops, pc));
                warps[pc] += frequency.times * runners;
                threads[pc] += frequency.times * frequency.lanes * runners;
            }
        }
        for (std::size_t i = 0; i < warps.size(); ++i) {
            const InstructionCounts& counts = run.counts().instructions[i];
            RC_ASSERT(std::abs(warps[i] - static_cast<double>(counts.warps)) < 1e-6);
            RC_ASSERT(std::abs(threads[i] - static_cast<double>(counts.threads)) < 1e-6);
        }
    }));
}

TEST_CASE("the first and last CTAs stand for themselves, those between for all others") {
    // 10 CTAs of which 0, 9, 1 and 5 are traced: CTA 0 runs 9 rounds, CTA 9 runs 5, the others 2.
    const Program program(
        joined({{"S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X", "MOV R9, 0x2", "ISETP.EQ.AND P0, PT, R1, RZ, PT",
                 "@P0 MOV R9, 0x9", "ISETP.EQ.AND P0, PT, R1, 0x9, PT", "@P0 MOV R9, 0x5",
                 "ISETP.GE.AND P0, PT, R0, 0x20, PT", "@P0 BRA `(other)"},
                counted_loop("a", 10, "R9", {}),
                {"EXIT", "other:"},
                counted_loop("b", 10, "0x3", {})}));
    const RoleBodies bodies = bodies_of(program, TracedRun(program, launch(10, 64)));
    REQUIRE(bodies.roles.size() == 2);
    REQUIRE(bodies.roles[0].body.inner.size() == 1);
    const BodyLoop& loop = bodies.roles[0].body.inner[0];
    constexpr double mean = (9 + 5 + 8 * 2) / 10.0;
    CHECK(loop.rounds == doctest::Approx(mean));
    CHECK(loop.entries == doctest::Approx(1.0));
    CHECK(bodies.roles[0].frequency.at(bodies.loops[0].first).times == doctest::Approx(mean));
    CHECK(bodies.roles[1].frequency.at(bodies.loops[1].first).times == doctest::Approx(3.0));
}

TEST_CASE("a function that one loop calls belongs to the loop, one called from elsewhere as well does not") {
    // The loop calls a function in its third round; others call it before the loop, or behind it.
    enum class Also { nobody, before, behind };
    for (const Also also : {Also::nobody, Also::before, Also::behind}) {
        CAPTURE(static_cast<int>(also));
        const auto called_from = [](std::uint32_t place, bool calls = true) {
            return calls ? Lines{fmt::format("MOV R2, {:#x}", 16 * (place + 2)), "CALL.REL.NOINC `(slow)"}
                         : Lines{"NOP", "NOP"};
        };
        const Program program(joined(
            {{"begin:", "MOV R3, RZ", "MOV R10, 0x5"},
             called_from(2, also == Also::before),
             {"loop:", "ISETP.NE.AND P1, PT, R10, 0x3, PT", "@P1 BRA `(back)"},
             called_from(6),
             {"back:", "IADD3 R10, R10, -0x1, RZ", "ISETP.GT.AND P0, PT, R10, RZ, PT", "@P0 BRA `(loop)"},
             called_from(11, also == Also::behind),
             {"EXIT", "slow:", "NOP", "NOP", "RET.REL.NODEC R2 `(begin)"}}));
        const RoleBodies bodies = bodies_of(program, TracedRun(program, one_cta(32)));
        REQUIRE(bodies.loops.size() == 1);
        CHECK(bodies.loops[0].first == 4);
        CHECK(bodies.loops[0].last == 10);
        REQUIRE(bodies.roles.size() == 1);
        std::map<std::uint32_t, int> loops;
        collect(bodies.roles[0].body, loops);
        for (const std::uint32_t slow : {14U, 15U, 16U}) {
            CHECK(loops.at(slow) == (also == Also::nobody ? 0 : -1));
            CHECK(bodies.roles[0].frequency.at(slow).times == (also == Also::nobody ? 1.0 : 2.0));
        }
        CHECK(bodies.roles[0].body.inner.at(0).rounds == 5.0);
        CHECK(bodies.roles[0].body.inner.at(0).entries == 1.0);
    }
}

TEST_CASE("code that the last round falls through to is outside of the loop, and in the one around it") {
    CHECK(rc::check("two loops, one within the other", [] {
        const std::uint32_t outer = 2 + random_below(4);
        const std::uint32_t inner = 2 + random_below(4);
        const std::uint32_t warps = 1 + random_below(3);
        const std::uint32_t between = random_below(5);
        const std::uint32_t behind = random_below(5);
        // Warps from `skips` on leave the code behind the inner loop out.
        const std::uint32_t skips = random_below(warps + 1);
        const bool jumps = random_below(2) != 0;
        Lines tail(between, "NOP");
        if (jumps) {
            tail.insert(tail.begin(), "@P0 BRA `(over)");
            tail.emplace_back("over:");
        }
        const Lines around =
            counted_loop("outer", 10, std::to_string(outer),
                         joined({counted_loop("inner", 11, std::to_string(inner), {"NOP"}), tail}));
        const Program program(
            joined({{"S2R R0, SR_TID.X", fmt::format("ISETP.GE.AND P0, PT, R0, {:#x}, PT", 32 * skips)},
                    around,
                    Lines(behind, "NOP")}));
        const TracedRun run(program, launch(2, 32 * warps));
        const RoleBodies bodies = bodies_of(program, run);
        RC_ASSERT(bodies.roles.size() == 1);
        std::map<std::uint32_t, int> loops;
        collect(bodies.roles[0].body, loops);
        // Two lines and the counter's, then the header: the inner counter's.
        constexpr std::uint32_t outer_first = 3, inner_first = 4, inner_last = 7;
        const std::uint32_t outer_last = inner_last + between + (jumps ? 1 : 0) + 3;
        RC_ASSERT(program.code().lines.size() == outer_last + behind + 2);
        for (const auto& [pc, loop] : loops) {
            const bool in_outer = pc >= outer_first && pc <= outer_last;
            const bool in_inner = pc >= inner_first && pc <= inner_last;
            RC_ASSERT(loop == (in_inner ? 1 : in_outer ? 0 : -1));
            const bool skipped = jumps && pc > inner_last + 1 && pc <= outer_last - 3;
            const double share = skipped ? static_cast<double>(skips) / warps : 1.0;
            const double times = in_inner ? outer * inner : in_outer ? outer : 1;
            RC_ASSERT(std::abs(bodies.roles[0].frequency.at(pc).times - share * times) < 1e-9);
        }
    }));
}

TEST_CASE(
    "a function behind a loop that calls it is the loop's, and what stands around the function is not") {
    // The function is called in the loop and returns to it; what follows the loop is jumped to.
    const Program program(
        joined({{"begin:", "MOV R10, 0x4", "loop:", "MOV R2, 0x30", "CALL.REL.NOINC `(slow)",
                 "IADD3 R10, R10, -0x1, RZ", "ISETP.GT.AND P0, PT, R10, RZ, PT", "@P0 BRA `(loop)", "NOP",
                 "NOP", "BRA `(end)", "slow:", "NOP", "RET.REL.NODEC R2 `(begin)", "end:", "NOP"}}));
    const RoleBodies bodies = bodies_of(program, TracedRun(program, one_cta(32)));
    REQUIRE(bodies.loops.size() == 1);
    CHECK(bodies.loops[0].first == 1);
    CHECK(bodies.loops[0].last == 5);
    REQUIRE(bodies.roles.size() == 1);
    std::map<std::uint32_t, int> loops;
    collect(bodies.roles[0].body, loops);
    for (std::uint32_t pc = 0; pc < 13; ++pc) {
        CAPTURE(pc);
        const bool own = (pc >= 1 && pc <= 5) || pc == 9 || pc == 10;
        CHECK(loops.at(pc) == (own ? 0 : -1));
        CHECK(bodies.roles[0].frequency.at(pc).times == (own ? 4.0 : 1.0));
    }
}

TEST_CASE("entries and rounds are not cut where a CTA stands for a number that is not whole") {
    CHECK(rc::check("two roles that do the same in every CTA", [] {
        const std::uint32_t ctas = 1 + random_below(40);
        const int traced = 1 + static_cast<int>(random_below(6));
        const std::uint32_t rounds = 1 + random_below(6);
        const std::uint32_t inner = 1 + random_below(6);
        const Program program(
            joined({{"S2R R0, SR_TID.X", "ISETP.GE.AND P0, PT, R0, 0x20, PT", "@P0 BRA `(other)"},
                    counted_loop("a", 10, std::to_string(1 + rounds), {"NOP"}),
                    {"EXIT", "other:"},
                    counted_loop("b", 10, std::to_string(1 + rounds),
                                 counted_loop("c", 11, std::to_string(1 + inner), {"NOP"}))}));
        const RoleBodies bodies = bodies_of(program, TracedRun(program, launch(ctas, 64), {}, traced));
        RC_ASSERT(bodies.roles.size() == 2);
        const auto holds = [](const BodyLoop& loop, double entries, double all) {
            return std::abs(loop.entries - entries) < 1e-9 && std::abs(loop.rounds - all) < 1e-9;
        };
        for (const RoleBody& role : bodies.roles) {
            RC_ASSERT(role.body.inner.size() == 1);
            RC_ASSERT(holds(role.body.inner[0], 1.0, 1.0 + rounds));
        }
        const BodyLoop& outer = bodies.roles[1].body.inner[0];
        RC_ASSERT(outer.inner.size() == 1);
        RC_ASSERT(holds(outer.inner[0], 1.0 + rounds, (1.0 + rounds) * (1.0 + inner)));
    }));
}

TEST_CASE("a trace that was cut takes its rounds from the counts of the launch") {
    const Program program(counted_loop("loop", 10, "0x64", {"NOP"}));
    const TracedRun run(program, launch(3, 64), {}, 4, 10);
    REQUIRE(run.warps().front()->truncated);
    const RoleBodies bodies = bodies_of(program, run);
    REQUIRE(bodies.roles.size() == 1);
    REQUIRE(bodies.roles[0].body.inner.size() == 1);
    CHECK(bodies.roles[0].body.inner[0].rounds == 100.0);
    CHECK(bodies.roles[0].body.inner[0].entries == 1.0);
    CHECK(bodies.roles[0].frequency.at(1).times == 100.0);
    CHECK(bodies.roles[0].frequency.at(5).times == 1.0);  // EXIT, which the trace did not reach.
}

/// Warp w of CTA c goes round a loop first + per_warp x w + per_cta x c times.
Lines rounds_of_warps(const std::string& name, std::uint32_t first, std::uint32_t per_warp,
                      std::uint32_t per_cta) {
    return joined(
        {{"SHF.R.U32.HI R6, RZ, 0x5, R0", fmt::format("IMAD R7, R6, {:#x}, RZ", per_warp),
          fmt::format("IMAD R7, R1, {:#x}, R7", per_cta), fmt::format("IADD3 R7, R7, {:#x}, RZ", first)},
         counted_loop(name, 10, "R7", {"NOP"})});
}

TEST_CASE("the slowest warp of each CTA and of the grid is the one with the most rounds") {
    CHECK(rc::check("one role", [] {
        const std::uint32_t ctas = 1 + random_below(6);
        const std::uint32_t warps = 1 + random_below(5);
        // Two rounds make a loop.
        const std::uint32_t first = 2 + random_below(4);
        const std::uint32_t per_warp = random_below(4);
        const std::uint32_t per_cta = random_below(4);
        const Program program(joined(
            {{"S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X"}, rounds_of_warps("loop", first, per_warp, per_cta)}));
        // What is traced makes no difference to the counts of a role alone.
        const TracedRun run(program, launch(ctas, 32 * warps), {}, 1 + static_cast<int>(random_below(ctas)));
        const RoleBodies bodies = bodies_of(program, run);
        RC_ASSERT(bodies.roles.size() == 1U);
        RC_ASSERT(bodies.loops.size() == 1U);
        const double slowest = first + per_warp * (warps - 1);
        const double of_cta = slowest + per_cta * 0.5 * (ctas - 1);
        const double of_grid = slowest + per_cta * (ctas - 1);
        for (const auto& [pc, frequency] : bodies.roles[0].frequency) {
            const bool inside = loop_of(bodies.loops, pc) == 0;
            RC_ASSERT(std::abs(frequency.slowest.of_cta - (inside ? of_cta : 1.0)) < 1e-9);
            RC_ASSERT(frequency.slowest.of_grid == (inside ? of_grid : 1.0));
        }
    }));
}

TEST_CASE("each of several roles has its own slowest warps, from the traced CTAs") {
    CHECK(rc::check("two roles, all CTAs traced", [] {
        const std::uint32_t ctas = 1 + random_below(5);
        const std::uint32_t warps = 2 + random_below(4);
        const std::uint32_t from = 1 + random_below(warps - 1);
        const std::uint32_t first = 2 + random_below(4), per_warp = random_below(4),
                            per_cta = random_below(4);
        const Program program(
            joined({{"S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X",
                     fmt::format("ISETP.GE.AND P0, PT, R0, {:#x}, PT", 32 * from), "@P0 BRA `(other)"},
                    rounds_of_warps("a", first, per_warp, per_cta),
                    {"EXIT", "other:"},
                    counted_loop("b", 10, "0x3", {})}));
        const TracedRun run(program, launch(ctas, 32 * warps), {}, static_cast<int>(ctas));
        const RoleBodies bodies = bodies_of(program, run);
        RC_ASSERT(bodies.roles.size() == 2U);
        const double slowest = first + per_warp * (from - 1);
        const auto& loop = bodies.roles[0].frequency.at(bodies.loops[0].first).slowest;
        RC_ASSERT(std::abs(loop.of_cta - (slowest + per_cta * 0.5 * (ctas - 1))) < 1e-9);
        RC_ASSERT(loop.of_grid == slowest + per_cta * (ctas - 1));
        const auto& other = bodies.roles[1].frequency.at(bodies.loops[1].first).slowest;
        RC_ASSERT(std::abs(other.of_cta - 3.0) < 1e-9);
        RC_ASSERT(other.of_grid == 3.0);
    }));
}

TEST_CASE("code that the slowest warp leaves out is executed by none of the slowest") {
    // Warp 0 runs ten instructions that the others skip, and they run two that warp 0 skips.
    const Program program(
        joined({{"S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x20, PT", "@!P0 BRA `(others)"},
                Lines(10, "NOP"),
                {"EXIT", "others:", "NOP", "NOP"}}));
    const RoleBodies bodies = bodies_of(program, TracedRun(program, launch(3, 128)));
    REQUIRE(bodies.roles.size() == 1);
    const auto& frequency = bodies.roles[0].frequency;
    CHECK(frequency.at(3).times == 0.25);
    CHECK(frequency.at(3).slowest == model::kernel::SlowestWarps{1.0, 1.0});
    CHECK(frequency.at(14).times == 0.75);
    CHECK(frequency.at(14).slowest == model::kernel::SlowestWarps{0.0, 0.0});
}

TEST_CASE("of two branches before a barrier the slowest warp executes one, whoever executes most in all") {
    // Warp 0 executes most in all, warp 1 most before the barrier: four instructions of warp 0 do not count.
    const Program program(
        joined({{"S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x20, PT", "@!P0 BRA `(other)"},
                Lines(4, "NOP"),
                {"BRA `(meet)", "other:"},
                Lines(6, "NOP"),
                {"meet:", "BAR.SYNC.DEFER_BLOCKING 0x0", "@!P0 EXIT"},
                Lines(8, "NOP")}));
    const RoleBodies bodies = bodies_of(program, TracedRun(program, launch(3, 64)));
    REQUIRE(bodies.roles.size() == 1);
    const auto& frequency = bodies.roles[0].frequency;
    for (std::uint32_t pc = 3; pc < 8; ++pc) CHECK(frequency.at(pc).slowest.of_cta == 0.0);
    for (std::uint32_t pc = 8; pc < 14; ++pc) CHECK(frequency.at(pc).slowest.of_cta == 1.0);
    CHECK(frequency.at(16).slowest.of_cta == 1.0);
    CHECK(frequency.at(3).times == 0.5);
}

TEST_CASE("the slowest warps of several roles are not known where the trace was cut") {
    const Program program(
        joined({{"S2R R0, SR_TID.X", "ISETP.GE.AND P0, PT, R0, 0x20, PT", "@P0 BRA `(other)"},
                counted_loop("a", 10, "0x64", {"NOP"}),
                {"EXIT", "other:"},
                counted_loop("b", 10, "0x64", {"NOP"})}));
    const TracedRun run(program, launch(2, 64), {}, 2, 10);
    REQUIRE(run.warps().front()->truncated);
    const RoleBodies bodies = bodies_of(program, run);
    REQUIRE(bodies.roles.size() == 2);
    for (const RoleBody& role : bodies.roles) {
        for (const auto& [pc, frequency] : role.frequency) {
            CAPTURE(pc);
            CHECK(frequency.slowest == model::kernel::SlowestWarps{});
        }
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
