// Tests of shuffles, votes, matches, reductions and special registers against the words of the PTX ISA.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t lanes = 32;
constexpr std::uint32_t all = 0xffffffffU;

std::uint32_t mask_of(const Words& flags) {
    std::uint32_t mask = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
        mask |= flags[lane] != 0 ? 1U << lane : 0U;
    }
    return mask;
}

/// PTX ISA, shfl.sync: the source lane j and the predicate.
struct Shuffled {
    std::uint32_t from;
    bool inside;
};
Shuffled shuffled(const std::string& mode, std::uint32_t lane, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t bval = b & 31U, cval = c & 31U, segmask = (c >> 8U) & 31U;
    const std::uint32_t max_lane = (lane & segmask) | (cval & ~segmask);
    const std::uint32_t min_lane = lane & segmask;
    std::int64_t j = 0;
    bool inside = false;
    if (mode == "UP") {
        j = std::int64_t{lane} - bval;
        inside = j >= std::int64_t{max_lane};
    } else if (mode == "DOWN") {
        j = std::int64_t{lane} + bval;
        inside = j <= std::int64_t{max_lane};
    } else if (mode == "BFLY") {
        j = lane ^ bval;
        inside = j <= std::int64_t{max_lane};
    } else {
        j = min_lane | (bval & ~segmask);
        inside = j <= std::int64_t{max_lane};
    }
    return {inside ? static_cast<std::uint32_t>(j) : lane, inside};
}

TEST_CASE("shuffles take the lane that the PTX ISA names, by every mode, clamp and segment") {
    for (const std::string mode : {"UP", "DOWN", "BFLY", "IDX"}) {
        const LaneProgram program({"SHFL." + mode + " P1, R20, R10, R11, R12"}, {"R10", "R11", "R12"},
                                  {"R20", "P1"});
        CHECK(rc::check(mode, [&] {
            const Words value = some_words(any_word());
            const Words distance = some_words(any_below(40));
            // Segments of each width from 1 to 32, clamped at an end or anywhere.
            Words segment(lanes);
            for (std::uint32_t& word : segment) {
                const std::uint32_t width = 1U << random_below(6);
                word = ((32U - width) << 8U) | *rc::gen::element(0U, 31U, random_below(32));
            }
            const std::vector<Words> results = program({value, distance, segment});
            for (std::uint32_t lane = 0; lane < lanes; ++lane) {
                const Shuffled expected = shuffled(mode, lane, distance[lane], segment[lane]);
                RC_ASSERT(results[0][lane] == value[expected.from]);
                RC_ASSERT(results[1][lane] == (expected.inside ? 1U : 0U));
            }
        }));
    }
}

TEST_CASE("the shuffles that compilers make of warp sums, scans and broadcasts") {
    const LaneProgram butterfly({"SHFL.BFLY PT, R20, R10, 0x10, 0x1f"}, {"R10"}, {"R20"});
    const LaneProgram up({"SHFL.UP P1, R20, R10, 0x1, RZ"}, {"R10"}, {"R20", "P1"});
    const LaneProgram broadcast({"SHFL.IDX PT, R10, R10, 0x5, 0x1f"}, {"R10"}, {"R10"});
    Words value(lanes);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        value[lane] = 100 + lane;
    }
    const Words crossed = butterfly({value})[0];
    const std::vector<Words> moved = up({value});
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        CHECK(crossed[lane] == 100 + (lane ^ 16U));
        CHECK(moved[0][lane] == 100 + (lane == 0 ? 0 : lane - 1));
        CHECK(moved[1][lane] == (lane == 0 ? 0 : 1));
    }
    CHECK(broadcast({value})[0] == Words(lanes, 105));
}

