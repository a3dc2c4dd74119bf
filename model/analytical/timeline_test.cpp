// Waves of CTAs on an SM against sums over their items; the limiter against its definition.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/timeline.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/analytical/limiter_of_analysis.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model;
using namespace warptime::model::analytical;
using fixture::gpu;
using warptime::model::prediction::Conditions;
using warptime::model::prediction::Limiter;

namespace {

mk::Kernel gemm(std::int64_t m) {
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {m, 4096, 4096});
    return kernel;
}

}  // namespace

TEST_CASE("further waves add no less than a wave that fills the SM, and the first is never shorter") {
    const auto kernel = gemm(16384);
    const auto a = analyse(kernel, gpu(), Conditions{});
    const auto waits = waits_of_waves(kernel, a.item, a.traffic, gpu());
    const Timeline timeline(a, gpu(), waits, a.slots / a.occupancy.ctas_per_sm);
    REQUIRE(a.waves > 2.0);
    const auto all = timeline.exposure();
    CHECK(all.makespan().value() == doctest::Approx(a.exposure.makespan().value()).epsilon(1e-12));
    // One CTA follows another on each slot. Each CTA takes at least the busiest server's time for all trips.
    const double busiest = a.item.loop.demand[a.item.loop.demand.busiest()].value() * a.item.trips;
    CHECK(all.makespan().value() > busiest * a.waves * a.occupancy.ctas_per_sm * 0.95);
    CHECK(timeline.alone().value() < all.makespan().value());
}

TEST_CASE("more CTAs on an SM never make a trip shorter, nor as much longer as they are more") {
    const auto kernel = gemm(4096);
    const auto a = analyse(kernel, gpu(), Conditions{});
    const auto waits = waits_of_waves(kernel, a.item, a.traffic, gpu());
    const Timeline timeline(a, gpu(), waits, a.slots / a.occupancy.ctas_per_sm);
    double last = 0.0;
    for (const std::int64_t resident : {1, 2, 3, 4}) {
        const double period = timeline.period(resident, waits.first).value();
        CAPTURE(resident);
        CHECK(period >= last);
        CHECK(period <=
              timeline.period(1, waits.first).value() * static_cast<double>(resident) * (1 + 1e-12));
        last = period;
    }
}

TEST_CASE("a CTA that takes tile after tile fills its stages and stores anew for each") {
    mk::Kernel kernel = gemm(16384);
    kernel.schedule.kind = mk::ScheduleKind::static_stride;
    kernel.grid.x = 132;
    const auto a = analyse(kernel, gpu(), Conditions{});
    REQUIRE(a.persistent);
    REQUIRE(a.item.self_fed);
    const auto waits = waits_of_waves(kernel, a.item, a.traffic, gpu());
    const Timeline timeline(a, gpu(), waits, 132);
    const double tiles = std::ceil(static_cast<double>(kernel.schedule.item_count()) / 132.0);
    // With one CTA on an SM, no tile overlaps another's work, however the last wave is shared out.
    CHECK(timeline.exposure().makespan().value() ==
          doctest::Approx(timeline.alone().value() * tiles).epsilon(0.01));
}

TEST_CASE("of the stages ahead the loop waits for one on its way into the SM, and for all at shared memory") {
    auto a = analyse(gemm(4096), gpu(), Conditions{});
    REQUIRE(copies_by_lanes(a.item));
    const auto waits = waits_of_waves(gemm(4096), a.item, a.traffic, gpu());
    REQUIRE(waits.ahead > 1);
    REQUIRE(a.item.trips > waits.ahead);
    const std::int64_t sms = a.slots / a.occupancy.ctas_per_sm;
    const auto alone_with = [&](machine::Server server, double cycles) {
        a.item.before.demand = {};
        a.item.before.demand[server] = hw::Cycles(cycles);
        return Timeline(a, gpu(), waits, sms).alone().value();
    };
    constexpr double all = 6000.0;
    const double none = alone_with(machine::Server::shared, 0.0);
    CHECK(alone_with(machine::Server::crossbar_read, all) - none == doctest::Approx(all / waits.ahead));
    CHECK(alone_with(machine::Server::l1, all) - none == doctest::Approx(all / waits.ahead));
    CHECK(alone_with(machine::Server::shared, all) - none == doctest::Approx(all));
    // A loop with fewer trips than stages fills only as many stages as trips.
    a.item.trips = 1.0;
    const double one = alone_with(machine::Server::shared, 0.0);
    CHECK(alone_with(machine::Server::crossbar_read, all) - one == doctest::Approx(all));
}

