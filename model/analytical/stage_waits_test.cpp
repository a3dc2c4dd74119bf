// Waits for stages: in the first wave and later, alone and with others.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/stage_waits.hpp"

#include "model/analytical/item_demand.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::analytical;
namespace hw = warptime::hw;
using fixture::gpu;
using hw::Cycles;

namespace {

WaitsOfWaves waits(double tma_cycles, bool from_dram, double fresh_later, double first = 0.0) {
    kernel::Kernel kernel;
    kernel::examples::cp_async_gemm(kernel, {4096, 4096, 4096});
    ItemDemand item = item_demand(kernel, gpu(), gpu().latency.dram);
    item.loop.demand[machine::Server::tma] = Cycles(tma_cycles);
    Traffic traffic;
    traffic.from_dram = from_dram;
    traffic.fresh_later = fresh_later;
    traffic.first_readers = first;
    return waits_of_waves(kernel, item, traffic, gpu());
}

}  // namespace

TEST_CASE("of CTAs at different places of their loops one waits for DRAM") {
    const StageWaits first = waits(100.0, true, 0.0).first;
    CHECK(first.of(1).value() == doctest::Approx(first.chain.value()));
    CHECK(first.near < first.chain);
    const double longer = (first.chain - first.near).value();
    CHECK(first.of(4).value() == doctest::Approx(first.near.value() + longer / 4.0));
}

TEST_CASE("a later wave waits for DRAM as far as its panels are new") {
    const WaitsOfWaves none = waits(100.0, true, 0.0);
    CHECK(none.later.chain.value() == doctest::Approx(none.first.near.value()));
    CHECK(none.later.fill < none.first.fill);
    const WaitsOfWaves all = waits(100.0, true, 1.0);
    CHECK(all.later.chain.value() == doctest::Approx(all.first.chain.value()));
    const WaitsOfWaves half = waits(100.0, true, 0.5);
    CHECK(half.later.chain.value() ==
          doctest::Approx(0.5 * (none.later.chain.value() + all.later.chain.value())));
}

TEST_CASE("with warm caches there is one wait") {
    const WaitsOfWaves warm = waits(100.0, false, 1.0);
    CHECK(warm.first.chain.value() == warm.later.chain.value());
    CHECK(warm.first.of(3).value() == doctest::Approx(warm.first.chain.value()));
}

TEST_CASE("of copies by lanes one in several waits for DRAM as well, in whatever wave") {
    const WaitsOfWaves lanes = waits(0.0, true, 0.0);
    CHECK(lanes.first.chain.value() == lanes.later.chain.value());
    const double near = waits(0.0, false, 0.0).first.chain.value();
    const double longer = lanes.first.chain.value() - near;
    CHECK(longer > 0.0);
    CHECK(lanes.first.of(3).value() == doctest::Approx(near + longer / 3.0));
}

TEST_CASE("who is the first to ask waits for DRAM whoever shares the SM") {
    const StageWaits all = waits(0.0, true, 0.0, 1.0).first;
    CHECK(all.of(4).value() == doctest::Approx(all.chain.value()));
    const StageWaits half = waits(0.0, true, 0.0, 0.5).first;
    const StageWaits none = waits(0.0, true, 0.0, 0.0).first;
    CHECK(half.of(4).value() == doctest::Approx(0.5 * (none.of(4) + all.of(4)).value()));
}

TEST_CASE("of copies by lanes the first stage waits no longer for its pieces than later ones do") {
    const WaitsOfWaves lanes = waits(0.0, true, 0.0);
    const WaitsOfWaves near = waits(0.0, false, 0.0);
    const double later = (lanes.first.chain - near.first.chain).value() * lanes.ahead;
    CHECK((lanes.first.fill - near.first.fill).value() == doctest::Approx(later).epsilon(0.1));
}

TEST_CASE("the L2 takes of a trip what all SMs at work ask of it, whatever the number of items") {
    kernel::Kernel kernel;
    kernel.schedule.tiles = {264, 1, 1, 1};
    ItemDemand item;
    item.trips = 10.0;
    Traffic traffic;
    traffic.l2_read = hw::Bytes(264.0 * 10.0 * 8192.0);
    const double all = trip_from_l2(kernel, item, traffic, gpu()).value();
    CHECK(all == doctest::Approx(8192.0 * machine::slice_visits(gpu()) / gpu().l2.bandwidth.value()));
    kernel.schedule.tiles[0] = 66;
    traffic.l2_read = hw::Bytes(66.0 * 10.0 * 8192.0);
    CHECK(trip_from_l2(kernel, item, traffic, gpu()).value() == doctest::Approx(0.5 * all));
}
