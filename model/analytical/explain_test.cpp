// A prediction in full: the same time as the hot answer, shares that sum to one, bounds that are bounds.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/explain.hpp"

#include "hw/setting.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"
#include "model/prediction/status.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
namespace prediction = warptime::model::prediction;
using namespace warptime::model::analytical;
using prediction::Limiter;

namespace {

mk::Kernel any_kernel() {
    const auto tiles = [] { return 128 * *rc::gen::inRange<std::int64_t>(1, 50); };
    const std::int64_t k = 64 * *rc::gen::inRange<std::int64_t>(1, 80);
    mk::Kernel kernel;
    switch (*rc::gen::inRange(0, 4)) {
        case 0:
            return fixture::arithmetic(*rc::gen::inRange<std::int64_t>(1, 5000), *rc::gen::inRange(1, 300));
        case 1:
            return fixture::stream(*rc::gen::inRange<std::int64_t>(1, 40000), *rc::gen::inRange(1, 4));
        case 2:
            mk::examples::cp_async_gemm(kernel, {tiles(), tiles(), k});
            return kernel;
        default:
            break;
    }
    mk::examples::WarpSpecializedGemm problem{tiles(), 2 * tiles(), k, 3};
    problem.pingpong = *rc::gen::arbitrary<bool>();
    mk::examples::warp_specialized_gemm(kernel, problem);
    return kernel;
}

prediction::Conditions any_conditions() {
    prediction::Conditions conditions;
    conditions.cache =
        *rc::gen::element(prediction::Cache::cold, prediction::Cache::flushed, prediction::Cache::warm);
    conditions.clock_hz = *rc::gen::element(0.0, 1.2e9);
    conditions.available_sms = *rc::gen::element(0, 17, 100);
    return conditions;
}

double sum_of_shares(const prediction::Prediction& p) {
    double sum = 0.0;
    for (const auto& [name, share] : p.shares) {
        sum += share;
    }
    return sum;
}

}  // namespace

TEST_CASE("laws of every explained kernel") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    CHECK(rc::check("time, shares, bounds, utilization", [&] {
        mk::Program program;
        program.add_kernel() = any_kernel();
        program.kernels[0].evidence = *rc::gen::element(mk::Evidence::any, mk::Evidence::own);
        program.kernels[0].coverage = *rc::gen::element(mk::Coverage{}, mk::Coverage{0.5, 0.25, 0.25});
        const prediction::Conditions conditions = any_conditions();
        const auto stages = engine->make_stages(gpu);
        const auto hot = stages->evaluate(program, program.steps[0], conditions);
        const auto p = engine->explain(program, program.steps[0], gpu, conditions);
        RC_ASSERT(p.time == hot.time);
        RC_ASSERT(p.low == hot.low);
        RC_ASSERT(p.high == hot.high);
        RC_ASSERT(p.limiter == hot.limiter);
        RC_ASSERT(hot.evidence == program.kernels[0].evidence);
        RC_ASSERT(p.status == prediction::status_of(gpu, conditions, hot.evidence));
        RC_ASSERT(p.low > 0.0);
        RC_ASSERT(p.low < p.time);
        RC_ASSERT(p.time < p.high);
        RC_ASSERT(p.kernel_class == prediction::class_of(p.limiter));

        RC_ASSERT(std::abs(sum_of_shares(p) - 1.0) < 1e-9);
        for (const auto& [name, share] : p.shares) {
            RC_ASSERT(share >= 0.0);
        }

        bool limiter_found = false;
        for (const prediction::Bound& bound : p.bounds) {
            RC_ASSERT(std::isfinite(bound.time));
            RC_ASSERT(bound.time >= 0.0);
            limiter_found = limiter_found || bound.limiter == p.limiter;
            // Work over rate is a lower bound wherever one server does it all.
            if (bound.limiter == Limiter::dram || bound.limiter == Limiter::tensor_core ||
                bound.limiter == Limiter::l2 || bound.limiter == Limiter::launch) {
                RC_ASSERT(bound.time <= p.time * (1.0 + 1e-9));
            }
        }
        RC_ASSERT(limiter_found);
        RC_ASSERT(std::is_sorted(p.bounds.begin(), p.bounds.end(),
                                 [](const auto& a, const auto& b) { return a.time > b.time; }));
        for (const double use :
             {p.utilization.tensor, p.utilization.fp32, p.utilization.issue, p.utilization.shared,
              p.utilization.l1, p.utilization.l2, p.utilization.dram}) {
            RC_ASSERT(use >= 0.0);
            RC_ASSERT(use <= 1.0 + 1e-9);
        }
        RC_ASSERT(p.steps.size() == 1U);
        RC_ASSERT(p.steps[0].time == p.time);
        RC_ASSERT(p.constants.own + p.constants.inherited > 0);
        RC_ASSERT(p.clock_hz > 0.0);
    }));
}

TEST_CASE("the limiter is what the kernel was made of") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto limiter = [&](const mk::Kernel& kernel) {
        return explain_kernel(kernel, gpu, prediction::Conditions{}).limiter;
    };
    // On Hopper a fused multiply-add takes its pipe as long as it takes its issue slot.
    const Limiter arithmetic = limiter(fixture::arithmetic(132 * 8 * 10, 1000));
    CHECK((arithmetic == Limiter::fp32 || arithmetic == Limiter::issue));
    CHECK(limiter(fixture::stream(200000, 2)) == Limiter::dram);
    CHECK(limiter(fixture::arithmetic(1, 1)) == Limiter::launch);
    mk::Kernel gemm;
    mk::examples::warp_specialized_gemm(gemm, {8192, 8192, 8192, 3});
    CHECK(limiter(gemm) == Limiter::tensor_core);
}

