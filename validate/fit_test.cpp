// Fitting keys of a GPU to a model of known constants, with choices that change between rounds.
// SPDX-License-Identifier: Apache-2.0
#include "validate/fit.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "validate/bands.hpp"
#include "validate/statistics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace hw = warptime::hw;
namespace validate = warptime::validate;

namespace {

/// t = floor + bytes / (bandwidth x efficiency), in us: a stand-in for an engine that reads three keys.
double copy_us(const hw::Gpu& gpu, double bytes) {
    const double bandwidth = gpu.dram.bandwidth.value() * gpu.dram.read_efficiency.value();
    return 1e6 * (gpu.launch.floor.value() + bytes / bandwidth);
}

std::vector<double> sizes() {
    std::vector<double> bytes;
    for (int i = 0; i < 40; ++i) bytes.push_back(std::pow(10.0, 5.5 + 0.08 * i));
    return bytes;
}

validate::FitModel model_of(const hw::Gpu& gpu, const std::vector<double>& bytes,
                            std::vector<double> measured) {
    validate::FitModel model;
    model.measured_us = std::move(measured);
    model.choose = [] {};
    model.predict = [&gpu, &bytes](std::span<double> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = copy_us(gpu, bytes[i]);
    };
    return model;
}

}  // namespace

TEST_CASE("keys are recovered from durations they made, small rows included") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    hw::set_key_value(gpu, hw::key_index("dram.read_efficiency"), 0.83);
    hw::set_key_value(gpu, hw::key_index("launch.floor"), 2.25e-6);
    const std::vector<double> bytes = sizes();
    std::vector<double> measured;
    for (const double size : bytes) measured.push_back(copy_us(gpu, size));

    hw::set_key_value(gpu, hw::key_index("dram.read_efficiency"), 0.5);
    hw::set_key_value(gpu, hw::key_index("launch.floor"), 1e-6);
    const std::vector<validate::FitKey> keys{validate::parse_fit_key("dram.read_efficiency", gpu),
                                             validate::parse_fit_key("launch.floor=0.1us..20us", gpu)};
    const auto report = validate::fit_keys(gpu, keys, model_of(gpu, bytes, measured));
    CHECK(report.keys[0].before == 0.5);
    CHECK(report.keys[0].value == doctest::Approx(0.83).epsilon(1e-5));
    CHECK(report.keys[1].value == doctest::Approx(2.25e-6).scale(1e-6).epsilon(1e-5));
    CHECK(gpu.dram.read_efficiency.value() == report.keys[0].value);
    CHECK(report.loss_after < 1e-8 * report.loss_before);
    CHECK(report.mape < 1e-5);
    CHECK(report.rows == 40);
    CHECK(report.short_rows > 5);
    CHECK(report.short_rows < 35);
}

TEST_CASE("an outlier neither moves the keys much nor hides in the interval") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const std::vector<double> bytes = sizes();
    std::vector<double> measured;
    const double truth = gpu.dram.read_efficiency.value();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        measured.push_back(copy_us(gpu, bytes[i]) * (1.0 + 0.02 * std::sin(7.0 * static_cast<double>(i))));
    }
    measured[35] *= 3.0;
    const std::vector<validate::FitKey> keys{validate::parse_fit_key("dram.read_efficiency=0.2..1", gpu)};
    const auto report = validate::fit_keys(gpu, keys, model_of(gpu, bytes, measured));
    CHECK(report.keys[0].value == doctest::Approx(truth).epsilon(0.015));
    CHECK(report.keys[0].half_width_95 > 0.0);
    CHECK(report.keys[0].half_width_95 < 0.03);
    CHECK(report.keys[0].half_width_80 < report.keys[0].half_width_95);
}

TEST_CASE("choices are made anew between rounds, and rows that cannot be predicted are left out") {
    // Two kernels. The second is twice as fast, but is only chosen once the efficiency is above 0.7.
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    hw::set_key_value(gpu, hw::key_index("dram.read_efficiency"), 0.8);
    const std::vector<double> bytes = sizes();
    std::vector<double> measured;
    for (const double size : bytes) measured.push_back(0.98 * copy_us(gpu, size));
    hw::set_key_value(gpu, hw::key_index("dram.read_efficiency"), 0.6);
    double factor = 1.0;
    int choices = 0;
    validate::FitModel model = model_of(gpu, bytes, measured);
    model.choose = [&] {
        ++choices;
        factor = gpu.dram.read_efficiency.value() > 0.7 ? 0.98 : 1.0;
    };
    model.predict = [&](std::span<double> out) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = i == 3 ? std::nan("") : factor * copy_us(gpu, bytes[i]);
        }
    };
    const std::vector<validate::FitKey> keys{validate::parse_fit_key("dram.read_efficiency=0.3..1", gpu)};
    const auto report = validate::fit_keys(gpu, keys, model);
    CHECK(report.refused == 1);
    CHECK(report.rows == 39);
    CHECK(choices >= 3);
    CHECK(report.keys[0].value == doctest::Approx(0.8).epsilon(1e-4));
}

