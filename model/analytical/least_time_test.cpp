// The least time of a kernel against closed forms by hand, and against the whole analysis.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/least_time.hpp"

#include "model/analytical/analysis.hpp"
#include "model/analytical/chain.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

namespace machine = warptime::model::machine;
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
        const double time = analyse(kernel, gpu(), conditions).time.value();
        const double limit = time * *rc::gen::element(0.5, 0.9, 1.0, 1.01, 1.2, 3.0);
        const double limited = least_time(kernel, gpu(), conditions, limit).value();
        RC_ASSERT(limited >= least);
        RC_ASSERT((limited < limit ? limited : limit) <= time);
    }));
}

TEST_CASE("a limit lowers the clock of tensor work, and of nothing else") {
    mk::Kernel kernel;
    mk::examples::warp_specialized_gemm(kernel, {.m = 4096, .n = 4096, .k = 4096, .stages = 3});
    prediction::Conditions conditions;
    const double free = least_time(kernel, gpu(), conditions).value();
    const double time = analyse(kernel, gpu(), conditions).time.value();
    CHECK(least_time(kernel, gpu(), conditions, time).value() > 1.02 * free);
    // The less time is left, the more the tensor cores must do in it.
    CHECK(least_time(kernel, gpu(), conditions, 2.0 * time).value() <
          least_time(kernel, gpu(), conditions, time).value());
    conditions.clock_hz = 1e9;
    CHECK(least_time(kernel, gpu(), conditions, time).value() ==
          least_time(kernel, gpu(), conditions).value());
    const mk::Kernel plain = fixture::stream(500);
    CHECK(least_time(plain, gpu(), {}, 1e-6).value() == least_time(plain, gpu(), {}).value());
}

TEST_CASE("kept work gives the same bound for other sizes of a body, and forgets bodies that were replaced") {
    KeptLeastWork kept;
    mk::Kernel one, other;
    mk::examples::warp_specialized_gemm(one, {.m = 4096, .n = 4096, .k = 4096, .stages = 3});
    mk::examples::warp_specialized_gemm(other, {.m = 1000, .n = 8192, .k = 640, .stages = 3});
    // Guarded ops, and roles whose trips differ, hang on the number of trips.
    static_cast<void>(kept.of(one, 7, gpu()));
    CHECK(kept.find(7) == nullptr);
    for (mk::Kernel* kernel : {&one, &other}) {
        for (mk::Loop& loop : kernel->loops) loop.trips = kernel->loops.front().trips;
        for (mk::Op& op : kernel->ops) op.when = {};
    }
    CHECK(kept.find(7) == nullptr);
    CHECK(kept.of(one, 7, gpu()).by_iterations);
    REQUIRE(kept.find(7) != nullptr);
    // Kept work also has the way before and behind the loop.
    LeastWork loop = *kept.find(7);
    const double whole = least_time(loop, sizes_of(other, loop), gpu(), {}).value();
    CHECK(whole <= analyse(other, gpu(), {}).time.value());
    const ItemDemand item = item_demand(other, gpu(), load_latency(false, gpu()), 1);
    const auto busiest = [](const machine::Part& part) { return part.demand[part.demand.busiest()]; };
    CHECK(loop.straight_cycles == (item.before.chain + busiest(item.before)).value());
    CHECK(loop.stores.least == item.after.chain.value());
    CHECK(loop.sums_cycles == item.after.demand[machine::Server::fp32].value());
    loop.straight_cycles = loop.sums_cycles = 0.0;
    loop.stores = {};
    const double expected = least_time(other, gpu(), {}).value();
    CHECK(least_time(loop, sizes_of(other, loop), gpu(), {}).value() == expected);
    CHECK(whole > expected);
    CHECK(least_time(one, gpu(), {}).value() != expected);
    static_cast<void>(kept.of(one, 7 + 16384, gpu()));
    CHECK(kept.find(7) == nullptr);
    // Guards of copies make the work of a trip depend on the number of trips.
    mk::Kernel guarded;
    mk::examples::cp_async_gemm(guarded, {1024, 1024, 1024});
    static_cast<void>(kept.of(guarded, 8, gpu()));
    CHECK(kept.find(8) == nullptr);
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
    CHECK(least_time(kernel, gpu(), warm).value() == doctest::Approx(gpu().launch.floor.value()).scale(1e-6));
}
