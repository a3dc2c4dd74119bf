// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/engine.hpp"

#include "hw/error.hpp"
#include "model/prediction/clock.hpp"
#include "model/prediction/launch_floor.hpp"
#include "model/simulation/explain.hpp"
#include "model/simulation/memory_step.hpp"

#include <algorithm>

namespace warptime::model::simulation {

namespace {

using prediction::Conditions;
using prediction::Limiter;

void require_modelled(const Conditions& conditions) {
    if (conditions.duty == prediction::Duty::sustained) {
        throw Error("duty", "sustained",
                    "isolated: clocks under the power limit are not calibrated in this version");
    }
}

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
        require_modelled(conditions);
        if (step.kind == kernel::StepKind::kernel) {
            const KernelTime t = simulate(program.kernels[step.payload], gpu, conditions);
            return with_prior_band(t.time, t.limiter);
        }
        const MemoryStep t = step.kind == kernel::StepKind::memset
                                 ? run_memset(program.memsets[step.payload], gpu, conditions)
                                 : run_memcpy(program.memcpys[step.payload], gpu, conditions);
        return with_prior_band(t.time(), t.floor < t.dram ? Limiter::dram : Limiter::launch);
    }
    [[nodiscard]] prediction::Prediction explain(const kernel::Program& program, const kernel::Step& step,
                                                 const hw::Gpu<double>& gpu,
                                                 const Conditions& conditions) const override {
        require_modelled(conditions);
        switch (step.kind) {
            case kernel::StepKind::kernel:
                break;
            case kernel::StepKind::memset:
                return explain_memory_step("memset", "memset",
                                           run_memset(program.memsets[step.payload], gpu, conditions), gpu);
            case kernel::StepKind::memcpy:
                return explain_memory_step("memcpy", "device to device",
                                           run_memcpy(program.memcpys[step.payload], gpu, conditions), gpu);
        }
        const kernel::Kernel& kernel = program.kernels[step.payload];
        return explain_kernel(kernel, simulate(kernel, gpu, conditions), gpu);
    }
};

}  // namespace

prediction::Estimate<double> with_prior_band(double time, Limiter limiter) {
    return {time, time / prior_factor, time * prior_factor, limiter};
}

KernelTime simulate(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu, const Conditions& conditions) {
    const bool tensor = std::any_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& op) {
        return op.cls == hw::InstructionClass::wgmma || op.cls == hw::InstructionClass::mma_sync;
    });
    // DRAM's cycles depend on the clock, the clock on the tensor load, and the load on the time. The slope is
    // small: the clock after a run at half load is the clock of the second run to well below a thousandth.
    constexpr int most_runs = 2;
    double clock =
        conditions.clock_hz > 0.0 ? conditions.clock_hz : prediction::launch_clock(tensor, 0.5, gpu).value();
    KernelTime result;
    for (int i = 0; i < most_runs && result.clock_hz != clock; ++i) {
        result.clock_hz = clock;
        result.run = run(kernel, gpu, conditions, clock);
        result.floor = prediction::launch_floor(conditions.cache, result.run.uses_bulk, gpu).value();
        if (tensor && conditions.clock_hz <= 0.0) {
            const double cycles = cycles_of(result.run.end) + result.floor * clock;
            const double peak = result.run.tensor_rate * gpu.sm.count.value();
            clock = prediction::launch_clock(true, result.run.tensor_flop / (cycles * peak), gpu).value();
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
