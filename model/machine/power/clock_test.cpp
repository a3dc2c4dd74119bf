// Clock of one launch: boost without tensor work, lower with load, never negative.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/power/clock.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <string>

namespace hw = warptime::hw;
using warptime::model::machine::launch_clock;

TEST_CASE("plain kernels run at their share of boost, whatever their load") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.clock.boost = hw::Frequency(2e9);
    gpu.clock.plain = hw::Number(0.9);
    CHECK(launch_clock(false, 0.0, gpu).value() == doctest::Approx(1.8e9));
    CHECK(launch_clock(false, 1.0, gpu).value() == doctest::Approx(1.8e9));
}

TEST_CASE("tensor work takes clock in proportion to its use, up to full use") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.clock.boost = hw::Frequency(2e9);
    gpu.clock.tensor_base = hw::Number(0.9);
    gpu.clock.tensor_slope = hw::Number(0.2);
    CHECK(launch_clock(true, 0.0, gpu).value() == doctest::Approx(1.8e9));
    CHECK(launch_clock(true, 0.5, gpu).value() == doctest::Approx(1.6e9));
    CHECK(launch_clock(true, 1.0, gpu).value() == doctest::Approx(1.4e9));
    CHECK(launch_clock(true, 3.0, gpu).value() == doctest::Approx(1.4e9));
}

TEST_CASE("behind a flush the clock is low for a while") {
    using warptime::model::machine::clock_left;
    namespace prediction = warptime::model::prediction;
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.clock.after_flush = hw::Number(0.9);
    gpu.clock.flush_recovery = hw::Seconds(30e-6);
    prediction::Conditions conditions;
    CHECK(clock_left(hw::Seconds(1e-6), conditions, gpu) == doctest::Approx(0.9));
    CHECK(clock_left(hw::Seconds(30e-6), conditions, gpu) == doctest::Approx(0.9));
    CHECK(clock_left(hw::Seconds(60e-6), conditions, gpu) == doctest::Approx(0.95));
    for (const auto cache : {prediction::Cache::warm, prediction::Cache::cold}) {
        conditions.cache = cache;
        CHECK(clock_left(hw::Seconds(1e-6), conditions, gpu) == 1.0);
    }
    conditions.cache = prediction::Cache::flushed;
    conditions.duty = prediction::Duty::sustained;
    CHECK(clock_left(hw::Seconds(1e-6), conditions, gpu) == 1.0);
}

TEST_CASE("on every calibrated GPU the clock stays positive, at most boost, and falls with load") {
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        const std::string& id = sheet.id;
        const auto gpu = hw::load_gpu(id);
        double last = gpu.clock.boost.value() * (1.0 + 1e-12);
        for (int eighths = 0; eighths <= 8; ++eighths) {
            const double clock = launch_clock(true, eighths / 8.0, gpu).value();
            CHECK_MESSAGE(clock > 0.0, id);
            CHECK_MESSAGE(clock <= last, id);
            last = clock;
        }
    }
}
