// Banks of the L1's tags: lines that meet, and turns of rows at a pitch.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/tag_banks.hpp"

#include "hw/sheet.hpp"
#include "model/machine/l1/lane_touch.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace warptime::model::machine {

namespace {

constexpr std::int64_t line = 128;

TagBanks banks() {
    static const MemoryPieces pieces = pieces_of(hw::load_gpu("h200-sxm"));
    return pieces.tags;
}

LaneAddresses rows_of(std::int64_t pitch) {
    LaneAddresses at{};
    for (std::size_t lane = 0; lane < at.size(); ++lane) at[lane] = static_cast<std::int64_t>(lane) * pitch;
    return at;
}

/// Addresses of rows of `in_row` lanes that hold `held` bytes each.
LaneAddresses rows_of(std::int64_t pitch, std::int64_t in_row, std::int64_t held) {
    LaneAddresses at{};
    for (std::size_t lane = 0; lane < at.size(); ++lane) {
        const auto number = static_cast<std::int64_t>(lane);
        at[lane] = number / in_row * pitch + number % in_row * held;
    }
    return at;
}

/// Mean turns, start by start and lane by lane.
double mean_of_each(const LaneAddresses& at, std::int64_t pitch) {
    double turns = 0.0;
    for (std::int64_t start = 0; start < 16; ++start) {
        LaneAddresses moved = at;
        for (std::int64_t& address : moved) address += start * (32 * pitch + 96);
        turns += tag_turns(moved, line, banks());
    }
    return turns / 16.0;
}

}  // namespace

TEST_CASE("lines one address bit apart meet where the profiler counted a conflict") {
    // Bits 7, 9 and 18 fall together, as do 8 and 17, and 11 and 19. No other bit falls where bit 0 does.
    CHECK(tag_bank(1 << 7, banks()) == tag_bank(1 << 9, banks()));
    CHECK(tag_bank(1 << 7, banks()) == tag_bank(1 << 18, banks()));
    CHECK(tag_bank(1 << 8, banks()) == tag_bank(1 << 17, banks()));
    CHECK(tag_bank(1 << 11, banks()) == tag_bank(1 << 19, banks()));
    CHECK(tag_bank(1 << 7, banks()) != tag_bank(1 << 8, banks()));
    for (int bit = 7; bit < 20; ++bit)
        CHECK(tag_bank(std::int64_t{1} << bit, banks()) != tag_bank(0, banks()));
    // Two bits of a class cancel out; one bit of each other class makes the third class.
    CHECK(tag_bank((1 << 7) + (1 << 8), banks()) == tag_bank(1 << 11, banks()));
    CHECK(tag_bank((1 << 7) + (1 << 9), banks()) == tag_bank(0, banks()));
}

TEST_CASE("lines side by side and powers of two share the banks evenly") {
    for (const std::int64_t pitch : {128, 512, 1024, 2048, 4096, 16384}) {
        CHECK(tag_turns(rows_of(pitch), line, banks()) == 8);
    }
    CHECK(tag_turns(rows_of(384), line, banks()) == 11);
    CHECK(tag_turns(rows_of(3072), line, banks()) == 11);
    // All lanes in one line.
    CHECK(tag_turns(rows_of(4), line, banks()) == 1);
}

TEST_CASE("rows of unaligned matrices take what their loops' wavefronts say") {
    CHECK(mean_tag_turns(rows_of(3056), 3056, line, banks()) == doctest::Approx(11.1).epsilon(0.05));
    CHECK(mean_tag_turns(rows_of(5008), 5008, line, banks()) == doctest::Approx(10.4).epsilon(0.05));
    CHECK(mean_tag_turns(rows_of(2032), 2032, line, banks()) == doctest::Approx(9.53).epsilon(0.05));
}

TEST_CASE("starts side by side take what they take one by one") {
    rc::check([](bool whole_rows) {
        const std::int64_t in_row = whole_rows ? 1 << *rc::gen::inRange(0, 6) : *rc::gen::inRange(1, 33);
        const std::int64_t held = *rc::gen::inRange(1, 513);
        // Rows may overlap, and may lie beyond 32 bits.
        const std::int64_t pitch = *rc::gen::inRange<std::int64_t>(0, 1 << *rc::gen::inRange(1, 24)) *
                                   (std::int64_t{1} << *rc::gen::inRange(0, 14));
        const LaneAddresses at = rows_of(pitch, in_row, held);
        RC_ASSERT(mean_tag_turns(at, pitch, line, banks()) == mean_of_each(at, pitch));
    });
}

}  // namespace warptime::model::machine
