// Full answer of a simulated kernel: bounds, counters and band that follow from the run's counts.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/explain.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/simulation/engine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

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
    gemm.evidence = kernel::Evidence::own;
    const KernelTime time = simulate(gemm, gpu(), {});
    const prediction::Prediction p = explain_kernel(gemm, time, gpu(), {});
    CHECK(p.time == time.time);
    CHECK(p.low == doctest::Approx(p.time / prior_factor).scale(1e-6));
    CHECK(p.high == doctest::Approx(p.time * prior_factor).scale(1e-6));
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

TEST_CASE("a kernel without rows of its own kind has the wider of two bands") {
    kernel::Kernel gemm;
    warptime::hw::Gpu chip = gpu();
    const auto around = [&](double time) {
        return with_prior_band(time, prediction::Limiter::dram, gemm, chip);
    };
    for (const double half : {0.1, 0.9}) {
        chip.band.described = warptime::hw::Number(half);
        chip.band.described_small = warptime::hw::Seconds(3e-6);
        CHECK(around(50e-6).evidence == kernel::Evidence::any);
        CHECK(around(50e-6).high ==
              doctest::Approx(50e-6 * std::max(prior_factor, std::exp(half))).scale(1e-6));
        CHECK(around(50e-6).low ==
              doctest::Approx(50e-6 / std::max(prior_factor, std::exp(half))).scale(1e-6));
        // Below 10 us the sides differ: 9 us / 1.5 and 9 us - 3 us below, 9 us x 1.5 above.
        CHECK(around(9e-6).low == doctest::Approx(6e-6).scale(1e-6));
        CHECK(around(9e-6).high == doctest::Approx(13.5e-6).scale(1e-6));
        CHECK(around(4e-6).high == doctest::Approx(7e-6).scale(1e-6));
    }
    gemm.evidence = kernel::Evidence::pooled;
    chip.band.pooled = warptime::hw::Number(0.7);
    CHECK(around(50e-6).evidence == kernel::Evidence::pooled);
    CHECK(around(50e-6).high == doctest::Approx(50e-6 * std::exp(0.7)).scale(1e-6));
    gemm.evidence = kernel::Evidence::any;
    gemm.coverage = {0.0, 0.5, 0.5};
    CHECK(around(50e-6).high == doctest::Approx(50e-6 * std::exp(2.0 * 0.9)).scale(1e-6));
    gemm.evidence = kernel::Evidence::own;
    CHECK(around(50e-6).high == doctest::Approx(50e-6 * prior_factor * prior_factor).scale(1e-6));
    gemm.coverage = {};
    CHECK(around(50e-6).high == with_prior_band(50e-6, prediction::Limiter::dram).high);
    CHECK(around(50e-6).low == with_prior_band(50e-6, prediction::Limiter::dram).low);
}

TEST_CASE("the source of a band says whose residuals it holds") {
    kernel::Kernel gemm;
    kernel::examples::cp_async_gemm(gemm, {256, 256, 128});
    const auto source = [&] {
        return explain_kernel(gemm, simulate(gemm, gpu(), {}), gpu(), {}).band_source;
    };
    CHECK(source().find("textbook programs") != std::string::npos);
    gemm.evidence = kernel::Evidence::pooled;
    CHECK(source().find("all operators") != std::string::npos);
    CHECK(source().find("prior") != std::string::npos);
    gemm.evidence = kernel::Evidence::own;
    CHECK(source().find("textbook programs") == std::string::npos);
    CHECK(source().find("prior") != std::string::npos);
}

TEST_CASE("an answer says that a part of the kernel was run, and which") {
    kernel::Kernel gemm;
    kernel::examples::cp_async_gemm(gemm, {256, 256, 128});
    KernelTime time = simulate(gemm, gpu(), {});
    CHECK(explain_kernel(gemm, time, gpu(), {}).band_source.find("in part") == std::string::npos);
    time.run.cut.sms = 8;
    time.run.cut.of_sms = 132;
    time.run.cut.trips = 64;
    const std::string source = explain_kernel(gemm, time, gpu(), {}).band_source;
    CHECK(source.find("in part (8 of 132 SMs, some trips of loops)") != std::string::npos);
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
    CHECK(p.time == doctest::Approx(1e-5).scale(1e-6));
    CHECK(p.limiter == prediction::Limiter::dram);
    const auto counter = [&](const char* name) {
        const auto at = std::find_if(p.counters.begin(), p.counters.end(),
                                     [&](const auto& c) { return c.first == name; });
        return at == p.counters.end() ? -1.0 : at->second;
    };
    CHECK(counter("dram__bytes_read.sum") == 100.0);
    CHECK(counter("dram__bytes_write.sum") == 60.0);
}
