// Warps between two meetings: who is slowest there, by hand-written traces.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/meetings.hpp"

#include "workloads/frontends/machine/lowering/traced_fixture_test.hpp"

#include <doctest/doctest.h>

namespace warptime::workloads::frontends::machine {
namespace {

/// A CTA whose warps execute these stretches.
CtaTrace of_warps(std::initializer_list<std::vector<Stretch>> warps) {
    CtaTrace cta;
    for (const std::vector<Stretch>& stretches : warps) {
        WarpTrace warp;
        warp.warp = static_cast<int>(cta.warps.size());
        warp.stretches = stretches;
        cta.warps.push_back(warp);
    }
    return cta;
}

constexpr Mask all = ~Mask{0};

/// Ten instructions of a cycle each; the one at `slow` waits for a load of 50.
PaceOfCode pace_with(std::size_t slow = 10) {
    std::vector<Instruction> code(11);
    code[slow].waits_for_load = true;
    return {code, 50};
}

}  // namespace

TEST_CASE("warps that take turns at a branch are slowest in turn") {
    // Twice around: 0 and 1, the branch at 2 to 5, the barrier at 6. Each warp takes the branch once.
    const std::vector<Stretch> first = {{0, 7, all}, {0, 2, all}, {6, 1, all}};
    const std::vector<Stretch> second = {{0, 2, all}, {6, 1, all}, {0, 7, all}};
    const auto times = slowest_between_meetings(of_warps({first, second}), {0, 1}, {6}, pace_with());
    for (std::uint32_t pc = 0; pc < 7; ++pc) {
        CAPTURE(pc);
        CHECK(times.at(pc) == 2.0);
    }
    // One warp by itself takes it in one of two rounds.
    CHECK(slowest_between_meetings(of_warps({first, second}), {1}, {6}, pace_with()).at(3) == 1.0);
}

TEST_CASE("of two branches between two meetings the longer one counts, and not both") {
    const std::vector<Stretch> shorter = {{0, 3, all}, {6, 2, all}};
    const std::vector<Stretch> longer = {{0, 1, all}, {3, 5, all}};
    const auto times = slowest_between_meetings(of_warps({shorter, longer}), {0, 1}, {7}, pace_with());
    CHECK_FALSE(times.contains(1));
    CHECK(times.at(4) == 1.0);
    CHECK(times.at(7) == 1.0);
}

TEST_CASE("a branch that waits for a load is longer than one of more instructions") {
    const std::vector<Stretch> waiting = {{0, 3, all}, {6, 2, all}};
    const std::vector<Stretch> computing = {{0, 1, all}, {3, 5, all}};
    const auto times = slowest_between_meetings(of_warps({waiting, computing}), {0, 1}, {7}, pace_with(2));
    CHECK(times.at(2) == 1.0);
    CHECK_FALSE(times.contains(4));
}

TEST_CASE("warps that never meet, or not equally often, have no slowest one between meetings") {
    const std::vector<Stretch> once = {{0, 7, all}}, twice = {{0, 7, all}, {0, 7, all}};
    CHECK(slowest_between_meetings(of_warps({once, once}), {0, 1}, {9}, pace_with()).empty());
    CHECK(slowest_between_meetings(of_warps({once, twice}), {0, 1}, {6}, pace_with()).empty());
    CtaTrace cut = of_warps({once, once});
    cut.warps[1].truncated = true;
    CHECK(slowest_between_meetings(cut, {0, 1}, {6}, pace_with()).empty());
    CHECK_FALSE(slowest_between_meetings(cut, {0}, {6}, pace_with()).empty());
}

}  // namespace warptime::workloads::frontends::machine
