// Full answer of a simulated kernel: bounds, counters and band that follow from the run's counts.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/explain.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/simulation/engine.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace warptime::model;
using namespace warptime::model::simulation;

namespace {

const warptime::hw::Gpu& gpu() {
    static const warptime::hw::Gpu loaded = warptime::hw::load_gpu("h200-sxm");
    return loaded;
}

}  // namespace

TEST_CASE("no bound is above the time, and the longest stands first") {
    kernel::Kernel gemm;
    kernel::examples::cp_async_gemm(gemm, {512, 512, 256});
    const KernelTime time = simulate(gemm, gpu(), {});
    const prediction::Prediction p = explain_kernel(gemm, time, gpu(), {});
    CHECK(p.time == time.time);
    CHECK(p.low == doctest::Approx(p.time / prior_factor));
    CHECK(p.high == doctest::Approx(p.time * prior_factor));
    CHECK(p.status == prediction::Status::extrapolated);
    REQUIRE_FALSE(p.bounds.empty());
    for (const prediction::Bound& bound : p.bounds) {
        CHECK(bound.time <= p.time);
    }
    CHECK(std::is_sorted(p.bounds.begin(), p.bounds.end(),
                         [](const auto& a, const auto& b) { return a.time > b.time; }));
    CHECK(p.utilization.tensor > 0.0);
    CHECK(p.utilization.tensor <= 1.0);
}

TEST_CASE("each limiter has one bound, that of its busiest unit") {
    kernel::Kernel gemm;
    kernel::examples::cp_async_gemm(gemm, {256, 256, 128});
    const prediction::Prediction p = explain_kernel(gemm, simulate(gemm, gpu(), {}), gpu(), {});
    for (const prediction::Bound& bound : p.bounds) {
        CHECK(std::count_if(p.bounds.begin(), p.bounds.end(),
                            [&](const auto& b) { return b.limiter == bound.limiter; }) == 1);
    }
}

TEST_CASE("a memory step says what holds it and what it moved") {
    MemoryStep step;
    step.floor = 2e-6;
    step.dram = 8e-6;
    step.read_bytes = 100.0;
    step.written_bytes = 60.0;
    const prediction::Prediction p = explain_memory_step("memcpy", "copy", step, gpu());
    CHECK(p.time == doctest::Approx(1e-5));
    CHECK(p.limiter == prediction::Limiter::dram);
    const auto counter = [&](const char* name) {
        const auto at = std::find_if(p.counters.begin(), p.counters.end(),
                                     [&](const auto& c) { return c.first == name; });
        return at == p.counters.end() ? -1.0 : at->second;
    };
    CHECK(counter("dram__bytes_read.sum") == 100.0);
    CHECK(counter("dram__bytes_write.sum") == 60.0);
}
