// The engine behind its common signature: steps of every kind, first kernels, duties that it does not model.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/engine.hpp"

#include "hw/error.hpp"
#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/analytical/memory_step.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"

#include <doctest/doctest.h>

#include <array>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
namespace prediction = warptime::model::prediction;
using namespace warptime::model::analytical;

TEST_CASE("each kind of step takes its own way and the same time in both answers") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    CHECK(engine->name() == "analytical");
    mk::Program program;
    program.add_memset(1 << 26);
    program.add_kernel() = fixture::stream(500);
    program.add_memcpy(mk::Memcpy{1 << 26});
    const auto stages = engine->make_stages(gpu);
    const prediction::Conditions conditions;
    const auto time = [&](std::size_t step) {
        const auto hot = stages->evaluate(program, program.steps[step], conditions);
        const auto full = engine->explain(program, program.steps[step], gpu, conditions);
        CHECK(full.time == hot.time);
        CHECK(full.low == hot.low);
        CHECK(full.high == hot.high);
        CHECK(full.limiter == hot.limiter);
        return hot.time;
    };
    CHECK(time(0) == memset_time(program.memsets[0], gpu, conditions).time.value());
    CHECK(time(1) == analyse(program.kernels[0], gpu, conditions).time.value());
    CHECK(time(2) == memcpy_time(program.memcpys[0], gpu, conditions).time.value());
}

TEST_CASE("groups of tiles one after another are what each of them is alone") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    const auto stages = engine->make_stages(gpu);
    const std::array<std::int64_t, 4> groups{1, 8, 3, 1};
    int differ = 0;
    // Cases: all SMs at work or some; data from DRAM, from the L2, or from an outgrown L2.
    for (const std::int64_t m : {512, 4096, 32768}) {
        for (const prediction::Cache cache : {prediction::Cache::flushed, prediction::Cache::warm}) {
            mk::Program program;
            mk::examples::cp_async_gemm(program.add_kernel(), {m, 1024, 4096});
            prediction::Conditions conditions;
            conditions.cache = cache;
            std::array<prediction::Estimate, 4> together;
            mk::Program grouped = program;
            const auto ranking = engine->make_stages(gpu);
            ranking->evaluate_groups(grouped, groups, conditions, together);
            CHECK(grouped.kernels[0].schedule.group == 1);
            for (std::size_t i = 0; i < groups.size(); ++i) {
                program.kernels[0].schedule.group = groups[i];
                const auto alone = stages->evaluate(program, program.steps[0], conditions);
                CHECK(together[i].time == alone.time);
                CHECK(together[i].low == alone.low);
                CHECK(together[i].high == alone.high);
                CHECK(together[i].limiter == alone.limiter);
                CHECK(together[i].band_class == alone.band_class);
                differ += together[i].time != together[0].time ? 1 : 0;
            }
            ranking->evaluate_groups(grouped, {}, conditions, {});
        }
    }
    CHECK(differ > 0);
}

TEST_CASE("a kernel that reads nothing takes as many cycles over any cache, after a flush at a lower clock") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    mk::Program program;
    program.add_memset(4);
    program.add_kernel() = fixture::arithmetic(10, 10);
    const auto stages = engine->make_stages(gpu);
    const auto time = [&](prediction::Cache cache, double clock_hz = 0.0) {
        prediction::Conditions conditions;
        conditions.cache = cache;
        conditions.clock_hz = clock_hz;
        return stages->evaluate(program, program.steps[1], conditions).time;
    };
    constexpr double clock_hz = 1.5e9;
    const double given = time(prediction::Cache::warm, clock_hz);
    CHECK(time(prediction::Cache::cold, clock_hz) == doctest::Approx(given).scale(1e-6));
    CHECK(time(prediction::Cache::flushed, clock_hz) == doctest::Approx(given).scale(1e-6));
    const double warm = time(prediction::Cache::warm);
    CHECK(time(prediction::Cache::cold) == doctest::Approx(warm).scale(1e-6));
    // The launch takes no cycles.
    const double launch = gpu.launch.floor.value();
    REQUIRE(gpu.clock.after_flush.value() < 1.0);
    CHECK(time(prediction::Cache::flushed) - launch ==
          doctest::Approx((warm - launch) / gpu.clock.after_flush.value()).scale(1e-6));
}

TEST_CASE("sustained launches keep the clock of a single one, or that at which they take the power limit") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.power.limit = hw::Watts(900.0);
    const auto engine = make_engine();
    mk::Program program;
    program.add_kernel() = fixture::stream(3000, 2);
    mk::examples::cp_async_gemm(program.add_kernel(), {4096, 4096, 4096});
    // No flush before, since a flush leaves a single launch a lower clock.
    prediction::Conditions single;
    single.cache = prediction::Cache::cold;
    prediction::Conditions sustained = single;
    sustained.duty = prediction::Duty::sustained;
    const auto alone = engine->explain(program, program.steps[0], gpu, single);
    const auto stream = engine->explain(program, program.steps[0], gpu, sustained);
    CHECK(stream.clock_hz == alone.clock_hz);
    CHECK(stream.time == alone.time);
    CHECK(stream.power_w < gpu.power.limit.value());
    CHECK(stream.power_w > gpu.power.limit.value() * gpu.power.idle.value());
    gpu.power.limit = hw::Watts(600.0);
    const auto gemm = engine->explain(program, program.steps[1], gpu, sustained);
    CHECK(gemm.power_w == doctest::Approx(gpu.power.limit.value()).epsilon(0.001));
    CHECK(gemm.time > engine->explain(program, program.steps[1], gpu, single).time);
    const auto stages = engine->make_stages(gpu);
    CHECK(stages->evaluate(program, program.steps[1], sustained).time == gemm.time);
    sustained.data = prediction::OperandData::zeros;
    CHECK(engine->explain(program, program.steps[1], gpu, sustained).time < gemm.time);
}

TEST_CASE("a copy from the host takes its latency and the link's rate; one to a peer is refused") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    mk::Program program;
    mk::Memcpy copy{1'000'000'000};
    copy.link = mk::Link::host_to_device;
    program.add_memcpy(copy);
    copy.pinned = false;
    program.add_memcpy(copy);
    copy.link = mk::Link::peer;
    program.add_memcpy(copy);
    const auto pinned = engine->explain(program, program.steps[0], gpu, prediction::Conditions{});
    CHECK(pinned.time ==
          doctest::Approx(gpu.link.h2d_latency.value() + 1e9 / gpu.link.pinned_bandwidth.value()));
    CHECK(pinned.limiter == prediction::Limiter::bytes_in_flight);
    CHECK(engine->explain(program, program.steps[1], gpu, prediction::Conditions{}).time > pinned.time);
    CHECK_THROWS_AS((void)engine->explain(program, program.steps[2], gpu, prediction::Conditions{}),
                    warptime::Error);
}
