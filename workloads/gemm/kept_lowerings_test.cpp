// A kept lowering equals a new lowering, whatever was lowered before.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/kept_lowerings.hpp"

#include "hw/error.hpp"
#include "model/analytical/engine.hpp"
#include "model/system/program.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>

using namespace warptime::workloads::gemm;
namespace mk = warptime::model::kernel;
namespace prediction = warptime::model::prediction;
namespace system_model = warptime::model::system;
using fixture::gpu;
using warptime::hw::Dtype;

namespace {

/// A problem of few types, so that bodies repeat.
Problem any_problem() {
    Problem p = fixture::problem_of(*rc::gen::inRange(1, 40) * *rc::gen::element(1, 8, 64, 128),
                                    *rc::gen::inRange(1, 40) * *rc::gen::element(1, 8, 64, 128),
                                    *rc::gen::inRange(1, 40) * *rc::gen::element(1, 8, 16, 64),
                                    *rc::gen::element(1, 1, 3));
    p.a = p.b = p.out = *rc::gen::element(Dtype::bf16, Dtype::bf16, Dtype::fp32, Dtype::tf32);
    if (p.a == Dtype::tf32) p.out = Dtype::fp32;
    p.b_major = *rc::gen::element(Major::k, Major::other);
    if (*rc::gen::inRange(0, 8) == 0) p.lda = p.k + p.m + 8;
    if (*rc::gen::inRange(0, 8) == 0) p.ldc = p.n + 3;
    return p;
}

Config any_config() {
    Config c = fixture::tile_of(*rc::gen::element(64, 128), *rc::gen::element(16, 64, 128),
                                *rc::gen::element(32, 64));
    c.stages = *rc::gen::element(1, 2, 3, 4);
    c.warps = *rc::gen::element(4, 8);
    c.group = *rc::gen::element(1, 4, 8);
    c.raster = *rc::gen::element(mk::Raster::along_m, mk::Raster::along_n);
    c.split_k = *rc::gen::element(1, 1, 2, 5);
    c.reduction = *rc::gen::element(Reduction::workspace, Reduction::workspace, Reduction::atomic);
    c.strides_by_16 = *rc::gen::arbitrary<bool>();
    switch (*rc::gen::inRange(0, 5)) {
        case 0:
            c.specialization = Specialization::cooperative;
            c.cluster_m = *rc::gen::element(1, 2);
            break;
        case 1:
            c.pipeline = Pipeline::tma;
            break;
        case 2:
            c.schedule = mk::ScheduleKind::static_stride;
            break;
        case 3:
            c.whole_bands = true;
            break;
        default:
            break;
    }
    return c;
}

prediction::Conditions any_conditions() {
    prediction::Conditions conditions;
    conditions.cache =
        *rc::gen::element(prediction::Cache::flushed, prediction::Cache::cold, prediction::Cache::warm);
    conditions.available_sms = *rc::gen::element(0, 0, 16);
    return conditions;
}

bool same(const mk::Program& one, const mk::Program& other) {
    bool alike = one.kernel_count == other.kernel_count && one.steps == other.steps &&
                 one.memsets == other.memsets && one.memcpys == other.memcpys;
    for (std::size_t i = 0; alike && i < one.kernel_count; ++i) {
        alike = one.kernels[i] == other.kernels[i];
    }
    return alike;
}

}  // namespace

TEST_CASE("what is kept is what lowering and evaluating anew give, bit for bit") {
    const auto engine = warptime::model::analytical::make_engine();
    const auto fresh = engine->make_stages(gpu());
    CHECK(rc::check("many problems with few tiles", [&] {
        KeptLowerings kept(gpu());
        const auto stages = engine->make_stages(gpu());
        const std::vector<Config> configs = {any_config(), any_config()};
        const Problem first = any_problem();
        const std::vector<Dtype> types = {first.a, Dtype::bf16};
        for (int i = 0; i < 24; ++i) {
            Problem problem = *rc::gen::inRange(0, 6) == 0 ? first : any_problem();
            problem.a = problem.b = problem.out = *rc::gen::elementOf(types);
            // Sizes that fill their tiles, and others.
            if (*rc::gen::arbitrary<bool>()) problem.n = ceil_div(problem.n, 128) * 128;
            if (*rc::gen::arbitrary<bool>()) problem.k = ceil_div(problem.k, 64) * 64;
            Config config = *rc::gen::elementOf(configs);
            config.group = *rc::gen::element(1, 8);
            mk::Program anew;
            bool runs = true;
            try {
                lower(problem, config, gpu(), anew);
            } catch (const warptime::Error& error) {
                runs = false;
                std::string said;
                try {
                    static_cast<void>(kept.lower(problem, config));
                } catch (const warptime::Error& again) {
                    said = again.what();
                }
                RC_ASSERT(said == error.what());
            }
            if (!runs) continue;
            const auto lowered = kept.lower(problem, config);
            RC_ASSERT(same(lowered.program, anew));
            const prediction::Conditions conditions = any_conditions();
            const auto once = system_model::evaluate(anew, *fresh, conditions);
            const auto again = system_model::evaluate(lowered.program, *stages, conditions, lowered.body);
            RC_ASSERT(once.time == again.time);
            RC_ASSERT(once.low == again.low);
            RC_ASSERT(once.high == again.high);
            RC_ASSERT(once.limiter == again.limiter);
        }
    }));
}

TEST_CASE("bodies have a number of their own, which problems of other sizes share") {
    KeptLowerings kept(gpu());
    Config config = fixture::tile_of(128, 128, 64);
    const auto body = kept.lower(fixture::problem_of(1024, 1024, 1024), config).body;
    CHECK(body != prediction::unknown_body);
    CHECK(kept.lower(fixture::problem_of(1000, 2048, 512), config).body == body);
    config.group = 8;
    CHECK(kept.lower(fixture::problem_of(1024, 1024, 1024), config).body == body);
    config.stages = 4;
    CHECK(kept.lower(fixture::problem_of(1024, 1024, 1024), config).body != body);
    // The pitch limits the bytes that lanes copy.
    config.strides_by_16 = true;
    CHECK(kept.lower(fixture::problem_of(1024, 1024, 1001), config).body == prediction::unknown_body);
}
