// Tests of the named barriers of a CTA: order, reductions, counts of threads, and deadlocks.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

ProgramOptions shared_words(std::int64_t words) {
    ProgramOptions options;
    options.static_shared = 4 * words;
    return options;
}

constexpr std::uint32_t most_threads = 300;

TEST_CASE("what threads write before BAR.SYNC is what others read behind it") {
    std::vector<std::string> body{"IMAD.SHL.U32 R11, R0, 0x4, RZ", "IMAD.SHL.U32 R12, R12, 0x4, RZ"};
    constexpr int phases = 5;
    for (int phase = 0; phase < phases; ++phase) {
        // Some threads take longer than others.
        body.insert(body.end(), {fmt::format("BSSY B0, `(join{})", phase), fmt::format("spin{}:", phase),
                                 "IADD3 R13, R13, -0x1, RZ", "ISETP.GT.AND P0, PT, R13, RZ, PT",
                                 fmt::format("@P0 BRA `(spin{})", phase), fmt::format("join{}:", phase),
                                 "BSYNC B0", "MOV R13, R14", "STS [R11], R10", "BAR.SYNC.DEFER_BLOCKING 0x0",
                                 "LDS R10, [R12]", "BAR.SYNC.DEFER_BLOCKING 0x0"});
    }
    const LaneProgram program(body, {"R10", "R12", "R13", "R14"}, {"R10"}, shared_words(most_threads));
    CHECK(rc::check("values go from thread to thread", [&program] {
        const std::uint32_t threads = 1 + random_below(most_threads);
        const Words values = some_words(any_word(), threads);
        const Words from = some_words(any_below(threads), threads);
        const Words results =
            program({values, from, some_words(any_below(40), threads), some_words(any_below(40), threads)},
                    threads)[0];
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
            std::uint32_t origin = thread;
            for (int phase = 0; phase < phases; ++phase) {
                origin = from[origin];
            }
            RC_ASSERT(results[thread] == values[origin]);
        }
    }));
}

TEST_CASE("BAR.RED counts, joins and meets the predicates of all threads") {
    const LaneProgram program(
        {"BAR.RED.POPC.DEFER_BLOCKING 0x0, P0", "B2R.RESULT R20", "BAR.RED.OR.DEFER_BLOCKING 0x1, P0",
         "B2R.RESULT RZ, P1", "BAR.RED.AND.DEFER_BLOCKING 0x2, P0", "B2R.RESULT RZ, P2",
         "BAR.RED.POPC.DEFER_BLOCKING 0x0, !P0", "B2R.RESULT R21"},
        {"P0"}, {"R20", "P1", "P2", "R21"});
    CHECK(rc::check("reductions", [&program] {
        const std::uint32_t threads = 1 + random_below(most_threads);
        // Often nearly all or nearly none.
        const std::uint32_t chance = *rc::gen::element<std::uint32_t>(0U, 1U, 50U, 99U, 100U);
        Words flags(threads);
        for (std::uint32_t& flag : flags) {
            flag = random_below(100) < chance ? 1 : 0;
        }
        const auto sum = std::accumulate(flags.begin(), flags.end(), 0U);
        const std::vector<Words> results = program({flags}, threads);
        RC_ASSERT(results[0] == Words(threads, sum));
        RC_ASSERT(results[1] == Words(threads, sum > 0 ? 1 : 0));
        RC_ASSERT(results[2] == Words(threads, sum == threads ? 1 : 0));
        RC_ASSERT(results[3] == Words(threads, threads - sum));
    }));
}

TEST_CASE("threads that have exited are not waited for") {
    const LaneProgram program({"@P0 EXIT", "IMAD.SHL.U32 R11, R0, 0x4, RZ", "STS [R11], R10",
                               "BAR.RED.POPC.DEFER_BLOCKING 0x0, PT", "B2R.RESULT R20"},
                              {"R10", "P0"}, {"R20"}, shared_words(most_threads));
    CHECK(rc::check("the rest", [&program] {
        const std::uint32_t threads = 1 + random_below(most_threads);
        const Words leaves = some_words(any_flag(), threads);
        const Words results = program({some_words(any_word(), threads), leaves}, threads)[0];
        const std::uint32_t stay = threads - std::accumulate(leaves.begin(), leaves.end(), 0U);
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
            RC_ASSERT(results[thread] == (leaves[thread] != 0 ? 0U : stay));
        }
    }));
}

