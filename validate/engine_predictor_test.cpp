// Rows through a stand-in engine: units, refusals, counters, and which rows a fit may see.
// SPDX-License-Identifier: Apache-2.0
#include "validate/engine_predictor.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "validate/engine_fit_model.hpp"
#include "validate/recorded_case.hpp"
#include "validate/recorded_fixture_test.hpp"

#include <doctest/doctest.h>

#include <string>

namespace hw = warptime::hw;
namespace prediction = warptime::model::prediction;
namespace kernel = warptime::model::kernel;
namespace validate = warptime::validate;
namespace fixture = warptime::validate::fixture;

namespace {

/// Every step takes the GPU's launch floor; a cold cache doubles it.
class FloorStages : public prediction::Stages {
  public:
    explicit FloorStages(const hw::Gpu& gpu) : gpu_(gpu) {}
    [[nodiscard]] prediction::Estimate evaluate(const kernel::Program&, const kernel::Step&,
                                                const prediction::Conditions& conditions,
                                                prediction::BodyNumber) override {
        const double t =
            gpu_.launch.floor.value() * (conditions.cache == prediction::Cache::cold ? 2.0 : 1.0);
        return {t, 0.8 * t, 1.25 * t, prediction::Limiter::launch};
    }

  private:
    const hw::Gpu& gpu_;
};

class FloorEngine : public prediction::Engine {
  public:
    [[nodiscard]] std::string_view name() const override { return "floor"; }
    [[nodiscard]] std::unique_ptr<prediction::Stages> make_stages(const hw::Gpu& gpu) const override {
        return std::make_unique<FloorStages>(gpu);
    }
    [[nodiscard]] prediction::Prediction explain(const kernel::Program& program, const kernel::Step& step,
                                                 const hw::Gpu& gpu,
                                                 const prediction::Conditions& conditions) const override {
        prediction::Prediction answer;
        answer.time = make_stages(gpu)->evaluate(program, step, conditions).time;
        answer.counters = {{"dram__bytes_read.sum", 42.0}};
        answer.steps = {{"kernel", "k", answer.time}};
        return answer;
    }
};

}  // namespace

TEST_CASE("a row is predicted with what its compiler gave, where it is to be and tells") {
    auto row = fixture::row("triton_bf16", "gemm", "cta_tile=128x128x64 k=512 m=512 n=512 warps=8", 5);
    row.implementation = "triton";
    row.steps = "gemm_kernel grid=16x1x1 block=256x1x1 registers=120 shared=98304 us=5 spills=0";
    const auto told = validate::operation_as_compiled(row);
    CHECK(told.parameters.at("registers") == "120");
    CHECK(told.parameters.at("shared_bytes") == "98304");
    CHECK(validate::operation_of(row).parameters.count("registers") == 0);
    // The parameters win over the steps. The prediction is not told a library's choice.
    row.params = "cta_tile=128x128x64 k=512 m=512 n=512 registers=96 warps=8";
    CHECK(validate::operation_as_compiled(row).parameters.at("registers") == "96");
    row.params = "k=512 m=512 n=512";
    CHECK(validate::operation_as_compiled(row).parameters.count("registers") == 0);
    row.op = "copy";
    row.params = "dtype=bf16 n=4096";
    row.implementation.clear();
    CHECK(validate::operation_as_compiled(row).parameters == validate::operation_of(row).parameters);
}

TEST_CASE("a row's prediction is in microseconds, under the row's conditions") {
    const FloorEngine engine;
    validate::EngineRowPredictor predictor(engine, std::vector{hw::parse_setting("gpu.launch.floor=3 us")});
    auto row = fixture::row("copy_add", "copy", "dtype=bf16 n=4096", 5);
    const auto flushed = predictor.predict(row);
    CHECK_MESSAGE(flushed.error.empty(), flushed.error);
    const double steps = flushed.time_us / 3.0;
    CHECK(steps == doctest::Approx(1.0));
    CHECK(flushed.low_us == doctest::Approx(2.4));
    CHECK(flushed.high_us == doctest::Approx(3.75));
    CHECK(flushed.limiter == "launch");
    row.cache = "cold";
    CHECK(predictor.predict(row).time_us == doctest::Approx(6.0));
    const auto counters = predictor.counters(row);
    REQUIRE(counters.size() >= 2);
    CHECK(counters.back().first == "gpu__time_duration.sum");
    CHECK(counters.back().second == doctest::Approx(6000.0));
    CHECK(predictor.name() == "floor");
    CHECK(predictor.constants("h200-sxm", {}).fitted > 10);
}