TEST_CASE("votes tell of any, all or equal lanes, among those that are active") {
    const LaneProgram program({"VOTE.ANY R20, P1, P0", "VOTE.ALL R21, P2, P0", "VOTE.EQ R22, P3, P0",
                               "VOTE.ANY R23, PT, !P0", "VOTEU.ANY UR8, UP1, P0", "VOTE.ANY P4, P0"},
                              {"P0"}, {"R20", "R21", "R22", "R23", "P1", "P2", "P3", "UR8", "P4"});
    CHECK(rc::check("whole warps", [&program] {
        const std::uint32_t kind = random_below(3);
        const Words flags = kind == 0   ? Words(lanes, 0)
                            : kind == 1 ? Words(lanes, 1)
                                        : some_words(any_flag());
        const std::uint32_t mask = mask_of(flags);
        const std::vector<Words> results = program({flags});
        RC_ASSERT(results[0] == Words(lanes, mask));
        RC_ASSERT(results[1] == Words(lanes, mask));
        RC_ASSERT(results[2] == Words(lanes, mask));
        RC_ASSERT(results[3] == Words(lanes, ~mask));
        RC_ASSERT(results[4] == Words(lanes, mask != 0 ? 1 : 0));
        RC_ASSERT(results[5] == Words(lanes, mask == all ? 1 : 0));
        RC_ASSERT(results[6] == Words(lanes, mask == 0 || mask == all ? 1 : 0));
        RC_ASSERT(results[7] == Words(lanes, mask));
        RC_ASSERT(results[8] == Words(lanes, mask != 0 ? 1 : 0));
    }));
    const LaneProgram parted({"BSSY B0, `(join)", "@P1 BRA `(then)", "VOTE.ALL R20, P2, P0", "BRA `(join)",
                              "then:", "VOTE.ALL R20, P2, P0", "join:", "BSYNC B0"},
                             {"P0", "P1"}, {"R20", "P2"});
    CHECK(rc::check("the two sides of a branch", [&parted] {
        const Words flags = some_words(any_flag()), sides = some_words(any_flag());
        const std::uint32_t mask = mask_of(flags), taken = mask_of(sides);
        const std::vector<Words> results = parted({flags, sides});
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            const std::uint32_t own = sides[lane] != 0 ? taken : ~taken;
            RC_ASSERT(results[0][lane] == (mask & own));
            RC_ASSERT(results[1][lane] == ((mask & own) == own ? 1U : 0U));
        }
    }));
}

TEST_CASE("matches name the lanes with the same value, of 32 or 64 bits") {
    const LaneProgram program({"MATCH.ANY R20, R10", "MATCH.ANY.U64 R21, R10", "MATCH.ALL P1, R22, R10",
                               "MATCH.ALL.U64 P2, R23, R10"},
                              {"R10", "R11"}, {"R20", "R21", "R22", "P1", "R23", "P2"});
    CHECK(rc::check("closed form", [&program] {
        const std::uint32_t values = *rc::gen::element(1U, 2U, 5U);
        const Words low = some_words(any_below(values)), high = some_words(any_below(values));
        const std::vector<Words> results = program({low, high});
        bool same_low = true, same_both = true;
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            std::uint32_t of_low = 0, of_both = 0;
            for (std::uint32_t other = 0; other < lanes; ++other) {
                of_low |= low[other] == low[lane] ? 1U << other : 0U;
                of_both |= low[other] == low[lane] && high[other] == high[lane] ? 1U << other : 0U;
            }
            RC_ASSERT(results[0][lane] == of_low);
            RC_ASSERT(results[1][lane] == of_both);
            same_low = same_low && of_low == all;
            same_both = same_both && of_both == all;
        }
        RC_ASSERT(results[2] == Words(lanes, same_low ? all : 0));
        RC_ASSERT(results[3] == Words(lanes, same_low ? 1 : 0));
        RC_ASSERT(results[4] == Words(lanes, same_both ? all : 0));
        RC_ASSERT(results[5] == Words(lanes, same_both ? 1 : 0));
    }));
    // Lanes that the guard turns off match nothing.
    const LaneProgram guarded({"@P0 MATCH.ANY R20, R10"}, {"R10", "P0", "R20"}, {"R20"});
    const Words flags = [] {
        Words words(lanes);
        words[2] = words[7] = words[8] = 1;
        return words;
    }();
    Words value(lanes, 4);
    value[7] = 5;
    Words expected(lanes, 9);
    expected[2] = expected[8] = 0x104;
    expected[7] = 0x80;
    CHECK(guarded({value, flags, Words(lanes, 9)})[0] == expected);
}

