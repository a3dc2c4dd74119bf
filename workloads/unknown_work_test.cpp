// SPDX-License-Identifier: Apache-2.0
#include "workloads/unknown_work.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"

#include <doctest/doctest.h>

using namespace warptime;

TEST_CASE("unknown work takes what a copy of its bytes takes, or its operations at the fp32 peak") {
    const auto engine = model::analytical::make_engine();
    const auto gpu = hw::load_gpu("h200-sxm");
    workloads::Predictor predictor(*engine, gpu);
    const auto moved = workloads::estimate_unknown({.bytes = 4e8}, predictor, {});
    const auto copy = predictor.evaluate(workloads::make_operation("copy", {{"n", "100000000"}}), {});
    CHECK(moved.time == copy.time);
    CHECK(moved.limiter == copy.limiter);
    CHECK(moved.high == doctest::Approx(9.0 * moved.low).scale(1e-6));
    // The H200 has 66.9 TFLOP/s on its data sheet: 6.69e12 operations take a tenth of a second.
    const auto counted = workloads::estimate_unknown({.bytes = 8.0, .flops = 6.69e12}, predictor, {});
    CHECK(counted.time == doctest::Approx(0.1).epsilon(0.01));
    CHECK(counted.limiter == model::prediction::Limiter::fp32);
    // Nothing is not free: it is still a launch.
    CHECK(workloads::estimate_unknown({}, predictor, {}).time > 0.5e-6);
}
