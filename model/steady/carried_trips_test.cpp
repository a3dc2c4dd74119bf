// Trips that overlap: closed forms, and the largest ratio of a cycle of the same loop's event graph.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/carried_trips.hpp"

#include "model/kernel/checks.hpp"
#include "model/kernel/examples/parts.hpp"
#include "model/steady/cycle_ratio.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::steady;
using namespace warptime::model::kernel::examples;
using warptime::hw::Cycles;

/// A loop of one warp; each op has its deps.
Kernel looping(const std::vector<std::vector<Dep>>& deps) {
    Kernel kernel;
    kernel.name = "trips";
    kernel.cta = {32, 1, 1};
    Builder build(kernel);
    build.role("warp", 1);
    build.loop(64);
    kernel.loops.back().overlap = true;
    for (const std::vector<Dep>& own : deps) {
        build.op(InstructionClass::fma_f32);
        for (const Dep& dep : own) build.dep(dep);
    }
    build.end();
    build.finish();
    check(kernel);
    return kernel;
}

CarriedTrips begun(const Kernel& kernel) {
    CarriedTrips trips;
    trips.begin(kernel, kernel.roles[0].first_node + 1, kernel.roles[0].last_node);
    return trips;
}

TripEvent event(std::size_t op, double held, double ready, bool loads = false) {
    TripEvent made;
    made.first = op;
    made.last = op + 1;
    made.held = Cycles(held);
    made.ready = Cycles(ready);
    made.loads = loads;
    return made;
}

}  // namespace

TEST_CASE("trips overlap where the description says that its deps are complete") {
    Kernel kernel = looping({{{1, 1}}, {{0, 0}}});
    CHECK(begun(kernel).described);
    kernel.loops[0].overlap = false;
    CHECK_FALSE(begun(kernel).described);
}

TEST_CASE("a load for a later trip hides its latency behind the work of as many trips") {
    constexpr double latency = 700.0;
    for (const double work : {10.0, 300.0, 2000.0}) {
        for (const int ahead : {0, 1, 2, 3}) {
            CAPTURE(work);
            CAPTURE(ahead);
            const Kernel kernel = looping({{}, {{0, ahead}}, {{2, 1}}});
            CarriedTrips trips = begun(kernel);
            trips.note(event(0, 1.0, latency, true));
            trips.note(event(1, work, work));
            trips.note(event(2, 1.0, 4.0));
            const SteadyTrip steady = trips.steady(kernel);
            // The trip's work comes behind the load that it waits for, and the load of the trip after next
            // behind that work.
            const double round = latency + work + 1.0;
            const double expected = std::max(work + 2.0, round / (ahead + 1.0));
            CHECK(steady.period.value() == doctest::Approx(expected).epsilon(1e-9));
            CHECK(steady.waited.value() == doctest::Approx(expected - work - 2.0).epsilon(1e-9));
        }
    }
}

TEST_CASE("the tensor cores take products in order, those of the trip before first") {
    // A trip's first product is waited for, its second one only in the next trip.
    const Kernel kernel = looping({{}, {{0, 0}}, {{1, 0}}, {{2, 1}}});
    constexpr double latency = 30.0, first = 256.0, work = 800.0, behind = 40.0;
    for (const double second : {10.0, 69.0, 256.0, 2000.0}) {
        CAPTURE(second);
        CarriedTrips trips = begun(kernel);
        const auto product = [](std::size_t op, double service) {
            TripEvent made = event(op, 1.0, service + latency);
            made.queued = Cycles(service);
            return made;
        };
        trips.note(product(0, first));
        trips.note(event(1, work, work));
        trips.note(product(2, second));
        trips.note(event(3, behind, behind));
        // What the second product is still at when the next trip's first one is issued delays that one.
        // A result of the second one is waited for by the last op.
        const double issued = 1.0 + behind;
        const double alone = first + latency + work + issued;
        const double delayed = alone + std::max(0.0, second - issued);
        const double period = trips.steady(kernel).period.value();
        CHECK(period == doctest::Approx(delayed).epsilon(1e-9));
        for (TripEvent& each : trips.events) each.queued = Cycles{};
        CHECK(trips.steady(kernel).period.value() <= period);
    }
}

