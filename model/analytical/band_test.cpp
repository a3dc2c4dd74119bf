// The band on both sides of the line between fixed and relative residuals.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/band.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace hw = warptime::hw;
namespace analytical = warptime::model::analytical;
namespace prediction = warptime::model::prediction;
using warptime::model::kernel::Coverage;
using warptime::model::kernel::Evidence;
using warptime::model::prediction::KernelClass;
using warptime::model::prediction::Limiter;

namespace {

hw::Gpu gpu_with_bands() {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.band.compute = hw::Number(0.1);
    gpu.band.memory = hw::Number(0.2);
    gpu.band.latency = hw::Number(0.3);
    gpu.band.small = hw::Seconds(1e-6);
    gpu.band.small_loop = hw::Seconds(2e-6);
    gpu.band.pooled = hw::Number(0.4);
    gpu.band.pooled_small = hw::Seconds(1.5e-6);
    gpu.band.described = hw::Number(0.8);
    gpu.band.described_small = hw::Seconds(3e-6);
    return gpu;
}

}  // namespace

TEST_CASE("short kernels get a fixed band that stays positive") {
    const auto gpu = gpu_with_bands();
    const auto estimate = analytical::with_band(8e-6, Limiter::dram, gpu);
    CHECK(estimate.time == 8e-6);
    CHECK(estimate.limiter == Limiter::dram);
    CHECK(estimate.low == doctest::Approx(7e-6).scale(1e-6));
    CHECK(estimate.high == doctest::Approx(9e-6).scale(1e-6));
    const auto tiny = analytical::with_band(1.2e-6, Limiter::launch, gpu);
    CHECK(tiny.low == doctest::Approx(0.6e-6).scale(1e-6));
    CHECK(tiny.high == doctest::Approx(2.2e-6).scale(1e-6));
}

TEST_CASE("short loops have a band of their own") {
    const auto gpu = gpu_with_bands();
    const auto loop = analytical::with_band(8e-6, Limiter::crossbar, gpu);
    CHECK(loop.low == doctest::Approx(6e-6).scale(1e-6));
    CHECK(loop.high == doctest::Approx(10e-6).scale(1e-6));
}

TEST_CASE("every band has a key of its own") {
    const auto gpu = gpu_with_bands();
    for (const analytical::Band band : analytical::all_bands) {
        const auto& key = gpu.provenance[hw::key_index(analytical::key_of(band))];
        CHECK(key.origin == hw::Origin::fitted);
        CHECK(analytical::key_of(band) == hw::key_info[hw::key_index(analytical::key_of(band))].name);
        CHECK(analytical::is_short(band) == (analytical::half_width(band, gpu) < 1e-3));
    }
}

TEST_CASE("longer kernels get a relative band of their class, symmetric in the logarithm") {
    const auto gpu = gpu_with_bands();
    const auto check = [&](Limiter limiter, double width) {
        const auto estimate = analytical::with_band(100e-6, limiter, gpu);
        CHECK(std::log(estimate.high / estimate.time) == doctest::Approx(width));
        CHECK(std::log(estimate.time / estimate.low) == doctest::Approx(width));
    };
    check(Limiter::tensor_core, 0.1);
    check(Limiter::dram, 0.2);
    check(Limiter::chain_latency, 0.3);
    check(Limiter::launch, 0.3);
    check(Limiter::tail, 0.3);
}

TEST_CASE("the line is at 10 us, which is on the long side") {
    const auto gpu = gpu_with_bands();
    const auto below = analytical::with_band(std::nextafter(10e-6, 0.0), Limiter::dram, gpu);
    const auto at = analytical::with_band(10e-6, Limiter::dram, gpu);
    CHECK(below.high == doctest::Approx(11e-6).scale(1e-6));
    CHECK(at.high == doctest::Approx(10e-6 * std::exp(0.2)).scale(1e-6));
    const auto occupied =
        analytical::band_of(10e-6, Limiter::bytes_in_flight, KernelClass::occupancy, Evidence::own);
    CHECK(analytical::half_width(occupied, gpu) == 0.3);
}