TEST_CASE("keys and bounds are checked") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const auto key = [&](const char* text) { return validate::parse_fit_key(text, gpu); };
    CHECK(key("dram.read_efficiency").high == 1.0);
    CHECK(key("latency.dram").high == doctest::Approx(10 * gpu.latency.dram.value()));
    CHECK(key("latency.dram=100 cycle..900 cycle").low == 100);
    for (const char* bad : {"dram.reed_efficiency", "shared.carveouts", "latency.dram=900 cycle..100 cycle",
                            "latency.dram=1us..2us", "latency.dram=3", "latency.dram=a..b"}) {
        CHECK_THROWS_AS(static_cast<void>(key(bad)), warptime::Error);
    }
    hw::set_key_value(gpu, hw::key_index("launch.floor"), 0.0);
    CHECK_THROWS_AS(static_cast<void>(key("launch.floor")), warptime::Error);
    validate::FitModel empty;
    empty.choose = [] {};
    empty.predict = [](std::span<double>) {};
    const std::vector<validate::FitKey> keys{key("latency.dram")};
    CHECK_THROWS_AS(static_cast<void>(validate::fit_keys(gpu, keys, empty)), warptime::Error);
    CHECK_THROWS_AS(static_cast<void>(validate::fit_keys(gpu, {}, empty)), warptime::Error);
}

TEST_CASE("bands are 80 % quantiles by class; few rows give none") {
    using warptime::model::prediction::KernelClass;
    using warptime::model::prediction::Limiter;
    std::vector<validate::FitRowEstimate> rows;
    for (int i = 0; i <= 10; ++i) {
        // Memory: ln-errors 0, 0.01 .. 0.1, of either sign. Short: absolute errors 0, 0.1 .. 1 us.
        const double sign = i % 2 == 0 ? 1.0 : -1.0;
        rows.push_back(
            {nullptr, 50.0, {50e-6 * std::exp(sign * 0.01 * i), 0, 0, Limiter::dram, KernelClass::memory}});
        rows.push_back(
            {nullptr, 5.0, {(5.0 + sign * 0.1 * i) * 1e-6, 0, 0, Limiter::launch, KernelClass::launch}});
    }
    // Too few of the other short kernels, and of the kernels that compute.
    rows.push_back({nullptr, 5.0, {5e-6, 0, 0, Limiter::tensor_core, KernelClass::compute}});
    rows.push_back({nullptr, 50.0, {80e-6, 0, 0, Limiter::tensor_core, KernelClass::compute}});
    rows.push_back({nullptr, 50.0, {0.0, 0, 0, Limiter::dram, KernelClass::memory}});  // refused
    const auto bands = validate::band_widths(rows);
    REQUIRE(bands.size() == 2);
    CHECK(bands[0].key == "band.memory");
    CHECK(bands[0].value == doctest::Approx(0.08));
    CHECK(bands[0].rows == 11);
    CHECK(bands[0].residual == doctest::Approx(0.05));
    CHECK(bands[1].key == "band.small");
    CHECK(bands[1].value == doctest::Approx(0.8e-6).scale(1e-6));
    CHECK(validate::band_widths(rows, 1).size() == 4);
    CHECK(validate::band_widths(rows, 1).back().key == "band.small_loop");
}

TEST_CASE("rows of pooled workloads have bands of their own, which name their suites") {
    using warptime::model::kernel::Evidence;
    using warptime::model::prediction::KernelClass;
    using warptime::model::prediction::Limiter;
    std::vector<validate::RecordedRow> recorded(2);
    recorded[0].suite = "sorts";
    recorded[1].suite = "copies";
    std::vector<validate::FitRowEstimate> rows;
    for (int i = 0; i <= 10; ++i) {
        const validate::RecordedRow* row = &recorded[static_cast<std::size_t>(i % 2)];
        rows.push_back(
            {row,
             50.0,
             {50e-6 * std::exp(0.02 * i), 0, 0, Limiter::dram, KernelClass::memory, Evidence::pooled}});
        rows.push_back(
            {row, 5.0, {(5.0 - 0.1 * i) * 1e-6, 0, 0, Limiter::l1, KernelClass::memory, Evidence::pooled}});
        // Rows that others share no band with.
        rows.push_back({&recorded[0], 50.0, {50e-6, 0, 0, Limiter::dram, KernelClass::memory}});
    }
    const auto bands = validate::band_widths(rows);
    REQUIRE(bands.size() == 3);
    CHECK(bands[0].key == "band.memory");
    CHECK(bands[0].value == 0.0);
    CHECK(bands[0].suites == std::vector<std::string>{"sorts"});
    CHECK(bands[1].key == "band.pooled");
    CHECK(bands[1].value == doctest::Approx(0.16));
    CHECK(bands[1].suites == std::vector<std::string>{"copies", "sorts"});
    CHECK(bands[2].key == "band.pooled_small");
    CHECK(bands[2].value == doctest::Approx(0.8e-6).scale(1e-6));
}
