// Evaluates and explains steps by runs of the simulation.
// Ignores: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/engine.hpp"

#include "model/machine/launch/launch_floor.hpp"
#include "model/machine/launch/link_copy.hpp"
#include "model/machine/power/clock.hpp"
#include "model/machine/power/sustained_clock.hpp"
#include "model/prediction/board.hpp"
#include "model/simulation/activity.hpp"
#include "model/simulation/explain.hpp"
#include "model/simulation/memory_step.hpp"
#include "model/simulation/work.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::simulation {

namespace {

using prediction::Conditions;
using prediction::Limiter;

/// Limiter of a run: the unit that is busy for more than half of the run; else the cause of the warps' waits.
Limiter limiter_of(const Run& run) {
    const auto busiest = std::max_element(run.busy.begin(), run.busy.end(),
                                          [](const Busy& a, const Busy& b) { return a.longest < b.longest; });
    if (2 * busiest->longest > run.end) {
        return busiest->limiter;
    }
    return run.loads ? Limiter::bytes_in_flight : Limiter::chain_latency;
}

/// Runs share nothing: each body is executed anew.
class Stages final : public prediction::Stages {
  public:
    explicit Stages(const hw::Gpu& gpu) : gpu_(gpu) {}

    [[nodiscard]] prediction::Estimate evaluate(const kernel::Program& program, const kernel::Step& step,
                                                const Conditions& conditions,
                                                prediction::BodyNumber /*body*/) override {
        if (step.kind == kernel::StepKind::kernel) {
            const kernel::Kernel& kernel = program.kernels[step.payload];
            const KernelTime t = simulate(kernel, gpu_, conditions);
            return with_prior_band(t.time, t.limiter, kernel, gpu_);
        }
        const MemoryStep t = simulate(program, step, gpu_, conditions);
        return with_prior_band(t.time(), t.limiter());
    }

  private:
    const hw::Gpu& gpu_;
};

class Engine final : public prediction::Engine {
  public:
    [[nodiscard]] std::string_view name() const override { return "simulation"; }
    [[nodiscard]] std::unique_ptr<prediction::Stages> make_stages(const hw::Gpu& gpu) const override {
        return std::make_unique<Stages>(gpu);
    }
    [[nodiscard]] prediction::Prediction explain(const kernel::Program& program, const kernel::Step& step,
                                                 const hw::Gpu& gpu,
                                                 const Conditions& conditions) const override {
        switch (step.kind) {
            case kernel::StepKind::kernel:
                break;
            case kernel::StepKind::memset:
                return explain_memory_step("memset", "memset",
                                           run_memset(program.memsets[step.payload], gpu, conditions), gpu);
            case kernel::StepKind::memcpy:
                return explain_memory_step("memcpy", machine::copy_name(program.memcpys[step.payload]),
                                           run_memcpy(program.memcpys[step.payload], gpu, conditions), gpu);
            case kernel::StepKind::exchange:
                return explain_memory_step("exchange", program.exchanges[step.payload].name,
                                           run_exchange(program.exchanges[step.payload]), gpu);
        }
        const kernel::Kernel& kernel = program.kernels[step.payload];
        return explain_kernel(kernel, simulate(kernel, gpu, conditions), gpu, conditions);
    }
};

/// Clock at which a run's power stays within the limit. A run's time follows the clock, except for DRAM's
/// part.
double sustained_clock(const KernelTime& t, const kernel::Kernel& kernel, const hw::Gpu& gpu,
                       const Conditions& conditions) {
    const double cycles = cycles_of(t.run.end);
    const double dram = (t.run.traffic.dram_read + t.run.traffic.dram_written) / gpu.dram.bandwidth.value();
    const auto time_at = [&](const hw::Frequency& clock) {
        return t.floor + std::max(cycles / clock.value(), std::min(dram, cycles / t.clock_hz));
    };
    return machine::sustained_clock(activity_of(t.run, kernel, gpu, conditions.data),
                                    hw::Frequency(t.free_clock_hz), gpu, time_at)
        .value();
}

}  // namespace

