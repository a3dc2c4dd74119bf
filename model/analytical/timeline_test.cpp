// Waves of CTAs on an SM against sums over their items; the limiter against its definition.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/timeline.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model;
using namespace warptime::model::analytical;
using fixture::gpu;
using warptime::model::prediction::Conditions;

namespace {

mk::Kernel gemm(std::int64_t m) {
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {m, 4096, 4096});
    return kernel;
}

/// CTAs of four warps with one load from global memory, the same few lines for all, and `count`
/// multiply-adds, `deep` of them in series, that wait for it.
mk::Kernel loading(std::int64_t ctas, std::int64_t count, std::int64_t deep) {
    mk::Kernel kernel;
    kernel.name = "loading";
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {128, 1, 1};
    kernel.registers_per_thread = 128;  // four CTAs on an SM
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    mk::Builder build(kernel);
    const mk::Id x = build.buffer(mk::examples::vector_of("x", hw::Dtype::fp32, 1 << 20));
    build.role("warps", 4);
    mk::examples::Draft load = mk::examples::make_op(hw::InstructionClass::ld_global);
    mk::examples::add_access(
        load,
        mk::examples::lanes(x, mk::Direction::read, build.index(0, {mk::term(mk::Variable::warp, 32)}), 4));
    const mk::Id loaded = mk::examples::add_op(build, load);
    mk::examples::Draft multiply = mk::examples::make_op(hw::InstructionClass::fma_f32, count, {{loaded, 0}});
    multiply.chain = deep;
    mk::examples::add_op(build, multiply);
    build.finish();
    return kernel;
}

/// Warps that read shared memory `count` times at `inner` words from lane to lane, and then go through `deep`
/// multiply-adds in series that wait for the reads, in each trip of a loop.
mk::Kernel at_shared(std::int64_t inner, std::int64_t count, int warps, std::int64_t deep) {
    mk::Kernel kernel;
    kernel.name = "banks";
    kernel.cta = {32 * warps, 1, 1};
    mk::Builder build(kernel);
    mk::Buffer words = mk::examples::vector_of("words", hw::Dtype::fp32, 4096);
    words.space = mk::Space::shared;
    const mk::Id x = build.buffer(words);
    build.role("warps", warps);
    build.loop(100);
    mk::examples::Draft load = mk::examples::make_op(hw::InstructionClass::ld_shared, count);
    mk::Access access = mk::examples::lanes(x, mk::Direction::read, mk::Builder::constant(0), 4);
    access.pattern = mk::PatternKind::stride;
    access.inner_extent = 32;
    access.inner = inner;
    mk::examples::add_access(load, access);
    const mk::Id read = mk::examples::add_op(build, load);
    mk::examples::Draft use = mk::examples::make_op(hw::InstructionClass::fma_f32, deep, {{read, 0}});
    use.chain = deep;
    mk::examples::add_op(build, use);
    build.end();
    build.finish();
    kernel.static_shared = 16384;
    return kernel;
}

