// The makespan of a kernel: closed forms of waves, tails and persistent CTAs, and what never makes it slower.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/analysis.hpp"

#include "hw/error.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/analytical/timeline.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"
#include "model/machine/dram/first_visits.hpp"
#include "model/machine/l2/l2.hpp"
#include "model/machine/launch/launch.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model;
using namespace warptime::model::analytical;
using fixture::gpu;
using warptime::model::prediction::Cache;
using warptime::model::prediction::Conditions;
using warptime::model::prediction::Limiter;

namespace {

Analysis of(const mk::Kernel& kernel, const hw::Gpu& on = gpu(), Conditions conditions = {}) {
    return analyse(kernel, on, conditions);
}

/// Period of the main loop at full residency.
double loop_period(const mk::Kernel& kernel, const Analysis& a) {
    const auto waits = waits_of_waves(kernel, a.item, a.traffic, gpu());
    const int resident = a.occupancy.ctas_per_sm;
    return Timeline(a, gpu(), waits, a.slots / resident).period(resident, waits.first).value();
}

/// doctest's Approx allows for a part of 1 beside the part of the values: seconds of kernels are far less.
double microseconds(const hw::Seconds& time) {
    return 1e6 * time.value();
}

double makespan(const mk::Kernel& kernel) {
    return of(kernel).exposure.makespan().value();
}

mk::Kernel tiled(std::int64_t m, std::int64_t n, std::int64_t k) {
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {m, n, k});
    return kernel;
}

mk::Kernel specialized(std::int64_t m, std::int64_t n, std::int64_t k, bool pingpong) {
    mk::Kernel kernel;
    mk::examples::WarpSpecializedGemm problem{m, n, k, 3};
    problem.pingpong = pingpong;
    mk::examples::warp_specialized_gemm(kernel, problem);
    kernel.grid.x = std::min<std::int64_t>(132, kernel.schedule.item_count());
    return kernel;
}

/// Each SM's warps gather 16384 single sectors of a table of so many words.
mk::Kernel gathers(int warps, std::int64_t shared, std::int64_t words) {
    mk::Kernel kernel;
    kernel.name = "gathers";
    kernel.grid = {132, 1, 1};
    kernel.cta = {32 * warps, 1, 1};
    kernel.dynamic_shared = shared;
    kernel.schedule.tiles = {132, 1, 1, 1};
    mk::Builder build(kernel);
    const mk::Buffer table = mk::examples::vector_of("table", hw::Dtype::fp32, words);
    const mk::Id from = build.buffer(table);
    build.role("warps", warps);
    build.loop(64 / warps);
    mk::examples::Draft load = mk::examples::make_op(hw::InstructionClass::ld_global, 8);
    mk::Access access = mk::examples::lanes(from, mk::Direction::read, mk::Builder::constant(0), 4);
    access.pattern = mk::PatternKind::random;
    access.distinct = words;
    mk::examples::add_access(load, access);
    mk::examples::add_op(build, load);
    build.end();
    build.finish();
    return kernel;
}

/// One of the kernels above at a random size.
mk::Kernel any_kernel() {
    const auto tiles = [] { return 128 * *rc::gen::inRange<std::int64_t>(1, 80); };
    const std::int64_t k = 64 * *rc::gen::inRange<std::int64_t>(1, 100);
    switch (*rc::gen::inRange(0, 5)) {
        case 0:
            return fixture::arithmetic(*rc::gen::inRange<std::int64_t>(1, 20000), *rc::gen::inRange(1, 200));
        case 1:
            return fixture::stream(*rc::gen::inRange<std::int64_t>(1, 20000), *rc::gen::inRange(1, 4));
        case 2:
            return tiled(tiles(), tiles(), k);
        case 3:
            return specialized(tiles(), 2 * tiles(), k, false);
        default:
            return specialized(tiles(), 2 * tiles(), k, true);
    }
}

}  // namespace

