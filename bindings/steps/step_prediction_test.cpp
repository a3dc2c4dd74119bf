// Steps against sums by hand: bands, repeats, priors, copy engines, and names of rows in errors.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/steps/step_prediction.hpp"

#include "bindings/engines/engines.hpp"
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "workloads/unknown_work.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

using namespace warptime;
using steps::FileRow;
using steps::StepFile;
using steps::StepOptions;
using steps::StepPrediction;

namespace {

struct Chip {
    std::unique_ptr<model::prediction::Engine> engine = engines::make_engine("analytical");
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    workloads::Predictor predictor{*engine, gpu};

    StepPrediction step(const StepFile& file, const StepOptions& options = {},
                        const model::prediction::Conditions& conditions = {}) {
        return steps::predict_step(file, "a.step", predictor, "analytical", conditions, options);
    }
    model::prediction::Estimate alone(const char* op,
                                      const std::map<std::string, std::string, std::less<>>& parameters) {
        return predictor.evaluate(workloads::make_operation(op, parameters), {});
    }
};

FileRow row_of(std::string id, std::string op, std::map<std::string, std::string, std::less<>> parameters) {
    FileRow row;
    row.id = std::move(id);
    row.op = std::move(op);
    row.parameters = std::move(parameters);
    return row;
}

StepFile file_of(std::vector<FileRow> rows) {
    StepFile file;
    file.rows = std::move(rows);
    return file;
}

std::string refusal(Chip& chip, const StepFile& file) {
    try {
        const StepPrediction made = chip.step(file);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("errors of one operator's rows add up, those of two are independent") {
    Chip chip;
    const auto small = chip.alone("copy", {{"n", "1000000"}});
    const auto large = chip.alone("copy", {{"n", "30000000"}});
    const auto product = chip.alone("gemm", {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}});
    const StepPrediction p =
        chip.step(file_of({row_of("1", "copy", {{"n", "1000000"}}), row_of("2", "copy", {{"n", "30000000"}}),
                           row_of("3", "gemm", {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}})}));
    const double sum = small.time + large.time + product.time;
    CHECK(p.kernel_us == doctest::Approx(1e6 * sum));
    const double below =
        std::hypot(small.time - small.low + large.time - large.low, product.time - product.low);
    const double above =
        std::hypot(small.high - small.time + large.high - large.time, product.high - product.time);
    CHECK(p.low_us == doctest::Approx(1e6 * (sum - below)));
    CHECK(p.high_us == doctest::Approx(1e6 * (sum + above)));
}

TEST_CASE("a row's repeats and activities take the host's time each") {
    Chip chip;
    StepFile file = file_of({row_of("1", "copy", {{"n", "1024"}})});
    file.rows[0].repeat = 5;
    const StepPrediction once = chip.step(file_of({row_of("1", "copy", {{"n", "1024"}})}));
    const StepPrediction p = chip.step(file, {model::system::Launching::eager, 20e-6});
    CHECK(p.rows[0].time_us == doctest::Approx(5.0 * once.rows[0].time_us));
    CHECK(p.rows[0].kernels == 1);
    CHECK(p.host_us == doctest::Approx(100.0));
    CHECK(p.wall_us == doctest::Approx(100.0 + once.kernel_us));
    CHECK(p.launch_bound());
    CHECK_FALSE(chip.step(file).launch_bound());
}

TEST_CASE("unknown work takes its prior, and its part is told") {
    Chip chip;
    const FileRow guess = row_of("1", "unknown", {{"name", "mystery"}, {"bytes", "4e8"}});
    const StepPrediction p = chip.step(file_of({guess, row_of("2", "copy", {{"n", "100000000"}})}));
    const auto prior = workloads::estimate_unknown({.bytes = 4e8}, chip.predictor, {});
    CHECK(p.rows[0].time_us == doctest::Approx(1e6 * prior.time));
    CHECK(p.rows[0].low_us == doctest::Approx(1e6 * prior.low));
    CHECK(p.rows[0].high_us == doctest::Approx(1e6 * prior.high));
    CHECK(p.rows[0].status == "prior");
    CHECK(p.rows[0].shape == "mystery");
    CHECK(p.unknown_us == doctest::Approx(p.rows[0].time_us));
}

TEST_CASE("conditions of a row are its own") {
    Chip chip;
    const StepPrediction p = chip.step(file_of({row_of("1", "copy", {{"n", "4000000"}, {"cache", "warm"}}),
                                                row_of("2", "copy", {{"n", "4000000"}, {"cache", "cold"}})}));
    CHECK(p.rows[0].time_us < 0.95 * p.rows[1].time_us);
}

TEST_CASE("copies between host and device run beside kernels of another stream") {
    Chip chip;
    StepFile file = file_of({row_of("1", "h2d", {{"bytes", "67108864"}, {"kind", "pinned"}}),
                             row_of("2", "d2h", {{"bytes", "67108864"}, {"kind", "pinned"}}),
                             row_of("3", "copy", {{"n", "300000000"}})});
    for (FileRow& row : file.rows) row.stream = row.id;
    const StepPrediction p = chip.step(file);
    double longest = 0.0;
    for (const auto& row : p.rows) longest = std::max(longest, row.time_us);
    CHECK(p.span_us < 1.02 * longest);
    CHECK(p.kernel_us > 2.0 * longest);
    REQUIRE(p.critical.size() == 1);
}

TEST_CASE("what cannot be predicted is refused with the row's name") {
    Chip chip;
    const auto refuses = [&](FileRow row, std::string_view place) {
        const std::string told = refusal(chip, file_of({std::move(row)}));
        INFO(told);
        CHECK(told.starts_with(place));
    };
    refuses(row_of("x", "gemmm", {}), "a.step row x op");
    refuses(row_of("x", "copy", {{"n", "0"}}), "a.step row x copy n");
    refuses(row_of("x", "copy", {{"n", "8"}, {"cache", "luke"}}), "a.step row x cache");
    refuses(row_of("x", "unknown", {{"name", "y"}}), "a.step row x bytes");
    refuses(row_of("x", "unknown", {{"bytes", "8"}, {"m", "8"}}), "a.step row x m");
    for (const char* bytes : {"-1", "nan", "inf", "8x", "", "1e300", "18446744073709551615"}) {
        refuses(row_of("x", "unknown", {{"bytes", bytes}}), "a.step row x bytes");
    }
}

TEST_CASE("a circle of waits is named") {
    Chip chip;
    StepFile file = file_of({row_of("a", "copy", {{"n", "8"}}), row_of("b", "copy", {{"n", "8"}})});
    file.rows[0].stream = "0";
    file.rows[1].stream = "1";
    file.rows[0].after = {"b"};
    file.rows[1].after = {"a"};
    const std::string told = refusal(chip, file);
    INFO(told);
    const bool named =
        told.find("'a, b, a'") != std::string::npos || told.find("'b, a, b'") != std::string::npos;
    CHECK(named);
}

TEST_CASE("launching takes two names") {
    CHECK(steps::launching_of("eager") == model::system::Launching::eager);
    CHECK(steps::launching_of("graph") == model::system::Launching::graph);
    CHECK_THROWS_AS(static_cast<void>(steps::launching_of("Graph")), Error);
}

TEST_CASE("in a chain a row pays for dirty lines before it, and finds what it reads again") {
    Chip chip;
    StepOptions options;
    options.chain = true;
    const auto step = [&](std::vector<steps::Near> near) {
        StepFile file =
            file_of({row_of("1", "silu", {{"n", "8388608"}}), row_of("2", "gelu", {{"n", "8388608"}})});
        file.rows[1].near = std::move(near);
        return chip.step(file, options).rows[1].time_us;
    };
    model::prediction::Conditions cold, flushed;
    cold.cache = model::prediction::Cache::cold;
    const workloads::Operation gelu = workloads::make_operation("gelu", {{"n", "8388608"}});
    const double clean = 1e6 * chip.predictor.evaluate(gelu, cold).time;
    const double dirty = 1e6 * chip.predictor.evaluate(gelu, flushed).time;
    const double alone = step({});
    CHECK(alone > clean);
    CHECK(alone < dirty);
    CHECK(step({{16777216.0, 0.0}}) < alone);
    CHECK(step({{16777216.0, 1e9}}) == doctest::Approx(alone));  // too many bytes since
}

namespace {

model::prediction::Conditions sustained() {
    model::prediction::Conditions conditions;
    conditions.cache = model::prediction::Cache::cold;
    conditions.duty = model::prediction::Duty::sustained;
    return conditions;
}

}  // namespace

TEST_CASE("a step of one product again and again runs at the product's own sustained clock") {
    Chip chip;
    const auto operation = workloads::make_operation("gemm", {{"m", "8192"}, {"n", "8192"}, {"k", "8192"}});
    const auto conditions = sustained();
    const auto alone = chip.predictor.explain(operation, conditions);
    StepFile file = file_of({row_of("1", "gemm", {{"m", "8192"}, {"n", "8192"}, {"k", "8192"}})});
    file.rows[0].repeat = 100;
    const StepPrediction p = chip.step(file, {}, conditions);
    REQUIRE(p.power);
    CHECK(p.power->clock_share < 0.95);
    CHECK(p.power->average_w == doctest::Approx(chip.gpu.power.limit.value()).epsilon(2e-3));
    CHECK(p.rows[0].clock_mhz == doctest::Approx(alone.clock_hz / 1e6).epsilon(5e-3));
    CHECK(p.kernel_us == doctest::Approx(1e8 * alone.time).epsilon(5e-3));
    CHECK(p.rows[0].energy_mj == doctest::Approx(p.kernel_us * p.power->average_w / 1e3).epsilon(5e-3));
}

TEST_CASE("one power limit holds a whole step: quiet rows lend their power to busy ones") {
    Chip chip;
    const FileRow busy = row_of("1", "gemm", {{"m", "8192"}, {"n", "8192"}, {"k", "8192"}});
    const FileRow quiet = row_of("2", "copy", {{"n", "500000000"}});
    const auto predicted = [&](const StepFile& file) {
        StepPrediction p = chip.step(file, {}, sustained());
        REQUIRE(p.power);
        return p;
    };
    const StepPrediction alone = predicted(file_of({busy}));
    const StepPrediction both = predicted(file_of({busy, quiet}));
    CHECK(both.power->clock_share > alone.power->clock_share);
    CHECK(both.rows[0].time_us < alone.rows[0].time_us);
    // Work that needs less than the limit keeps its clocks.
    const StepPrediction idle = predicted(file_of({quiet}));
    CHECK(idle.power->clock_share == 1.0);
    CHECK(idle.power->average_w < chip.gpu.power.limit.value());
}

TEST_CASE("power is asked for by the duty alone, a given clock is kept, and unknown work has its share") {
    Chip chip;
    const StepFile file = file_of({row_of("1", "gemm", {{"m", "8192"}, {"n", "8192"}, {"k", "8192"}}),
                                   row_of("2", "unknown", {{"bytes", "1000000000"}})});
    CHECK_FALSE(chip.step(file).power);
    auto conditions = sustained();
    const StepPrediction free = chip.step(file, {}, conditions);
    REQUIRE(free.power);
    CHECK(free.rows[1].energy_mj > 0.0);
    CHECK(free.rows[1].energy_mj * 1e3 < free.rows[1].time_us * free.power->average_w);
    conditions.clock_hz = 1e9;
    const StepPrediction given = chip.step(file, {}, conditions);
    CHECK_FALSE(given.power);
    CHECK(given.kernel_us > free.kernel_us);
}
