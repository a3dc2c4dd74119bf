// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/engine.hpp"

#include "model/power/sustained_clock.hpp"
#include "model/prediction/clock.hpp"
#include "model/prediction/launch_floor.hpp"
#include "model/prediction/link_copy.hpp"
#include "model/simulation/activity.hpp"
#include "model/simulation/explain.hpp"
#include "model/simulation/memory_step.hpp"

#include <algorithm>

namespace warptime::model::simulation {

namespace {

using prediction::Conditions;
using prediction::Limiter;

/// The unit that is busy for more than half of the run; else what the warps wait for.
Limiter limiter_of(const Run& run) {
    const auto busiest = std::max_element(run.busy.begin(), run.busy.end(),
                                          [](const Busy& a, const Busy& b) { return a.longest < b.longest; });
    if (2 * busiest->longest > run.end) {
        return busiest->limiter;
    }
    return run.loads ? Limiter::bytes_in_flight : Limiter::chain_latency;
}

class Engine final : public prediction::Engine {
  public:
    [[nodiscard]] std::string_view name() const override { return "simulation"; }
    [[nodiscard]] std::unique_ptr<prediction::Scratch> make_scratch() const override {
        return std::make_unique<prediction::Scratch>();
    }
    [[nodiscard]] prediction::Estimate<double> evaluate(const kernel::Program& program,
                                                        const kernel::Step& step, const hw::Gpu<double>& gpu,
                                                        const Conditions& conditions,
                                                        prediction::Scratch& /*scratch*/) const override {
        if (step.kind == kernel::StepKind::kernel) {
            const KernelTime t = simulate(program.kernels[step.payload], gpu, conditions);
            return with_prior_band(t.time, t.limiter);
        }
        const MemoryStep t = step.kind == kernel::StepKind::memset
                                 ? run_memset(program.memsets[step.payload], gpu, conditions)
                                 : run_memcpy(program.memcpys[step.payload], gpu, conditions);
        return with_prior_band(t.time(), t.limiter());
    }
    [[nodiscard]] prediction::Prediction explain(const kernel::Program& program, const kernel::Step& step,
                                                 const hw::Gpu<double>& gpu,
                                                 const Conditions& conditions) const override {
        switch (step.kind) {
            case kernel::StepKind::kernel:
                break;
            case kernel::StepKind::memset:
                return explain_memory_step("memset", "memset",
                                           run_memset(program.memsets[step.payload], gpu, conditions), gpu);
            case kernel::StepKind::memcpy:
                return explain_memory_step("memcpy", prediction::copy_name(program.memcpys[step.payload]),
                                           run_memcpy(program.memcpys[step.payload], gpu, conditions), gpu);
        }
        const kernel::Kernel& kernel = program.kernels[step.payload];
        return explain_kernel(kernel, simulate(kernel, gpu, conditions), gpu, conditions);
    }
};

}  // namespace

prediction::Estimate<double> with_prior_band(double time, Limiter limiter) {
    return {time, time / prior_factor, time * prior_factor, limiter};
}

namespace {

/// The clock at which a run's power stays within the limit. Its time goes with the clock, but for DRAM's.
double sustained_clock(const KernelTime& t, const kernel::Kernel& kernel, const hw::Gpu<double>& gpu,
                       const Conditions& conditions) {
    const double cycles = cycles_of(t.run.end);
    const double dram = (t.run.traffic.dram_read + t.run.traffic.dram_written) / gpu.dram.bandwidth.value();
    const auto time_at = [&](const hw::Frequency<double>& clock) {
        return t.floor + std::max(cycles / clock.value(), std::min(dram, cycles / t.clock_hz));
    };
    return power::sustained_clock(activity_of(t.run, kernel, gpu, conditions.data),
                                  hw::Frequency<double>(t.free_clock_hz), gpu, time_at)
        .value();
}

}  // namespace

KernelTime simulate(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu, const Conditions& conditions) {
    const bool tensor = std::any_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& op) {
        return op.cls == hw::InstructionClass::wgmma || op.cls == hw::InstructionClass::mma_sync;
    });
    // DRAM's cycles depend on the clock, the clock on the tensor load, and the load on the time. The slope is
    // small: the clock after a run at half load is the clock of the second run to well below a thousandth.
    // Without tensor work it depends on the time since a flush.
    constexpr int most_runs = 2;
    const auto clock_without_tensor = [&](double seconds) {
        return prediction::launch_clock(false, 0.0, gpu, conditions.data).value() *
               prediction::clock_left(hw::Seconds<double>(seconds), conditions, gpu);
    };
    double clock = conditions.clock_hz > 0.0 ? conditions.clock_hz
                   : tensor ? prediction::launch_clock(true, 0.5, gpu, conditions.data).value()
                            : clock_without_tensor(0.0);
    KernelTime result;
    const auto run_at = [&](double clock_hz) {
        result.clock_hz = clock_hz;
        result.run = run(kernel, gpu, conditions, clock_hz);
        // A kernel that reads nothing waits for nothing that a flush has made cold, nor does one of results.
        const Traffic& moved = result.run.traffic;
        const bool reads_nothing =
            (!result.run.uses_bulk && moved.received <= 0.0) || prediction::reads_results_only(kernel);
        result.floor =
            prediction::launch_floor(reads_nothing ? prediction::Cache::warm : conditions.cache,
                                     result.run.uses_bulk && prediction::copies_by_tensor_map(kernel), gpu)
                .value();
    };
    for (int i = 0; i < most_runs && result.clock_hz != clock; ++i) {
        run_at(clock);
        if (tensor && conditions.clock_hz <= 0.0) {
            const double cycles = cycles_of(result.run.end) + result.floor * clock;
            const double peak = result.run.tensor_rate * gpu.sm.count.value();
            clock =
                prediction::launch_clock(true, result.run.tensor_flop / (cycles * peak), gpu, conditions.data)
                    .value();
        } else if (conditions.clock_hz <= 0.0) {
            clock = clock_without_tensor(result.floor + cycles_of(result.run.end) / clock);
        }
    }
    result.free_clock_hz = result.clock_hz;
    if (conditions.duty == prediction::Duty::sustained && conditions.clock_hz <= 0.0) {
        for (int i = 0; i < most_runs; ++i) {
            const double held = sustained_clock(result, kernel, gpu, conditions);
            if (held == result.clock_hz) break;
            run_at(held);
        }
    }
    const double seconds = cycles_of(result.run.end) / result.clock_hz;
    result.time = result.floor + seconds;
    result.run_limiter = limiter_of(result.run);
    result.limiter = seconds < result.floor ? Limiter::launch : result.run_limiter;
    return result;
}

std::unique_ptr<prediction::Engine> make_engine() {
    return std::make_unique<Engine>();
}

}  // namespace warptime::model::simulation
