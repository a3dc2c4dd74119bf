// Launch: the floor with and without cold fetches, and CTAs handed out one by one.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/bounds/launch.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
using warptime::model::prediction::Cache;

TEST_CASE("only a warm launch finds its instructions in the caches") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.launch.floor = hw::Seconds<double>(2e-6);
    gpu.launch.cold = hw::Seconds<double>(1e-6);
    gpu.launch.descriptor = hw::Seconds<double>(0.25e-6);
    using warptime::model::analytical::launch_floor;
    for (const bool bulk : {false, true}) {
        const double maps = bulk ? 0.25e-6 : 0.0;
        CHECK(launch_floor(Cache::warm, bulk, gpu).value() == doctest::Approx(2e-6 + maps));
        CHECK(launch_floor(Cache::flushed, bulk, gpu).value() == doctest::Approx(3e-6 + maps));
        CHECK(launch_floor(Cache::cold, bulk, gpu).value() == doctest::Approx(3e-6 + maps));
    }
}

TEST_CASE("CTAs are handed out at a fixed interval for the whole chip") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.launch.cta_interval = hw::Cycles<double>(1.5);
    CHECK(warptime::model::analytical::cta_launch_cycles(1000.0, gpu).value() == doctest::Approx(1500.0));
}
