// Recorded rows of a step beside the step's own prediction.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/steps/step_row_predictor.hpp"

#include "bindings/engines/engines.hpp"
#include "validate/recorded_fixture_test.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

using namespace warptime;

namespace {

constexpr const char* capture =
    R"({"schema":"warptime-step-1","name":"tiny","about":{"torch":"2.11.0"},"rows":[)"
    R"({"op":"gemm","m":1024,"n":1024,"k":1024},{"op":"add","n":1048576,"repeat":3}]})";

validate::RecordedRow row_of(const char* quantity, const char* implementation) {
    validate::RecordedRow row =
        validate::fixture::row("steps", "step", "batch=1 kind=forward length=8 model=tiny", 100.0);
    row.quantity = quantity;
    row.implementation = implementation;
    row.cache = "chain";
    return row;
}

}  // namespace

TEST_CASE("a step's rows are its sum, its span as a graph and its host where that is slower") {
    const workloads::frontends::process::TemporaryFolder folder;
    std::ofstream(folder.path() / "tiny-forward-1x8.json.gz") << capture;
    const auto engine = engines::make_engine("analytical");
    validate::EngineRowPredictor others(*engine);
    steps::StepRowPredictor predictor(others, folder.path());

    steps::StepOptions options;
    model::prediction::Conditions conditions;
    conditions.cache = steps::usual_cache;
    const steps::StepFile file = steps::read_step(capture, "tiny");
    const auto predicted = [&] {
        return steps::predict_step(file, "tiny", others.predictor_of("h200-sxm"), "analytical", conditions,
                                   options);
    };
    const steps::StepPrediction graph = predicted();
    options.launching = model::system::Launching::eager;
    const steps::StepPrediction eager = predicted();

    const validate::RowPrediction sum = predictor.predict(row_of("kernel_us", "graph"));
    REQUIRE(sum.error.empty());
    CHECK(sum.time_us == graph.kernel_us);
    CHECK(sum.low_us == doctest::Approx(graph.low_us));
    CHECK(sum.high_us == doctest::Approx(graph.high_us));
    CHECK(predictor.predict(row_of("wall_us", "graph")).time_us == graph.span_us);
    const validate::RowPrediction wall = predictor.predict(row_of("wall_us", "eager"));
    // The capture names PyTorch, whose host takes longer than these kernels.
    CHECK(wall.time_us == eager.host_us);
    CHECK(wall.time_us > 100.0);
    CHECK(wall.limiter == "launch");
    CHECK(predictor.predict(row_of("kernel_us", "dynamic")).error.find("eager or graph") !=
          std::string::npos);
}

TEST_CASE("a step's row has its own duty: back to back it runs under the power limit") {
    const workloads::frontends::process::TemporaryFolder folder;
    constexpr const char* heavy = R"({"schema":"warptime-step-1","name":"tiny","about":{"torch":"2.11.0"},)"
                                  R"("rows":[{"op":"gemm","m":8192,"n":8192,"k":8192}]})";
    std::ofstream(folder.path() / "tiny-forward-1x8.json.gz") << heavy;
    const auto engine = engines::make_engine("analytical");
    validate::EngineRowPredictor others(*engine);
    steps::StepRowPredictor predictor(others, folder.path());
    const auto predicted = [&](model::prediction::Duty duty) {
        model::prediction::Conditions conditions;
        conditions.cache = steps::usual_cache;
        conditions.duty = duty;
        return steps::predict_step(steps::read_step(heavy, "tiny"), "tiny", others.predictor_of("h200-sxm"),
                                   "analytical", conditions, {})
            .kernel_us;
    };
    const double isolated = predicted(model::prediction::Duty::isolated);
    const double sustained = predicted(model::prediction::Duty::sustained);
    REQUIRE(sustained > 1.05 * isolated);
    // One after the other, so that neither answer stands for the other one.
    for (const auto& [duty, expected] :
         {std::pair{"isolated", isolated}, {"sustained", sustained}, {"", isolated}}) {
        CAPTURE(duty);
        validate::RecordedRow row = row_of("kernel_us", "graph");
        row.duty = duty;
        CHECK(predictor.predict(row).time_us == expected);
    }
}

TEST_CASE("other rows are the engine's, and a step without a capture is refused by its file") {
    const workloads::frontends::process::TemporaryFolder folder;
    const auto engine = engines::make_engine("analytical");
    validate::EngineRowPredictor others(*engine);
    steps::StepRowPredictor predictor(others, folder.path());
    const validate::RecordedRow copy = validate::fixture::row("s", "copy", "dtype=bf16 n=1048576", 20.0);
    CHECK(predictor.predict(copy).time_us == others.predict(copy).time_us);
    CHECK(predictor.predict(row_of("kernel_us", "graph")).error.find("tiny-forward-1x8.json.gz") !=
          std::string::npos);
}

TEST_CASE("captures stand beside the recorded rows") {
    CHECK(steps::captures_beside("validate/recorded") == std::filesystem::path("validate/steps/captures"));
    CHECK(steps::captures_beside("validate/recorded/") == std::filesystem::path("validate/steps/captures"));
}
