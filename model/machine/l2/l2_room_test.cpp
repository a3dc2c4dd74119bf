// Room of lines read by one GPC, several and all, with one partition and with two.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/l2_room.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace hw = warptime::hw;
using namespace warptime::model::machine;
using warptime::model::machine::Dependence;
using warptime::model::machine::TileOrder;

TEST_CASE("lines stay at home and in each partition that reads them") {
    auto gpu = hw::load_gpu("h200-sxm");
    REQUIRE(gpu.l2.partitions.value() == 2.0);
    CHECK(room_of_written(gpu) == 0.5);
    CHECK(room_of_read(1.0, gpu) == doctest::Approx(0.75));  // half the lines are at home where they are read
    CHECK(room_of_read(2.0, gpu) == doctest::Approx(1.0 - 1.0 / 8.0));
    CHECK(room_of_read(1.5, gpu) == doctest::Approx(0.5 * (0.75 + 0.875)));
    CHECK(room_of_read(8.0, gpu) == doctest::Approx(1.0 - std::exp2(-9.0)));
    CHECK(room_for_all(gpu) == doctest::Approx(gpu.l2.usable.value() * gpu.l2.capacity.value() / 2.0));
    gpu.l2.partitions = hw::Number(1.0);
    CHECK(room_for_all(gpu) == doctest::Approx(gpu.l2.usable.value() * gpu.l2.capacity.value()));
    CHECK(room_of_written(gpu) == 1.0);
    CHECK(room_of_read(1.0, gpu) == 1.0);
    CHECK(room_of_read(7.5, gpu) == 1.0);
}

TEST_CASE("columns of a band are read by one or two clusters of SMs, rows by all") {
    const auto gpu = hw::load_gpu("h200-sxm");
    // Bands of 8 rows; runs of 132 / 8 = 16.5 items touch two or three columns.
    const TileOrder order{.m = 64, .n = 64, .group = 8};
    const GroupsAtWork one = groups_at_work(order, group_runs(132, gpu), gpu);
    CHECK(one.of({.along_m = true}) == doctest::Approx(8.0).epsilon(0.05));
    CHECK(one.of({.along_n = true}) > 1.0);
    CHECK(one.of({.along_n = true}) < 2.0);
    // One CTA alone reads each tile; all CTAs read an operand without coordinates.
    CHECK(one.of({.along_m = true, .along_n = true}) == doctest::Approx(1.0).epsilon(0.05));
    CHECK(one.of(Dependence{}) == doctest::Approx(8.0).epsilon(0.05));
}
