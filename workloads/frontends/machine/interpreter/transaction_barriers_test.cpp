// Tests of barriers that count threads and bytes: their word against a plain record, and warps that wait.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/transaction_barriers.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

bool phase_of(std::uint64_t word) {
    return (word >> 63U) != 0;
}

/// The same as a record (PTX ISA, "mbarrier": a phase is complete when both counts are zero).
struct Record {
    std::uint32_t expected, missing;
    std::int64_t bytes = 0;
    std::uint64_t phases = 0;

    void arrive(std::uint32_t threads, std::int64_t more_bytes) {
        missing -= threads;
        bytes += more_bytes;
        if (missing == 0 && bytes == 0) {
            missing = expected;
            ++phases;
        }
    }
};

TEST_CASE("the phase flips exactly when neither threads nor bytes are missing") {
    CHECK(rc::check("arrivals and bytes in any order", [] {
        const std::uint32_t threads = 1 + random_below(5);
        Record record{threads, threads};
        std::uint64_t word = fresh_word(threads);
        for (int step = 0; step < 60; ++step) {
            const std::uint32_t arriving =
                record.missing == 0 ? 0 : random_below(std::min<std::uint32_t>(record.missing, 2) + 1);
            std::int64_t bytes = 0;
            const std::uint32_t kind = random_below(4);
            if (kind == 0 && record.missing > 0) {
                bytes = std::int64_t{16} * random_below(1000);
            } else if (kind == 1 && record.bytes > 0) {
                bytes = -record.bytes;
            } else if (kind == 2 && record.bytes > 0) {
                bytes = -static_cast<std::int64_t>(random_below(static_cast<std::uint32_t>(record.bytes)) /
                                                   16 * 16);
            }
            if (arriving == 0 && bytes == 0) {
                continue;
            }
            record.arrive(arriving, bytes);
            word = after_arrival(word, arriving, bytes);
            RC_ASSERT(phase_of(word) == (record.phases % 2 != 0));
        }
        // What is left of the phase, at once.
        const std::uint32_t missing = record.missing;
        const std::int64_t bytes = record.bytes;
        record.arrive(missing, -bytes);
        word = after_arrival(word, missing, -bytes);
        RC_ASSERT(record.phases > 0U);
        const std::uint64_t parity = record.phases % 2 != 0 ? std::uint64_t{1} << 63U : 0U;
        RC_ASSERT(word == (fresh_word(threads) ^ parity));
    }));
}

TEST_CASE("a whole phase restores the word but for its parity") {
    CHECK(rc::check("one phase", [] {
        const std::uint32_t threads = 1 + random_below(1000);
        const std::uint64_t fresh = fresh_word(threads);
        std::uint64_t word = fresh;
        const std::int64_t bytes = std::int64_t{16} * random_below(4000);
        word = after_arrival(word, 0, bytes);
        RC_ASSERT(bytes == 0 || word != fresh);
        const std::uint32_t first = random_below(threads);
        word = after_arrival(word, first, 0);
        RC_ASSERT(!phase_of(word));
        word = after_arrival(word, threads - first, 0);
        RC_ASSERT(phase_of(word) == (bytes == 0));
        if (bytes != 0) {
            word = after_arrival(word, 0, -bytes);
        }
        RC_ASSERT(word == (fresh ^ (std::uint64_t{1} << 63U)));
        // The next phase flips it back.
        RC_ASSERT(after_arrival(word, threads, 0) == fresh);
    }));
}

TEST_CASE("bytes may come before they are announced") {
    const std::uint64_t fresh = fresh_word(1);
    std::uint64_t word = after_arrival(fresh, 0, -4096);
    CHECK_FALSE(phase_of(word));
    word = after_arrival(word, 1, 4096);
    CHECK(phase_of(word));
    CHECK(word == (fresh ^ (std::uint64_t{1} << 63U)));
}

TEST_CASE("the greatest counts of threads and bytes fit") {
    constexpr std::uint32_t most_threads = (1U << 20U) - 1U, most_bytes = (1U << 20U) - 1U;
    std::uint64_t word = fresh_word(most_threads);
    word = after_arrival(word, 0, most_bytes);
    word = after_arrival(word, most_threads, 0);
    CHECK_FALSE(phase_of(word));
    CHECK(phase_of(after_arrival(word, 0, -std::int64_t{most_bytes})));
}

// ---- in kernels

/// Sets a barrier up at shared address 0 by warp 0, before all threads go on.
std::vector<std::string> set_up(std::uint32_t threads) {
    const std::uint64_t word = fresh_word(threads);
    return {"UMOV UR4, 0x0",
            fmt::format("UMOV UR6, {:#x}", low_of(word)),
            fmt::format("UMOV UR7, {:#x}", high_of(word)),
            "ISETP.GE.U32.AND P5, PT, R0, 0x20, PT",
            "@!P5 SYNCS.EXCH.64 URZ, [UR4], UR6",
            "BAR.SYNC.DEFER_BLOCKING 0x0"};
}
ProgramOptions with_shared() {
    ProgramOptions options;
    options.static_shared = 4096;
    return options;
}
std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