/// Period of the main loop by the CTAs of an SM, for the analysis as it is when asked.
auto period_of(const Analysis& a, const WaitsOfWaves& waits) {
    return [&a, &waits](std::int64_t resident) {
        return Timeline(a, gpu(), waits, 132).period(resident, waits.first).value();
    };
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

TEST_CASE(
    "CTAs that compute on what they load drift apart, and fill each other's gaps from the second wave on") {
    // The work of a wave and its waits are alike long.
    auto a = analyse(loading(20000, 400, 40), gpu(), Conditions{});
    const std::int64_t resident = a.occupancy.ctas_per_sm;
    REQUIRE(resident == 4);
    REQUIRE(a.traffic.from_dram);
    REQUIRE_FALSE(a.item.asynchronous);
    REQUIRE(a.item.trips == 0.0);
    REQUIRE(a.item.before.load_rounds > 0.0);
    const machine::Server busiest = a.item.before.demand.busiest();
    REQUIRE(machine::of_sub_partition(busiest));
    const double once = a.item.before.demand[busiest].value();
    const auto waits = waits_of_waves(loading(20000, 400, 40), a.item, a.traffic, gpu());
    const std::int64_t sms = a.slots / resident;
    const auto of_waves = [&](const Analysis& from, std::int64_t waves) {
        Analysis many = from;
        many.items = many.ctas = waves * many.slots;
        return Timeline(many, gpu(), waits, sms).exposure().makespan().value();
    };
    const double vacant = a.turnaround.value();
    // A wave that comes alone has all of its CTAs in step.
    const double in_step = of_waves(a, 1) + vacant;
    const double apart = of_waves(a, 9) - of_waves(a, 8);
    CHECK(apart < 0.97 * in_step);
    CHECK(apart >= static_cast<double>(resident) * once);
    const double alone = Timeline(a, gpu(), waits, sms).alone().value() + vacant;
    CHECK(apart >= alone);
    CHECK(apart == doctest::Approx(steady::turn_time(resident, once, alone - once)));
    // Every wave of several takes that time, without a turnaround before the first.
    CHECK(of_waves(a, 8) == doctest::Approx(8.0 * apart - vacant));
    SUBCASE("also where the loads find all in the L2") {
        a.traffic.from_dram = false;
        CHECK(of_waves(a, 9) - of_waves(a, 8) == doctest::Approx(apart));
    }
    SUBCASE("also where the SM's port is its busiest server") {
        const double port = 1.01 * once;
        a.item.before.demand[machine::Server::crossbar_read] = hw::Cycles(port);
        const double single = Timeline(a, gpu(), waits, sms).alone().value() + vacant;
        CHECK(of_waves(a, 9) - of_waves(a, 8) ==
              doctest::Approx(steady::turn_time(resident, port, single - port)));
    }
    SUBCASE("at the server that the whole item keeps busy longest, whichever its parts do") {
        using machine::Server;
        // Slots of straight code and of a trip, passes of a trip and of what stands behind the loop.
        struct Work {
            double before, slots, passes, after, busiest;
        };
        a.traffic.dram_read = a.traffic.dram_row_read = a.traffic.dram_written = {};
        a.item.trips = 10.0;
        a.item.before.chain = hw::Cycles(3000.0);
        for (const Work& work : {Work{0.0, 20.0, 50.0, 0.0, 500.0},
                                 {0.0, 60.0, 50.0, 0.0, 600.0},
                                 {600.0, 20.0, 50.0, 0.0, 800.0},
                                 {0.0, 20.0, 50.0, 70.0, 570.0}}) {
            CAPTURE(work.busiest);
            for (machine::Part* part : {&a.item.before, &a.item.loop, &a.item.after}) part->demand = {};
            a.item.before.demand[Server::issue] = hw::Cycles(work.before);
            a.item.loop.demand[Server::issue] = hw::Cycles(work.slots);
            a.item.loop.demand[Server::shared] = hw::Cycles(work.passes);
            a.item.after.demand[Server::shared] = hw::Cycles(work.after);
            const double single = Timeline(a, gpu(), waits, sms).alone().value() + vacant;
            const double wave = steady::turn_time(resident, work.busiest, single - work.busiest);
            REQUIRE(wave < of_waves(a, 1) + vacant);
            CHECK(of_waves(a, 9) - of_waves(a, 8) == doctest::Approx(wave));
        }
    }
    SUBCASE("not where nothing is waited for") {
        a.item.before.load_rounds = 0.0;
        CHECK(of_waves(a, 9) - of_waves(a, 8) == doctest::Approx(in_step));
    }
    SUBCASE("nor where copies run ahead") {
        a.item.asynchronous = true;
        const double single = of_waves(a, 1) + vacant;
        CHECK(single > in_step);
        CHECK(of_waves(a, 9) - of_waves(a, 8) == doctest::Approx(single));
    }
    SUBCASE("nor where the memory is busier than the SMs") {
        a.traffic.dram_read = hw::Bytes(1e15);
        CHECK(of_waves(a, 9) - of_waves(a, 8) == doctest::Approx(in_step));
    }
}

TEST_CASE("a computing wave never takes less than its CTAs' work one after another, however long they wait") {
    for (const std::int64_t count : {100, 400, 2000, 10000}) {
        for (const std::int64_t deep : {1, 20, 100}) {
            CAPTURE(count);
            CAPTURE(deep);
            const auto a = analyse(loading(50000, count, deep), gpu(), Conditions{});
            const auto waits = waits_of_waves(loading(50000, count, deep), a.item, a.traffic, gpu());
            const std::int64_t sms = a.slots / a.occupancy.ctas_per_sm;
            const auto of_waves = [&](std::int64_t waves) {
                Analysis many = a;
                many.items = many.ctas = waves * many.slots;
                const double share = static_cast<double>(many.items) / static_cast<double>(a.items);
                for (hw::Bytes Traffic::*bytes :
                     {&Traffic::dram_read, &Traffic::dram_row_read, &Traffic::dram_written, &Traffic::l2_read,
                      &Traffic::l2_stored}) {
                    many.traffic.*bytes = many.traffic.*bytes * share;
                }
                return Timeline(many, gpu(), waits, sms).exposure().makespan().value();
            };
            const double least = a.item.before.demand[a.item.before.demand.busiest()].value() *
                                 static_cast<double>(a.occupancy.ctas_per_sm);
            const double apart = of_waves(9) - of_waves(8);
            CHECK(apart >= least * (1.0 - 1e-12));
            CHECK(apart <= (of_waves(1) + a.turnaround.value()) * (1.0 + 1e-12));
        }
    }
}

TEST_CASE("warps whose accesses take several passes queue at the banks") {
    for (const int warps : {2, 4, 8}) {
        for (const std::int64_t deep : {8, 32, 64, 96}) {
            CAPTURE(warps);
            CAPTURE(deep);
            const mk::Kernel kernel = at_shared(8, 8, warps, deep);
            auto a = analyse(kernel, gpu(), Conditions{});
            const auto waits = waits_of_waves(kernel, a.item, a.traffic, gpu());
            REQUIRE(a.item.loop.demand.busiest() == machine::Server::shared);
            const double banks = a.item.loop.demand[machine::Server::shared].value();
            REQUIRE(banks == 8.0 * 8.0 * warps);
            REQUIRE(a.item.loop.in_passes.value() == banks);
            const double chain = waits.first.of(1).value();
            a.item.loop.shared_turns = 0.0;  // with waits for the banks warps come in no order, below
            const auto period = period_of(a, waits);
            for (const std::int64_t resident : {1, 2, 4}) {
                CAPTURE(resident);
                const double busy = banks * static_cast<double>(resident);
                const double longest = std::max(chain, busy);
                a.item.loop.in_passes = hw::Cycles(0.5 * banks);
                const double queued = period(resident);
                CHECK(queued >= longest * (1.0 - 1e-12));
                CHECK(queued < chain + busy);
                // The queue shows where neither the banks nor the chain have much to spare.
                if (busy > 0.5 * chain && busy < 1.2 * chain) CHECK(queued > 1.02 * longest);
                // Single passes follow one another in the order of issue.
                a.item.loop.in_passes = hw::Cycles(0.49 * banks);
                CHECK(period(resident) == doctest::Approx(longest));
            }
        }
    }
    const mk::Kernel kernel = at_shared(1, 64, 4, 8);
    CHECK(analyse(kernel, gpu(), Conditions{}).item.loop.in_passes.value() == 0.0);
}

TEST_CASE("warps that come to their units in no order share them") {
    const int warps = 8;
    const mk::Kernel kernel = at_shared(8, 8, warps, 96);
    auto a = analyse(kernel, gpu(), Conditions{});
    const auto waits = waits_of_waves(kernel, a.item, a.traffic, gpu());
    const double chain = waits.first.of(1).value();
    const auto period = period_of(a, waits);
    const double banks = a.item.loop.demand[machine::Server::shared].value();
    const auto parts = static_cast<std::int64_t>(gpu().sm.sub_partitions.value());
    a.item.loop.in_passes = hw::Cycles{};
    a.item.loop.run_slots = 0.0;
    a.item.loop.demand[machine::Server::fp64] = hw::Cycles(0.75 * banks);
    for (const std::int64_t resident : {1, 2, 4}) {
        CAPTURE(resident);
        const std::int64_t queued = resident * warps / parts;
        const auto ctas = static_cast<double>(resident);
        const double share = ctas / static_cast<double>(queued);
        const double unit = 0.75 * banks * share;
        // Two units are a pair of queues where warps wait for shared memory.
        a.item.loop.shared_turns = 1.0;
        const double of_banks = banks * share / static_cast<double>(parts);
        const double elsewhere = std::max(0.0, chain - unit - of_banks);
        const double in_order = std::max(chain, banks * ctas);
        const double both =
            steady::turn_of_groups(queued, static_cast<double>(parts), unit, of_banks, elsewhere);
        CHECK(period(resident) == doctest::Approx(std::max(both, in_order)));
        // Without such waits they pass one unit after the other in the order of issue.
        a.item.loop.shared_turns = 0.0;
        CHECK(period(resident) == doctest::Approx(in_order));
        // Loads that come back at different times leave the banks out, but not the unit.
        a.item.loop.load_rounds = 1.0;
        const double turn = steady::turn_time(queued, unit, std::max(0.0, chain - unit));
        CHECK(period(resident) == doctest::Approx(std::max(in_order, turn)));
        a.item.loop.load_rounds = 0.0;
    }
}

TEST_CASE("groups that compute with their products queue at the tensor cores and at two pipes") {
    using machine::Server;
    auto a = analyse(gemm(4096), gpu(), Conditions{});
    REQUIRE(a.item.self_fed);
    a.item.uses_products = true;
    a.item.loop.demand = {};
    a.item.loop.demand[Server::tensor] = hw::Cycles(1000.0);
    a.item.loop.demand[Server::issue] = hw::Cycles(600.0);
    a.item.loop.demand[Server::sfu] = hw::Cycles(400.0);
    a.item.loop.chain = hw::Cycles(2500.0);
    const auto waits = waits_of_waves(gemm(4096), a.item, a.traffic, gpu());
    const auto period = [&](int groups, std::int64_t resident) {
        a.item.side_by_side = groups;
        return Timeline(a, gpu(), waits, 132).period(resident, StageWaits{}).value();
    };
    // One group of one CTA has all for itself.
    CHECK(period(1, 1) == doctest::Approx(2500.0));
    for (const int groups : {1, 2}) {
        for (const std::int64_t resident : {1, 2, 3}) {
            if (groups * resident < 2) continue;
            CAPTURE(groups);
            CAPTURE(resident);
            const std::array<double, 3> services{1000.0 / groups, 600.0 / groups, 400.0 / groups};
            const double own = 2500.0 - 1000.0 * (groups - 1) / groups;
            const double elsewhere = own - 2000.0 / groups;
            const double apart = steady::turn_of_queues(groups * resident, services, elsewhere);
            // No less than a queue of whole CTAs at their busiest server.
            const double ctas = steady::turn_time(resident, 1000.0, 1500.0);
            CHECK(period(groups, resident) == doctest::Approx(std::max(ctas, apart)));
        }
    }
    SUBCASE("those that meet in each trip wait for all products, and then share the pipes") {
        a.item.loop.demand[Server::barrier] = hw::Cycles(4.0);
        const std::array<double, 2> pipes{300.0, 200.0};
        CHECK(period(2, 1) == doctest::Approx(steady::turn_of_queues(2, pipes, 2000.0)));
        CHECK(period(1, 1) == doctest::Approx(2500.0));
    }
    SUBCASE("nothing where no instruction needs a product, or no group has its own") {
        CHECK(period(0, 2) < period(1, 2));
        const double grouped = period(1, 2);
        a.item.uses_products = false;
        CHECK(period(1, 2) < grouped);
    }
}

TEST_CASE("one warp alone does not queue at the banks, and warps that queue elsewhere keep their pace") {
    const mk::Kernel kernel = at_shared(8, 8, 1, 32);
    auto a = analyse(kernel, gpu(), Conditions{});
    const auto waits = waits_of_waves(kernel, a.item, a.traffic, gpu());
    REQUIRE(a.item.loop.in_passes.value() == 64.0);
    const auto period = period_of(a, waits);
    const double chain = waits.first.of(1).value();
    CHECK(period(1) == doctest::Approx(chain));
    // Two warps wait for each other's passes at most once a turn.
    CHECK(period(2) > chain);
    CHECK(period(2) <= chain + 64.0);
    a.item.loop.demand[machine::Server::crossbar_write] = hw::Cycles(100.0);
    CHECK(period(2) == doctest::Approx(std::max(chain, 200.0)));
}

TEST_CASE("CTAs whose warps meet and wait for loads are the customers of a closed queue") {
    const mk::Kernel kernel = at_shared(8, 8, 4, 8);
    auto a = analyse(kernel, gpu(), Conditions{});
    const auto waits = waits_of_waves(kernel, a.item, a.traffic, gpu());
    const double banks = a.item.loop.demand[machine::Server::shared].value();
    const auto period = period_of(a, waits);
    const std::array<double, 3> apart{period(1), period(2), period(8)};
    const std::array<std::int64_t, 3> residents{1, 2, 8};
    const auto check_apart = [&] {
        for (std::size_t i = 0; i < 3; ++i) CHECK(period(residents[i]) == apart[i]);
    };
    // Warps that meet without a wait, or wait without meeting, keep the pace of warps apart.
    a.item.loop.demand[machine::Server::barrier] = hw::Cycles(1.0);
    check_apart();
    a.item.loop.demand[machine::Server::barrier] = hw::Cycles{};
    a.item.loop.load_wait = hw::Cycles(600.0);
    check_apart();
    a.item.loop.demand[machine::Server::barrier] = hw::Cycles(1.0);
    // One CTA alone waits and is served in turn; many keep the server busy.
    CHECK(period(1) == doctest::Approx(std::max(apart[0], banks + 600.0)));
    CHECK(period(8) >= 8.0 * banks);
    CHECK(period(8) < 8.0 * banks + 600.0);
    CHECK(period(2) == doctest::Approx(std::max(apart[1], steady::turn_time(2, banks, 600.0))));
}

TEST_CASE("CTAs whose warps meet and wait for shared memory take their stretches in turn") {
    const mk::Kernel kernel = at_shared(8, 8, 4, 8);
    auto a = analyse(kernel, gpu(), Conditions{});
    const auto waits = waits_of_waves(kernel, a.item, a.traffic, gpu());
    a.item.loop.load_wait = hw::Cycles{};
    a.item.loop.met_busy = hw::Cycles(3000.0);
    a.item.loop.met_idle = hw::Cycles(2000.0);
    a.item.loop.demand[machine::Server::barrier] = hw::Cycles(1.0);
    const auto period = period_of(a, waits);
    a.item.loop.shared_turns = 0.0;
    const double apart = period(1);
    REQUIRE(apart < 5000.0);
    a.item.loop.shared_turns = 1.0;
    // Alone the CTA works and waits; several work while others wait.
    CHECK(period(1) == doctest::Approx(5000.0));
    CHECK(period(2) == doctest::Approx(steady::steady_turn_time(2, 3000.0, 2000.0)));
    CHECK(period(8) == doctest::Approx(steady::steady_turn_time(8, 3000.0, 2000.0)));
    a.item.loop.demand[machine::Server::barrier] = hw::Cycles{};
    CHECK(period(1) == apart);
}

TEST_CASE(
    "straight code of several CTAs takes its chain and the queue of one of its turns at a way to memory") {
    auto a = analyse(loading(20000, 400, 40), gpu(), Conditions{});
    const std::int64_t resident = a.occupancy.ctas_per_sm;
    const auto waits = waits_of_waves(loading(20000, 400, 40), a.item, a.traffic, gpu());
    a.items = a.ctas = a.slots;
    a.traffic.from_dram = false;
    machine::Part& part = a.item.before;
    part.runs = part.run_slots = 0.0;
    const auto wave = [&] { return Timeline(a, gpu(), waits, a.sms).exposure().prologue.value(); };
    const double chain = part.chain.value();
    const auto ctas = static_cast<double>(resident);
    // Units of the sub-partitions overlap with the chain: the longer sets the pace.
    for (hw::Cycles& busy : part.demand.cycles) busy = hw::Cycles(0.0);
    part.demand[machine::Server::fp32] = hw::Cycles(0.9 * chain / ctas);
    CHECK(wave() == doctest::Approx(chain));
    part.demand[machine::Server::fp32] = hw::Cycles(1.5 * chain / ctas);
    CHECK(wave() == doctest::Approx(1.5 * chain));
    // N warps that ask at once: the last one waits for the others, N - 1 services.
    part.demand[machine::Server::fp32] = hw::Cycles(0.0);
    part.demand[machine::Server::crossbar_read] = hw::Cycles(100.0);
    const double others = 100.0 * ctas * (1.0 - 1.0 / (ctas * a.item.warps));
    part.load_turns = 1.0;
    CHECK(wave() == doctest::Approx(chain + others));
    // Later turns find the warps one after another, as jobs of a flow shop.
    part.load_turns = 4.0;
    CHECK(wave() == doctest::Approx(chain + others / 4.0));
    part.load_turns = 1e9;
    CHECK(wave() == doctest::Approx(std::max(chain, 100.0 * ctas)));
}
