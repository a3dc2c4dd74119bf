// Tests of the recorder: stretches say what ran, and what is cut off is cut where it should be.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/trace.hpp"

#include "workloads/frontends/machine/lowering/traced_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

/// CTAs of a few warps that a recorder can be told of.
class Grid {
  public:
    Grid(std::size_t ctas, std::size_t warps) : ctas_(ctas) {
        for (std::size_t c = 0; c < ctas; ++c) {
            ctas_[c].linear_id = 10 * c;
            ctas_[c].id = {static_cast<std::uint32_t>(c), 7, 9};
            ctas_[c].warps.resize(warps);
            for (std::size_t w = 0; w < warps; ++w) {
                ctas_[c].warps[w].cta = &ctas_[c];
                ctas_[c].warps[w].index = static_cast<int>(w);
            }
        }
    }
    [[nodiscard]] const Warp& warp(std::size_t cta, std::size_t warp) const { return ctas_[cta].warps[warp]; }

  private:
    std::vector<Cta> ctas_;
};

AccessEvent access_of(std::uint32_t instruction) {
    AccessEvent event;
    event.instruction = instruction;
    event.lanes = all_lanes;
    return event;
}

using Run = std::vector<std::pair<std::uint32_t, Mask>>;

Run unrolled(const std::vector<Stretch>& stretches) {
    Run run;
    for (const Stretch& stretch : stretches) {
        for (std::uint32_t i = 0; i < stretch.count; ++i) {
            run.emplace_back(stretch.first + i, stretch.active);
        }
    }
    return run;
}

TEST_CASE("the stretches of every warp, unrolled, are what it ran") {
    CHECK(rc::check("any order of warps and CTAs", [] {
        constexpr std::uint32_t ctas = 3, warps = 2;
        const Grid grid(ctas, warps);
        TraceRecorder recorder;
        std::vector<Run> told(ctas * warps);
        std::vector<std::uint32_t> began;
        for (std::uint32_t i = 0; i < 200; ++i) {
            const std::uint32_t cta = random_below(ctas);
            const std::uint32_t warp = random_below(warps);
            Run& own = told[cta * warps + warp];
            const bool follows = !own.empty() && random_below(4) != 0;
            const std::uint32_t pc = follows ? own.back().first + 1 : random_below(50);
            const Mask active = follows && random_below(4) != 0 ? own.back().second : 1 + random_below(3);
            own.emplace_back(pc, active);
            recorder.instruction(grid.warp(cta, warp), pc, active, active);
            if (std::ranges::find(began, cta) == began.end()) {
                began.push_back(cta);
            }
        }
        RC_ASSERT(recorder.ctas().size() == began.size());
        for (std::size_t c = 0; c < began.size(); ++c) {
            const CtaTrace& cta = *recorder.ctas()[c];
            RC_ASSERT(cta.linear_id == 10 * began[c]);
            RC_ASSERT(cta.id[0] == began[c]);
            RC_ASSERT(cta.id[1] == 7);
            RC_ASSERT(cta.id[2] == 9);
            RC_ASSERT(cta.warps.size() == warps);
            for (std::size_t w = 0; w < warps; ++w) {
                const std::vector<Stretch>& stretches = cta.warps[w].stretches;
                RC_ASSERT(cta.warps[w].warp == static_cast<int>(w));
                RC_ASSERT(!cta.warps[w].truncated);
                RC_ASSERT(unrolled(stretches) == told[began[c] * warps + w]);
                for (std::size_t s = 1; s < stretches.size(); ++s) {
                    // No two that could be one.
                    RC_ASSERT((stretches[s].first != stretches[s - 1].first + stretches[s - 1].count ||
                               stretches[s].active != stretches[s - 1].active));
                }
            }
        }
    }));
}