TEST_CASE("REDUX folds the words of the enabled lanes") {
    struct Case {
        std::string modifiers;
        std::uint32_t (*fold)(std::uint32_t a, std::uint32_t b);
    };
    const std::vector<Case> cases{
        {"", [](std::uint32_t a, std::uint32_t b) { return a & b; }},
        {".OR", [](std::uint32_t a, std::uint32_t b) { return a | b; }},
        {".XOR", [](std::uint32_t a, std::uint32_t b) { return a ^ b; }},
        {".SUM", [](std::uint32_t a, std::uint32_t b) { return a + b; }},
        {".SUM.S32", [](std::uint32_t a, std::uint32_t b) { return a + b; }},
        {".MIN", [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); }},
        {".MAX", [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); }},
        {".MIN.S32", [](std::uint32_t a, std::uint32_t b) { return as_signed(a) < as_signed(b) ? a : b; }},
        {".MAX.S32", [](std::uint32_t a, std::uint32_t b) { return as_signed(a) > as_signed(b) ? a : b; }}};
    for (const Case& one : cases) {
        const LaneProgram program({"@P0 REDUX" + one.modifiers + " UR8, R10"}, {"R10", "P0"}, {"UR8"});
        CHECK(rc::check("REDUX" + one.modifiers, [&] {
            const Words value = some_words(any_word());
            Words flags = some_words(any_flag());
            flags[random_below(lanes)] = 1;
            std::uint32_t expected = 0;
            bool first = true;
            for (std::uint32_t lane = 0; lane < lanes; ++lane) {
                if (flags[lane] != 0) {
                    expected = first ? value[lane] : one.fold(expected, value[lane]);
                    first = false;
                }
            }
            RC_ASSERT(program({value, flags})[0] == Words(lanes, expected));
        }));
    }
}

TEST_CASE("the elected lane is the first that is enabled") {
    const LaneProgram program({"@P0 ELECT P1, UR8, PT"}, {"P0"}, {"P1", "UR8"});
    CHECK(rc::check("the lowest", [&program] {
        Words flags = some_words(any_flag());
        flags[random_below(lanes)] = 1;
        const auto lowest = static_cast<std::uint32_t>(std::countr_zero(mask_of(flags)));
        const std::vector<Words> results = program({flags});
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(results[0][lane] == (lane == lowest ? 1U : 0U));
        }
        RC_ASSERT(results[1] == Words(lanes, lowest));
    }));
}

TEST_CASE("lanes and masks of lanes") {
    const LaneProgram program(
        {"S2R R20, SR_LANEID", "S2R R21, SR_EQMASK", "S2R R22, SR_LTMASK", "S2R R23, SR_LEMASK",
         "S2R R24, SR_GTMASK", "S2R R25, SR_GEMASK", "CS2R R26, SRZ", "CS2R.32 R28, SRZ"},
        {"R26", "R27", "R28"}, {"R20", "R21", "R22", "R23", "R24", "R25", "R26", "R27", "R28"});
    const std::vector<Words> results = program({Words(70, 1), Words(70, 1), Words(70, 1)}, 70);
    for (std::uint32_t thread = 0; thread < 70; ++thread) {
        const std::uint32_t lane = thread % 32;
        std::uint32_t less = 0;
        for (std::uint32_t other = 0; other < lane; ++other) {
            less |= 1U << other;
        }
        const std::uint32_t equal = 1U << lane;
        CHECK(results[0][thread] == lane);
        CHECK(results[1][thread] == equal);
        CHECK(results[2][thread] == less);
        CHECK(results[3][thread] == (less | equal));
        CHECK(results[4][thread] == ~(less | equal));
        CHECK(results[5][thread] == ~less);
        CHECK(results[6][thread] == 0);
        CHECK(results[7][thread] == 0);
        CHECK(results[8][thread] == 0);
    }
}

