// The L1 data path: requests times their interval.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/bounds/l1.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/item_whole.hpp"

#include <doctest/doctest.h>

TEST_CASE("every warp-wide request takes one interval") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.l1.request_interval = warptime::hw::Cycles<double>(6.0);
    CHECK(warptime::model::analytical::l1_cycles(50.0, gpu).value() == doctest::Approx(300.0));
    CHECK(warptime::model::analytical::l1_cycles(0.0, gpu).value() == 0.0);
}

TEST_CASE("a row of one sector is copied sooner than one of two, and longer rows by the line") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.l1.line_interval = warptime::hw::Cycles<double>(1.4);
    gpu.l1.sector_interval = warptime::hw::Cycles<double>(0.3);
    using warptime::model::analytical::l1_line_cycles;
    CHECK(l1_line_cycles(100.0, 32.0, gpu).value() == doctest::Approx(110.0));
    CHECK(l1_line_cycles(100.0, 48.0, gpu).value() == doctest::Approx(125.0));
    CHECK(l1_line_cycles(100.0, 64.0, gpu).value() == doctest::Approx(140.0));
    CHECK(l1_line_cycles(100.0, 128.0, gpu).value() == doctest::Approx(140.0));
    CHECK(l1_line_cycles(100.0, 256.0, gpu).value() == doctest::Approx(280.0));
}

TEST_CASE("narrow rows and shared memory are one load, and the prologue's copies the loop's") {
    warptime::model::analytical::ItemDemand<double> item;
    using warptime::hw::Cycles;
    using warptime::model::analytical::Server;
    item.trips = 4.0;
    item.before.demand[Server::tma] = Cycles<double>(8.0);
    item.loop.demand[Server::l1] = Cycles<double>(100.0);
    item.loop.demand[Server::shared] = Cycles<double>(30.0);
    share_array(item);
    CHECK(item.loop.demand[Server::l1].value() == 130.0);
    CHECK(item.loop.demand[Server::shared].value() == 30.0);
    fold_prologue(item);
    CHECK(item.loop.demand[Server::tma].value() == 2.0);
    CHECK(item.before.demand[Server::tma].value() == 0.0);
}

TEST_CASE("addresses of the prologue's copies are not computed in the loop") {
    warptime::model::analytical::ItemDemand<double> item;
    using warptime::hw::Cycles;
    using warptime::model::analytical::Server;
    item.trips = 4.0;
    item.before.demand[Server::integer] = Cycles<double>(400.0);
    fold_prologue(item);
    CHECK(item.before.demand[Server::integer].value() == 400.0);
    CHECK(item.loop.demand[Server::integer].value() == 0.0);
}

TEST_CASE("narrow copies take longer for each of their sectors") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const auto narrow = [&gpu](double rows, double row_bytes) {
        return warptime::model::analytical::narrow_line_cycles(rows, row_bytes, gpu).value();
    };
    CHECK(narrow(1.0, 64.0) == doctest::Approx(gpu.l1.narrow_line.value()));
    CHECK(narrow(8.0, 64.0) == doctest::Approx(8.0 * narrow(1.0, 64.0)));
    CHECK(narrow(8.0, 32.0) == doctest::Approx(4.0 * narrow(1.0, 64.0)));
    CHECK(narrow(8.0, 256.0) == doctest::Approx(32.0 * narrow(1.0, 64.0)));
    // No row has less than a sector.
    CHECK(narrow(8.0, 16.0) == narrow(8.0, 32.0));
}

TEST_CASE("copies of short rows take most of a pass for each, of long rows nothing beyond their bytes") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.shared.copy_share = warptime::hw::Number<double>(0.7);
    using warptime::model::analytical::short_row_cycles;
    CHECK(short_row_cycles(8.0, 32.0, 1.0, gpu).value() == doctest::Approx(8.0 * 0.45));
    CHECK(short_row_cycles(8.0, 64.0, 1.0, gpu).value() == doctest::Approx(8.0 * 0.2));
    CHECK(short_row_cycles(8.0, 128.0, 1.0, gpu).value() == 0.0);
    CHECK(short_row_cycles(8.0, 256.0, 2.0, gpu).value() == 0.0);
}

TEST_CASE("a load that hits takes its passes, or its lines as fast as the tags look them up") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.l1.tags = warptime::hw::PerCycle<double>(4.0);
    warptime::model::memory::LaneTouch touch;
    touch.lines = 32.0;
    touch.passes = 1.0;
    CHECK(warptime::model::analytical::hit_cycles(touch, gpu) == 8.0);
    touch.passes = 16.0;
    CHECK(warptime::model::analytical::hit_cycles(touch, gpu) == 16.0);
}
