// The busiest server of a whole item: straight code takes its fetches, loops do not.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/out_of_step.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::model::analytical {
namespace {

ItemDemand item_of(double straight_slots, double slots_of_trip, double shared_of_trip) {
    ItemDemand item;
    item.trips = 10.0;
    item.before.demand[machine::Server::issue] = hw::Cycles(straight_slots);
    item.loop.demand[machine::Server::issue] = hw::Cycles(slots_of_trip);
    item.loop.demand[machine::Server::shared] = hw::Cycles(shared_of_trip);
    return item;
}

const hw::Gpu& gpu() {
    static const hw::Gpu only = hw::load_gpu("h200-sxm");
    return only;
}

double busiest(const ItemDemand& item) {
    return busiest_of_item(item, gpu()).value();
}

}  // namespace

TEST_CASE("a main loop alone takes what its busiest server does") {
    CHECK(busiest(item_of(0.0, 20.0, 50.0)) == doctest::Approx(500.0));
    CHECK(busiest(item_of(0.0, 60.0, 50.0)) == doctest::Approx(600.0));
}

TEST_CASE("straight code in slots of its own and in its fetches overtakes a busier loop") {
    const double without = busiest(item_of(300.0, 20.0, 50.0));
    CHECK(without == doctest::Approx(200.0 + 300.0 * gpu().code.apart_interval.value()));
    CHECK(without > 500.0);
}

TEST_CASE("stores behind the loop count on their own server") {
    ItemDemand item = item_of(0.0, 20.0, 50.0);
    item.after.demand[machine::Server::shared] = hw::Cycles(70.0);
    CHECK(busiest(item) == doctest::Approx(570.0));
}

}  // namespace warptime::model::analytical