TEST_CASE("threads know their place in blocks of any shape") {
    CHECK(rc::check("tid and ctaid", [] {
        const LaunchShape shape = [] {
            LaunchShape any;
            any.grid = {1 + random_below(3), 1 + random_below(3), 1 + random_below(3)};
            any.block = {1 + random_below(40), 1 + random_below(5), 1 + random_below(4)};
            return any;
        }();
        // The thread's number within the grid from its coordinates.
        ProgramOptions options;
        options.parameters = 1;
        const Program program(
            {"S2R R10, SR_TID.X", "S2R R11, SR_TID.Y", "S2R R12, SR_TID.Z", "S2UR UR8, SR_CTAID.X",
             "S2R R14, SR_CTAID.Y", "S2R R15, SR_CTAID.Z", "IMAD R16, R15, c[0x0][0x10], R14",
             "IMAD R16, R16, c[0x0][0xc], RZ", "IADD3 R16, R16, UR8, RZ", "IMAD R16, R16, c[0x0][0x8], R12",
             "IMAD R16, R16, c[0x0][0x4], R11", "IMAD R16, R16, c[0x0][0x0], R10",
             "IMAD.WIDE.U32 R2, R16, 0x4, c[0x0][0x210]", "LDG.E R17, desc[UR4][R2.64]",
             "IADD3 R17, R17, R16, RZ", "IADD3 R17, R17, 0x1, RZ", "STG.E desc[UR4][R2.64], R17"},
            options);
        const std::size_t threads = shape.ctas() * shape.threads();
        const Buffer buffer(Words(threads, 0));
        RC_ASSERT(program.error(shape, {buffer.address()}) == "");
        Words expected(threads);
        for (std::uint32_t i = 0; i < threads; ++i) {
            expected[i] = i + 1;
        }
        RC_ASSERT(buffer.words() == expected);
    }));
}

TEST_CASE("windows of generic addresses are those of the launch") {
    const LaneProgram program({"S2R R20, SR_SWINHI", "S2R R21, SR_LWINHI"}, {}, {"R20", "R21"});
    const std::vector<Words> results = program({});
    CHECK(results[0] == Words(lanes, high_of(shared_window)));
    CHECK(results[1] == Words(lanes, high_of(local_window)));
}

TEST_CASE("the clock never goes back") {
    const LaneProgram program(
        {"CS2R R20, SR_CLOCKLO", "NOP", "S2R R22, SR_CLOCKLO", "CS2R.32 R23, SR_CLOCKLO"}, {},
        {"R20", "R22", "R23"});
    const std::vector<Words> results = program({});
    CHECK(results[0][0] <= results[1][0]);
    CHECK(results[1][0] <= results[2][0]);
}

TEST_CASE("a launch that ends at a read of the clock executes what stands before it and counts the reads") {
    // A warp reads the clock three times; its last read is under a guard that never holds.
    ProgramOptions one_pointer;
    one_pointer.parameters = 1;
    const Program program({"CS2R R20, SR_CLOCKLO", "NOP", "NOP", "CS2R.32 R22, SR_CLOCKLO",
                           "IADD3 R20, R22, -R20, RZ", "IMAD.WIDE.U32 R2, RZ, 0x4, c[0x0][0x210]",
                           "STG.E desc[UR4][R2.64], R20", "@!PT CS2R R24, SR_CLOCKLO", "NOP"},
                          one_pointer);
    const auto executed = [&program](std::uint32_t last) {
        const Buffer buffer(Words(1));
        RunOptions options;
        options.last_clock_read = last;
        const LaunchCounts counts = program.run(one_cta(64), {buffer.address()}, options);
        CHECK(counts.error.empty());
        return std::pair(counts.executed / 2, buffer.words()[0]);
    };
    CHECK(executed(1) == std::pair<std::uint64_t, std::uint32_t>(1, 0));
    CHECK(executed(2) == std::pair<std::uint64_t, std::uint32_t>(4, 0));
    CHECK(executed(3) == std::pair<std::uint64_t, std::uint32_t>(8, 1U << 20U));
    CHECK(executed(4) == std::pair<std::uint64_t, std::uint32_t>(10, 1U << 20U));
    CHECK(executed(0).first == 10);
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