TEST_CASE("what was achieved is work over time") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto p = explain_kernel(fixture::arithmetic(1000, 100), gpu, prediction::Conditions{});
    CHECK(p.flops_per_s * p.time == doctest::Approx(1000.0 * 100 * 8 * 64 * 64));
    mk::Kernel gemm;
    mk::examples::warp_specialized_gemm(gemm, {4096, 4096, 4096, 3});
    const auto q = explain_kernel(gemm, gpu, prediction::Conditions{});
    // The example peels one of its 64 products; roles of different trips count at the longest.
    CHECK(q.flops_per_s * q.time == doctest::Approx(2.0 * 4096 * 4096 * 4096).epsilon(1.0 / 60));
}

TEST_CASE("evidence and coverage decide the status and the band, never the time") {
    const auto gpu = hw::load_gpu("h200-sxm");
    REQUIRE(gpu.calibrated);
    mk::Kernel stream = fixture::stream(200000, 2);
    const auto unknown = explain_kernel(stream, gpu, prediction::Conditions{});
    CHECK(unknown.status == prediction::Status::extrapolated);
    CHECK(unknown.band_source == "residuals of the textbook programs' development half");
    CHECK(unknown.high == doctest::Approx(unknown.time * std::exp(gpu.band.described.value())).scale(1e-6));
    stream.evidence = mk::Evidence::own;
    const auto recorded = explain_kernel(stream, gpu, prediction::Conditions{});
    CHECK(recorded.status == prediction::Status::calibrated);
    CHECK(recorded.band_source == "residuals of this GPU's fit and development rows");
    CHECK(recorded.time == unknown.time);
    CHECK(recorded.high == doctest::Approx(recorded.time * std::exp(gpu.band.memory.value())).scale(1e-6));
    stream.coverage = {0.5, 0.25, 0.25};
    const auto sampled = explain_kernel(stream, gpu, prediction::Conditions{});
    CHECK(sampled.time == unknown.time);
    CHECK(sampled.high ==
          doctest::Approx(sampled.time * std::exp(1.5 * gpu.band.memory.value())).scale(1e-6));
    stream.evidence = mk::Evidence::any;
    const auto inherited = explain_kernel(stream, hw::load_gpu("t4"), prediction::Conditions{});
    CHECK(inherited.band_source ==
          "residuals of the textbook programs' development half on the sibling that the constants come from");
    // Nothing of its architecture was measured: errors of GPUs that were left out of every fit stand for it.
    const std::string pool = "residuals of GPUs that the constants do not come from, this one ";
    stream.evidence = mk::Evidence::own;
    stream.coverage = {};
    const auto b200 = hw::load_gpu("b200");
    const auto left_out = explain_kernel(stream, b200, prediction::Conditions{});
    CHECK(left_out.band_source == pool + "not among them");
    CHECK(explain_kernel(stream, hw::load_gpu("l40s"), prediction::Conditions{}).band_source ==
          pool + "among them");
    for (const char* id : {"rtx-4090", "l4"}) {
        CHECK(explain_kernel(stream, hw::load_gpu(id), prediction::Conditions{}).band_source ==
              pool + "not among them");
    }
    CHECK(left_out.high == doctest::Approx(left_out.time * std::exp(b200.band.memory.value())).scale(1e-6));
    CHECK(b200.band.compute.value() > hw::load_gpu("h100-sxm").band.compute.value());
    CHECK(hw::load_gpu("gb300").band.compute.value() == b200.band.compute.value());
    stream.evidence = mk::Evidence::pooled;
    const auto pooled = explain_kernel(stream, gpu, prediction::Conditions{});
    CHECK(pooled.time == unknown.time);
    CHECK(pooled.status == prediction::Status::extrapolated);
    CHECK(pooled.high == doctest::Approx(pooled.time * std::exp(gpu.band.pooled.value())).scale(1e-6));
    // Such rows are those of an H200 and an H100; their relatives take the width from there.
    const std::string own = "residuals of this GPU's fit and development rows of all operators together";
    CHECK(pooled.band_source == own);
    CHECK(explain_kernel(stream, hw::load_gpu("h100-sxm"), prediction::Conditions{}).band_source == own);
    CHECK(gpu.band.pooled_small.value() < hw::load_gpu("h100-sxm").band.pooled_small.value());
    CHECK(explain_kernel(stream, hw::load_gpu("gh200"), prediction::Conditions{}).band_source ==
          "residuals of all operators together on the sibling that these are recorded on");
    const std::vector<hw::Setting> settings{hw::parse_setting("gpu.l2.capacity=2x")};
    CHECK(explain_kernel(stream, hw::load_gpu("h200-sxm", settings), prediction::Conditions{}).status ==
          prediction::Status::what_if);
}

TEST_CASE("memory steps are explained like kernels") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    mk::Program program;
    program.add_memset(4);
    program.add_memcpy(mk::Memcpy{std::int64_t{1} << 28});
    for (const mk::Step& step : program.steps) {
        const auto p = engine->explain(program, step, gpu, prediction::Conditions{});
        CHECK(std::abs(sum_of_shares(p) - 1.0) < 1e-9);
        CHECK(std::any_of(p.bounds.begin(), p.bounds.end(),
                          [&](const prediction::Bound& b) { return b.limiter == p.limiter; }));
        CHECK(p.steps.size() == 1);
    }
    const auto copy = engine->explain(program, program.steps[1], gpu, prediction::Conditions{});
    CHECK(copy.steps[0].kind == "memcpy");
    CHECK(copy.limiter == Limiter::dram);
    CHECK(copy.utilization.dram <= 1.0);
    CHECK(engine->explain(program, program.steps[0], gpu, prediction::Conditions{}).limiter ==
          Limiter::launch);
}
