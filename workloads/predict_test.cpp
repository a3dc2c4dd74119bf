// From an operation to its prediction: evaluate and explain agree bit for bit on every GPU, and laws hold.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/predict.hpp"

#include "hw/error.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "model/simulation/engine.hpp"
#include "model/system/program.hpp"
#include "workloads/operations_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

namespace hw = warptime::hw;
namespace prediction = warptime::model::prediction;
using namespace warptime::workloads;
using fixture::any_operation;

namespace {

/// Tolerance of a part in a thousand: the clock of tensor work, and times that the p-norm leaves out.
constexpr double settled = 1.0 + 2e-3;

/// One predictor for each GPU, shared by all tests.
Predictor& predictor(const std::string& id) {
    static const auto engine = warptime::model::analytical::make_engine();
    static const hw::Gpu h200 = hw::load_gpu("h200-sxm");
    static const hw::Gpu a100 = hw::load_gpu("a100-sxm-80gb");
    static const hw::Gpu l40s = hw::load_gpu("l40s");
    static Predictor on_h200(*engine, h200);
    static Predictor on_a100(*engine, a100);
    static Predictor on_l40s(*engine, l40s);
    return id == "h200-sxm" ? on_h200 : (id == "l40s" ? on_l40s : on_a100);
}

double time_of(const Operation& operation, prediction::Conditions conditions = {}) {
    return predictor("h200-sxm").evaluate(operation, conditions).time;
}

}  // namespace

TEST_CASE("explain and evaluate agree bit for bit, and shares sum to one") {
    CHECK(rc::check("random operations, conditions and GPUs", [] {
        const Operation operation = any_operation();
        Predictor& on = predictor(fixture::word({"h200-sxm", "a100-sxm-80gb", "l40s"}));
        prediction::Conditions conditions;
        conditions.cache =
            *rc::gen::element(prediction::Cache::cold, prediction::Cache::flushed, prediction::Cache::warm);
        prediction::Estimate hot;
        try {
            hot = on.evaluate(operation, conditions);
        } catch (const warptime::Error& error) {
            RC_ASSERT(!error.parameter().empty());
            RC_DISCARD("refused");
        }
        const auto full = on.explain(operation, conditions);
        RC_ASSERT(full.time == hot.time);
        RC_ASSERT(full.low == hot.low);
        RC_ASSERT(full.high == hot.high);
        RC_ASSERT(full.limiter == hot.limiter);
        RC_ASSERT(std::isfinite(full.time));
        RC_ASSERT(full.time > 0.0);
        double sum = 0.0;
        for (const auto& [name, share] : full.shares) {
            RC_ASSERT(share >= 0.0);
            sum += share;
        }
        RC_ASSERT(std::abs(sum - 1.0) < 1e-9);
        RC_ASSERT(full.steps.size() == on.program().steps.size());
        warptime::model::kernel::check(on.program());
        // The order of calls has no effect.
        RC_ASSERT(on.evaluate(operation, conditions).time == hot.time);
    }));
}

namespace {

/// Gives the same answers without bounds.
class WithoutBoundsStages final : public prediction::Stages {
  public:
    explicit WithoutBoundsStages(std::unique_ptr<prediction::Stages> of) : of_(std::move(of)) {}
    [[nodiscard]] prediction::Estimate evaluate(const warptime::model::kernel::Program& program,
                                                const warptime::model::kernel::Step& step,
                                                const prediction::Conditions& conditions,
                                                prediction::BodyNumber body) override {
        return of_->evaluate(program, step, conditions, body);
    }

  private:
    std::unique_ptr<prediction::Stages> of_;
};

class WithoutBounds final : public prediction::Engine {
  public:
    explicit WithoutBounds(const prediction::Engine& of) : of_(of) {}
    [[nodiscard]] std::string_view name() const override { return of_.name(); }
    [[nodiscard]] std::unique_ptr<prediction::Stages> make_stages(const hw::Gpu& gpu) const override {
        return std::make_unique<WithoutBoundsStages>(of_.make_stages(gpu));
    }
    [[nodiscard]] prediction::Prediction explain(const warptime::model::kernel::Program& program,
                                                 const warptime::model::kernel::Step& step,
                                                 const hw::Gpu& gpu,
                                                 const prediction::Conditions& conditions) const override {
        return of_.explain(program, step, gpu, conditions);
    }

  private:
    const prediction::Engine& of_;
};

}  // namespace