TEST_CASE("threads that exit while others wait complete the phase") {
    // The first warp waits, the others leave later.
    const LaneProgram program(
        {"ISETP.LT.AND P0, PT, R0, 0x20, PT", "@P0 BRA `(wait)", "MOV R10, 0x800",
         "spin:", "IADD3 R10, R10, -0x1, RZ", "ISETP.GT.AND P1, PT, R10, RZ, PT", "@P1 BRA `(spin)", "EXIT",
         "wait:", "BAR.SYNC.DEFER_BLOCKING 0x0", "MOV R20, 0x7"},
        {}, {"R20"});
    const Words results = program({}, 128)[0];
    for (std::size_t thread = 0; thread < 128; ++thread) {
        CHECK(results[thread] == (thread < 32 ? 7 : 0));
    }
}

TEST_CASE("the two sides of a branch may come to the same barrier") {
    const LaneProgram program(
        {"IMAD.SHL.U32 R11, R0, 0x4, RZ", "BSSY B0, `(join)", "@P0 BRA `(then)", "STS [R11], R10",
         "BAR.SYNC.DEFER_BLOCKING 0x0", "BRA `(join)", "then:", "IADD3 R10, R10, 0x1, RZ", "STS [R11], R10",
         "BAR.SYNC.DEFER_BLOCKING 0x0", "join:", "BSYNC B0", "LDS R20, [R12]"},
        {"R10", "R12", "P0"}, {"R20"}, shared_words(most_threads));
    CHECK(rc::check("both arrive", [&program] {
        const std::uint32_t threads = 1 + random_below(most_threads);
        const Words values = some_words(any_word(), threads);
        const Words flags = some_words(any_flag(), threads);
        Words from(threads);
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
            from[thread] = 4 * ((thread * 7 + 5) % threads);
        }
        const Words results = program({values, from, flags}, threads)[0];
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
            const std::size_t other = from[thread] / 4;
            RC_ASSERT(results[thread] == values[other] + flags[other]);
        }
    }));
}

TEST_CASE("parts of a CTA meet at barriers of their own") {
    // Pairs of warps use barrier 1 + pair, whose number lies in a register.
    const LaneProgram program(
        {"SHF.R.U32.HI R13, RZ, 0x6, R0", "IADD3 R13, R13, 0x1, RZ", "IMAD.SHL.U32 R11, R0, 0x4, RZ",
         "STS [R11], R10", "BAR.SYNC.DEFER_BLOCKING R13, 0x40", "LOP3.LUT R12, R11, 0xfc, RZ, 0x3c, !PT",
         "LDS R20, [R12]"},
        {"R10"}, {"R20"}, shared_words(256));
    const Words values = [] {
        Words words(256);
        std::iota(words.begin(), words.end(), 1000U);
        return words;
    }();
    const Words results = program({values}, 256)[0];
    for (std::size_t thread = 0; thread < 256; ++thread) {
        CHECK(results[thread] == values[thread ^ 63U]);
    }
}