TEST_CASE("independent instructions of an op wait for their own results of the trip before") {
    Kernel kernel = looping({{{0, 1}}});
    kernel.ops[0].count = 8;
    CarriedTrips trips = begun(kernel);
    trips.note(event(0, 16.0, 14.0 + 33.0));  // Eight at two cycles each, and 33 until the last one is done.
    // The first one issues again when it is done, after 33 cycles.
    CHECK(trips.steady(kernel).period.value() == doctest::Approx(33.0));
    // In series, the first one needs the last one.
    kernel.ops[0].chain = 8;
    CHECK(trips.steady(kernel).period.value() == doctest::Approx(14.0 + 33.0));
}

TEST_CASE("a selection that a comparison of the trip before decides has its predicate sooner") {
    for (const InstructionClass reader : {InstructionClass::compare_select, InstructionClass::branch}) {
        Kernel kernel = looping({{{1, 1}}, {{0, 0}}});
        kernel.ops[0].cls = reader;
        kernel.ops[1].cls = InstructionClass::set_predicate;
        CarriedTrips trips = begun(kernel);
        trips.note(event(0, 1.0, 4.0));
        trips.note(event(1, 1.0, 13.0));
        const double spared = reader == InstructionClass::compare_select ? 9.0 : 0.0;
        CHECK(trips.steady(kernel, Cycles(9.0)).period.value() == doctest::Approx(17.0 - spared));
        CHECK(trips.steady(kernel).period.value() == doctest::Approx(17.0));
    }
}

TEST_CASE("a branch that is taken in part takes that part of its time") {
    const Kernel kernel = looping({{{0, 1}}, {}});
    CarriedTrips trips = begun(kernel);
    trips.note(event(0, 5.0, 5.0));
    TripEvent inside = event(1, 20.0, 60.0);
    inside.issued = Cycles(25.0);
    trips.note(inside);
    // The branch ends at 65, when what was done in it is complete.
    trips.take_in_part(1, Cycles(65.0), 0.25);
    CHECK(trips.steady(kernel).period.value() == doctest::Approx(5.0 + 0.25 * 60.0));
}

TEST_CASE("what a branch that is seldom taken waits for is seldom waited for") {
    // A slow op, and a branch behind it that needs its result.
    const Kernel kernel = looping({{}, {{0, 0}}});
    for (const double taken : {0.0, 0.5, 1.0}) {
        CarriedTrips trips = begun(kernel);
        trips.note(event(0, 10.0, 510.0));
        TripEvent inside = event(1, 4.0, 4.0);
        inside.issued = Cycles(514.0);
        trips.note(inside);
        trips.take_in_part(1, Cycles(514.0), taken);
        CHECK(trips.steady(kernel).period.value() == doctest::Approx(10.0 + taken * 504.0));
    }
}

TEST_CASE("the period is the largest ratio of a cycle of the event graph") {
    CHECK(rc::check("random loops", [] {
        const int ops = *rc::gen::inRange(1, 12);
        std::vector<std::vector<Dep>> deps(static_cast<std::size_t>(ops));
        std::vector<double> issue, latency;
        for (int op = 0; op < ops; ++op) {
            const int count = *rc::gen::inRange(0, 3);
            for (int d = 0; d < count; ++d) {
                const int from = *rc::gen::inRange(0, ops);
                deps[static_cast<std::size_t>(op)].push_back(
                    {from, from < op ? *rc::gen::inRange(0, 3) : *rc::gen::inRange(1, 3)});
            }
            issue.push_back(*rc::gen::inRange(1, 20));
            latency.push_back(issue.back() + *rc::gen::inRange(0, 200));
        }
        deps[0].push_back({ops - 1, 1});
        const Kernel kernel = looping(deps);
        EventTopology topology;
        EventGraph graph;
        build_event_graph(kernel, WorkItem{}, std::span<const double>(issue),
                          std::span<const double>(latency), topology, graph);
        CarriedTrips trips = begun(kernel);
        for (std::size_t op = 0; op < static_cast<std::size_t>(ops); ++op) {
            trips.note(event(op, issue[op], latency[op]));
        }
        const double expected = max_cycle_ratio(graph).ratio;
        const double period = trips.steady(kernel).period.value();
        // Few trips: a cycle may not yet set the pace.
        RC_ASSERT(std::abs(period - expected) <= 0.03 * expected);
    }));
}
