// Warps of a CTA, and the warps that do an item.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/warps.hpp"

#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::simulation;

namespace {

/// A copying warp and two groups of four that multiply, in a CTA of 3 x 32 x 3 threads.
kernel::Kernel specialized(bool alternate) {
    kernel::Kernel kernel;
    kernel.cta = {32, 3, 3};
    kernel::Builder build(kernel);
    build.role("producer", 1);
    build.role("consumers", 4, 2);
    if (alternate) build.alternate();
    build.finish();
    return kernel;
}

}  // namespace

TEST_CASE("warps are numbered role by role, instance by instance") {
    const std::vector<WarpPlace> places = warp_places(specialized(false));
    REQUIRE(places.size() == 9);
    CHECK(places[0].role == 0);
    CHECK(places[4].role == 1);
    CHECK(places[4].instance == 0);
    CHECK(places[4].warp == 3);
    CHECK(places[5].instance == 1);
    CHECK(places[5].warp == 0);
    for (std::size_t i = 0; i < places.size(); ++i) {
        CHECK(places[i].user.warp == i);
    }
}

TEST_CASE("instances take every item, or in turn") {
    const kernel::Role together = specialized(false).roles[1];
    const kernel::Role in_turn = specialized(true).roles[1];
    for (std::int32_t item = 0; item < 6; ++item) {
        CHECK(performs(together, 0, item));
        CHECK(performs(together, 1, item));
        CHECK(performs(in_turn, 0, item) != performs(in_turn, 1, item));
        CHECK(performs(in_turn, item % 2, item));
    }
}

TEST_CASE("a warp's first thread has the coordinates of its number") {
    const kernel::Kernel kernel = specialized(false);
    const std::vector<WarpPlace> places = warp_places(kernel);
    const kernel::Coordinates at = coordinates_at(kernel, places[5], {}, 1);
    CHECK(at.cta_rank == 1);
    CHECK(at.warp == 0);
    CHECK(at.instance == 1);
    // Thread 160 of rows of 32 and planes of 3 rows.
    CHECK(at.thread[0] == 0);
    CHECK(at.thread[1] == 2);
    CHECK(at.thread[2] == 1);
}
