// Launch: the floor with and without cold fetches, and CTAs handed out one by one.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/launch/launch.hpp"

#include "hw/sheet.hpp"
#include "model/steady/closed_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

namespace hw = warptime::hw;
using warptime::model::prediction::Cache;

TEST_CASE("a flush delays kernels that keep DRAM busy, and those with tensor maps") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.launch.floor = hw::Seconds(2e-6);
    gpu.launch.cold = hw::Seconds(1e-6);
    gpu.launch.descriptor = hw::Seconds(0.25e-6);
    using warptime::model::machine::launch_floor;
    const hw::Bytes much(1e9);
    for (const bool bulk : {false, true}) {
        const double maps = bulk ? 0.25e-6 : 0.0;
        CHECK(launch_floor(Cache::warm, bulk, much, gpu).value() == doctest::Approx(2e-6 + maps).scale(1e-6));
        CHECK(launch_floor(Cache::flushed, bulk, much, gpu).value() ==
              doctest::Approx(3e-6 + maps).scale(1e-6));
        CHECK(launch_floor(Cache::cold, bulk, much, gpu).value() == doctest::Approx(3e-6 + maps).scale(1e-6));
    }
    CHECK(launch_floor(Cache::flushed, true, {}, gpu).value() == doctest::Approx(3.25e-6).scale(1e-6));
    CHECK(launch_floor(Cache::flushed, false, {}, gpu).value() == doctest::Approx(2e-6).scale(1e-6));
}

TEST_CASE("a kernel waits in proportion to its bytes until they are as many as DRAM has under way") {
    auto gpu = hw::load_gpu("h200-sxm");
    // 4 TB/s at half efficiency, and 1000 cycles of 2 GHz: 2 bytes a picosecond for half a microsecond.
    gpu.dram.bandwidth = hw::BytesPerSecond(4e12);
    gpu.dram.read_efficiency = hw::Number(0.5);
    gpu.latency.dram = hw::Cycles(1000.0);
    gpu.clock.boost = hw::Frequency(2e9);
    using warptime::model::machine::cold_share;
    CHECK(warptime::model::machine::dram_under_way(gpu).value() == doctest::Approx(1e6));
    CHECK(cold_share(hw::Bytes(0.0), gpu) == 0.0);
    CHECK(cold_share(hw::Bytes(0.25e6), gpu) == doctest::Approx(0.25));
    CHECK(cold_share(hw::Bytes(1e6), gpu) == doctest::Approx(1.0));
    CHECK(cold_share(hw::Bytes(7e6), gpu) == 1.0);
}

TEST_CASE("CTAs are handed out at a fixed interval for the whole chip, large ones in several turns") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.launch.cta_interval = hw::Cycles(1.5);
    warptime::model::kernel::Kernel kernel;
    const auto cycles = [&](std::int64_t threads) {
        kernel.cta = {threads, 1, 1};
        return warptime::model::machine::cta_launch_cycles(kernel, 1000.0, gpu).value();
    };
    CHECK(cycles(32) == doctest::Approx(1500.0));
    CHECK(cycles(512) == doctest::Approx(1500.0));
    CHECK(cycles(768) == doctest::Approx(3000.0));
    CHECK(cycles(1024) == doctest::Approx(3000.0));
}

TEST_CASE("a slot stays empty longer the more warps its CTAs have") {
    const auto gpu = hw::load_gpu("h200-sxm");
    warptime::model::kernel::Kernel kernel;
    const auto empty = [&](std::int64_t threads) {
        kernel.cta = {threads, 1, 1};
        return warptime::model::machine::cta_turnaround(kernel, gpu).value();
    };
    CHECK(empty(64) > gpu.launch.cta_turnaround.value());
    CHECK(empty(1024) - empty(64) == doctest::Approx(2.0 * (empty(544) - empty(64))));
}

TEST_CASE("launch and run overlap as in a closed queue, whose exact solution is mean value analysis") {
    using warptime::model::machine::handed_out;
    CHECK(handed_out(0.0, 5.0, 100.0) == 5.0);
    CHECK(handed_out(5.0, 0.0, 100.0) == 5.0);
    for (const std::int64_t slots : {132, 528, 4224}) {
        for (const double ratio : {0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 10.0}) {
            // Each slot waits for its CTA, which takes the launch unit one cycle, then runs it.
            const double run = ratio * static_cast<double>(slots);
            const double exact = warptime::model::steady::turn_time(slots, 1.0, run);
            const double found = handed_out(static_cast<double>(slots), run, static_cast<double>(slots));
            CHECK(found >= std::max(run, static_cast<double>(slots)));
            CHECK(found == doctest::Approx(exact).epsilon(0.04));
        }
    }
}
