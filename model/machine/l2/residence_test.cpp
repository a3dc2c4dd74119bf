// Lines that L1 and L2 keep, and memory that the lanes of an instruction touch.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/examples/parts.hpp"
#include "model/machine/l1/l1_residence.hpp"
#include "model/machine/l1/lane_touch.hpp"
#include "model/machine/l2/l2_residence.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace mk = warptime::model::kernel;
using namespace warptime::model::machine;

TEST_CASE("a set that fits misses nothing; lines beyond take the sets that they fall into") {
    CHECK(missed_in_turn(100.0, 100.0, 4.0) == 0.0);
    CHECK(missed_in_turn(1.0, 0.0, 4.0) == 1.0);
    CHECK(missed_in_turn(300.0, 100.0, 4.0) > 0.999);
    CHECK(missed_in_turn(110.0, 100.0, 2.0) < missed_in_turn(110.0, 100.0, 4.0));
    // Expected: lines dealt out at random to 4096 sets of four; every seventh further line lies beyond.
    constexpr std::size_t sets = 4096;
    std::array<int, sets> beyond{};
    std::uint64_t state = 1;
    const std::size_t extra = 4 * sets / 7;
    for (std::size_t i = 0; i < extra; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        ++beyond[state >> 52];
    }
    std::size_t spoilt = 0;
    for (const int lines : beyond) spoilt += lines > 0 ? 1U : 0U;
    CHECK(missed_in_turn(4.0 * sets + static_cast<double>(extra), 4.0 * sets, 4.0) ==
          doctest::Approx(static_cast<double>(spoilt) / sets).epsilon(0.03));
}

TEST_CASE("what survives a sweep is a fixed number of bytes") {
    CHECK(missed_after_sweep(50.0, 100.0, 0.6) == 0.0);
    CHECK(missed_after_sweep(120.0, 100.0, 0.6) == doctest::Approx(0.5));
    CHECK(missed_after_sweep(6000.0, 100.0, 0.6) == doctest::Approx(0.99));
}

TEST_CASE("lanes touch sectors, pieces of DRAM, lines and banks") {
    mk::Kernel kernel;
    mk::Builder build(kernel);
    const mk::Id x = build.buffer(mk::examples::vector_of("x", warptime::hw::Dtype::int32, 1 << 20));
    mk::Access access = mk::examples::lanes(x, mk::Direction::read, mk::Builder::constant(0), 16);
    const MemoryPieces pieces{32.0, 64.0, 128.0, {32, 4}};
    LaneTouch whole = touch_of(kernel, access, 1.0, pieces);
    CHECK(whole.sectors == 16.0);
    CHECK(whole.granules == 8.0);
    CHECK(whole.lines == 4.0);
    CHECK(whole.passes == 4.0);
    access.bytes = 4;
    access.pattern = mk::PatternKind::stride;
    access.inner = 16;
    const LaneTouch strided = touch_of(kernel, access, 1.0, pieces);
    CHECK(strided.sectors == 32.0);
    CHECK(strided.granules == 32.0);
    CHECK(strided.lines == 16.0);
    CHECK(strided.passes == 16.0);
    access.inner = 1;
    access.origin[0] = mk::Builder::constant(1);
    const LaneTouch shifted = touch_of(kernel, access, 1.0, pieces);
    CHECK(shifted.sectors == 5.0);
    CHECK(shifted.lines == 2.0);
    CHECK(shifted.passes == 1.0);
}
