// Bands launched whole, against the order that they follow, and the load of the fullest SM.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/whole_bands.hpp"

#include <doctest/doctest.h>

namespace kernel = warptime::model::kernel;
using namespace warptime::model::machine;

TEST_CASE("CTAs of whole bands do every item once, in order") {
    for (const std::int64_t n : {3, 5, 8, 17}) {
        const TileOrder order{7, n, 2, 3, Raster::along_m, 4};
        std::int64_t next = 0;
        for (std::int64_t cta = 0; cta < ctas_of_whole_bands(order); ++cta) {
            const std::int64_t item = item_of_whole_bands(order, cta);
            if (item >= 0) {
                CHECK(item == next++);
            }
        }
        CHECK(next == order.items());
        CHECK(ctas_of_whole_bands(order) == 7 * 4 * ((n + 3) / 4) * 6);
    }
}

TEST_CASE("an SM gets a third CTA where the others of its turn have no tile") {
    // int8, 1152 x 1152: 18 x 9 tiles of 64x128 in bands of eight. CTA 264 has a tile and goes to SM 0, which
    // has CTAs 0 and 132.
    const TileOrder ragged{18, 9, 1, 1, Raster::along_m, 8};
    CHECK(ctas_of_whole_bands(ragged) == 288);
    CHECK(fullest_sm(ragged, 132, 3) == 3);
    CHECK(fullest_sm(ragged, 132, 2) == 2);
    const TileOrder even{18, 8, 1, 1, Raster::along_m, 8};
    CHECK(fullest_sm(even, 132, 3) == 2);
}

TEST_CASE("only a grid that is larger than its tiles launches bands whole") {
    kernel::Kernel k;
    k.schedule.tiles = {18, 9, 1, 1};
    k.schedule.raster = Raster::along_m;
    k.schedule.group = 8;
    k.grid = {288, 1, 1};
    CHECK(launches_whole_bands(k));
    k.grid = {162, 1, 1};
    CHECK_FALSE(launches_whole_bands(k));
    k.grid = {288, 1, 1};
    k.schedule.kind = kernel::ScheduleKind::static_stride;
    CHECK_FALSE(launches_whole_bands(k));
}