TEST_CASE("warps that wait go on when the last thread has arrived, phase after phase") {
    constexpr std::uint32_t threads = 96, phases = 4;
    std::vector<std::string> body = set_up(threads);
    body.insert(body.end(), {"IMAD.SHL.U32 R11, R0, 0x4, RZ", "MOV R30, RZ"});
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
        // Each thread writes, arrives, waits for the phase by its parity, and reads another's word.
        body.insert(body.end(),
                    {"STS [R11+0x100], R10", "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [URZ], RZ",
                     fmt::format("MOV R15, {:#x}", phase % 2 == 0 ? 0U : 0x80000000U),
                     "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [URZ], R15", "SEL R16, RZ, 0x1, !P0",
                     "IADD3 R30, R30, R16, RZ", "LDS R10, [R12+0x100]", "BAR.SYNC.DEFER_BLOCKING 0x0"});
    }
    const LaneProgram program(body, {"R10", "R12"}, {"R10", "R30"}, with_shared());
    CHECK(rc::check("phases", [&] {
        const Words values = some_words(any_word(), threads);
        Words from = some_words(any_below(threads), threads), offsets(threads);
        for (std::size_t thread = 0; thread < threads; ++thread) {
            offsets[thread] = 4 * from[thread];
        }
        const std::vector<Words> results = program({values, offsets}, threads);
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
            std::uint32_t origin = thread;
            for (std::uint32_t phase = 0; phase < phases; ++phase) {
                origin = from[origin];
            }
            RC_ASSERT(results[0][thread] == values[origin]);
            RC_ASSERT(results[1][thread] == phases);
        }
    }));
}

TEST_CASE("a check without waiting tells whether the phase has ended, and arrivals give the word before") {
    const LaneProgram program(
        joined(set_up(2),
               {"MOV R15, RZ", "SYNCS.PHASECHK.TRANS64 P0, [URZ], R15", "ISETP.EQ.AND P4, PT, R0, RZ, PT",
                "@P4 SYNCS.ARRIVE.TRANS64.A1T0 R20, [URZ], RZ", "SYNCS.PHASECHK.TRANS64 P1, [URZ], R15",
                "@P4 SYNCS.ARRIVE.TRANS64.A1T0 R22, [URZ], RZ", "SYNCS.PHASECHK.TRANS64 P2, [URZ], R15",
                "MOV R16, 0x80000000", "SYNCS.PHASECHK.TRANS64 P3, [URZ], R16"}),
        {}, {"P0", "P1", "P2", "P3", "R20", "R21", "R22", "R23"}, with_shared());
    const std::vector<Words> results = program({});
    CHECK(results[0] == Words(32, 0));
    CHECK(results[1] == Words(32, 0));
    CHECK(results[2] == Words(32, 1));
    CHECK(results[3] == Words(32, 0));
    CHECK(pair_of(results[4][0], results[5][0]) == fresh_word(2));
    CHECK(pair_of(results[6][0], results[7][0]) == after_arrival(fresh_word(2), 1, 0));
}

TEST_CASE("a thread may arrive for several, announce bytes, or leave for good") {
    const auto phases = [](std::uint32_t threads, const std::vector<std::string>& lines) {
        std::vector<std::string> body = set_up(threads);
        body.emplace_back("ISETP.EQ.AND P4, PT, R0, RZ, PT");
        body.emplace_back("MOV R10, 0x5");
        body.emplace_back("MOV R11, 0x40");
        for (const std::string& line : lines) {
            body.push_back("@P4 " + line);
        }
        body.emplace_back("LDS.64 R20, [RZ]");
        const std::vector<Words> results = LaneProgram(body, {}, {"R20", "R21"}, with_shared())({});
        return pair_of(results[0][0], results[1][0]);
    };
    const std::uint64_t parity = std::uint64_t{1} << 63U;
    CHECK(phases(5, {"SYNCS.ARRIVE.TRANS64.ART0 RZ, [URZ], R10"}) == (fresh_word(5) ^ parity));
    CHECK(phases(1, {"SYNCS.ARRIVE.TRANS64 RZ, [URZ], R11"}) == after_arrival(fresh_word(1), 1, 64));
    CHECK(phases(1, {"SYNCS.ARRIVE.TRANS64 RZ, [URZ], R11", "SYNCS.ARRIVE.TRANS64.A0TX RZ, [URZ], R11"}) ==
          (fresh_word(1) ^ parity));
    CHECK(phases(1, {"SYNCS.ARRIVE.TRANS64.A0TR RZ, [URZ], R11"}) == after_arrival(fresh_word(1), 0, 64));
    CHECK(phases(3, {"SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0 RZ, [URZ], RZ",
                     "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [URZ], RZ", "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [URZ], RZ"}) ==
          (fresh_word(2) ^ parity));
    CHECK(phases(2, {"ARRIVES.LDGSTSBAR.64.ARVCNT [URZ]"}) == after_arrival(fresh_word(2), 1, 0));
}

TEST_CASE("a phase that never ends is a deadlock") {
    ProgramOptions options = with_shared();
    const LaneProgram program(joined(set_up(33), {"SYNCS.ARRIVE.TRANS64.A1T0 RZ, [URZ], RZ", "MOV R15, RZ",
                                                  "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [URZ], R15"}),
                              {}, {}, options);
    std::string message;
    try {
        (void)program({});
    } catch (const std::runtime_error& error) {
        message = error.what();
    }
    CHECK(has_parts(message,
                    {"a deadlock: every warp waits", "SYNCS.PHASECHK.TRANS64.TRYWAIT", "kernel test"}));
}

TEST_CASE("a barrier lies within shared memory at a multiple of 8") {
    const LaneProgram program({"SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R10], RZ"}, {"R10"}, {}, with_shared());
    CHECK_NOTHROW((void)program({Words(32, 4088)}));
    for (const std::uint32_t address : {4096U, 4U, 4095U}) {
        std::string message;
        try {
            (void)program({Words(32, address)});
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        CHECK(has_parts(message, {"a barrier outside of shared memory, or misaligned", "thread (0, 0, 0)"}));
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