TEST_CASE("boxes at the port queue as services of one length, products at the tensor cores do not") {
    auto a = analyse(gemm(4096), gpu(), Conditions{});
    a.item.loop.demand = {};
    a.item.loop.demand[machine::Server::tma] = hw::Cycles(100.0);
    a.item.loop.chain = {};
    StageWaits copies;
    copies.chain = copies.near = hw::Cycles(500.0);
    const auto waits = waits_of_waves(gemm(4096), a.item, a.traffic, gpu());
    const auto period_at = [&](machine::Server server) {
        auto busy = a;
        busy.item.loop.demand[server] = hw::Cycles(400.0);
        return Timeline(busy, gpu(), waits, 132).period(3, copies).value();
    };
    CHECK(period_at(machine::Server::crossbar_read) ==
          doctest::Approx(steady::steady_turn_time(3, 400.0, 100.0)));
    CHECK(period_at(machine::Server::tensor) == doctest::Approx(steady::turn_time(3, 400.0, 100.0)));
    CHECK(period_at(machine::Server::crossbar_read) < period_at(machine::Server::tensor));
}

TEST_CASE("CTAs that copy one stage ahead queue for each other's transfer") {
    auto a = analyse(gemm(4096), gpu(), Conditions{});
    a.item.self_fed = false;
    a.item.loop.demand = {};
    const auto waits = waits_of_waves(gemm(4096), a.item, a.traffic, gpu());
    const Timeline timeline(a, gpu(), waits, a.slots / a.occupancy.ctas_per_sm);
    StageWaits copies;
    copies.chain = copies.near = hw::Cycles(800.0);
    CHECK(timeline.period(2, copies).value() == doctest::Approx(800.0));
    copies.taken = hw::Cycles(400.0);
    CHECK(timeline.period(1, copies).value() == doctest::Approx(800.0));
    // One CTA finds the other at the server half of the time.
    CHECK(timeline.period(2, copies).value() == doctest::Approx(1000.0));
    CHECK(timeline.period(8, copies).value() >= 3200.0);
}

TEST_CASE("CTAs of an SM fill each other's gaps after the first wave, whether lanes copy or boxes come") {
    Conditions warm;
    warm.cache = warptime::model::prediction::Cache::warm;
    for (const bool bulk : {false, true}) {
        CAPTURE(bulk);
        auto a = analyse(gemm(4096), gpu(), warm);
        if (bulk) a.item.loop.demand[machine::Server::tma] = hw::Cycles(1.0);
        a.item.after.demand[machine::Server::crossbar_write] = {};
        REQUIRE(a.item.self_fed);
        const std::int64_t resident = a.occupancy.ctas_per_sm;
        REQUIRE(resident > 1);
        auto waits = waits_of_waves(gemm(4096), a.item, a.traffic, gpu());
        waits.alike = true;
        const std::int64_t sms = a.slots / resident;
        const auto of_waves = [&](std::int64_t waves) {
            a.items = a.ctas = waves * a.slots;
            return Timeline(a, gpu(), waits, sms).exposure().makespan().value();
        };
        // Waves in step follow one another with a turnaround in between.
        CHECK(of_waves(4) - of_waves(3) < of_waves(1) + a.turnaround.value());
        const double all = Timeline(a, gpu(), waits, sms).alone().value() + a.turnaround.value();
        CHECK(of_waves(4) - of_waves(3) >= all);
    }
}

TEST_CASE("the limiter is the longest time") {
    auto a = analyse(gemm(4096), gpu(), Conditions{});
    a.sm_time = hw::Seconds(1.0);
    a.dram_time = hw::Seconds(2.0);
    a.l2_time = hw::Seconds(0.5);
    a.launch_time = a.floor = a.atomic_time = hw::Seconds(0.1);
    CHECK(name_limiter(a) == Limiter::dram);
    a.l2_time = hw::Seconds(3.0);
    CHECK(name_limiter(a) == Limiter::l2);
    a.atomic_time = hw::Seconds(4.0);
    CHECK(name_limiter(a) == Limiter::atomic);
    a.floor = hw::Seconds(5.0);
    CHECK(name_limiter(a) == Limiter::launch);
    a.sm_time = hw::Seconds(9.0);
    a.exposure = {};
    a.exposure.tail = hw::Cycles(7.0);
    CHECK(name_limiter(a) == Limiter::tail);
}
