// Program as the sum of its steps, through an engine with known answers.
// SPDX-License-Identifier: Apache-2.0
#include "model/system/program.hpp"

#include "hw/sheet.hpp"
#include "model/prediction/status.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
namespace prediction = warptime::model::prediction;
namespace system_model = warptime::model::system;
using prediction::Limiter;

namespace {

/// A kernel takes its registers per thread in microseconds, a memset one, a copy two.
class KnownStages : public prediction::Stages {
  public:
    [[nodiscard]] prediction::Estimate evaluate(const mk::Program& program, const mk::Step& step,
                                                const prediction::Conditions&,
                                                prediction::BodyNumber) override {
        double time = step.kind == mk::StepKind::memset ? 1e-6 : 2e-6;
        Limiter limiter = Limiter::launch;
        if (step.kind == mk::StepKind::kernel) {
            time = program.kernels[step.payload].registers_per_thread * 1e-6;
            limiter = step.payload == 0 ? Limiter::tensor_core : Limiter::dram;
        }
        prediction::Estimate estimate{time, 0.5 * time, 3.0 * time, limiter};
        if (step.kind == mk::StepKind::kernel) estimate.evidence = program.kernels[step.payload].evidence;
        return estimate;
    }
};

class KnownEngine : public prediction::Engine {
  public:
    [[nodiscard]] std::string_view name() const override { return "known"; }
    [[nodiscard]] std::unique_ptr<prediction::Stages> make_stages(const hw::Gpu&) const override {
        return std::make_unique<KnownStages>();
    }
    [[nodiscard]] prediction::Prediction explain(const mk::Program& program, const mk::Step& step,
                                                 const hw::Gpu&,
                                                 const prediction::Conditions& conditions) const override {
        const auto estimate = KnownStages().evaluate(program, step, conditions, prediction::unknown_body);
        prediction::Prediction p;
        p.time = p.span = estimate.time;
        p.low = estimate.low;
        p.high = estimate.high;
        p.limiter = estimate.limiter;
        p.status = prediction::status_of(prediction::Status::calibrated, estimate.evidence);
        p.shares = {{"launch", 0.25}, {std::string(to_string(estimate.limiter)) + " work", 0.75}};
        p.counters = {{"dram__bytes_read.sum", 100.0}, {"launch__waves_per_multiprocessor", estimate.time}};
        if (estimate.limiter == Limiter::dram) {
            p.counters.emplace_back("only_here.sum", 7.0);
        }
        p.dram_bytes_per_s = 100.0 / estimate.time;
        p.l2_bytes_per_s = 50.0 / estimate.time;
        p.flops_per_s = step.kind == mk::StepKind::kernel ? 1000.0 / estimate.time : 0.0;
        p.utilization.tensor = estimate.limiter == Limiter::tensor_core ? 0.8 : 0.0;
        p.steps = {{"step", "name", estimate.time}};
        return p;
    }
};

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

mk::Program three_steps() {
    mk::Program program;
    program.add_memset(4);
    program.add_kernel().registers_per_thread = 6;
    program.add_kernel().registers_per_thread = 3;
    return program;
}

prediction::Estimate evaluated(const mk::Program& program) {
    KnownStages stages;
    return system_model::evaluate(program, stages, prediction::Conditions{});
}

prediction::Prediction explained(const mk::Program& program) {
    return system_model::explain(program, KnownEngine{}, gpu(), prediction::Conditions{});
}

}  // namespace

TEST_CASE("times and band edges add, and the longest step names the limiter") {
    const auto total = evaluated(three_steps());
    CHECK(total.time == doctest::Approx(10e-6).scale(1e-6));
    CHECK(total.low == doctest::Approx(5e-6).scale(1e-6));
    CHECK(total.high == doctest::Approx(30e-6).scale(1e-6));
    CHECK(total.limiter == Limiter::tensor_core);
}

TEST_CASE("a program is known no better than its least known step") {
    mk::Program program = three_steps();
    program.kernels[0].evidence = program.kernels[1].evidence = mk::Evidence::own;
    CHECK(evaluated(program).evidence == mk::Evidence::own);
    CHECK(explained(program).status == prediction::Status::calibrated);
    for (mk::Kernel& kernel : program.kernels) {
        for (const mk::Evidence evidence : {mk::Evidence::pooled, mk::Evidence::any}) {
            kernel.evidence = evidence;
            CHECK(evaluated(program).evidence == evidence);
            CHECK(explained(program).status == prediction::Status::extrapolated);
        }
        kernel.evidence = mk::Evidence::own;
    }
    mk::Program memory;
    memory.add_memset(4);
    memory.add_memcpy({1 << 20});
    CHECK(evaluated(memory).evidence == mk::Evidence::own);
    CHECK(explained(memory).status == prediction::Status::calibrated);
}