TEST_CASE(
    "nobody waits for stores alone: the slowest of slices and DRAM sets the pace, and the other hides") {
    Conditions cold;
    cold.cache = Cache::cold;
    const auto check_pace = [&](const hw::Gpu& on, hw::Seconds Analysis::*slowest,
                                hw::Seconds Analysis::*other) {
        const Analysis a = of(fixture::stream(40000, 0), on, cold);
        REQUIRE(a.waves > 1.0);
        REQUIRE(a.traffic.received.value() == 0.0);
        // A norm of the two would show.
        REQUIRE(a.*other > a.*slowest * 0.5);
        REQUIRE(a.*other < a.*slowest);
        REQUIRE(a.sm_time < a.*slowest);
        CHECK(microseconds(a.time) ==
              doctest::Approx(microseconds(a.floor + a.apart / a.clock + a.*slowest)));
    };
    hw::Gpu less = gpu();
    check_pace(less, &Analysis::dram_time, &Analysis::l2_time);
    less.l2.ingest_bandwidth = less.l2.ingest_bandwidth * 0.6;
    check_pace(less, &Analysis::l2_time, &Analysis::dram_time);
    // Loads are waited for.
    const Analysis copy = of(fixture::stream(40000, 1), gpu(), cold);
    CHECK(copy.time.value() > 1.003 * (copy.floor + copy.apart / copy.clock + copy.dram_time).value());
}

TEST_CASE("a slice that loads crowd in serves what atomics crowd there as well, one request at a time") {
    Conditions warm;
    warm.cache = Cache::warm;
    const auto analysed = [&](double loads, double adds) {
        mk::Kernel kernel;
        kernel.name = "crowd";
        kernel.grid = {4000, 1, 1};
        kernel.cta = {32, 1, 1};
        kernel.schedule.tiles = {4000, 1, 1, 1};
        mk::Builder build(kernel);
        const mk::Id x = build.buffer(mk::examples::vector_of("x", hw::Dtype::fp32, 4000 * 32));
        const mk::Id y = build.buffer(mk::examples::vector_of("y", hw::Dtype::int32, 4000 * 32));
        build.role("warp", 1);
        const mk::Index first = build.variable(mk::Variable::tile, 32);
        mk::Access read = mk::examples::lanes(x, mk::Direction::read, first, 4);
        read.skew = loads;
        build.op(mk::examples::make_op(hw::InstructionClass::ld_global), {read});
        mk::Access add = mk::examples::lanes(y, mk::Direction::atomic, first, 4);
        add.skew = adds;
        build.op(mk::examples::make_op(hw::InstructionClass::red_global), {add});
        build.finish();
        return of(kernel, gpu(), warm);
    };
    const auto slices = [](const Analysis& a) { return (a.l2_time * a.clock).value(); };
    const Analysis even = analysed(1.0, 48.0);
    const Analysis crowded = analysed(64.0, 48.0);
    REQUIRE(even.traffic.fullest.value() == 0.0);
    REQUIRE(crowded.traffic.fullest.value() > 0.0);
    REQUIRE(crowded.traffic.atomics.beyond.value() > 0.1 * crowded.traffic.fullest.value());
    CHECK(slices(crowded) - slices(even) ==
          doctest::Approx((crowded.traffic.fullest + crowded.traffic.atomics.beyond).value()));
    // Atomics that go evenly have little beyond the others' time.
    const Analysis alone = analysed(64.0, 1.0);
    CHECK(slices(crowded) - slices(alone) ==
          doctest::Approx((crowded.traffic.atomics.beyond - alone.traffic.atomics.beyond).value()));
}

