// Tile evaluations a second on one core, over distinct problems and tilings.
// Nothing is remembered between evaluations, except where a benchmark says so.
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm_cases.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/system/program.hpp"
#include "workloads/choice/tiles/rank.hpp"
#include "workloads/choice/tiles/space.hpp"
#include "workloads/gemm/kept_lowerings.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/predict.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace bench = warptime::bench;
namespace gemm = warptime::workloads::gemm;
namespace kernel = warptime::model::kernel;
namespace prediction = warptime::model::prediction;
namespace system_model = warptime::model::system;
namespace workloads = warptime::workloads;

struct Fixture {
    warptime::hw::Gpu gpu = warptime::hw::load_gpu("h200-sxm");
    std::vector<bench::GemmCase> cases = bench::gemm_cases(gpu);
    std::unique_ptr<prediction::Engine> engine = warptime::model::analytical::make_engine();
    std::unique_ptr<prediction::Stages> stages = engine->make_stages(gpu);
    prediction::Conditions conditions;

    [[nodiscard]] prediction::Estimate evaluate(const kernel::Program& program) const {
        return system_model::evaluate(program, *stages, conditions);
    }
};

void lower_and_evaluate(benchmark::State& state) {
    const Fixture f;
    kernel::Program program;
    std::size_t at = 0;
    std::size_t kernels = 0;
    for ([[maybe_unused]] const auto step : state) {
        const bench::GemmCase& c = f.cases[at];
        program.clear();
        gemm::lower(c.problem, c.config, f.gpu, program);
        kernels += program.kernel_count;
        auto estimate = f.evaluate(program);
        benchmark::DoNotOptimize(estimate);
        at = at + 1 < f.cases.size() ? at + 1 : 0;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
    // A third of the cases split K and have a second kernel that adds the parts.
    state.counters["kernels_per_second"] =
        benchmark::Counter(static_cast<double>(kernels), benchmark::Counter::kIsRate);
}

/// Known tiles with new problems: every number of rows, over the matrices of a model.
void known_tiles(benchmark::State& state) {
    const Fixture f;
    constexpr std::array<std::array<std::int64_t, 2>, 4> columns_and_depth{
        {{4096, 4096}, {6144, 4096}, {28672, 4096}, {4096, 14336}}};
    std::vector<gemm::Config> configs;
    for (const bench::GemmCase& c : f.cases) {
        const bool known = std::find(configs.begin(), configs.end(), c.config) != configs.end();
        if (!known && c.config.split_k == 1) configs.push_back(c.config);
    }
    gemm::KeptLowerings kept(f.gpu);
    gemm::Problem problem;
    std::size_t at = 0;
    for ([[maybe_unused]] const auto step : state) {
        const auto& [n, k] = columns_and_depth[at / configs.size() % columns_and_depth.size()];
        problem.m = 64 + static_cast<std::int64_t>(at * 37 % 8128);
        problem.n = n;
        problem.k = k;
        const auto lowered = kept.lower(problem, configs[at % configs.size()]);
        auto estimate = system_model::evaluate(lowered.program, *f.stages, f.conditions, lowered.body);
        benchmark::DoNotOptimize(estimate);
        ++at;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

/// Matrices whose rows are no multiple of 16 elements, which Triton fetches element by element.
void lower_and_evaluate_unaligned(benchmark::State& state) {
    const Fixture f;
    gemm::Config config;
    config.cta_m = config.cta_n = 128;
    config.cta_k = 64;
    config.stages = 3;
    config.warps = config.group = 8;
    config.strides_by_16 = true;
    gemm::Problem problem;
    kernel::Program program;
    std::int64_t at = 0;
    for ([[maybe_unused]] const auto step : state) {
        problem.m = problem.n = problem.k = 1000 + 16 * at;
        program.clear();
        gemm::lower(problem, config, f.gpu, program);
        auto estimate = f.evaluate(program);
        benchmark::DoNotOptimize(estimate);
        at = (at + 1) % 256;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

void lower_alone(benchmark::State& state) {
    const Fixture f;
    kernel::Program program;
    std::size_t at = 0;
    for ([[maybe_unused]] const auto step : state) {
        const bench::GemmCase& c = f.cases[at];
        program.clear();
        gemm::lower(c.problem, c.config, f.gpu, program);
        benchmark::DoNotOptimize(program.kernels.data());
        at = at + 1 < f.cases.size() ? at + 1 : 0;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

/// Few enough programs to stay in cache, as one refilled program does.
void evaluate_alone(benchmark::State& state) {
    const Fixture f;
    std::vector<kernel::Program> programs(16);
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const bench::GemmCase& c = f.cases[i * f.cases.size() / programs.size()];
        gemm::lower(c.problem, c.config, f.gpu, programs[i]);
    }
    std::size_t at = 0;
    for ([[maybe_unused]] const auto step : state) {
        auto estimate = f.evaluate(programs[at]);
        benchmark::DoNotOptimize(estimate);
        at = (at + 1) % programs.size();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

/// One operation from its parameters as text; the library's kernel is chosen among all that it ships.
void predict_library_choice(benchmark::State& state) {
    const Fixture f;
    workloads::Predictor predictor(*f.engine, f.gpu);
    std::vector<workloads::Operation> operations;
    for (const int size : {512, 1024, 1536, 2048, 3072, 4096, 6144, 8192}) {
        const std::string text = std::to_string(size);
        operations.push_back(workloads::make_operation("gemm", {{"m", text}, {"n", text}, {"k", "4096"}}));
    }
    std::size_t at = 0;
    for ([[maybe_unused]] const auto step : state) {
        auto estimate = predictor.evaluate(operations[at], f.conditions);
        benchmark::DoNotOptimize(estimate);
        at = (at + 1) % operations.size();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

/// A thousand tiles of one problem, from their configurations to a sorted list. The list holds all tiles, or
/// the ten fastest.
void rank_thousand_tiles(benchmark::State& state, const char* size, std::size_t top) {
    const Fixture f;
    const workloads::Operation operation =
        workloads::make_operation("gemm", {{"m", size}, {"n", size}, {"k", size}});
    std::vector<workloads::choice::tiles::Candidate> space =
        workloads::choice::tiles::space_named("triton", operation, f.gpu);
    space.resize(1000);
    for ([[maybe_unused]] const auto step : state) {
        auto ranking = workloads::choice::tiles::rank(operation, space, *f.engine, f.gpu, f.conditions, top);
        benchmark::DoNotOptimize(ranking);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                            static_cast<std::int64_t>(space.size()));
}

void load_sheet(benchmark::State& state) {
    for ([[maybe_unused]] const auto step : state) {
        auto gpu = warptime::hw::load_gpu("h200-sxm");
        benchmark::DoNotOptimize(gpu);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

}  // namespace

BENCHMARK(lower_and_evaluate);
BENCHMARK(known_tiles);
BENCHMARK(lower_and_evaluate_unaligned);
BENCHMARK(lower_alone);
BENCHMARK(evaluate_alone);
BENCHMARK(predict_library_choice);
BENCHMARK_CAPTURE(rank_thousand_tiles, all, "4096", 1000U);
BENCHMARK_CAPTURE(rank_thousand_tiles, ten, "4096", 10U);
BENCHMARK_CAPTURE(rank_thousand_tiles, ten_of_1024, "1024", 10U);
BENCHMARK(load_sheet);
