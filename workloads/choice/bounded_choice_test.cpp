// Bounds against predictions of the same candidates, and bounded choices against choices that predict all.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/system/program.hpp"
#include "workloads/choice/choice_memory.hpp"
#include "workloads/choice/library_picks.hpp"
#include "workloads/choice/vendor_choice.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/operator.hpp"
#include "workloads/gemm/request.hpp"
#include "workloads/libraries/library.hpp"
#include "workloads/predict.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace warptime::workloads;
using namespace warptime::workloads::choice;
using gemm::Config;
using gemm::Major;
using gemm::Problem;
using warptime::hw::Dtype;
namespace mk = warptime::model::kernel;
namespace prediction = warptime::model::prediction;
namespace system_model = warptime::model::system;

namespace {

const libraries::Libraries& data() {
    static const libraries::Libraries all = libraries::load_libraries();
    return all;
}

const warptime::hw::Gpu& h200() {
    static const warptime::hw::Gpu gpu = warptime::hw::load_gpu("h200-sxm");
    return gpu;
}

std::int64_t any_size() {
    return *rc::gen::oneOf(
        rc::gen::map(rc::gen::inRange<std::int64_t>(1, 700),
                     [](std::int64_t eighths) { return 8 * eighths; }),
        rc::gen::map(rc::gen::inRange(4, 14), [](int power) { return std::int64_t{1} << power; }),
        rc::gen::inRange<std::int64_t>(1, 3000));
}

Problem any_problem() {
    Problem p;
    p.m = any_size();
    p.n = any_size();
    p.k = any_size();
    p.batch = *rc::gen::element<std::int64_t>(1, 1, 1, 5);
    p.a = p.b =
        *rc::gen::element(Dtype::bf16, Dtype::fp16, Dtype::fp8, Dtype::tf32, Dtype::fp32, Dtype::int8);
    p.out = p.a == Dtype::fp8 ? Dtype::bf16 : p.a == Dtype::int8 ? Dtype::int32 : p.a;
    if (p.a == Dtype::int8) p.accumulator = Dtype::int32;
    p.a_major = *rc::gen::element(Major::k, Major::other);
    p.b_major = *rc::gen::element(Major::k, Major::other);
    if (*rc::gen::inRange(0, 6) == 0) p.lda = (p.a_major == Major::k ? p.k : p.m) + 8;
    return p;
}

prediction::Conditions any_conditions() {
    prediction::Conditions conditions;
    conditions.cache =
        *rc::gen::element(prediction::Cache::flushed, prediction::Cache::cold, prediction::Cache::warm);
    conditions.duty = *rc::gen::element(prediction::Duty::isolated, prediction::Duty::sustained);
    conditions.data = *rc::gen::element(prediction::OperandData::random, prediction::OperandData::zeros);
    conditions.available_sms = *rc::gen::element(0, 0, 40);
    if (*rc::gen::inRange(0, 6) == 0) conditions.clock_hz = 1.2e9;
    return conditions;
}

/// Whether `least` is a bound of `time`, as its limit says.
bool bounds(double least, double time, double limit) {
    return least < limit ? least <= time : limit <= time;
}

}  // namespace

TEST_CASE("no kernel that the library is known to launch is predicted below its bound, whatever the limit") {
    const auto stages = warptime::model::analytical::make_engine()->make_stages(h200());
    const libraries::PickTable& table = data().pick_tables.front();
    ChoiceMemory memory(h200());
    memory.begin_picks(table);
    std::size_t without_description = 0;
    CHECK(rc::check([&] {
        const Problem p = any_problem();
        const prediction::Conditions conditions = any_conditions();
        const LikelyPicks picks = picks_of(p, table, h200());
        std::vector<int> numbers(picks.likely.begin(), picks.likely.end());
        numbers.insert(numbers.end(), picks.around.begin(), picks.around.end());
        if (numbers.size() > 24) numbers.resize(24);
        for (const int number : numbers) {
            const libraries::KernelPick& pick = table.picks[static_cast<std::size_t>(number)];
            if (pick.family < 0) continue;
            const Config config = config_of_pick(
                p, pick, table, data().gemm_families[static_cast<std::size_t>(pick.family)], h200());
            KnownBody* known = memory.body_of(number, p, config);
            const mk::Program& program = memory.lower(p, config, known);
            const double time = system_model::evaluate(program, *stages, conditions).time;
            const double limit = time * *rc::gen::element(0.3, 0.8, 0.95, 1.0, 1.0000001, 1.05, 1.3, 1e6);
            const auto body = known == nullptr ? prediction::unknown_body : known->body;
            const double least = system_model::least_time(program, *stages, conditions, limit, body);
            RC_ASSERT(least > 0.0);
            RC_ASSERT(bounds(least, time, limit));
            if (known == nullptr) continue;
            // Sizes alone give the bound of the first kernel.
            const mk::Kernel& kernel = program.kernels.front();
            const prediction::LaunchSizes sizes = ChoiceMemory::sizes_of(*known, p, config);
            RC_ASSERT(sizes.items == kernel.schedule.item_count());
            RC_ASSERT(sizes.ctas == kernel.grid.volume());
            const double of_sizes = stages->least_time_of(body, sizes, conditions, limit);
            if (of_sizes == 0.0) continue;
            ++without_description;
            RC_ASSERT(bounds(of_sizes, stages->evaluate(program, program.steps.back(), conditions, body).time,
                             limit));
            // They say more than the description does, as far as the limit lets them.
            RC_ASSERT(limit <= of_sizes || of_sizes >= stages->least_time(kernel, conditions, limit, body));
            RC_ASSERT(limit <= of_sizes || of_sizes >= stages->least_time(kernel, conditions, limit));
        }
    }));
    CHECK(without_description > 0);
}