TEST_CASE("where random places come from DRAM early, neither DRAM nor the slices hide all of the other") {
    Conditions cold;
    cold.cache = Cache::cold;
    // Each place of 16 MB is added to many times.
    constexpr std::int64_t words = std::int64_t{1} << 22;
    mk::Kernel kernel;
    kernel.name = "adds";
    kernel.grid = {4000, 1, 1};
    kernel.cta = {256, 1, 1};
    kernel.schedule.tiles = {4000, 1, 1, 1};
    mk::Builder build(kernel);
    const mk::Id x = build.buffer(mk::examples::vector_of("x", hw::Dtype::int32, words));
    build.role("warps", 8);
    mk::Access add = mk::examples::lanes(x, mk::Direction::atomic, mk::Builder::constant(0), 4);
    add.pattern = mk::PatternKind::listed;
    add.distinct = words;
    add.pool_length = 32;
    for (std::int64_t lane = 0; lane < 32; ++lane) kernel.address_list.push_back(lane * (words / 32));
    build.op(mk::examples::make_op(hw::InstructionClass::red_global, 4), {add});
    build.finish();
    const auto beside = [](const Analysis& a) { return microseconds(a.time - a.floor - a.apart / a.clock); };
    hw::Gpu on = gpu();
    on.dram.bandwidth = on.dram.bandwidth * 1e6;
    const double others = beside(of(kernel, on, cold));
    // A memory that takes as long as all else together.
    on.dram.bandwidth = gpu().dram.bandwidth * (microseconds(of(kernel, gpu(), cold).dram_time) / others);
    const Analysis a = of(kernel, on, cold);
    REQUIRE(microseconds(a.dram_time) == doctest::Approx(others).epsilon(1e-3));
    const double early = machine::with_first_visits(others, others, a.traffic.first_visits);
    REQUIRE(early > 1.2 * others);
    // Slices and DRAM follow one another, so that DRAM takes the place of the slices in the norm of all.
    const double slices = microseconds(a.l2_time + a.traffic.atomics.mean / a.clock);
    REQUIRE(slices < others);
    const auto power = [&](double time) { return std::pow(time, a.exponent); };
    const double even = std::pow(power(others) - power(slices) + power(others), 1.0 / a.exponent);
    CHECK(beside(a) == doctest::Approx(even * early / others).epsilon(1e-3));
}

TEST_CASE("of slots that wait for DRAM the shorter law counts: CTAs in step, or those that queue anywhere") {
    Conditions cold;
    cold.cache = Cache::cold;
    // Ten waves of CTAs that load a vector and compute about as long as DRAM brings it.
    constexpr std::int64_t ctas = 132 * 16 * 10;
    mk::Kernel kernel;
    kernel.name = "loading";
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {128, 1, 1};
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    mk::Builder build(kernel);
    const mk::Id x = build.buffer(mk::examples::vector_of("x", hw::Dtype::fp32, ctas * 512));
    build.role("warps", 4);
    const mk::Index first =
        build.index(0, {mk::term(mk::Variable::tile, 512), mk::term(mk::Variable::warp, 128)});
    mk::examples::Draft load = mk::examples::make_op(hw::InstructionClass::ld_global);
    mk::examples::add_access(load, mk::examples::lanes(x, mk::Direction::read, first, 16));
    const mk::Id loaded = mk::examples::add_op(build, load);
    mk::examples::add_op(build, mk::examples::make_op(hw::InstructionClass::fma_f32, 100, {{loaded, 0}}));
    build.finish();
    // Key overlap.in_step says how much of the waits of CTAs in step is added to their work.
    const auto time_with = [&](double in_step) {
        hw::Gpu on = gpu();
        on.overlap.in_step = hw::Number(in_step);
        return of(kernel, on, cold).time.value();
    };
    double last = time_with(0.0);
    for (const double in_step : {10.0, 30.0, 100.0, 300.0, 1e3}) {
        CAPTURE(in_step);
        const double time = time_with(in_step);
        CHECK(time >= last);
        last = time;
    }
    CHECK(last > 1.05 * time_with(0.0));
    // However much is added, CTAs that queue take no longer.
    CHECK(time_with(1e9) == last);
}

