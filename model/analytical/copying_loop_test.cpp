// The turn of a CTA that copies for itself.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/copying_loop.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::analytical;
using warptime::hw::Cycles;

TEST_CASE("a trip takes its busiest server and a turn, but for tensor cores, which go on meanwhile") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    ItemDemand item;
    item.loop.demand[machine::Server::l1] = Cycles(200.0);
    item.loop.demand[machine::Server::tensor] = Cycles(512.0);
    CHECK_FALSE(copies_by_lanes(item));
    CHECK(copying_turn(item, gpu).value() == 0.0);
    item.self_fed = true;
    CHECK(copies_by_lanes(item));
    const double alone = copying_turn(item, gpu).value();
    CHECK(alone > 200.0);
    CHECK(alone < 400.0);
    item.loop.demand[machine::Server::shared] = Cycles(300.0);
    CHECK(copying_turn(item, gpu).value() == doctest::Approx(alone + 100.0));
    item.loop.demand[machine::Server::tma] = Cycles(1.0);
    CHECK(copying_turn(item, gpu).value() == 0.0);
}

TEST_CASE("a trip of wgmma takes its warps' own instructions, copy by copy, or its busiest server") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    ItemDemand item;
    item.self_fed = true;
    item.warps = 4;
    item.copies = 8.0;
    item.loop.demand[machine::Server::shared_write] = Cycles(64.0);
    item.loop.demand[machine::Server::l1] = Cycles(100.0);
    const double few = copying_turn(item, gpu).value();
    const double across = 4.0 * gpu.pipeline.copy_interval_across.value();
    const double along = 4.0 * gpu.pipeline.copy_interval.value();
    CHECK(along > across);
    item.copies = 12.0;
    CHECK(copying_turn(item, gpu).value() == doctest::Approx(few + across));
    // Copies of rows along K each have their own address.
    item.copies = 12.0;
    item.copies_along_k = 4.0;
    CHECK(copying_turn(item, gpu).value() == doctest::Approx(few + along));
    // Two warps of a sub-partition issue half of the copies each.
    item.warps = 8;
    item.copies = 6.0;
    item.copies_along_k = 2.0;
    CHECK(copying_turn(item, gpu).value() == doctest::Approx(few + along));
    // Products that the copies wait for come before the copies.
    const double overlapped = copying_turn(item, gpu).value();
    item.multiplied = Cycles(500.0);
    CHECK(copying_turn(item, gpu).value() == doctest::Approx(overlapped + 500.0));
    item.multiplied = {};
    item.loop.demand[machine::Server::l1] = Cycles(900.0);
    CHECK(copying_turn(item, gpu).value() == doctest::Approx(900.0));
}

TEST_CASE("products of wgmma are waited for a trip later, those that the warps read for at once") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const double latency = gpu.instructions[warptime::hw::InstructionClass::wgmma].latency.value();
    ItemDemand item;
    item.self_fed = true;
    item.copy_issue = Cycles(48.0);
    item.loop.chain = Cycles(1024.0 + 48.0 + latency);
    CHECK(own_chain(item, gpu).value() == item.loop.chain.value());
    item.loop.demand[machine::Server::shared_write] = Cycles(384.0);
    CHECK(own_chain(item, gpu).value() == doctest::Approx(1024.0));
    item.uses_products = true;
    CHECK(own_chain(item, gpu).value() == item.loop.chain.value());
    item.uses_products = false;
    item.loop.chain = Cycles(20.0);
    CHECK(own_chain(item, gpu).value() == 0.0);
    // A warp that a producer feeds has no such waits.
    item.loop.chain = Cycles(1024.0);
    item.loop.demand[machine::Server::tma] = Cycles(1.0);
    CHECK(own_chain(item, gpu).value() == 1024.0);
}