TEST_CASE("few candidates of a product are predicted, since bounds lie near predictions") {
    const auto stages = warptime::model::analytical::make_engine()->make_stages(h200());
    const prediction::Conditions conditions;
    ChoiceMemory memory(h200());
    int candidates = 0;
    int predicted = 0;
    const auto time = [&](const Candidate& candidate, double limit) {
        const auto& [program, body, bounded] = candidate;
        if (!bounded && !(system_model::least_time(program, *stages, conditions, limit, body) < limit))
            return std::numeric_limits<double>::infinity();
        ++predicted;
        return system_model::evaluate(program, *stages, conditions).time;
    };
    const auto least = [&](prediction::BodyNumber body, const prediction::LaunchSizes& sizes, double limit) {
        return stages->least_time_of(body, sizes, conditions, limit);
    };
    const auto each = [&](const mk::Program&, double) {
        ++candidates;
        return 1.0;
    };
    for (int round = 0; round < 2; ++round) {
        // Bodies that are met for the first time are predicted without a bound of their own.
        candidates = predicted = 0;
        for (const std::int64_t rows : {64, 400, 1500, 4096, 8000}) {
            for (const std::int64_t depth : {256, 2048, 8192}) {
                Problem p;
                p.m = rows;
                p.n = 4096;
                p.k = depth;
                (void)choose_vendor_kernel(p, data(), h200(), Score(time, least), memory);
                ChoiceMemory other(h200());
                (void)choose_vendor_kernel(p, data(), h200(), Score(each), other);
            }
        }
    }
    CHECK(predicted >= 15);
    CHECK(6 * predicted < candidates);
}

TEST_CASE("a choice by bounds is the choice among all predictions, whatever was chosen before") {
    const auto engine = warptime::model::analytical::make_engine();
    const auto stages = engine->make_stages(h200());
    Predictor predictor(*engine, h200());
    std::size_t predicted = 0;
    std::size_t chosen = 0;
    CHECK(rc::check([&] {
        const Problem p = any_problem();
        const prediction::Conditions conditions = any_conditions();
        const Score whole = [&](const mk::Program& program, double) {
            ++predicted;
            return system_model::evaluate(program, *stages, conditions).time;
        };
        ChoiceMemory memory(h200());
        mk::Program program;
        std::optional<prediction::Estimate> best;
        std::string refusal;
        try {
            const Config config = choose_vendor_kernel(p, data(), h200(), whole, memory);
            gemm::lower(p, config, h200(), program);
            best = system_model::evaluate(program, *stages, conditions);
        } catch (const warptime::Error& error) {
            refusal = error.what();
        }
        const gemm::GemmRequest open(p);
        try {
            const auto estimate = predictor.evaluate(gemm::gemm_operator(), open, conditions);
            RC_ASSERT(best.has_value());
            ++chosen;
            RC_ASSERT(estimate.time == best->time);
            RC_ASSERT(estimate.low == best->low);
            RC_ASSERT(estimate.high == best->high);
            RC_ASSERT(estimate.limiter == best->limiter);
            RC_ASSERT(predictor.program().kernels.front() == program.kernels.front());
        } catch (const warptime::Error& error) {
            RC_ASSERT(refusal == error.what());
        }
    }));
    CHECK(predicted > chosen);
}