TEST_CASE("the library's choice is the same without the bounds that spare predictions") {
    static const auto engine = warptime::model::analytical::make_engine();
    static const WithoutBounds all(*engine);
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    Predictor some(*engine, gpu);
    Predictor every(*engine, gpu, &all);
    CHECK(rc::check("random products", [&] {
        const auto size = [] { return *rc::gen::inRange(1, 2 << *rc::gen::inRange(4, 14)); };
        const int m = size(), n = size(), k = size();
        const Operation operation =
            fixture::gemm(m, n, k, {{"dtype", fixture::word({"bf16", "fp16", "tf32", "fp32", "int8"})}});
        prediction::Conditions conditions;
        conditions.cache = *rc::gen::element(prediction::Cache::flushed, prediction::Cache::warm);
        prediction::Estimate chosen;
        try {
            chosen = every.evaluate(operation, conditions);
        } catch (const warptime::Error&) {
            RC_DISCARD("refused");
        }
        RC_ASSERT(some.evaluate(operation, conditions).time == chosen.time);
        RC_ASSERT(some.program().kernels.front() == every.program().kernels.front());
    }));
}

TEST_CASE("a GEMM of the same tiles is never faster for being larger") {
    CHECK(rc::check("m, n and k within a tile multiple", [] {
        const auto within = [](int tile) {
            const int tiles = *rc::gen::inRange(1, 40);
            const int less = *rc::gen::inRange(0, tile);
            return std::array<int, 2>{tile * tiles - less, tile * tiles};
        };
        const auto m = within(128);
        const auto n = within(128);
        const auto k = within(256);
        const fixture::Parameters config{
            {"cta_tile", "128x128x64"}, {"implementation", "triton"}, {"warps", "4"}, {"stages", "3"}};
        // Rows that begin inside lines cost more, so all rows here are whole lines.
        const auto even = [](int x) { return std::max(16, x / 16 * 16); };
        const auto lines = [](int x) { return std::max(64, x / 64 * 64); };
        const double smaller = time_of(fixture::gemm(even(m[0]), lines(n[0]), lines(k[0]), config));
        RC_ASSERT(smaller <= time_of(fixture::gemm(even(m[1]), lines(n[0]), lines(k[0]), config)) * settled);
        RC_ASSERT(smaller <= time_of(fixture::gemm(even(m[0]), lines(n[1]), lines(k[0]), config)) * settled);
        RC_ASSERT(smaller <= time_of(fixture::gemm(even(m[0]), lines(n[0]), lines(k[1]), config)) * settled);
    }));
}

TEST_CASE("the library's choice is faster than a small tile of Triton") {
    for (const int size : {512, 2048, 8192}) {
        const double chosen = time_of(fixture::gemm(size, size, size));
        CHECK(chosen > 0.0);
        CHECK(chosen <= time_of(fixture::gemm(size, size, size,
                                              {{"cta_tile", "64x64x32"}, {"implementation", "triton"}})));
    }
}

TEST_CASE("a warm cache is never slower, and no GEMM beats the tensor cores or the pins") {
    CHECK(rc::check("GEMMs on the H200", [] {
        const int m = 16 * *rc::gen::inRange(1, 400);
        const int n = 16 * *rc::gen::inRange(1, 400);
        const int k = 16 * *rc::gen::inRange(1, 400);
        const Operation operation = fixture::gemm(m, n, k, {{"cta_tile", "128x128x64"}, {"stages", "3"}});
        prediction::Conditions warm;
        warm.cache = prediction::Cache::warm;
        const double flushed = time_of(operation);
        RC_ASSERT(time_of(operation, warm) <= flushed * settled);
        const auto gpu = hw::load_gpu("h200-sxm");
        const double peak = gpu.tensor.bf16.value() * gpu.sm.count.value() * gpu.clock.boost.value();
        RC_ASSERT(flushed >= 2.0 * m * n * k / peak);
        const double bytes = 2.0 * (1.0 * m * k + 1.0 * k * n);
        RC_ASSERT(flushed >= bytes / gpu.dram.bandwidth.value());
    }));
}

TEST_CASE("the chooser decides what a library launches, whoever predicts it") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto analytical = warptime::model::analytical::make_engine();
    const auto simulation = warptime::model::simulation::make_engine();
    Predictor chosen(*simulation, gpu, analytical.get());
    Predictor plain(*analytical, gpu);
    const Operation operation = fixture::gemm(1024, 1024, 1024);
    const double simulated = chosen.evaluate(operation, {}).time;
    CHECK(simulated != plain.evaluate(operation, {}).time);
    REQUIRE(chosen.program().kernel_count == plain.program().kernel_count);
    CHECK(chosen.program().kernels[0] == plain.program().kernels[0]);
    CHECK(chosen.explain(operation, {}).time == simulated);
}

