// Trips that wait for copies of earlier ones. SPDX-License-Identifier: Apache-2.0
#include "model/analytical/waiting_behind_copies.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model::analytical;
using warptime::hw::Bytes;
using warptime::hw::Cycles;

namespace {

/// A loop of `trips` that copies 32 bytes of each row, of which a line is brought.
ItemDemand<double> loop_of(double trips, double brought) {
    ItemDemand<double> item;
    item.trips = trips;
    item.loop.flop = 1.0;
    item.waits_behind_copies = true;
    item.loop.demand[Server::crossbar_read] = Cycles<double>(50.0);
    item.buffers.reset(1);
    item.buffers[0].trip_bytes = 32.0;
    item.buffers[0].brought_bytes = brought;
    return item;
}

}  // namespace

TEST_CASE("only what is copied by lanes and multiplied by them waits so") {
    ItemDemand<double> item = loop_of(8.0, 0.0);
    CHECK(multiplies_before_copies(item));
    item.loop.demand[Server::tma] = Cycles<double>(1.0);
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
    const Traffic<double> warm;
    const ItemDemand<double> item = loop_of(8.0, 0.0);
    const double one = copy_waits(item, warm, 2, gpu).near.value();
    CHECK(one == doctest::Approx(near_copy_latency(gpu).value() + 50.0));
    CHECK(copy_waits(item, warm, 4, gpu).near.value() == doctest::Approx(one / 3.0));
    CHECK(copy_waits(item, warm, 2, gpu).share == 0.0);
    ItemDemand<double> later = item;
    later.behind_copies = Cycles<double>(30.0);
    CHECK(copy_waits(later, warm, 2, gpu).near.value() == doctest::Approx(one - 30.0));
}

TEST_CASE("of the trips that a line brings one waits for DRAM, where the multiply-adds are shorter") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    Traffic<double> traffic;
    traffic.from_dram = true;
    traffic.waves = 1.0;
    traffic.dram_read = Bytes<double>(1e6);
    const CopyWaits<double> half = copy_waits(loop_of(8.0, 0.0), traffic, 2, gpu);
    const CopyWaits<double> line = copy_waits(loop_of(8.0, 128.0), traffic, 2, gpu);
    CHECK(half.share == doctest::Approx(0.5));
    CHECK(line.share == doctest::Approx(0.25));
    CHECK(half.far.value() == doctest::Approx(line.far.value()));
    CHECK(line.far > line.near);
    const double between = 0.5 * (line.near + line.far).value();
    CHECK(with_waits(Cycles<double>(between), line).value() ==
          doctest::Approx(0.75 * between + 0.25 * line.far.value()));
    CHECK(with_waits(line.far * 2.0, line).value() == doctest::Approx(2.0 * line.far.value()));
}

TEST_CASE("waves that find what the first has read wait for DRAM as seldom as they read anew") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    Traffic<double> traffic;
    traffic.from_dram = true;
    traffic.waves = 4.0;
    traffic.fresh_later = 0.0;
    CHECK(copy_waits(loop_of(8.0, 128.0), traffic, 2, gpu).share == doctest::Approx(0.25 / 4.0));
}