TEST_CASE("equal waves follow one another, a turnaround between them") {
    const std::int64_t slots = of(fixture::arithmetic(1, 100)).slots;
    const double one = makespan(fixture::arithmetic(slots, 100));
    for (const std::int64_t waves : {2, 3, 10}) {
        const Analysis a = of(fixture::arithmetic(slots * waves, 100));
        CHECK(a.waves == static_cast<double>(waves));
        CHECK(a.exposure.tail.value() == 0.0);
        const auto w = static_cast<double>(waves);
        CHECK(a.exposure.makespan().value() == doctest::Approx(w * one + (w - 1.0) * a.turnaround.value()));
    }
}

TEST_CASE("one arithmetic wave keeps the pipe busy for its instructions") {
    const Analysis a = of(fixture::arithmetic(132 * 8, 1000));
    REQUIRE(a.occupancy.ctas_per_sm == 8);
    // 8 CTAs of 8 warps, 64000 instructions each, on four sub-partitions.
    const double busy =
        8.0 * 8 * 64000 * gpu().instructions[hw::InstructionClass::fma_f32].interval.value() / 4.0;
    CHECK(a.exposure.main_loop.value() >= busy * (1.0 - 1e-12));
    CHECK(a.exposure.main_loop.value() <= busy * 1.25);
}

TEST_CASE("a started wave costs more than none and at most a full one") {
    const std::int64_t slots = of(fixture::arithmetic(1, 100)).slots;
    for (const std::int64_t extra :
         {std::int64_t{1}, std::int64_t{132}, std::int64_t{133}, slots / 2, slots - 1}) {
        const Analysis a = of(fixture::arithmetic(2 * slots + extra, 100));
        CHECK(a.exposure.makespan().value() > makespan(fixture::arithmetic(2 * slots, 100)));
        CHECK(a.exposure.makespan().value() <= makespan(fixture::arithmetic(3 * slots, 100)) * (1.0 + 1e-12));
    }
    // A single CTA left over runs alone on its SM, faster than among its neighbours.
    const Analysis alone = of(fixture::arithmetic(slots + 1, 1000));
    const double full = makespan(fixture::arithmetic(slots, 1000));
    CHECK(alone.exposure.makespan().value() - full < 0.5 * full);
    CHECK(alone.exposure.tail.value() > 0.0);
}

TEST_CASE("persistent CTAs pace the kernel by the busiest of them") {
    const Analysis one = of(specialized(128, 256, 4096, false));
    CHECK_FALSE(one.persistent);
    const auto after_prologue = [](const Analysis& a) {
        return (a.exposure.makespan() - a.exposure.prologue).value();
    };
    // 6 x 22 tiles fill 132 CTAs. Each further round takes the same time, and one further tile takes a whole
    // round. Only the last round's stores come all at once.
    const Analysis full = of(specialized(6 * 128, 22 * 256, 4096, false));
    const Analysis twice = of(specialized(12 * 128, 22 * 256, 4096, false));
    const Analysis thrice = of(specialized(18 * 128, 22 * 256, 4096, false));
    const Analysis beyond = of(specialized(7 * 128, 22 * 256, 4096, false));
    CHECK(twice.persistent);
    const double round = after_prologue(twice) - after_prologue(full);
    CHECK(after_prologue(thrice) - after_prologue(twice) == doctest::Approx(round));
    CHECK(round > 0.9 * after_prologue(full));
    // Between two tiles stands only the consumers' gap, for any time of a tile's stores.
    const double longer = after_prologue(of(specialized(12 * 128, 22 * 256, 8192, false))) -
                          after_prologue(of(specialized(6 * 128, 22 * 256, 8192, false)));
    CHECK(2.0 * round - longer == doctest::Approx(gpu().pipeline.tile_gap.value()));
    CHECK(round < after_prologue(full));
    CHECK(after_prologue(beyond) == doctest::Approx(after_prologue(twice)));
    CHECK(beyond.exposure.tail > twice.exposure.tail);
    CHECK(twice.exposure.tail.value() == doctest::Approx(0.0));
}