TEST_CASE("operands that are found take less time than none, those of other sizes change nothing") {
    prediction::Conditions cold, warm;
    cold.cache = prediction::Cache::cold;
    warm.cache = prediction::Cache::warm;
    const Operation softmax = make_operation("softmax", {{"rows", "2048"}, {"cols", "2048"}});
    const double sizes[] = {2.0 * 2048 * 2048};
    const double found = predictor("h200-sxm").evaluate_found(softmax, cold, sizes).time;
    CHECK(found < time_of(softmax, cold));
    CHECK(found >= time_of(softmax, warm));
    const double others[] = {4096.0};
    CHECK(predictor("h200-sxm").evaluate_found(softmax, cold, others).time == time_of(softmax, cold));
    // Weights that are read once stay where they were.
    const Operation product = make_operation("gemm", {{"m", "16"}, {"n", "2048"}, {"k", "2048"}});
    const double activations[] = {2.0 * 16 * 2048};
    const double weights[] = {2.0 * 2048 * 2048};
    const double near = predictor("h200-sxm").evaluate_found(product, cold, activations).time;
    CHECK(near <= time_of(product, cold));
    CHECK(near > 0.9 * time_of(product, cold));
    CHECK(predictor("h200-sxm").evaluate_found(product, cold, weights).time < near);
}

namespace {

/// Conditions with `between` bytes of launches that bring operands of their own for those of these names.
prediction::Conditions turns_of(double between, const decltype(prediction::Conditions::in_turn)& names) {
    prediction::Conditions conditions;
    conditions.cache = prediction::Cache::warm;
    conditions.between = between;
    conditions.in_turn = names;
    return conditions;
}

/// The product's times where no operand takes turns, one does, and all do, in this order.
void check_fewer_turns(Predictor& on, const Operation& product, double between, double tolerance) {
    const double none = on.evaluate(product, turns_of(0.0, {})).time;
    const double all = on.evaluate(product, turns_of(between, {})).time;
    RC_ASSERT(on.evaluate(product, turns_of(between, {"a", "b", "c"})).time == all);
    for (const char* name : {"a", "b", "c"}) {
        const double one = on.evaluate(product, turns_of(between, {name})).time;
        RC_ASSERT(none <= one * tolerance);
        RC_ASSERT(one <= all * tolerance);
    }
}

}  // namespace

TEST_CASE("no product is slower where fewer of its operands take turns") {
    CHECK(rc::check("products with a library's tile and with a given one", [] {
        const auto size = [] { return 8 * *rc::gen::inRange(1, 2 << *rc::gen::inRange(0, 10)); };
        const int m = size(), n = size(), k = size();
        fixture::Parameters more;
        if (*rc::gen::inRange(0, 2) == 0) more["cta_tile"] = fixture::word({"64x64x32", "128x128x64"});
        Predictor& on = predictor(fixture::word({"h200-sxm", "a100-sxm-80gb", "l40s"}));
        const double between = on.gpu().l2.capacity.value() * 0.01 * *rc::gen::inRange(1, 250);
        check_fewer_turns(on, fixture::gemm(m, n, k, more), between, settled);
    }));
    const auto gpu = hw::load_gpu("l40s");
    const auto simulation = warptime::model::simulation::make_engine();
    const auto analytical = warptime::model::analytical::make_engine();
    Predictor simulated(*simulation, gpu, analytical.get());
    // Loads that come sooner change the order of the others, which costs up to a percent.
    for (const double share : {0.3, 0.9, 2.0}) {
        check_fewer_turns(simulated, fixture::gemm(512, 2048, 4096), share * gpu.l2.capacity.value(), 1.01);
    }
}

TEST_CASE("weights in turn come from DRAM, and the activation stays") {
    const Operation product = fixture::gemm(2048, 1024, 1024);
    const double twice = 2.0 * predictor("h200-sxm").gpu().l2.capacity.value();
    const auto read = [&product, twice](const decltype(prediction::Conditions::in_turn)& names) {
        const auto answer = predictor("h200-sxm").explain(product, turns_of(twice, names));
        for (const auto& [name, value] : answer.counters) {
            if (name == "dram__bytes_read.sum") return value;
        }
        return -1.0;
    };
    CHECK(read({"b"}) == doctest::Approx(2.0 * 1024 * 1024));
    CHECK(read({"a"}) == doctest::Approx(2.0 * 2048 * 1024));
    CHECK(read({"c"}) == 0.0);
    CHECK(read({}) == doctest::Approx(2.0 * 3072 * 1024));
    CHECK_THROWS_WITH_AS(static_cast<void>(read({"weights"})),
                         doctest::Contains("in_turn: got 'weights', expected operands, one of a, b, c"),
                         warptime::Error);
    CHECK_THROWS_WITH_AS(static_cast<void>(predictor("h200-sxm").evaluate(product, turns_of(twice, {"x"}))),
                         doctest::Contains("in_turn: got 'x'"), warptime::Error);
}
