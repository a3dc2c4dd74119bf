// Tests of copies of lanes to shared memory: widths, predicates, fills with zeros and their checks.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::size_t lanes = 32, slot_bytes = 16, shared_bytes = lanes * slot_bytes;

/// Fills each lane's slot of shared memory with a mark, copies, and reads the slots.
LaneProgram copy_program(const std::string& line) {
    ProgramOptions options;
    options.static_shared = shared_bytes;
    return LaneProgram(
        {"IMAD.SHL.U32 R8, R0, 0x10, RZ", "MOV R16, 0xdddddddd", "MOV R17, R16", "MOV R18, R16",
         "MOV R19, R16", "STS.128 [R8], R16", line, "LDGDEPBAR", "DEPBAR.LE SB0, 0x0", "LDS.128 R20, [R8]"},
        {"R10", "R11", "R12", "P0", "P1"}, {"R20", "R21", "R22", "R23"}, options);
}

std::vector<std::uint8_t> image_of(const std::vector<Words>& four) {
    std::vector<std::uint8_t> image(shared_bytes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        for (std::size_t w = 0; w < 4; ++w) {
            std::memcpy(image.data() + lane * slot_bytes + 4 * w, &four[w][lane], 4);
        }
    }
    return image;
}

struct Trial {
    std::vector<std::uint8_t> source, image;
    Words low = Words(lanes), high = Words(lanes), to = Words(lanes), guard, copies;
    std::vector<std::size_t> place;  ///< of each lane in the image
};
/// Every lane copies from any piece of the source to a slot of its own.
Trial random_trial(const Buffer& buffer, std::uint32_t width) {
    Trial trial;
    trial.image.assign(shared_bytes, 0xdd);
    trial.guard = some_words(any_flag());
    trial.copies = some_words(any_flag());
    const Words words = buffer.words();
    trial.source.resize(4 * words.size());
    std::memcpy(trial.source.data(), words.data(), trial.source.size());
    const std::uint32_t turned = random_below(lanes);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint64_t from =
            buffer.address() + width * random_below(static_cast<std::uint32_t>(trial.source.size()) / width);
        trial.low[lane] = low_of(from);
        trial.high[lane] = high_of(from);
        const std::uint32_t slot = (lane * 7 + turned) % lanes;
        trial.place.push_back(slot * slot_bytes + width * random_below(slot_bytes / width));
        // The offset in the line is 0x20.
        trial.to[lane] = static_cast<std::uint32_t>(trial.place.back()) - 0x20U;
    }
    return trial;
}

TEST_CASE("copies move their bytes, zeros where their predicate fails, and nothing where the guard does") {
    for (const std::uint32_t width : {4U, 8U, 16U}) {
        const std::string line =
            fmt::format("@P0 LDGSTS.E{} [R12+0x20], desc[UR4][R10.64], P1", width == 16  ? ".BYPASS.128"
                                                                            : width == 8 ? ".64"
                                                                                         : "");
        const LaneProgram program = copy_program(line);
        CHECK(rc::check(line, [&] {
            const Buffer buffer(some_words(any_word(), 256));
            Trial trial = random_trial(buffer, width);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                std::uint8_t* const to = trial.image.data() + trial.place[lane];
                if (trial.guard[lane] != 0 && trial.copies[lane] != 0) {
                    const std::uint64_t from = pair_of(trial.low[lane], trial.high[lane]) - buffer.address();
                    std::memcpy(to, trial.source.data() + from, width);
                } else if (trial.guard[lane] != 0) {
                    std::memset(to, 0, width);
                    // Its global address is not looked at.
                    trial.low[lane] = 3;
                    trial.high[lane] = 0;
                }
            }
            const std::vector<Words> results =
                program({trial.low, trial.high, trial.to, trial.guard, trial.copies});
            RC_ASSERT(image_of(results) == trial.image);
        }));
    }
}

TEST_CASE("ZFILL takes from the lower bits of the address how many bytes at the end are zeros") {
    for (const std::uint32_t width : {4U, 8U, 16U}) {
        const std::string line =
            fmt::format("LDGSTS.E.ZFILL{} [R12+0x20], desc[UR4][R10.64]", width == 16  ? ".BYPASS.128"
                                                                          : width == 8 ? ".64"
                                                                                       : "");
        const LaneProgram program = copy_program(line);
        CHECK(rc::check(line, [&] {
            const Buffer buffer(some_words(any_word(), 256));
            Trial trial = random_trial(buffer, width);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const std::uint32_t zeros = random_below(width);
                const std::uint64_t from = pair_of(trial.low[lane], trial.high[lane]) - buffer.address();
                std::uint8_t* const to = trial.image.data() + trial.place[lane];
                std::memcpy(to, trial.source.data() + from, width - zeros);
                std::memset(to + width - zeros, 0, zeros);
                trial.low[lane] += zeros;
            }
            const std::vector<Words> results =
                program({trial.low, trial.high, trial.to, trial.guard, trial.copies});
            RC_ASSERT(image_of(results) == trial.image);
        }));
    }
}