TEST_CASE("consumers in turns hide the stores of one tile behind the next") {
    mk::Kernel turns = specialized(64 * 132, 256 * 4, 1024, true);
    const Analysis hidden = of(turns);
    const double loop = loop_period(turns, hidden) * hidden.item.trips;
    for (mk::Role& role : turns.roles) {
        role.alternate = false;
    }
    for (mk::Role& role : turns.roles) {
        role.instances = 1;
    }
    turns.cta.x = 256;
    const Analysis shown = of(turns);
    CHECK(hidden.item.alternating);
    CHECK_FALSE(shown.item.alternating);
    CHECK(hidden.exposure.makespan() < shown.exposure.makespan());
    // Four tiles a CTA: all main loops, and the stores of the last tile.
    CHECK(hidden.exposure.main_loop.value() == doctest::Approx(4.0 * loop));
    CHECK(hidden.exposure.epilogue.value() < loop);
}

TEST_CASE("a kernel that nothing holds back takes the launch floor") {
    Conditions warm;
    warm.cache = Cache::warm;
    const Analysis a = of(fixture::arithmetic(1, 1), gpu(), warm);
    CHECK(a.limiter == Limiter::launch);
    CHECK(a.time >= gpu().launch.floor);
    CHECK(a.time.value() < gpu().launch.floor.value() + 1e-6);
    // After a flush a kernel waits for DRAM as far as it reads from there.
    CHECK(of(fixture::arithmetic(1, 1)).floor == a.floor);
    const Analysis few = of(fixture::stream(8));
    const Analysis many = of(fixture::stream(800));
    const double share = (few.traffic.dram_read / machine::dram_under_way(gpu())).value();
    CHECK(share == doctest::Approx(8 * 16384.0 / machine::dram_under_way(gpu()).value()));
    CHECK((few.floor - a.floor).value() == doctest::Approx(gpu().launch.cold.value() * share).scale(1e-6));
    CHECK((many.floor - a.floor).value() == doctest::Approx(gpu().launch.cold.value()).scale(1e-6));
}

TEST_CASE("what warps that ask for boxes compute before is a part of the launch only where nobody says it") {
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {4096, 4096, 4096});
    for (mk::Op& op : kernel.ops) {
        if (op.cls == hw::InstructionClass::cp_async) op.cls = hw::InstructionClass::cp_async_bulk_tensor;
    }
    const auto a = analyse(kernel, gpu(), Conditions{});
    REQUIRE(a.item.self_fed);
    REQUIRE(a.item.before.chain.value() > 0.0);
    const auto all = machine::launch_floor(Conditions{}.cache, true, a.traffic.dram_read, gpu());
    const auto clock = gpu().clock.boost * gpu().clock.tensor_base;
    CHECK(a.floor.value() == doctest::Approx((all - a.item.before.chain / clock).value()).scale(1e-6));
}

TEST_CASE("what consumers compute with each sum stands between the products of two tiles") {
    const auto gap = [](bool multiplies) {
        const auto after_prologue = [multiplies](std::int64_t m, std::int64_t k) {
            mk::Kernel kernel = specialized(m, 22 * 256, k, false);
            for (mk::Op& op : kernel.ops) {
                const bool converts = op.cls == hw::InstructionClass::convert_pack;
                if (converts && multiplies) op.cls = hw::InstructionClass::mul_f32;
                if (converts) op.count = 512;
            }
            const Analysis a = of(kernel);
            return (a.exposure.makespan() - a.exposure.prologue).value();
        };
        const double round = after_prologue(12 * 128, 4096) - after_prologue(6 * 128, 4096);
        return 2.0 * round - (after_prologue(12 * 128, 8192) - after_prologue(6 * 128, 8192));
    };
    // 512 instructions of each of eight warps, on four sub-partitions.
    const double busy = 2.0 * 512 * gpu().instructions[hw::InstructionClass::mul_f32].interval.value();
    CHECK(gap(false) == doctest::Approx(gpu().pipeline.tile_gap.value()));
    CHECK(gap(true) == doctest::Approx(gpu().pipeline.tile_gap.value() + busy));
}

