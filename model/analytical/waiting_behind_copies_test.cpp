// Trips that wait for copies of earlier ones.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/waiting_behind_copies.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::analytical;
using warptime::hw::Bytes;
using warptime::hw::Cycles;

namespace {

/// A loop of `trips` that copies 32 bytes of each row; the L2 receives `brought` bytes of the row.
ItemDemand loop_of(double trips, double brought) {
    ItemDemand item;
    item.trips = trips;
    item.loop.flop = 1.0;
    item.waits_behind_copies = true;
    item.loop.demand[machine::Server::crossbar_read] = Cycles(50.0);
    item.buffers.reset(1);
    item.buffers[0].trip_bytes = 32.0;
    item.buffers[0].brought_bytes = brought;
    return item;
}

}  // namespace

TEST_CASE("only what is copied by lanes and multiplied by them waits so") {
    ItemDemand item = loop_of(8.0, 0.0);
    CHECK(multiplies_before_copies(item));
    item.loop.demand[machine::Server::tma] = Cycles(1.0);
    CHECK_FALSE(multiplies_before_copies(item));
    item = loop_of(8.0, 0.0);
    item.loop.flop = 0.0;
    CHECK_FALSE(multiplies_before_copies(item));
    item = loop_of(8.0, 0.0);
    item.waits_behind_copies = false;
    CHECK_FALSE(multiplies_before_copies(item));
}

TEST_CASE("a stage has a trip less than there are stages to spare, and the way to the wait") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const Traffic warm;
    const ItemDemand item = loop_of(8.0, 0.0);
    const double one = copy_waits(item, warm, 2, gpu).near.value();
    CHECK(one == doctest::Approx(gpu.latency.l2_far.value() + 50.0));
    CHECK(copy_waits(item, warm, 4, gpu).near.value() == doctest::Approx(one / 3.0));
    CHECK(copy_waits(item, warm, 2, gpu).share == 0.0);
    ItemDemand later = item;
    later.behind_copies = Cycles(30.0);
    CHECK(copy_waits(later, warm, 2, gpu).near.value() == doctest::Approx(one - 30.0));
}

TEST_CASE("of the trips that a line brings one waits for DRAM, where the multiply-adds are shorter") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    Traffic traffic;
    traffic.from_dram = true;
    traffic.waves = 1.0;
    traffic.dram_read = Bytes(1e6);
    const CopyWaits half = copy_waits(loop_of(8.0, 0.0), traffic, 2, gpu);
    const CopyWaits line = copy_waits(loop_of(8.0, 128.0), traffic, 2, gpu);
    CHECK(half.share == doctest::Approx(0.5));
    CHECK(line.share == doctest::Approx(0.25));
    // A burst brings the bytes of two or four trips, out of a megabyte in all.
    const double each =
        1e6 / (gpu.dram.bandwidth * gpu.dram.read_efficiency).value() * gpu.clock.boost.value() / 8.0;
    const double alone = gpu.latency.dram.value() + 50.0;
    CHECK(half.far.value() == doctest::Approx(alone + 2.0 * each));
    CHECK(line.far.value() == doctest::Approx(alone + 4.0 * each));
    CHECK(line.far > line.near);
    const double between = 0.5 * (line.near + line.far).value();
    CHECK(with_waits(Cycles(between), line).value() ==
          doctest::Approx(0.75 * between + 0.25 * line.far.value()));
    CHECK(with_waits(line.far * 2.0, line).value() == doctest::Approx(2.0 * line.far.value()));
}

TEST_CASE("waves that find what the first has read wait for DRAM as seldom as they read anew") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    Traffic traffic;
    traffic.from_dram = true;
    traffic.waves = 4.0;
    traffic.fresh_later = 0.0;
    CHECK(copy_waits(loop_of(8.0, 128.0), traffic, 2, gpu).share == doctest::Approx(0.25 / 4.0));
}

TEST_CASE("bursts that are longer than the way to DRAM are waited for no longer than that") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    Traffic traffic;
    traffic.from_dram = true;
    traffic.dram_read = Bytes(1e9);
    CHECK(copy_waits(loop_of(8.0, 128.0), traffic, 2, gpu).far.value() ==
          doctest::Approx(2.0 * gpu.latency.dram.value() + 50.0));
}

TEST_CASE("an item waits for what it copies behind its first stages, and for DRAM once less than for lines") {
    const CopyWaits waits{Cycles(300.0), Cycles(1000.0), 0.25, 2};
    const auto all = [&waits](double busy, double trips) {
        return all_with_waits(Cycles(busy), trips, waits).value();
    };
    // Stages 0 and 1 are there. Among stages 2 to 7, stage 4 begins a line.
    CHECK(all(100.0, 8.0) == doctest::Approx(2.0 * 100.0 + 5.0 * 300.0 + 1000.0));
    CHECK(all(400.0, 8.0) == doctest::Approx(7.0 * 400.0 + 1000.0));
    CHECK(all(2000.0, 8.0) == doctest::Approx(8.0 * 2000.0));
    CHECK(all(100.0, 2.0) == doctest::Approx(200.0));
    CHECK(all(100.0, 4.0) == doctest::Approx(200.0 + 2.0 * 300.0));
    const CopyWaits always{Cycles(300.0), Cycles(1000.0), 1.0, 2};
    CHECK(all_with_waits(Cycles(100.0), 8.0, always).value() == doctest::Approx(2.0 * 100.0 + 6.0 * 1000.0));
}