MemoryStep simulate(const kernel::Program& program, const kernel::Step& step, const hw::Gpu& gpu,
                    const Conditions& conditions) {
    if (step.kind == kernel::StepKind::exchange) return run_exchange(program.exchanges[step.payload]);
    return step.kind == kernel::StepKind::memset ? run_memset(program.memsets[step.payload], gpu, conditions)
                                                 : run_memcpy(program.memcpys[step.payload], gpu, conditions);
}

KernelTime simulate(const kernel::Kernel& kernel, const hw::Gpu& gpu, const Conditions& conditions,
                    Trace* trace, double most_rows) {
    const bool tensor = std::any_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& op) {
        return hw::is_group_product(op.cls) || op.cls == hw::InstructionClass::mma_sync;
    });
    // DRAM's cycles depend on the clock, the clock on the tensor load, and the load on the time. The slope is
    // small: the second run at the first run's clock is right to well below a thousandth, also where the
    // first one is cut. Without tensor work the clock depends on the time since a flush.
    constexpr int most_runs = 2;
    const auto clock_without_tensor = [&](double seconds) {
        return machine::launch_clock(false, 0.0, gpu, conditions.data).value() *
               machine::clock_left(hw::Seconds(seconds), conditions, gpu);
    };
    const bool given = conditions.clock_hz > 0.0;
    double clock = given    ? conditions.clock_hz
                   : tensor ? machine::launch_clock(true, 0.5, gpu, conditions.data).value()
                            : clock_without_tensor(0.0);
    KernelTime result;
    double whole_up_to = most_whole_events;
    const auto run_at = [&](double clock_hz, double most_whole = most_whole_events) {
        result.clock_hz = clock_hz;
        whole_up_to = most_whole;
        result.run = run(kernel, gpu, conditions, clock_hz, nullptr, most_whole);
        const hw::Bytes read(result.run.traffic.dram_read);
        const bool maps = result.run.uses_bulk && machine::copies_by_tensor_map(kernel);
        result.floor = (machine::launch_floor(conditions.cache, maps, read, gpu) +
                        machine::cold_after_others(conditions, read, gpu))
                           .value();
    };
    const auto clock_of_load = [&] {
        if (!tensor) return clock_without_tensor(result.floor + cycles_of(result.run.end) / clock);
        const double cycles = cycles_of(result.run.end) + result.floor * clock;
        const double peak = result.run.tensor_rate * gpu.sm.count.value();
        return machine::launch_clock(true, result.run.tensor_flop / (cycles * peak), gpu, conditions.data)
            .value();
    };
    for (int i = 0; i < most_runs && (result.clock_hz != clock || !result.run.cut.whole()); ++i) {
        run_at(clock, i == 0 && !given ? most_cut_events : most_whole_events);
        if (given) break;
        clock = clock_of_load();
    }
    result.free_clock_hz = given ? std::max(result.clock_hz, clock_of_load()) : result.clock_hz;
    if (conditions.duty == prediction::Duty::sustained && conditions.clock_hz <= 0.0) {
        for (int i = 0; i < most_runs; ++i) {
            const double held = sustained_clock(result, kernel, gpu, conditions);
            if (held == result.clock_hz) break;
            run_at(held);
        }
    }
    if (trace != nullptr) {
        const double of_sm =
            static_cast<double>(result.run.events) /
            static_cast<double>(result.run.cut.whole() ? result.run.sms : result.run.cut.sms);
        trace->detailed_sms = std::max<std::int64_t>(1, std::llround(most_rows / std::max(1.0, of_sm)));
        (void)run(kernel, gpu, conditions, result.clock_hz, trace, whole_up_to);
    }
    const double seconds = cycles_of(result.run.end) / result.clock_hz;
    result.time = result.floor + seconds;
    result.run_limiter = limiter_of(result.run);
    result.limiter = seconds < result.floor ? Limiter::launch : result.run_limiter;
    return result;
}

std::unique_ptr<prediction::Engine> make_engine() {
    return prediction::on_board(std::make_unique<Engine>());
}

}  // namespace warptime::model::simulation
