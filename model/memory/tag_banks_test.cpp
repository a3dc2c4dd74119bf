// The banks of the L1's tags: which lines meet, and what rows of a pitch take.
// SPDX-License-Identifier: Apache-2.0
#include "model/memory/tag_banks.hpp"

#include <doctest/doctest.h>

namespace warptime::model::memory {

namespace {

constexpr std::int64_t line = 128;

LaneAddresses rows_of(std::int64_t pitch) {
    LaneAddresses at{};
    for (std::size_t lane = 0; lane < at.size(); ++lane) at[lane] = static_cast<std::int64_t>(lane) * pitch;
    return at;
}

}  // namespace

TEST_CASE("lines one address bit apart meet where the profiler counted a conflict") {
    // 7, 9 and 18 fall together, 8 and 17, 11 and 19; none of them falls where bit 0 does.
    CHECK(tag_bank(1 << 7) == tag_bank(1 << 9));
    CHECK(tag_bank(1 << 7) == tag_bank(1 << 18));
    CHECK(tag_bank(1 << 8) == tag_bank(1 << 17));
    CHECK(tag_bank(1 << 11) == tag_bank(1 << 19));
    CHECK(tag_bank(1 << 7) != tag_bank(1 << 8));
    for (int bit = 7; bit < 20; ++bit) CHECK(tag_bank(std::int64_t{1} << bit) != tag_bank(0));
    // Two of a class cancel out, and those of both other classes make the third.
    CHECK(tag_bank((1 << 7) + (1 << 8)) == tag_bank(1 << 11));
    CHECK(tag_bank((1 << 7) + (1 << 9)) == tag_bank(0));
}

TEST_CASE("lines side by side and powers of two share the banks evenly") {
    for (const std::int64_t pitch : {128, 512, 1024, 2048, 4096, 16384}) {
        CHECK(tag_turns(rows_of(pitch), line) == 8);
    }
    CHECK(tag_turns(rows_of(384), line) == 11);
    CHECK(tag_turns(rows_of(3072), line) == 11);
    // All lanes in one line.
    CHECK(tag_turns(rows_of(4), line) == 1);
}

TEST_CASE("rows of unaligned matrices take what their loops' wavefronts say") {
    CHECK(mean_tag_turns(rows_of(3056), 3056, line) == doctest::Approx(11.1).epsilon(0.05));
    CHECK(mean_tag_turns(rows_of(5008), 5008, line) == doctest::Approx(10.4).epsilon(0.05));
    CHECK(mean_tag_turns(rows_of(2032), 2032, line) == doctest::Approx(9.53).epsilon(0.05));
}

}  // namespace warptime::model::memory