TEST_CASE("a copy is checked at both ends") {
    const Buffer buffer(std::uint64_t{64});
    const auto message = [&buffer](std::uint64_t from, std::uint32_t to) {
        const LaneProgram program = copy_program("LDGSTS.E.BYPASS.128 [R12], desc[UR4][R10.64], P1");
        Words low(lanes, low_of(buffer.address())), high(lanes, high_of(buffer.address())), place(lanes, 0);
        low[13] = low_of(buffer.address() + from);
        place[13] = to;
        try {
            (void)program({low, high, place, Words(lanes, 1), Words(lanes, 1)});
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string{};
    };
    CHECK(message(48, 496).empty());
    CHECK(has_parts(message(64, 0), {"out-of-bounds read of 16 bytes", "thread (13, 0, 0)", "kernel test"}));
    CHECK(has_parts(message(8, 0), {"misaligned read of 16 bytes", "thread (13, 0, 0)"}));
    CHECK(has_parts(message(0, 512), {"out-of-bounds write of 16 bytes at offset 0x200 of 512 bytes"}));
    CHECK(has_parts(message(0, 8), {"misaligned write of 16 bytes at offset 0x8", "thread (13, 0, 0)"}));
}

TEST_CASE("a copy counts the bytes that it reads, and the sectors they lie in") {
    ProgramOptions options;
    options.static_shared = 512;
    options.parameters = 1;
    const Program program(
        {"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R10, R0, 0x10, c[0x0][0x210]", "IMAD.SHL.U32 R12, R0, 0x10, RZ",
         "ISETP.LT.AND P1, PT, R0, 0x8, PT", "LDGSTS.E.BYPASS.128 [R12], desc[UR4][R10.64], P1"},
        options);
    const Buffer buffer(std::uint64_t{512});
    const LaunchCounts counts = program.run(one_cta(lanes), {buffer.address()});
    REQUIRE(counts.error.empty());
    const AccessCounts& access = counts.accesses[4];
    CHECK(access.sectors == 4);
    CHECK(access.lines == 1);
}

TEST_CASE("instructions that only order or wait change nothing") {
    const LaneProgram program(
        {"LDGDEPBAR", "DEPBAR.LE SB0, 0x1", "MEMBAR.SC.GPU", "FENCE.VIEW.ASYNC.S", "CCTL.IVALL", "ERRBAR",
         "NANOSLEEP 0x20", "WARPGROUP.ARRIVE", "WARPGROUP.DEPBAR.LE gsb0, 0x0", "NOP", "YIELD"},
        {"R10"}, {"R10"});
    const Words value = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
    CHECK(program({value}, value.size())[0] == value);
}

TEST_CASE("sleeps are counted by their mean, in a number, in a register of any lane, and not at a barrier") {
    const Program program({"S2R R4, SR_TID.X", "NANOSLEEP 0x42e", "NANOSLEEP R4", "NANOSLEEP.SYNCS 0x42e",
                           "ISETP.LT.AND P0, PT, R4, RZ, PT", "@P0 NANOSLEEP 0x42e"});
    const LaunchCounts counts = program.run(one_cta(64), {}, RunOptions{});
    REQUIRE(counts.error.empty());
    CHECK(counts.instructions[1].asleep == 2.0 * 1024.0);
    // The last lane of each warp asks for most: 31 and 63 ns.
    CHECK(counts.instructions[2].asleep == 16.0 + 32.0);
    CHECK(counts.instructions[3].asleep == 0.0);
    CHECK(counts.instructions[5].asleep == 0.0);
}

TEST_CASE("registers that a warp asks for are there at once") {
    const Program program({"again:", "USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xa0",
                           "PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0", "@!P0 BRA `(again)",
                           "USETMAXREG.DEALLOC.CTAPOOL 0x28"});
    RunOptions options;
    const LaunchCounts counts = program.run(one_cta(32), {}, options);
    CHECK(counts.error.empty());
    CHECK(counts.instructions[0].warps == 1);
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
