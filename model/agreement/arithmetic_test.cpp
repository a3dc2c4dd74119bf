// Closed forms of launches, chains, issue slots, pipes and barriers: both engines agree with them to
// rounding.
// SPDX-License-Identifier: Apache-2.0
#include "model/agreement/both_engines_test.hpp"

namespace {

using namespace warptime::model::agreement;
using warptime::hw::Cycles;

mk::Kernel empty(std::int64_t ctas) {
    mk::Kernel kernel = grid_of(ctas, 1);
    mk::Builder build(kernel);
    build.role("warp", 1);
    build.finish();
    return kernel;
}

/// Each trip is one instruction that waits for the previous one: 4 cycles on Hopper.
Draft dependent() {
    return make_op(InstructionClass::fma_f32, 1, {{0, 1}});
}
constexpr double dependent_cycles = 4.0;

}  // namespace

TEST_CASE("an empty kernel: launch floor + one CTA's launch interval") {
    auto gpu = teaching_gpu();
    gpu.launch.cta_interval = Cycles(1.334);
    check_cycles(empty(1), 1.334, gpu);
    check_cycles(empty(1), 1.334, gpu, warptime::model::prediction::Cache::warm);
}

TEST_CASE("a grid of empty CTAs: CTAs x launch interval") {
    auto gpu = teaching_gpu();
    gpu.launch.cta_interval = Cycles(1.334);
    check_cycles(empty(50000), 50000 * 1.334, gpu);
}

TEST_CASE("code beyond the nearest cache: instructions x the interval at which they come") {
    auto gpu = teaching_gpu();
    gpu.code.near_instructions = warptime::hw::Number(10000.0);
    gpu.code.far_instructions = warptime::hw::Number(20000.0);
    gpu.code.far_interval = Cycles(2.5);
    gpu.code.l2_interval = Cycles(6.0);
    gpu.code.dram_interval = Cycles(11.0);
    gpu.code.near_ways = warptime::hw::Number(16.0);
    gpu.cache.ways = warptime::hw::Number(4.0);
    gpu.code.kept_instructions = warptime::hw::Number(4700.0);
    gpu.code.other_instructions = warptime::hw::Number(400.0);
    gpu.code.sharing_warps = warptime::hw::Number(2.0);
    struct Case {
        std::int64_t text;
        double interval, first;
    };
    // Caches are cold, so code beyond the SM's caches comes from DRAM once. That is nine tenths of the
    // longest text, whose begin the far cache has kept. The second text is a little too long for the nearest
    // cache.
    for (const Case& with : {Case{9000, 1.0, 1.0},
                             {10100, 1.0 + 1.5 * 1700.0 / 10100.0, 1.0 + 1.5 * 1700.0 / 10100.0},
                             {15000, 2.5, 2.5},
                             {47000, 6.0, 10.15}}) {
        const double cycles = static_cast<double>(with.text) * (49 * with.interval + with.first);
        check_cycles(repeated(make_op(InstructionClass::nanosleep, with.text), 50, 4), cycles, gpu);
    }
}

TEST_CASE("a branch out of what the nearest cache holds waits for what it goes to") {
    auto gpu = teaching_gpu();
    gpu.code.nearest_instructions = warptime::hw::Number(300.0);
    gpu.code.jump = Cycles(7.0);
    const auto trips = [&](std::int64_t text) {
        const auto times = [&](std::int64_t count) {
            mk::Kernel kernel = grid_of(1, 1);
            mk::Builder build(kernel);
            build.role("warp", 1);
            build.loop(count);
            add_op(build, make_op(InstructionClass::nanosleep, text));
            add_op(build, make_op(InstructionClass::branch));
            build.end();
            build.finish();
            return times_of(kernel, gpu, at_fixed_clock());
        };
        const Times one = times(1000);
        const Times two = times(2000);
        return Times{two.analytical - one.analytical, two.simulation - one.simulation};
    };
    const Times held = trips(250);
    const Times longer = trips(290);
    const Times beyond = trips(350);
    const auto cycles = [](double count) { return 1000.0 * count / clock_hz; };
    check_near(longer.analytical - held.analytical, cycles(40.0));
    check_near(longer.simulation - held.simulation, cycles(40.0));
    check_near(beyond.analytical - held.analytical, cycles(107.0));
    check_near(beyond.simulation - held.simulation, cycles(107.0));
}

