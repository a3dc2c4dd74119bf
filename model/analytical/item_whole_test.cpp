// The settled parts of an item, and loops that gather one operand while they copy the other.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/item_whole.hpp"

#include "model/analytical/chain.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/analytical/stage_waits.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::analytical;
namespace hw = warptime::hw;
using fixture::gpu;
using hw::Cycles;

namespace {

ItemDemand gathering() {
    ItemDemand item;
    item.gathers = item.self_fed = item.asynchronous = true;
    item.trips = 10.0;
    item.loop.demand[machine::Server::l1] = Cycles(500.0);
    item.loop.copied = Cycles(200.0);
    item.loop.demand[machine::Server::shared] = Cycles(100.0);
    item.loop.demand[machine::Server::shared_write] = Cycles(40.0);
    return item;
}

}  // namespace

TEST_CASE("copies of whole rows pass the array by but for what they write") {
    ItemDemand item = gathering();
    share_array(item);
    // The path into the L1 stays the longer of the two.
    CHECK(item.loop.demand[machine::Server::l1].value() == doctest::Approx(500.0));
    item = gathering();
    item.loop.demand[machine::Server::shared] = Cycles(300.0);
    share_array(item);
    CHECK(item.loop.demand[machine::Server::l1].value() == doctest::Approx(300.0 + 300.0 + 40.0));
}

TEST_CASE("what is gathered is no part of the stage that is copied") {
    ItemDemand item = gathering();
    const Cycles load(300.0);
    CHECK(fill_latency(item, load, false, gpu()).value() == doctest::Approx(500.0));
    item.gathers = false;
    CHECK(fill_latency(item, load, false, gpu()).value() == doctest::Approx(800.0));
}

TEST_CASE("copies travel while a trip gathers before it waits for them") {
    kernel::Kernel kernel;
    kernel::Token group;
    group.kind = kernel::TokenKind::async_group;
    group.depth = 3;
    kernel.tokens.push_back(group);
    ItemDemand item = gathering();
    item.copy_issue = Cycles(1000.0);
    const Cycles load(300.0);
    const double behind = loop_chain(kernel, item, load, gpu()).value();
    item.until_wait = Cycles(600.0);
    const double before = loop_chain(kernel, item, load, gpu()).value();
    // Two stages are under way.
    CHECK(behind - before == doctest::Approx(300.0));
}

TEST_CASE("trips that find what earlier waves have read gather from the L2") {
    const ItemDemand item = gathering();
    Traffic traffic;
    CHECK(gathered_sooner(item, traffic, 2, gpu()).value() == 0.0);
    traffic.from_dram = true;
    traffic.waves = 1.0;
    CHECK(gathered_sooner(item, traffic, 2, gpu()).value() == doctest::Approx(0.0));
    traffic.waves = 4.0;
    traffic.fresh_later = 0.0;
    const double all = (gpu().latency.dram - gpu().latency.l2_far).value();
    CHECK(gathered_sooner(item, traffic, 2, gpu()).value() == doctest::Approx(0.75 * all));
}

TEST_CASE("narrow rows and shared memory are one load, and the prologue's copies the loop's") {
    ItemDemand item;
    item.trips = 4.0;
    item.before.demand[machine::Server::tma] = Cycles(8.0);
    item.loop.demand[machine::Server::l1] = Cycles(100.0);
    item.loop.demand[machine::Server::shared] = Cycles(30.0);
    share_array(item);
    CHECK(item.loop.demand[machine::Server::l1].value() == 130.0);
    CHECK(item.loop.demand[machine::Server::shared].value() == 30.0);
    fold_prologue(item);
    CHECK(item.loop.demand[machine::Server::tma].value() == 2.0);
    CHECK(item.before.demand[machine::Server::tma].value() == 0.0);
}

TEST_CASE("addresses of the prologue's copies are not computed in the loop") {
    ItemDemand item;
    item.trips = 4.0;
    item.before.demand[machine::Server::integer] = Cycles(400.0);
    fold_prologue(item);
    CHECK(item.before.demand[machine::Server::integer].value() == 400.0);
    CHECK(item.loop.demand[machine::Server::integer].value() == 0.0);
}

TEST_CASE("plain loads and stores add to the reads of shared memory, each part by itself") {
    ItemDemand item;
    item.before.global_passes = Cycles(5.0);
    item.loop.global_passes = Cycles(30.0);
    item.loop.demand[machine::Server::shared] = Cycles(100.0);
    item.loop.demand[machine::Server::l1] = Cycles(40.0);
    share_data_path(item);
    CHECK(item.before.demand[machine::Server::shared] == Cycles(5.0));
    CHECK(item.loop.demand[machine::Server::shared] == Cycles(130.0));
    CHECK(item.loop.demand[machine::Server::l1] == Cycles(40.0));
    CHECK(item.after.demand[machine::Server::shared] == Cycles{});
}