TEST_CASE("a library's kernel is the one that ran, where it is to be and is known by name") {
    const FloorEngine engine;
    validate::EngineRowPredictor chosen(engine);
    validate::EngineRowPredictor ran(engine);
    ran.take_kernels_that_ran();
    auto row = fixture::row("gemm_bf16", "gemm", "dtype=bf16 k=8192 m=64 n=64", 5);
    row.implementation = "cublas";
    // Each step takes the launch floor. A split also has its reduction.
    row.steps = "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_TNT grid=8x1x1 block=384x1x1 us=5";
    const double whole = ran.predict(row).time_us;
    row.steps =
        "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_splitK_TNT grid=8x1x4 block=384x1x1 us=5 | "
        "splitKreduce_kernel grid=8x1x1 block=512x1x1 us=2";
    CHECK(ran.predict(row).time_us > 1.5 * whole);
    CHECK(ran.counters(row).back().second > 1500.0 * whole);
    row.steps = "a_kernel_of_another_family grid=8x1x1 block=384x1x1 us=5";
    CHECK(ran.predict(row).time_us == chosen.predict(row).time_us);
    // A tile that was given stays as it was asked for.
    row.steps = "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_splitK_TNT grid=8x1x4 block=384x1x1 us=5";
    row.implementation = "triton";
    row.params = "cta_tile=64x64x64 dtype=bf16 k=8192 m=64 n=64";
    CHECK(ran.predict(row).time_us == doctest::Approx(whole));
}

TEST_CASE("counters of a microbenchmark are those of its program") {
    const FloorEngine engine;
    validate::EngineRowPredictor predictor(engine);
    auto row = fixture::row("counters_microbench_dram_in_flight", "stream_read",
                            "bytes=1048576 ctas=64 loads_in_flight=4 threads=256", 42);
    row.quantity = "dram__bytes_read.sum";
    CHECK(validate::profiled_probe(row) == "microbench_dram_in_flight");
    const auto counters = predictor.counters(row);
    REQUIRE(!counters.empty());
    CHECK(counters.front() == std::pair<std::string, double>{"dram__bytes_read.sum", 42.0});
    row.suite = "counters_microbench_unknown";
    CHECK(validate::profiled_probe(row).empty());
    CHECK(predictor.counters(row).empty());
}

TEST_CASE("what cannot be predicted is refused with its reason, not thrown") {
    const FloorEngine engine;
    validate::EngineRowPredictor predictor(engine);
    auto row = fixture::row("copy_add", "copy", "dtype=bf16 n=4096", 5);
    row.gpu = "h2000";
    CHECK(predictor.predict(row).error.find("h2000") != std::string::npos);
    CHECK(predictor.counters(row).empty());
    CHECK(predictor.constants("h2000", {}).fitted == 0);
    row.gpu = "h200-sxm";
    row.cache = "tepid";
    CHECK(predictor.predict(row).error.find("tepid") != std::string::npos);
    row.cache = "cold";
    row.params = "dtype=bf16 depth=3";
    CHECK_FALSE(predictor.predict(row).error.empty());
    row.params = "dtype=bf16 n=9000000000000";  // 36 TB do not fit
    CHECK_FALSE(predictor.predict(row).error.empty());
}

TEST_CASE("a fit sees fit rows only, bands see development rows too, held-out rows are never touched") {
    const FloorEngine engine;
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    std::string text = fixture::header;
    std::size_t counts[3] = {};
    for (int i = 1; i <= 60; ++i) {
        const std::string params = fmt::format("dtype=bf16 n={}", 1024 * i);
        text += fixture::line("copy_add", "copy", params, 1000.0 * i);
        ++counts[static_cast<std::size_t>(validate::split_of(validate::case_key("copy", params)))];
    }
    text += fixture::line("other", "copy", "dtype=fp32 n=4096", 4);
    text += fixture::line("copy_add", "copy", "dtype=fp32 n=4096", 4, "2026-01-02", "l40s");
    const auto rows = fixture::read(text);
    validate::EngineFitModel fit(rows, engine, gpu, {"copy_add"}, validate::RowsTaken::fit_only);
    validate::EngineFitModel bands(rows, engine, gpu, {"copy_add"}, validate::RowsTaken::fit_and_development);
    CHECK(fit.size() == counts[0]);
    CHECK(bands.size() == counts[0] + counts[1]);
    for (const double us : fit.model().measured_us) {
        const std::string key = fmt::format("copy dtype=bf16 n={}", static_cast<int>(1.024 * us));
        CHECK(validate::split_of(key) == validate::Split::fit);
    }
    CHECK_THROWS_AS(validate::EngineFitModel(rows, engine, gpu, {"copy_sub"}, validate::RowsTaken::fit_only),
                    warptime::Error);

    // The model reads the GPU while the GPU is being changed.
    const auto model = fit.model();
    std::vector<double> us(fit.size());
    model.choose();
    hw::set_key_value(gpu, hw::key_index("launch.floor"), 7e-6);
    model.predict(us);
    CHECK(us.front() == doctest::Approx(7.0));
    CHECK(fit.refusals().empty());
    CHECK(fit.estimates().size() == fit.size());
}
