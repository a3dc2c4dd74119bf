// The least time of a kernel against closed forms by hand, and against the whole analysis.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/least_time.hpp"

#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

namespace mk = warptime::model::kernel;
namespace prediction = warptime::model::prediction;
using namespace warptime::model::analytical;
using fixture::gpu;

TEST_CASE("a large product takes what its tensor cores do for the SM with the most tiles") {
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {4096, 4096, 4096});
    const double tiles = static_cast<double>(kernel.schedule.item_count());
    prediction::Conditions conditions;
    conditions.cache = prediction::Cache::warm;
    conditions.clock_hz = 1e9;
    const double flop_of_tile = 2.0 * 4096.0 * 4096.0 * 4096.0 / tiles;
    const double rate = gpu().tensor.bf16.value();
    const double cycles = std::ceil(tiles / gpu().sm.count.value()) * flop_of_tile / rate;
    const double least = least_time(kernel, gpu(), conditions).value();
    CHECK(least >= cycles / 1e9);
    CHECK(least <= analyse(kernel, gpu(), conditions).time.value());
    // A single SM must take all tiles.
    conditions.available_sms = 1;
    CHECK(least_time(kernel, gpu(), conditions).value() > 100.0 * least);
}

TEST_CASE("no analysis falls below it") {
    CHECK(rc::check([] {
        mk::Kernel kernel;
        const auto size = [] { return 64 * *rc::gen::inRange<std::int64_t>(1, 100); };
        const std::int64_t m = size(), n = size(), k = size();
        if (*rc::gen::arbitrary<bool>()) {
            mk::examples::cp_async_gemm(kernel, {m, n, k});
        } else {
            mk::examples::warp_specialized_gemm(kernel, {.m = m, .n = n, .k = k, .stages = 3});
        }
        prediction::Conditions conditions;
        conditions.cache = *rc::gen::element(prediction::Cache::warm, prediction::Cache::flushed);
        conditions.duty = *rc::gen::element(prediction::Duty::isolated, prediction::Duty::sustained);
        const double least = least_time(kernel, gpu(), conditions).value();
        RC_ASSERT(least > 0.0);
        RC_ASSERT(least <= analyse(kernel, gpu(), conditions).time.value());
    }));
}

TEST_CASE("a short product takes its launch, its first stage and its trips one after another") {
    // 64 tiles of 128x128x32 on 132 SMs: no server is busy for long, and latencies are most of the time.
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {1024, 1024, 1024});
    const prediction::Conditions flushed;
    const double time = analyse(kernel, gpu(), flushed).time.value();
    const double least = least_time(kernel, gpu(), flushed).value();
    CHECK(least <= time);
    CHECK(least > 0.45 * time);
    // Twice the trips double what remains beside the launch and the first stage.
    mk::Kernel longer;
    mk::examples::cp_async_gemm(longer, {1024, 1024, 2048});
    const double launch = gpu().launch.floor.value();
    const double twice = least_time(longer, gpu(), flushed).value();
    CHECK(twice - launch > 1.5 * (least - launch));
    CHECK(twice - launch < 2.5 * (least - launch));
}

TEST_CASE("a kernel without a loop takes its launch") {
    const mk::Kernel kernel = fixture::stream(500);
    prediction::Conditions warm;
    warm.cache = prediction::Cache::warm;
    CHECK(least_time(kernel, gpu(), warm).value() <= analyse(kernel, gpu(), warm).time.value());
    CHECK(least_time(kernel, gpu(), warm).value() == doctest::Approx(gpu().launch.floor.value()));
}