TEST_CASE("copies wait for DRAM as often as waves read anew, and for what all of them ask it for") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    ItemDemand item;
    item.trips = 10.0;
    Traffic traffic;
    const double near = copy_latency(item, traffic, 2, gpu).value();
    CHECK(near > gpu.latency.l2_far.value());
    traffic.from_dram = true;
    const double far = copy_latency(item, traffic, 2, gpu).value();
    CHECK(far > gpu.latency.dram.value());
    traffic.waves = 4.0;
    traffic.fresh_later = 0.0;
    CHECK(copy_latency(item, traffic, 2, gpu).value() == doctest::Approx(0.75 * near + 0.25 * far));
    traffic.fresh_later = 1.0;
    CHECK(copy_latency(item, traffic, 2, gpu).value() == doctest::Approx(far));
    // Only CTAs in step with the first reader wait.
    traffic.wait_with_first = 0.6;
    CHECK(copy_latency(item, traffic, 2, gpu).value() == doctest::Approx(0.3 * near + 0.7 * far));
    traffic.wait_with_first = 1.0;
    traffic.dram_read = warptime::hw::Bytes(1e8);
    const double of_all = copy_latency(item, traffic, 2, gpu).value() - far;
    CHECK(of_all > 0.0);
    item.trips = 20.0;
    CHECK(copy_latency(item, traffic, 2, gpu).value() - far == doctest::Approx(0.5 * of_all));
    // A CTA that waits for lines of its own is out of step with the others.
    traffic.own_share = 1.0;
    CHECK(copy_latency(item, traffic, 2, gpu).value() - far ==
          doctest::Approx(0.5 * of_all * gpu.l2.merge_private.value()));
    // A stage that takes as long as the wait for its first bytes hides half of a burst.
    traffic.own_share = 0.0;
    item.loop.demand[machine::Server::crossbar_read] = gpu.latency.dram + gpu.latency.cp_async_extra;
    CHECK(copy_latency(item, traffic, 2, gpu).value() - far == doctest::Approx(0.25 * of_all));
}

TEST_CASE("rows of 32 bytes a trip come in pairs, which helps where stages an odd number apart wait") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    ItemDemand item;
    CHECK(first_of_granule(item, 1, gpu) == 1.0);
    item.buffers.reset(2);
    item.buffers[0].trip_bytes = 32.0;
    CHECK(first_of_granule(item, 1, gpu) == 0.5);
    CHECK(first_of_granule(item, 2, gpu) == 1.0);
    CHECK(first_of_granule(item, 3, gpu) == 0.5);
    item.buffers[0].trip_bytes = 16.0;
    CHECK(first_of_granule(item, 2, gpu) == 0.5);
    // The operand that comes in whole pieces waits in every trip.
    item.buffers[1].trip_bytes = 64.0;
    CHECK(first_of_granule(item, 3, gpu) == 1.0);
    Traffic traffic;
    traffic.from_dram = true;
    const double whole = copy_latency(item, traffic, 1, gpu).value();
    item.buffers[1].trip_bytes = 0.0;
    CHECK(copy_latency(item, traffic, 1, gpu).value() < whole);
}

TEST_CASE("copies that come while wgmma reads get what its reads leave") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    ItemDemand item;
    item.self_fed = true;
    item.loop.demand[machine::Server::tensor] = Cycles(1024.0);
    item.loop.demand[machine::Server::crossbar_read] = Cycles(768.0);
    item.loop.demand[machine::Server::shared_write] = Cycles(384.0);
    // Reads in half the time leave as much bandwidth as the copies need.
    item.loop.demand[machine::Server::shared] = Cycles(512.0);
    CHECK(hindered_by_reads(item, Cycles(340.0), gpu).value() == doctest::Approx(0.0));
    // Reads in three quarters leave half of that bandwidth until the product is done.
    item.loop.demand[machine::Server::shared] = Cycles(768.0);
    CHECK(hindered_by_reads(item, Cycles(340.0), gpu).value() == doctest::Approx(342.0));
    CHECK(hindered_by_reads(item, Cycles(2000.0), gpu).value() == 0.0);
    // Few bytes all arrive before the product is done, at half their speed.
    item.loop.demand[machine::Server::crossbar_read] = Cycles(100.0);
    item.loop.demand[machine::Server::shared_write] = Cycles(50.0);
    CHECK(hindered_by_reads(item, Cycles(340.0), gpu).value() == doctest::Approx(100.0));
    // Reads of two warpgroups already include a share of the writes.
    item.warps = 8;
    item.loop.demand[machine::Server::shared] = Cycles(768.0 + gpu.shared.copy_share.value() * 50.0);
    CHECK(hindered_by_reads(item, Cycles(340.0), gpu).value() == doctest::Approx(100.0));
    // Products fed by the warps' own loads wait in another way.
    item.loop.demand[machine::Server::shared_write] = Cycles(0.0);
    CHECK(hindered_by_reads(item, Cycles(340.0), gpu).value() == 0.0);
}