TEST_CASE("a given clock is used, and time in cycles does not depend on it") {
    Conditions conditions;
    conditions.clock_hz = 1e9;
    const Analysis slow = of(fixture::arithmetic(5000, 100), gpu(), conditions);
    CHECK(slow.clock.value() == 1e9);
    conditions.clock_hz = 2e9;
    const Analysis fast = of(fixture::arithmetic(5000, 100), gpu(), conditions);
    CHECK(fast.sm_time.value() == doctest::Approx(slow.sm_time.value() / 2.0).scale(1e-6));
    CHECK(fast.exposure.makespan() == slow.exposure.makespan());
}

TEST_CASE("the clock of tensor work is a fixed point of its use") {
    const Analysis a = of(specialized(8192, 8192, 8192, false));
    const double expected =
        gpu().clock.boost.value() *
        (gpu().clock.tensor_base.value() - gpu().clock.tensor_slope.value() * a.tensor_utilization);
    CHECK(a.clock.value() == doctest::Approx(expected).epsilon(1e-3));
    CHECK(a.tensor_utilization > 0.3);
    CHECK(a.tensor_utilization < 1.0);
}

TEST_CASE("more SMs, more bandwidth, a higher clock or a shorter latency never slow a kernel down") {
    CHECK(rc::check("any kernel", [] {
        const mk::Kernel kernel = any_kernel();
        const double before = of(kernel).time.value();
        const auto never_slower = [&](auto&& change) {
            hw::Gpu better = gpu();
            change(better);
            hw::resolve_instructions(better);
            // The clock of tensor work is settled to a part in a thousand.
            return of(kernel, better).time.value() <= before * (1.0 + 1e-3);
        };
        RC_ASSERT(never_slower([](auto& g) { g.dram.bandwidth = g.dram.bandwidth * 2.0; }));
        RC_ASSERT(never_slower([](auto& g) { g.l2.bandwidth = g.l2.bandwidth * 2.0; }));
        RC_ASSERT(never_slower([](auto& g) { g.l2.write_bandwidth = g.l2.write_bandwidth * 2.0; }));
        RC_ASSERT(never_slower([](auto& g) { g.launch.floor = g.launch.floor * 0.5; }));
        RC_ASSERT(never_slower([](auto& g) { g.latency.dram = g.latency.dram * 0.5; }));
        RC_ASSERT(never_slower([](auto& g) { g.clock.boost = g.clock.boost * 1.1; }));
        // A value that drops below the p-norm's cut may change the time slightly.
        const double cut = 1.0 + 2.0 * std::pow(0.25, 4.0);
        const auto hardly_slower = [&](auto&& change) {
            hw::Gpu better = gpu();
            change(better);
            hw::resolve_instructions(better);
            return of(kernel, better).time.value() <= before * cut;
        };
        RC_ASSERT(hardly_slower([](auto& g) { g.l2.port_bandwidth = g.l2.port_bandwidth * 2.0; }));
        RC_ASSERT(hardly_slower([](auto& g) { g.shared.bandwidth = g.shared.bandwidth * 2.0; }));
        RC_ASSERT(hardly_slower([](auto& g) { g.tensor.bf16 = g.tensor.bf16 * 1.5; }));
    }));
}

TEST_CASE("twice the SMs never slow down a grid of independent CTAs") {
    CHECK(rc::check("kernels that are not persistent", [] {
        const mk::Kernel kernel = *rc::gen::arbitrary<bool>()
                                      ? fixture::arithmetic(*rc::gen::inRange<std::int64_t>(1, 20000), 50)
                                      : fixture::stream(*rc::gen::inRange<std::int64_t>(1, 20000), 2);
        hw::Gpu twice = gpu();
        twice.sm.count = twice.sm.count * 2.0;
        // At one clock, since a shorter launch behind a flush gets a lower clock.
        Conditions all;
        all.clock_hz = 1.9e9;
        const double time = of(kernel, gpu(), all).time.value();
        // Waits for DRAM of a single wave follow a norm, those of several waves a queue.
        const double apart = 1.02;
        RC_ASSERT(of(kernel, twice, all).time.value() <= time * apart);
        Conditions half = all;
        half.available_sms = 66;
        RC_ASSERT(of(kernel, gpu(), half).time.value() * apart >= time);
    }));
}