TEST_CASE("producers arrive without waiting, consumers wait for them") {
    // Warps 0 and 1 produce three times what warps 2 and 3 consume; each side frees the other by a barrier.
    const LaneProgram program({"LOP3.LUT R11, R0, 0x3f, RZ, 0xc0, !PT",
                               "IMAD.SHL.U32 R11, R11, 0x4, RZ",
                               "ISETP.GE.AND P0, PT, R0, 0x40, PT",
                               "MOV R14, 0x3",
                               "MOV R20, RZ",
                               "@P0 BRA `(consume)",
                               "produce:",
                               "STS [R11], R10",
                               "IMAD R10, R10, 0x3, RZ",
                               "BAR.ARV 0x1, 0x80",
                               "BAR.SYNC.DEFER_BLOCKING 0x2, 0x80",
                               "IADD3 R14, R14, -0x1, RZ",
                               "ISETP.GT.AND P1, PT, R14, RZ, PT",
                               "@P1 BRA `(produce)",
                               "BRA `(end)",
                               "consume:",
                               "BAR.SYNC.DEFER_BLOCKING 0x1, 0x80",
                               "LDS R12, [R11]",
                               "IMAD R20, R20, 0x7, R12",
                               "BAR.ARV 0x2, 0x80",
                               "IADD3 R14, R14, -0x1, RZ",
                               "ISETP.GT.AND P1, PT, R14, RZ, PT",
                               "@P1 BRA `(consume)",
                               "end:",
                               "NOP"},
                              {"R10"}, {"R20"}, shared_words(64));
    const Words values = [] {
        Words words(128);
        std::iota(words.begin(), words.end(), 5U);
        return words;
    }();
    const Words results = program({values}, 128)[0];
    for (std::size_t thread = 64; thread < 128; ++thread) {
        const std::uint32_t first = values[thread - 64];
        CHECK(results[thread] == (first * 7 + 3 * first) * 7 + 9 * first);
    }
}

TEST_CASE("a warp that lacks threads counts as a whole one where a number is given") {
    const LaneProgram program({"BAR.SYNC.DEFER_BLOCKING 0x1, 0x40", "MOV R20, 0x1"}, {}, {"R20"});
    CHECK(program({}, 40)[0] == Words(40, 1));
}

TEST_CASE("a barrier for which threads are missing is a deadlock that names the warps") {
    const Program program({"BAR.SYNC.DEFER_BLOCKING 0x3, 0x80"});
    const std::string message = program.error(one_cta(64));
    CHECK(has_parts(message, {"a deadlock: every warp waits", "warp 0 of CTA 0", "warp 1 of CTA 0",
                              "BAR.SYNC.DEFER_BLOCKING 0x3, 0x80", "kernel test"}));
    CHECK(program.error(one_cta(128)).empty());
}

TEST_CASE("groups of a warp that have parted come to two barriers, one after the other") {
    const LaneProgram program(
        {"ISETP.GT.AND P0, PT, R10, RZ, PT", "@P0 BRA `(other)", "BAR.SYNC.DEFER_BLOCKING 0x0",
         "BAR.SYNC.DEFER_BLOCKING 0x0", "MOV R10, 0x5", "BRA `(end)", "other:", "BAR.SYNC.DEFER_BLOCKING 0x0",
         "BAR.SYNC.DEFER_BLOCKING 0x0", "MOV R10, 0x7", "end:"},
        {"R10"}, {"R10"});
    CHECK(rc::check("all go on", [&program] {
        const std::uint32_t threads = 1 + random_below(most_threads);
        const Words ways = some_words(any_below(2), threads);
        const Words results = program({ways}, threads)[0];
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
            RC_ASSERT(results[thread] == (ways[thread] != 0 ? 7U : 5U));
        }
    }));
}

TEST_CASE("groups of a warp that wait for nobody are a deadlock") {
    const Program program({"S2R R1, SR_LANEID", "ISETP.GT.AND P0, PT, R1, 0x7, PT", "@P0 BRA `(other)",
                           "BAR.SYNC.DEFER_BLOCKING 0x1, 0x80", "BRA `(end)",
                           "other:", "BAR.SYNC.DEFER_BLOCKING 0x2, 0x80", "end:"});
    CHECK(has_parts(program.error(one_cta(32)), {"a deadlock: every warp waits"}));
}

TEST_CASE("there are sixteen barriers") {
    const LaneProgram program({"BAR.SYNC.DEFER_BLOCKING R10"}, {"R10"}, {});
    CHECK_NOTHROW((void)program({Words(32, 15)}));
    std::string message;
    try {
        (void)program({Words(32, 16)});
    } catch (const std::runtime_error& error) {
        message = error.what();
    }
    CHECK(has_parts(message, {"barrier 16, of 0 to 15", "thread (0, 0, 0)"}));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
