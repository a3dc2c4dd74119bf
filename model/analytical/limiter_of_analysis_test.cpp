// Limiters of clear cases, and what parts of the time save against whole predictions of a faster GPU.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/limiter_of_analysis.hpp"

#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace examples = warptime::model::kernel::examples;
using namespace warptime::model;
using namespace warptime::model::analytical;
using warptime::hw::Cycles;
using warptime::model::prediction::Limiter;

namespace {

/// A loop that waits 1600 cycles a trip for its copies and meanwhile computes for 1280; two CTAs fit an SM.
Analysis loop_of(std::int64_t ctas) {
    Analysis a;
    a.occupancy.ctas_per_sm = 2;
    a.sms = 128;
    a.items = a.ctas = ctas;
    a.item.asynchronous = true;
    a.item.loop.demand[machine::Server::fp32] = Cycles(1280.0);
    a.loop_chain = Cycles(1600.0);
    return a;
}

}  // namespace

TEST_CASE("a CTA that has its SM to itself is held by what it waits for") {
    CHECK(loop_of(1).resident() == 1);
    CHECK(loop_of(128).resident() == 1);
    CHECK(limiter_of_loop(loop_of(128)) == Limiter::bytes_in_flight);
}

TEST_CASE("CTAs that share an SM fill each other's waits") {
    CHECK(loop_of(129).resident() == 2);
    CHECK(loop_of(10000).resident() == 2);
    CHECK(limiter_of_loop(loop_of(129)) == Limiter::fp32);
}

TEST_CASE("loops that load for themselves wait for a chain of loads") {
    Analysis a = loop_of(64);
    a.item.asynchronous = false;
    CHECK(limiter_of_loop(a) == Limiter::chain_latency);
}

namespace {

Analysis of(const kernel::Kernel& kernel, prediction::Cache cache = prediction::Cache::flushed) {
    prediction::Conditions conditions;
    conditions.cache = cache;
    conditions.clock_hz = 1.7e9;
    return analyse(kernel, fixture::gpu(), conditions);
}

/// One warp or more that go round 1000 times with `count` loads of shared memory, `stride` words apart.
kernel::Kernel shared_loads(std::int64_t ctas, int warps, std::int64_t stride, std::int64_t count) {
    kernel::Kernel kernel;
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {32 * warps, 1, 1};
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    kernel::Builder build(kernel);
    kernel::Buffer words = examples::vector_of("words", hw::Dtype::fp32, 4096);
    words.space = kernel::Space::shared;
    const kernel::Id x = build.buffer(words);
    build.role("warps", warps);
    build.loop(1000);
    examples::Draft load = examples::make_op(hw::InstructionClass::ld_shared, count);
    kernel::Access access = examples::lanes(x, kernel::Direction::read, kernel::Builder::constant(0), 4);
    access.pattern = kernel::PatternKind::stride;
    access.inner_extent = 32;
    access.inner = stride;
    examples::add_access(load, access);
    examples::add_op(build, load);
    build.end();
    build.finish();
    return kernel;
}

/// Chain of 4000 multiply-adds of one warp, each on the result of the one before.
kernel::Kernel chain_of_one_warp() {
    kernel::Kernel kernel;
    kernel.grid = {1, 1, 1};
    kernel.cta = {32, 1, 1};
    kernel.schedule.tiles = {1, 1, 1, 1};
    kernel::Builder build(kernel);
    build.role("warp", 1);
    build.loop(1000);
    examples::Draft add = examples::make_op(hw::InstructionClass::fma_f32, 4);
    add.chain = 4;
    examples::add_op(build, add);
    build.end();
    build.finish();
    return kernel;
}

}  // namespace

TEST_CASE("clear cases: streams, conflicts of banks, chains, products and empty grids") {
    CHECK(of(fixture::stream(20000)).limiter == Limiter::dram);
    CHECK(of(fixture::stream(20000, 1, false)).limiter == Limiter::dram);
    CHECK(of(shared_loads(132, 16, 32, 8)).limiter == Limiter::shared);
    CHECK(of(chain_of_one_warp()).limiter == Limiter::chain_latency);
    CHECK(of(fixture::arithmetic(1, 0)).limiter == Limiter::launch);
    CHECK(of(fixture::stream(1)).limiter == Limiter::launch);
    // All pipes of all SMs are busy, and each multiply-add takes an issue slot.
    const Limiter computing = of(fixture::arithmetic(132 * 8, 1000)).limiter;
    CHECK((computing == Limiter::fp32 || computing == Limiter::issue));
    // A product of large tiles is held by what holds its main loop.
    kernel::Kernel product;
    examples::cp_async_gemm(product, {8192, 8192, 8192});
    const Analysis a = of(product);
    CHECK(a.limiter == limiter_of_loop(a));
}

TEST_CASE("a part saves what a whole prediction of a GPU with a faster part says") {
    prediction::Conditions conditions;
    conditions.clock_hz = 1.7e9;
    const auto saves = [&](const kernel::Kernel& kernel, auto change) {
        hw::Gpu faster = fixture::gpu();
        change(faster);
        return (analyse(kernel, fixture::gpu(), conditions).time - analyse(kernel, faster, conditions).time)
            .value();
    };
    for (const std::int64_t ctas : {2000, 20000}) {
        CAPTURE(ctas);
        const kernel::Kernel kernel = fixture::stream(ctas);
        const Analysis a = of(kernel);
        const double dram =
            saves(kernel, [](hw::Gpu& gpu) { gpu.dram.bandwidth = gpu.dram.bandwidth * 2.0; });
        CHECK(a.saved.dram.value() == doctest::Approx(dram).scale(1e-6).epsilon(0.25));
        const double launch = saves(kernel, [](hw::Gpu& gpu) {
            gpu.launch.floor = gpu.launch.floor * 0.5;
            gpu.launch.cold = gpu.launch.cold * 0.5;
        });
        CHECK(a.saved.launch.value() >= 0.99 * launch);
    }
}

TEST_CASE("two causes of a part share what it saves by the fourth power of their times") {
    Analysis a = loop_of(129);
    a.exposure.main_loop = Cycles(1000.0);
    a.saved.sms = hw::Seconds(1e-6);
    // Two CTAs keep the pipe busy for 2560 cycles a trip; the chain takes 1600.
    const double ratio = 2560.0 / 1600.0;
    const double pipe = ratio * ratio * ratio * ratio;
    const SavedBy by = saved_by(a);
    const auto at = [&](Limiter limiter) { return by[static_cast<std::size_t>(limiter)]; };
    CHECK(at(Limiter::fp32) == doctest::Approx(1e-6 * pipe / (1.0 + pipe)).scale(1e-6));
    CHECK(at(Limiter::bytes_in_flight) == doctest::Approx(1e-6 / (1.0 + pipe)).scale(1e-6));
    CHECK(name_limiter(a) == Limiter::fp32);
    a.saved.dram = hw::Seconds(1e-6);
    CHECK(name_limiter(a) == Limiter::dram);
    a.saved.launch = hw::Seconds(2e-6);
    CHECK(name_limiter(a) == Limiter::launch);
    a.exposure.tail = Cycles(1e6);
    a.saved.sms = hw::Seconds(3e-6);
    CHECK(name_limiter(a) == Limiter::tail);
    CHECK(name_limiter(Analysis{}) == Limiter::launch);
}
