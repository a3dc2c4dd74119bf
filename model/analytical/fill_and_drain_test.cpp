// What no transfer overlaps, against one burst through a server behind a latency.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/fill_and_drain.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
using namespace warptime::model;
using namespace warptime::model::analytical;
using fixture::gpu;
using hw::Cycles;

TEST_CASE("a wave that loads once takes the latency and then the transfer of all") {
    prediction::Conditions cold;
    cold.cache = prediction::Cache::cold;
    for (const std::int64_t ctas : {132, 264, 1056}) {
        const Analysis a = analyse(fixture::stream(ctas, 1, false), gpu(), cold);
        REQUIRE(a.waves <= 1.0);
        const double latency = (gpu().latency.dram / a.clock).value();
        CHECK(a.time.value() > a.floor.value() + latency + a.dram_time.value());
        // Upper bound: no overlap between the SM's own time and the transfers.
        CHECK(a.time.value() < a.floor.value() + a.launch_time.value() + a.sm_time.value() +
                                   a.dram_time.value() + a.l2_time.value());
    }
}

TEST_CASE("many waves hide what stands before and behind their transfers") {
    const Analysis a = analyse(fixture::stream(200000, 1, false), gpu(), {});
    CHECK((a.apart / a.clock).value() < 0.01 * a.time.value());
    CHECK(a.time.value() < 1.3 * a.dram_time.value());
}

TEST_CASE("the port's part of the first stage is transfer, the rest of its fill is not") {
    ItemDemand item;
    item.asynchronous = true;
    item.before.chain = Cycles(10.0);
    item.after.chain = Cycles(20.0);
    item.loop.demand[machine::Server::crossbar_read] = Cycles(300.0);
    item.loop.demand[machine::Server::tma] = Cycles(100.0);
    CHECK(fill_and_drain(item, Cycles(1000.0), Cycles(600.0)).value() == 730.0);
    // Plain loads of a loop: the first wait counts; without loads there is no wait.
    item.asynchronous = false;
    item.trips = 8.0;
    // A kernel that reads nothing waits for no first bytes. Its stores leave as they are sent and are waited
    // for.
    CHECK(fill_and_drain(item, Cycles{}, Cycles(600.0)).value() == 20.0);
    item.before.received_bytes = 128.0;
    CHECK(fill_and_drain(item, Cycles{}, Cycles(600.0)).value() == 30.0);
    item.loop.load_rounds = 1.0;
    CHECK(fill_and_drain(item, Cycles{}, Cycles(600.0)).value() == 630.0);
}

TEST_CASE("only a stage from DRAM waits for the last of its pieces") {
    ItemDemand item;
    item.loop.received_bytes = 64.0 * gpu().dram.access_bytes.value();
    CHECK(wait_for_stage(item, gpu().latency.l2_far, gpu()).value() == 0.0);
    CHECK(wait_for_stage(item, gpu().latency.dram, gpu()).value() ==
          doctest::Approx(gpu().dram.queue.value() * machine::beyond_the_mean(64)).epsilon(1e-3));
    for (const int pieces : {1, 2, 5, 100}) {
        CHECK(machine::beyond_the_mean_of_many(pieces) ==
              doctest::Approx(machine::beyond_the_mean(pieces)).epsilon(0.01));
    }
}

TEST_CASE("waves of one CTA an SM fill and drain each, and wait for the next CTA in between") {
    const Cycles apart(300.0);
    const Cycles turnaround(400.0);
    CHECK(apart_of_waves(apart, turnaround, 0.5).value() == 300.0);
    CHECK(apart_of_waves(apart, turnaround, 1.0).value() == 300.0);
    CHECK(apart_of_waves(apart, turnaround, 2.2).value() == 3.0 * 300.0 + 2.0 * 400.0);
}

TEST_CASE("of a store that is waited for only what its bytes do not take comes beside its transfer") {
    ItemDemand item;
    item.trips = 1.0;
    item.before.received_bytes = 128.0;
    item.before.chain = Cycles(600.0);
    item.loop.chain = Cycles(3000.0);
    item.loop.demand[machine::Server::crossbar_write] = Cycles(2000.0);
    CHECK(fill_and_drain(item, Cycles{}, Cycles(600.0)).value() == 1600.0);
    // A trip that waits for loads keeps its whole chain, since the latency passes before the bytes come.
    item.loop.received_bytes = 128.0;
    CHECK(fill_and_drain(item, Cycles{}, Cycles(600.0)).value() == 3600.0);
    // A chain shorter than its transfer counts as zero, not less.
    item.loop.received_bytes = 0.0;
    item.loop.chain = Cycles(100.0);
    CHECK(fill_and_drain(item, Cycles{}, Cycles(600.0)).value() == 600.0);
}