TEST_CASE("a warp beyond the most stretches is cut there, and stays cut") {
    const Grid grid(1, 2);
    TraceRecorder recorder(3);
    const Warp& warp = grid.warp(0, 0);
    for (const std::uint32_t pc : {5U, 6U, 1U, 2U, 3U, 9U}) {
        recorder.instruction(warp, pc, all_lanes, all_lanes);
    }
    const WarpTrace& trace = recorder.ctas()[0]->warps[0];
    CHECK_FALSE(trace.truncated);
    recorder.instruction(warp, 10, all_lanes, all_lanes);  // Still the third stretch.
    CHECK_FALSE(trace.truncated);
    recorder.access(warp, access_of(10));
    CHECK(trace.accesses.size() == 1);
    recorder.instruction(warp, 1, all_lanes, all_lanes);
    CHECK(trace.truncated);
    recorder.instruction(warp, 11, all_lanes, all_lanes);  // It would follow the third stretch.
    recorder.access(warp, access_of(11));
    CHECK(trace.accesses.size() == 1);
    CHECK(unrolled(trace.stretches) == Run{{5, all_lanes},
                                           {6, all_lanes},
                                           {1, all_lanes},
                                           {2, all_lanes},
                                           {3, all_lanes},
                                           {9, all_lanes},
                                           {10, all_lanes}});
    // Others are not.
    recorder.instruction(grid.warp(0, 1), 4, all_lanes, all_lanes);
    CHECK_FALSE(recorder.ctas()[0]->warps[1].truncated);
}

TEST_CASE("accesses name their stretch, and the first of each instruction are kept") {
    constexpr std::size_t most = 4;
    const Grid grid(1, 1);
    TraceRecorder recorder(100, most);
    const Warp& warp = grid.warp(0, 0);
    for (std::uint32_t round = 0; round < 10; ++round) {
        for (const std::uint32_t pc : {20U, 21U, 22U}) {
            recorder.instruction(warp, pc, all_lanes, all_lanes);
            if (pc == 20 || (pc == 22 && round < 2)) {
                AccessEvent event = access_of(pc);
                event.address[3] = round;
                recorder.access(warp, event);
            }
        }
    }
    const WarpTrace& trace = recorder.ctas()[0]->warps[0];
    REQUIRE(trace.stretches.size() == 10);
    std::vector<std::uint64_t> of_20;
    std::vector<std::uint64_t> of_22;
    for (const TracedAccess& access : trace.accesses) {
        CHECK(access.stretch == access.event.address[3]);
        (access.event.instruction == 20 ? of_20 : of_22).push_back(access.event.address[3]);
    }
    CHECK(of_20 == std::vector<std::uint64_t>{0, 1, 2, 3});
    CHECK(of_22 == std::vector<std::uint64_t>{0, 1});
    CHECK(trace.made.at(20) == 10);
    CHECK(trace.made.at(21) == 0);
    CHECK(trace.made.at(22) == 2);
}

TEST_CASE("a launch tells as much as it counts") {
    CHECK(rc::check("sums over all CTAs", [] {
        const std::uint32_t ctas = 1 + random_below(4);
        const std::uint32_t threads = 1 + random_below(100);
        std::vector<std::string> lines{"S2R R0, SR_TID.X", "LOP3.LUT R9, R0, 0x5, RZ, 0xc0, !PT",
                                       "BSSY B0, `(join)"};
        const std::vector<std::string> loop = counted_loop("loop", 10, "R9", {"@P5 NOP"});
        lines.insert(lines.end(), loop.begin(), loop.end());
        lines.insert(lines.end(), {"join:", "BSYNC B0"});
        LaunchShape shape = one_cta(threads);
        shape.grid[1] = ctas;
        const Program program(lines);
        const TracedRun run(program, shape, {}, static_cast<int>(ctas));
        RC_ASSERT(run.trace().ctas().size() == ctas);
        std::vector<InstructionCounts> sums(program.code().instructions.size());
        for (const WarpTrace* warp : run.warps()) {
            for (const auto& [pc, active] : unrolled(warp->stretches)) {
                ++sums[pc].warps;
                sums[pc].threads += static_cast<std::uint64_t>(std::popcount(active));
            }
        }
        for (std::size_t i = 0; i < sums.size(); ++i) {
            RC_ASSERT(sums[i].warps == run.counts().instructions[i].warps);
            RC_ASSERT(sums[i].threads == run.counts().instructions[i].threads);
        }
    }));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