TEST_CASE("a dependent chain: n x latency") {
    for (const std::int64_t n : {10, 1000}) {
        check_cycles(repeated(dependent(), n, 1), static_cast<double>(n) * dependent_cycles);
    }
    // Links of one op: its issues, and from the last issue a latency for each link.
    Draft op = make_op(InstructionClass::mufu, 10, {{0, 1}});
    op.chain = 4;
    const double latency = teaching_gpu().instructions[InstructionClass::mufu].latency.value();
    check_cycles(repeated(op, 100, 1), 100 * (9.0 * 8.0 + 4.0 * latency));
}

TEST_CASE("a warp that sleeps: its sleeps one after another") {
    // Sleeps last so many cycles of the highest clock.
    auto gpu = teaching_gpu();
    gpu.clock.boost = warptime::hw::Frequency(clock_hz);
    Draft op = make_op(InstructionClass::nanosleep);
    op.asleep = 500.0;
    check_cycles(repeated(op, 200, 1), 200 * 500e-9 * clock_hz, gpu);
    // Others sleep at the same time.
    check_cycles(repeated(op, 200, 4), 200 * 500e-9 * clock_hz, gpu);
}

TEST_CASE("warps that only issue: instructions / issue slots") {
    for (const int warps : {4, 16, 32}) {
        check_cycles(repeated(make_op(InstructionClass::nanosleep, 10), 500, warps),
                     500.0 * 10.0 * warps / 4.0);
    }
}

TEST_CASE("one pipe: instructions x interval / sub-partitions") {
    // The last latency is less than 1e-6 of the run.
    for (const auto& [cls, interval] : {std::pair{InstructionClass::mufu, 8.0},
                                        {InstructionClass::mad_s32, 2.0},
                                        {InstructionClass::fma_f64, 2.0},
                                        {InstructionClass::shfl, 4.0}}) {
        const double per_trip = 8.0 / 4.0 * 20000.0 * interval;
        check_cycles(repeated(make_op(cls, 20000), 1500, 8), 1500.0 * per_trip);
    }
}

TEST_CASE("shared memory: bytes / bandwidth") {
    // 512 bytes an instruction where lane addresses are not given.
    check_cycles(repeated(make_op(InstructionClass::ld_shared, 20000), 100, 8),
                 100 * 8.0 * 20000.0 * 512.0 / 128.0);
}

TEST_CASE("a wgmma loop with the next product always queued: n x FLOP / dense rate") {
    // So many trips that the last product's latency is lost in rounding.
    constexpr std::int64_t trips = 40000;
    mk::Kernel kernel = grid_of(1, 4);
    mk::Builder build(kernel);
    const mk::Id products =
        build.token(mk::examples::token("products", mk::TokenKind::async_group, mk::Scope::warp, 1, 2));
    build.role("warpgroup", 4);
    build.loop(trips);
    add_op(build, mk::examples::matrix_op(InstructionClass::wgmma, mk::Dtype::bf16, {64, 256, 16}, 32, {},
                                          products));
    build.wait(products, 1);
    build.end();
    build.finish();
    const double flop = 2.0 * 64 * 256 * 16 * 32;
    check_cycles(kernel, static_cast<double>(trips) * flop / teaching_gpu().tensor.bf16.value());
}

TEST_CASE(
    "mma.sync on four warps: n x (FLOP / (dense rate x share) + what each takes beyond), less one and its "
    "latency") {
    const Draft mma =
        mk::examples::matrix_op(InstructionClass::mma_sync, mk::Dtype::bf16, {16, 8, 16}, 2000, {{0, 1}});
    const auto gpu = teaching_gpu();
    const double flop = 4.0 * 2.0 * 16 * 8 * 16;
    const double interval = flop / (gpu.tensor.bf16.value() * gpu.tensor.mma_sync_fraction.value()) +
                            gpu.tensor.mma_sync_overhead.value();
    const double latency = gpu.instructions[InstructionClass::mma_sync].latency.value();
    check_cycles(repeated(mma, 20000, 4), 20000 * (1999.0 * interval + latency));
}

TEST_CASE("a barrier each trip: work + barrier latency, set by the slowest warp's") {
    const auto gpu = teaching_gpu();
    const double arrival = gpu.instructions[InstructionClass::bar_sync].interval.value();
    mk::Kernel kernel = grid_of(1, 4);
    mk::Builder build(kernel);
    const mk::Id meet =
        build.token(mk::examples::token("meet", mk::TokenKind::named_barrier, mk::Scope::cta, 4));
    build.role("warps", 4);
    build.loop(1000);
    const mk::Id work = add_op(build, make_op(InstructionClass::fma_f32, 16));
    add_op(build, make_op(InstructionClass::bar_sync, 1, {{work, 0}}));
    build.signal(meet);
    build.wait(meet);
    build.end();
    build.finish();
    check_cycles(kernel, 1000 * (15.0 + 4.0 + gpu.latency.bar_sync.value() + 4.0 * arrival));
}