TEST_CASE("loops that copy for themselves have the residuals of latency") {
    using warptime::model::prediction::KernelClass;
    CHECK(analytical::band_class_of(Limiter::tensor_core, true, true) == KernelClass::latency);
    CHECK(analytical::band_class_of(Limiter::tensor_core, false, true) == KernelClass::compute);
    CHECK(analytical::band_class_of(Limiter::dram, false, true) == KernelClass::compute);
    CHECK(analytical::band_class_of(Limiter::dram, false, false) == KernelClass::memory);
    CHECK(analytical::band_class_of(Limiter::fp32, false, false) == KernelClass::compute);
    const auto gpu = gpu_with_bands();
    const auto estimate =
        analytical::with_band(100e-6, Limiter::tensor_core, KernelClass::latency, Evidence::own, 1.0, gpu);
    CHECK(estimate.high == doctest::Approx(100e-6 * std::exp(gpu.band.latency.value())).scale(1e-6));
    CHECK(estimate.band_class == KernelClass::latency);
}

TEST_CASE("kernels without rows of their own have a band of their evidence, whatever limits them") {
    const auto gpu = gpu_with_bands();
    struct Case {
        Evidence evidence;
        double ln, seconds;
    };
    for (const Case& c : {Case{Evidence::any, 0.8, 3e-6}, Case{Evidence::pooled, 0.4, 1.5e-6}}) {
        for (const Limiter limiter : {Limiter::tensor_core, Limiter::dram, Limiter::launch}) {
            for (const KernelClass band_class :
                 {KernelClass::compute, KernelClass::memory, KernelClass::latency}) {
                const auto around = [&](double time, double wider) {
                    return analytical::with_band(time, limiter, band_class, c.evidence, wider, gpu);
                };
                const auto long_one = around(100e-6, 1.0);
                CHECK(long_one.evidence == c.evidence);
                CHECK(std::log(long_one.high / long_one.time) == doctest::Approx(c.ln));
                CHECK(std::log(long_one.time / long_one.low) == doctest::Approx(c.ln));
                const auto short_one = around(8e-6, 1.0);
                CHECK(short_one.low == doctest::Approx(8e-6 - c.seconds).scale(1e-6));
                CHECK(short_one.high == doctest::Approx(8e-6 + c.seconds).scale(1e-6));
                // Other engines get the same edges.
                for (const double time : {1e-6, 8e-6, 10e-6, 100e-6}) {
                    const auto edges = prediction::shared_edges(time, c.evidence, 1.5, gpu);
                    CHECK(edges.low == around(time, 1.5).low);
                    CHECK(edges.high == around(time, 1.5).high);
                }
            }
        }
    }
}

TEST_CASE("a band is wider by the share of instructions that is not exact") {
    const auto gpu = gpu_with_bands();
    CHECK(prediction::widening(Coverage{}) == 1.0);
    CHECK(prediction::widening(Coverage{0.5, 0.25, 0.25}) == 1.5);
    CHECK(prediction::widening(Coverage{0.0, 0.0, 1.0}) == 2.0);
    for (const Evidence evidence : {Evidence::any, Evidence::pooled, Evidence::own}) {
        const auto around = [&](double time, double wider) {
            return analytical::with_band(time, Limiter::dram, KernelClass::memory, evidence, wider, gpu);
        };
        CHECK(std::log(around(100e-6, 1.5).high / 100e-6) ==
              doctest::Approx(1.5 * std::log(around(100e-6, 1.0).high / 100e-6)).scale(1e-6));
        CHECK(around(8e-6, 1.5).high - 8e-6 ==
              doctest::Approx(1.5 * (around(8e-6, 1.0).high - 8e-6)).scale(1e-6));
    }
}
