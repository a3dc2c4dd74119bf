// Loops that race: tries are as many as by the order of a clock, and the fullest slice is known.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/races.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

namespace warptime::workloads::frontends::machine {

namespace {

using namespace fixture;

/// Adds one to a word by exchanges, until one succeeds.
Program additions() {
    return Program(
        {"MOV R2, c[0x0][0x210]", "MOV R3, c[0x0][0x214]", "again:", "LDG.E.STRONG.SYS R4, desc[UR4][R2.64]",
         "IADD3 R5, R4, 0x1, RZ", "ATOMG.E.CAS.STRONG.GPU PT, R8, [R2], R4, R5",
         "ISETP.NE.AND P0, PT, R8, R4, PT", "@P0 BRA `(again)", "EXIT"},
        with_parameters(1));
}

/// An H200 of a single SM that holds so many CTAs.
RunOptions one_sm(int ctas) {
    RunOptions options;
    options.chip = chip_of(hw::load_gpu("h200-sxm"));
    options.chip.limits.sm_count = 1;
    options.chip.limits.ctas = ctas;
    return options;
}

Chip chip_with(int slices, double interval, double latency) {
    Chip chip;
    chip.cache.sector = 32;
    chip.cache.line = 128;
    chip.l2 = {slices, interval, latency};
    return chip;
}

}  // namespace

TEST_CASE("threads that add by exchanges fail as often as others have been faster") {
    const Program program = additions();
    REQUIRE(program.code().races == std::vector<bool>{true});
    for (const std::uint32_t ctas : {1U, 2U, 5U, 40U}) {
        CAPTURE(ctas);
        const Buffer word(Words{0});
        LaunchShape shape = one_cta(1);
        shape.grid[0] = ctas;
        const LaunchCounts counts = program.run(shape, {word.address()});
        CHECK(counts.error.empty());
        CHECK(word.words() == Words{ctas});
        // All have loaded before the first one swaps: one of each round succeeds.
        CHECK(executed(counts, program, "ATOMG") == ctas * (ctas + 1) / 2);
        CHECK(counts.whole());
    }
}

TEST_CASE("CTAs that come later find what those before them have left") {
    const Program program = additions();
    const Buffer word(Words{0});
    const RunOptions options = one_sm(1);
    LaunchShape shape = one_cta(1);
    shape.grid[0] = 9;
    const LaunchCounts counts = program.run(shape, {word.address()}, options);
    CHECK(word.words() == Words{9});
    CHECK(executed(counts, program, "ATOMG") == 9);
}

TEST_CASE("no further CTA is begun beyond the budget") {
    const Program program = additions();
    const Buffer word(Words{0});
    RunOptions options = one_sm(2);
    options.budget = 30;
    LaunchShape shape = one_cta(1);
    shape.grid[0] = 2000;
    const LaunchCounts counts = program.run(shape, {word.address()}, options);
    CHECK(counts.error.empty());
    CHECK(counts.ctas_run < 10);
    CHECK(counts.ctas_run >= 2);
}

TEST_CASE("warps of a CTA meet at its barrier in a launch that races") {
    const Program program(
        {"MOV R2, c[0x0][0x210]", "MOV R3, c[0x0][0x214]", "again:", "LDG.E.STRONG.SYS R4, desc[UR4][R2.64]",
         "IADD3 R5, R4, 0x1, RZ", "ATOMG.E.CAS.STRONG.GPU PT, R8, [R2], R4, R5",
         "ISETP.NE.AND P0, PT, R8, R4, PT", "@P0 BRA `(again)", "BAR.SYNC.DEFER_BLOCKING 0x0", "EXIT"},
        with_parameters(1));
    const Buffer word(Words{0});
    const LaunchCounts counts = program.run(one_cta(256), {word.address()});
    CHECK(counts.error.empty());
    CHECK(word.words() == Words{256});
    CHECK(executed(counts, program, "BAR") >= 8);
}

TEST_CASE("loops that count, that read what nobody changes, or that wait do not race") {
    const auto races = [](std::vector<std::string> lines) {
        lines.insert(lines.begin(), {"MOV R2, c[0x0][0x210]", "MOV R3, c[0x0][0x214]"});
        return Program(lines, with_parameters(1)).code().races.front();
    };
    CHECK_FALSE(races(
        {"again:", "IADD3 R4, R4, -0x1, RZ", "ISETP.NE.AND P0, PT, R4, RZ, PT", "@P0 BRA `(again)", "EXIT"}));
    CHECK_FALSE(races({"again:", "LDG.E R4, desc[UR4][R2.64]", "IADD3 R2, R2, 0x4, RZ",
                       "ISETP.NE.AND P0, PT, R4, RZ, PT", "@P0 BRA `(again)", "EXIT"}));
    CHECK_FALSE(races({"again:", "LDG.E.STRONG.GPU R4, desc[UR4][R2.64]", "ISETP.NE.AND P0, PT, R4, RZ, PT",
                       "@P0 BRA `(again)", "EXIT"}));
    // A walk along words that others may change.
    CHECK(races({"again:", "LDG.E.STRONG.SYS R4, desc[UR4][R2.64]", "IADD3 R2, R2, 0x4, RZ",
                 "ISETP.NE.AND P0, PT, R4, RZ, PT", "@P0 BRA `(again)", "EXIT"}));
}

TEST_CASE("a walk whose pointers lie beside a pair of constants is no wait") {
    // LDC.64 writes two registers, and not R7, which the loop changes from turn to turn.
    const Program program({"again:", "LDC.64 R4, c[0x0][0x210]", "IMAD.WIDE R2, R7, 0x4, R4",
                           "LDG.E.STRONG.SYS R2, desc[UR4][R2.64]", "ISETP.NE.AND P0, PT, R2, R7, PT",
                           "IMAD.MOV.U32 R7, RZ, RZ, R2", "@P0 BRA `(again)", "EXIT"},
                          with_parameters(1));
    CHECK(program.code().polls.empty());
    CHECK(program.code().races.front());
}

TEST_CASE("slices serve one sector after the other, and each for itself") {
    const Instruction load{};
    std::array<std::uint64_t, 32> places{};
    places.fill(64);
    SliceQueues one(chip_with(1, 2.0, 100.0), 1);
    // All lanes of a load in a sector are one service; of an atomic each is.
    CHECK(one.serve(load, places, all_lanes, false, 10.0) == 112.0);
    CHECK(one.serve(load, places, all_lanes, false, 10.0) == 114.0);
    CHECK(one.serve(load, places, all_lanes, true, 10.0) == 178.0);
    // The queue is empty again.
    CHECK(one.serve(load, places, 1, false, 1000.0) == 1102.0);
    for (std::size_t lane = 0; lane < 32; ++lane) places[lane] = 4096 * lane;
    SliceQueues many(chip_with(64, 2.0, 100.0), 1);
    const double spread = many.serve(load, places, all_lanes, false, 0.0);
    CHECK(spread >= 102.0);
    CHECK(spread < 102.0 + 31.0);
}

TEST_CASE("what an instruction asks of the slice that all ask most") {
    Instruction hot{}, cold{};
    cold.index = 1;
    SliceQueues queues(chip_with(16, 1.0, 1.0), 3);
    std::array<std::uint64_t, 32> places{};
    for (int i = 0; i < 100; ++i) (void)queues.serve(hot, places, 1, false, 0.0);
    CHECK(queues.skews() == std::vector<double>{16.0, 1.0, 1.0});
    std::uint64_t place = 0;
    for (int i = 0; i < 1600; ++i) {
        places[0] = place += 128;
        (void)queues.serve(cold, places, 1, false, 0.0);
    }
    const std::vector<double> skews = queues.skews();
    CHECK(skews[0] == 16.0);
    CHECK(skews[1] == doctest::Approx(1.0).epsilon(0.2));
    CHECK(skews[2] == 1.0);
}

}  // namespace warptime::workloads::frontends::machine