TEST_CASE("more work of the same kind never takes less time") {
    CHECK(rc::check("CTAs, trips and k", [] {
        const auto ctas = *rc::gen::inRange<std::int64_t>(1, 20000);
        const auto more = ctas + *rc::gen::inRange<std::int64_t>(0, 3000);
        const std::int64_t trips = *rc::gen::inRange(1, 100);
        RC_ASSERT(of(fixture::arithmetic(ctas, trips)).time.value() <=
                  of(fixture::arithmetic(more, trips)).time.value() * (1.0 + 1e-9));
        RC_ASSERT(of(fixture::arithmetic(ctas, trips)).time.value() <=
                  of(fixture::arithmetic(ctas, trips + 1)).time.value() * (1.0 + 1e-9));
        RC_ASSERT(of(fixture::stream(ctas)).time.value() <=
                  of(fixture::stream(more)).time.value() * (1.0 + 1e-9));
        RC_ASSERT(of(fixture::stream(ctas, 1)).time.value() <=
                  of(fixture::stream(ctas, 2)).time.value() * (1.0 + 1e-9));
    }));
}

TEST_CASE("warps that wait for their own chains get into each other's way before the slots are full") {
    const auto turn = [](int warps) {
        mk::Kernel kernel;
        kernel.grid = {132, 1, 1};
        kernel.cta = {32 * warps, 1, 1};
        kernel.schedule.tiles = {132, 1, 1, 1};
        kernel.dynamic_shared = 200000;  // one CTA on an SM
        mk::Builder build(kernel);
        build.role("warps", warps);
        build.loop(100);
        auto links = mk::examples::make_op(hw::InstructionClass::fma_f32, 16);
        links.chain = 16;
        mk::examples::add_op(build, links);
        build.end();
        build.finish();
        return loop_period(kernel, of(kernel));
    };
    const double alone = turn(4);
    CHECK(turn(8) > 1.02 * alone);
    CHECK(turn(12) > turn(8));
    // Three warps need 48 slots of a chain's 64 cycles, and take less than a tenth more than one warp.
    CHECK(turn(12) < 1.1 * alone);
    // Where the slots are full, the slots set the period.
    CHECK(turn(32) >= 8.0 * 16.0);
}

TEST_CASE("what does not fit on an SM is refused with its resource") {
    mk::Kernel kernel = fixture::arithmetic(1, 1);
    kernel.dynamic_shared = 1 << 20;
    CHECK_THROWS_WITH_AS((void)of(kernel), doctest::Contains("shared"), warptime::Error);
    kernel = fixture::arithmetic(1, 1);
    kernel.cta.x = 2048;
    CHECK_THROWS_WITH_AS((void)of(kernel), doctest::Contains("threads"), warptime::Error);
}

TEST_CASE("what the slices take in of DRAM goes the way of stores") {
    warptime::model::prediction::Conditions cold;
    cold.cache = warptime::model::prediction::Cache::cold;
    const Analysis a = analyse(fixture::stream(40000, 1), gpu(), cold);
    CHECK(a.traffic.dram_read.value() > 0.0);
    const double in = machine::l2_ingest_cycles(a.traffic.l2_stored + a.traffic.dram_read, gpu()).value();
    CHECK(in > machine::l2_ingest_cycles(a.traffic.l2_stored, gpu()).value());
    CHECK((a.l2_time * a.clock).value() >= in * (1.0 - 1e-12));
}

