// The hot path allocates nothing once warm: evaluate, and lowering into a program that has held as much.
// SPDX-License-Identifier: Apache-2.0
#include "bench/allocation_count.hpp"
#include "bench/gemm_cases.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/system/program.hpp"
#include "workloads/gemm/kept_lowerings.hpp"
#include "workloads/gemm/lower.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace bench = warptime::bench;
namespace gemm = warptime::workloads::gemm;
namespace kernel = warptime::model::kernel;
namespace prediction = warptime::model::prediction;
namespace system_model = warptime::model::system;

namespace {

void lower_all(const std::vector<bench::GemmCase>& cases, const warptime::hw::Gpu& gpu,
               kernel::Program& program) {
    for (const bench::GemmCase& c : cases) {
        program.clear();
        gemm::lower(c.problem, c.config, gpu, program);
    }
}

}  // namespace

TEST_CASE("the counter counts") {
    const std::size_t before = bench::allocation_count();
    const std::vector<int> one(1000);
    const std::string two(1000, 'x');
    CHECK(one.size() + two.size() == 2000);
    CHECK(bench::allocation_count() == before + 2);
}

TEST_CASE("lowering into a warm program allocates nothing") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const std::vector<bench::GemmCase> cases = bench::gemm_cases(gpu);
    REQUIRE(cases.size() > 1000);
    kernel::Program program;
    lower_all(cases, gpu, program);
    const std::size_t before = bench::allocation_count();
    lower_all(cases, gpu, program);
    CHECK(bench::allocation_count() == before);
}

TEST_CASE("evaluate allocates nothing, with any conditions") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const std::vector<bench::GemmCase> cases = bench::gemm_cases(gpu);
    const auto engine = warptime::model::analytical::make_engine();
    const auto stages = engine->make_stages(gpu);
    prediction::Conditions warm;
    warm.cache = prediction::Cache::warm;
    warm.available_sms = 66;
    kernel::Program program;
    lower_all(cases, gpu, program);
    double time = 0.0;
    for (const prediction::Conditions& conditions : {prediction::Conditions{}, warm}) {
        const std::size_t before = bench::allocation_count();
        for (const bench::GemmCase& c : cases) {
            program.clear();
            gemm::lower(c.problem, c.config, gpu, program);
            time += system_model::evaluate(program, *stages, conditions).time;
        }
        CHECK(bench::allocation_count() == before);
    }
    CHECK(time > 0.0);
}

TEST_CASE("evaluate with kept bodies allocates nothing once they are known") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const std::vector<bench::GemmCase> cases = bench::gemm_cases(gpu);
    const auto engine = warptime::model::analytical::make_engine();
    const auto stages = engine->make_stages(gpu);
    gemm::KeptLowerings kept(gpu);
    const auto evaluate_all = [&] {
        double time = 0.0;
        for (const bench::GemmCase& c : cases) {
            const auto lowered = kept.lower(c.problem, c.config);
            time += system_model::evaluate(lowered.program, *stages, {}, lowered.body).time;
        }
        return time;
    };
    const double first = evaluate_all();
    const std::size_t before = bench::allocation_count();
    const double again = evaluate_all();
    CHECK(bench::allocation_count() == before);
    CHECK(first == again);
}
