// Stages that are awaited in order, against the recurrence itself.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/waits_in_order.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

using namespace warptime::model::steady;

namespace {

/// Time of a trip, times `ahead`, by the recurrence. Sums of twelve uniform numbers stand for normal ones.
double way_round(int ahead, double wait, double deviation, double turn) {
    constexpr int trips = 20000;
    std::array<double, 8> last{};
    double now = 0.0;
    std::uint64_t state = 1;
    for (int i = 0; i < trips; ++i) {
        double normal = -6.0;
        for (int u = 0; u < 12; ++u) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            normal += static_cast<double>(state >> 11U) / 9007199254740992.0;
        }
        double& place = last[static_cast<std::size_t>(i % ahead)];
        const double come = i < ahead ? 0.0 : place + wait + deviation * normal;
        now = std::max(now + turn, come);
        place = now;
    }
    return now / trips * ahead;
}

}  // namespace

TEST_CASE("each stage more under way makes the way round longer by a part of the spread") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.dram.round_spread = warptime::hw::Cycles(240.0);
    CHECK(waits_in_order(1, 1.0, gpu).value() == 0.0);
    for (const int ahead : {2, 3, 4}) {
        // All warps' waits for a stage spread half again as far as those of one warp for its loads.
        const double longer = way_round(ahead, 1200.0, 360.0, 100.0) - way_round(1, 1200.0, 360.0, 100.0);
        CHECK(waits_in_order(ahead, 1.0, gpu).value() == doctest::Approx(longer).epsilon(0.3));
    }
    // Waits for the L2 differ less.
    CHECK(waits_in_order(4, 0.0, gpu).value() == doctest::Approx(3.0 * 0.2475 * gpu.l2.round_spread.value()));
    gpu.pipeline.stage_spread = gpu.pipeline.stage_spread * 2.0;
    CHECK(waits_in_order(4, 0.0, gpu).value() == doctest::Approx(3.0 * 0.495 * gpu.l2.round_spread.value()));
    CHECK(waits_in_order(4, 0.0, gpu) < waits_in_order(4, 0.5, gpu));
}

TEST_CASE("stages that came with the first of a ring are not waited for again") {
    CHECK(trips_that_wait(7.0, 4) == 4.0);
    CHECK(trips_that_wait(8.0, 4) == 8.0);
    CHECK(trips_that_wait(3.0, 4) == 0.0);
    CHECK(trips_that_wait(7.0, 1) == 7.0);
}