TEST_CASE("the explanation has the same time bit for bit") {
    mk::Program program;
    program.add_memset(4);
    for (const int us : {7, 3, 11, 13}) {
        program.add_kernel().registers_per_thread = us;
    }
    const auto hot = evaluated(program);
    const auto full = explained(program);
    CHECK(full.time == hot.time);
    CHECK(full.low == hot.low);
    CHECK(full.high == hot.high);
    CHECK(full.limiter == hot.limiter);
    CHECK(full.steps.size() == 5);
}

TEST_CASE("shares are weighted by time and still sum to one") {
    const auto p = explained(three_steps());
    double sum = 0.0;
    std::map<std::string, double> shares;
    for (const auto& [name, share] : p.shares) {
        sum += share;
        CHECK(shares.emplace(name, share).second);
    }
    CHECK(sum == doctest::Approx(1.0));
    CHECK(shares.at("launch") == doctest::Approx(0.25));
    CHECK(shares.at("launch work") == doctest::Approx(0.75 * 0.1));
    CHECK(shares.at("tensor_core work") == doctest::Approx(0.75 * 0.6));
    CHECK(shares.at("dram work") == doctest::Approx(0.75 * 0.3));
}

TEST_CASE("sums add over the steps, ratios are the longest step's") {
    const auto p = explained(three_steps());
    std::map<std::string, double> counters(p.counters.begin(), p.counters.end());
    REQUIRE(counters.size() == p.counters.size());
    CHECK(counters.at("dram__bytes_read.sum") == 300.0);
    CHECK(counters.at("only_here.sum") == 7.0);
    CHECK(counters.at("launch__waves_per_multiprocessor") == doctest::Approx(6e-6).scale(1e-6));
    CHECK(p.dram_bytes_per_s * p.time == doctest::Approx(300.0));
    CHECK(p.l2_bytes_per_s * p.time == doctest::Approx(150.0));
    CHECK(p.utilization.tensor == doctest::Approx(0.8 * 0.6));
}

TEST_CASE("one step is its own explanation, and no step takes no time") {
    mk::Program one;
    one.add_kernel().registers_per_thread = 5;
    const auto p = explained(one);
    CHECK(p.time == doctest::Approx(5e-6).scale(1e-6));
    CHECK(p.counters.size() == 2);
    const mk::Program none;
    CHECK(evaluated(none).time == 0.0);
    CHECK(explained(none).time == 0.0);
    CHECK(explained(none).steps.empty());
}

TEST_CASE("the span has a gap before each further step") {
    const auto span = [](const mk::Program& program, system_model::Between between) {
        return system_model::explain(program, KnownEngine{}, gpu(), prediction::Conditions{}, between).span;
    };
    using system_model::Between;
    const mk::Program long_steps = three_steps();
    CHECK(span(long_steps, Between::stream) ==
          doctest::Approx(10e-6 + 2.0 * system_model::launch_gap(Between::stream, gpu())).scale(1e-6));
    CHECK(span(long_steps, Between::graph) < span(long_steps, Between::stream));
    CHECK(span(long_steps, Between::graph_dependent) < span(long_steps, Between::graph));
    // A dependent kernel of a stream that waits at its first instruction begins as the previous one ends.
    CHECK(span(long_steps, Between::dependent) == doctest::Approx(10e-6).scale(1e-6));
    mk::Program empty;
    for (int i = 0; i < 5; ++i) empty.add_kernel().registers_per_thread = 0;
    // A dependent kernel may not begin before all CTAs of the previous kernel have begun.
    const double short_grids = span(empty, Between::graph_dependent);
    for (mk::Kernel& kernel : empty.kernels) kernel.grid = {1000, 1, 1};
    const double handed = 1000.0 * gpu().launch.cta_interval.value() / gpu().clock.boost.value();
    CHECK(span(empty, Between::graph_dependent) ==
          doctest::Approx(short_grids + 4.0 * handed).scale(1e-6).epsilon(0.01));
    CHECK(system_model::host_time(empty, Between::stream, gpu()) ==
          doctest::Approx(5.0 * gpu().launch.host.value()).scale(1e-6));
    CHECK(system_model::host_time(empty, Between::graph, gpu()) <
          system_model::host_time(empty, Between::stream, gpu()));
}