TEST_CASE("wave quantization: ceil(CTAs / slots) x time + turnarounds") {
    auto gpu = teaching_gpu();
    gpu.launch.cta_turnaround = Cycles(350.0);
    const double one = 400 * dependent_cycles;
    for (const auto& [ctas, waves] :
         {std::pair<std::int64_t, double>{131, 1.0}, {132, 1.0}, {133, 2.0}, {396, 3.0}, {406, 4.0}}) {
        mk::Kernel kernel = repeated(dependent(), 400, 1, ctas);
        kernel.dynamic_shared = shared_for(1);
        check_cycles(kernel, waves * one + (waves - 1.0) * 350.0, gpu);
    }
}

TEST_CASE("a ragged tail runs faster where fewer CTAs share an SM: waves x residents + tail's residents") {
    // Two CTAs an SM share its issue slots.
    const double one = 300 * 10.0 * 16.0 / 4.0;
    for (const auto& [ctas, busy] : {std::pair<std::int64_t, double>{264, 2.0}, {396, 3.0}, {660, 5.0}}) {
        mk::Kernel kernel = repeated(make_op(InstructionClass::nanosleep, 10), 300, 16, ctas);
        kernel.dynamic_shared = shared_for(2);
        check_cycles(kernel, busy * one);
    }
}

TEST_CASE("fewer SMs: ceil(CTAs / available) x time") {
    mk::Kernel kernel = repeated(dependent(), 400, 1, 132);
    kernel.dynamic_shared = shared_for(1);
    auto conditions = at_fixed_clock();
    conditions.available_sms = 50;
    const auto gpu = teaching_gpu();
    const Times times = times_of(kernel, gpu, conditions);
    const double expected = floor_of(gpu) + 3.0 * 400 * dependent_cycles / clock_hz;
    check_near(times.analytical, expected);
    check_near(times.simulation, expected);
}

TEST_CASE("clusters of 4 reach 30 x 4 SMs: ceil(CTAs / 120) x time") {
    for (const auto& [ctas, waves] : {std::pair<std::int64_t, double>{120, 1.0}, {124, 2.0}, {360, 3.0}}) {
        mk::Kernel kernel = repeated(dependent(), 400, 1, ctas);
        kernel.cluster = {4, 1, 1};
        kernel.dynamic_shared = shared_for(1);
        check_cycles(kernel, waves * 400 * dependent_cycles);
    }
}

TEST_CASE("a persistent grid: ceil(items / CTAs) x time, by stride and from a counter") {
    for (const auto kind : {mk::ScheduleKind::static_stride, mk::ScheduleKind::dynamic_counter}) {
        // Work without latency: an item's last latency would overlap with the next item.
        mk::Kernel kernel = repeated(make_op(InstructionClass::nanosleep, 10), 400, 4, 132);
        kernel.schedule.kind = kind;
        kernel.schedule.tiles = {132 * 7 + 5, 1, 1, 1};
        kernel.dynamic_shared = shared_for(1);
        check_cycles(kernel, 8.0 * 400 * 10.0);
    }
}

TEST_CASE("ping-pong: items x main loop + the last epilogue") {
    constexpr std::int64_t items = 9;
    mk::Kernel kernel = grid_of(1, 8);
    kernel.schedule.kind = mk::ScheduleKind::static_stride;
    kernel.schedule.tiles = {items, 1, 1, 1};
    mk::Builder build(kernel);
    const mk::Id turn = build.token(mk::examples::token("turn", mk::TokenKind::named_barrier, mk::Scope::cta,
                                                        4, 2, 1, mk::TokenKey::tile));
    const mk::Id complete =
        build.token(mk::examples::token("complete", mk::TokenKind::mbarrier, mk::Scope::warp, 1));
    build.role("consumer", 4, 2);
    build.alternate();
    build.wait(turn);
    build.loop(400);
    Draft product = make_op(InstructionClass::fma_f32, 1000, {{0, 1}});
    product.chain = 1000;
    add_op(build, product);
    build.end();
    build.signal(turn, mk::SignalOn::completion);
    build.signal(complete, mk::SignalOn::completion);
    build.wait(complete);
    add_op(build, make_op(InstructionClass::ld_constant));
    build.finish();
    // Below 1e-6: the epilogue's issue slots. The closed form counts them twice; the simulation takes them
    // from the other instance, a cycle an item.
    check_cycles(kernel, items * 400 * 4999.0 + 40.0);
}