namespace {

/// CTAs that read 32 kB each, meet, and then compute. Shared memory leaves room for `resident` of them.
mk::Kernel reads_then_computes(std::int64_t ctas, std::int64_t resident, bool meets) {
    constexpr std::int64_t per_cta = 8192;
    mk::Kernel kernel;
    kernel.name = "reads_then_computes";
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {256, 1, 1};
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    kernel.dynamic_shared = 220000 / resident - 1024;
    mk::Builder build(kernel);
    const mk::Id in = build.buffer(mk::examples::vector_of("in", hw::Dtype::fp32, ctas * per_cta));
    mk::Token& met = build.token();
    met.kind = mk::TokenKind::named_barrier;
    met.arrivals = 8;
    const mk::Id barrier = build.last_token();
    build.role("warps", 8);
    mk::examples::Draft load = mk::examples::make_op(hw::InstructionClass::ld_global, 8);
    mk::examples::add_access(load, mk::examples::lanes(in, mk::Direction::read,
                                                       build.index(0, {mk::term(mk::Variable::tile, per_cta),
                                                                       mk::term(mk::Variable::warp, 128)}),
                                                       16, 1024));
    const mk::Id value = mk::examples::add_op(build, load);
    if (meets) {
        build.op(hw::InstructionClass::bar_sync);
        build.signal(barrier, mk::SignalOn::issue);
        build.wait(barrier);
    }
    mk::examples::Draft compute = mk::examples::make_op(hw::InstructionClass::fma_f32, 1500);
    compute.dep_count = 1;
    compute.deps[0] = {value, 0};
    mk::examples::add_op(build, compute);
    build.finish();
    return kernel;
}

}  // namespace

TEST_CASE("CTAs that meet before they compute go round SM and DRAM in turns: one alone takes the sum") {
    const auto with = [](std::int64_t resident, bool meets) {
        return of(reads_then_computes(132 * 40, resident, meets), gpu());
    };
    for (const std::int64_t resident : {1, 2, 4}) {
        CAPTURE(resident);
        const Analysis a = with(resident, true);
        REQUIRE(a.occupancy.ctas_per_sm == resident);
        const double sm = (a.exposure.makespan() / a.clock).value();
        const double dram = a.dram_time.value();
        REQUIRE(dram > 0.3 * sm);
        // Product form of two queues with so many customers (Buzen 1973): X = G(N-1) / G(N).
        double fewer = 0.0;
        double all = 0.0;
        for (std::int64_t n = 0; n <= resident; ++n) {
            fewer = all;
            all += std::pow(sm, static_cast<double>(n)) * std::pow(dram, static_cast<double>(resident - n)) /
                   std::pow(sm, static_cast<double>(resident));
        }
        double less = 0.0;
        for (std::int64_t n = 0; n < resident; ++n) {
            less += std::pow(sm, static_cast<double>(n)) *
                    std::pow(dram, static_cast<double>(resident - 1 - n)) /
                    std::pow(sm, static_cast<double>(resident - 1));
        }
        CHECK(fewer <= all);
        CHECK(a.time.value() == doctest::Approx(sm * all / less).scale(1e-6).epsilon(0.1));
    }
    CHECK(with(1, false).time < with(1, true).time);
    CHECK(with(4, true).time < with(1, true).time);
}

TEST_CASE("a small L1 lets few lines wait, whatever warps there are") {
    const std::int64_t most = 220 << 10, words = std::int64_t{1} << 19;
    const auto time = [](int warps, std::int64_t shared) {
        return of(gathers(warps, shared, words)).time.value();
    };
    CHECK(time(16, most) > 1.2 * time(16, 0));
    CHECK(time(32, most) == doctest::Approx(time(16, most)).scale(1e-6).epsilon(0.1));
    auto larger = gpu();
    larger.l1.pending_share = hw::Number(1.0);
    const mk::Kernel few = gathers(32, most, words);
    CHECK(of(few, larger).time < of(few).time);
}
