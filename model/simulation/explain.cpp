// Bounds, shares and counters of a simulated kernel.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/explain.hpp"

#include "hw/provenance.hpp"
#include "model/machine/l2/l2_partitions.hpp"
#include "model/machine/power/power.hpp"
#include "model/prediction/status.hpp"
#include "model/simulation/activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace warptime::model::simulation {

namespace {

using prediction::Bound;
using prediction::Limiter;
using prediction::Prediction;

std::string band_source(kernel::Evidence evidence) {
    switch (evidence) {
        case kernel::Evidence::any:
            return "a prior, no narrower than the analytical engine's residuals of the textbook programs' "
                   "development half";
        case kernel::Evidence::pooled:
            return "a prior, no narrower than the analytical engine's residuals of all operators together";
        case kernel::Evidence::own:
            break;
    }
    return "a prior: this engine is a first version without residuals of its own";
}

void finish(const hw::Gpu& gpu, const prediction::Estimate& estimate, Prediction& p) {
    p.time = p.span = estimate.time;
    p.low = estimate.low;
    p.high = estimate.high;
    p.limiter = estimate.limiter;
    p.kernel_class = prediction::class_of(estimate.limiter);
    // Whatever the evidence: no constant is fitted with this engine.
    p.status = prediction::status_of(gpu, {}, kernel::Evidence::any);
    p.band_source = band_source(estimate.evidence);
    p.constants = hw::count_constants(gpu.provenance);
}

/// The busiest of several units with one name counts.
void add_bounds(const KernelTime& t, Prediction& p) {
    for (const Busy& busy : t.run.busy) {
        const double cycles = cycles_of(busy.longest);
        const double seconds = cycles / t.clock_hz;
        const auto same = std::find_if(p.bounds.begin(), p.bounds.end(),
                                       [&](const Bound& b) { return b.limiter == busy.limiter; });
        if (cycles > 0.0 && same == p.bounds.end()) {
            p.bounds.push_back({busy.limiter, seconds, {{"busy_cycles", cycles}, {"clock_hz", t.clock_hz}}});
        } else if (cycles > 0.0 && same->time < seconds) {
            *same = {busy.limiter, seconds, {{"busy_cycles", cycles}, {"clock_hz", t.clock_hz}}};
        }
    }
    p.bounds.push_back(
        {Limiter::launch, t.floor, {{"floor_s", t.floor}, {"ctas", static_cast<double>(t.run.ctas)}}});
    std::stable_sort(p.bounds.begin(), p.bounds.end(),
                     [](const Bound& a, const Bound& b) { return a.time > b.time; });
}

void add_utilization(const KernelTime& t, const hw::Gpu& gpu, Prediction& p) {
    const double spread = static_cast<double>(t.run.sms) / gpu.sm.count.value();
    const double ticks = t.time * t.clock_hz * static_cast<double>(ticks_per_cycle);
    const auto busy = [&](Limiter limiter, double share) {
        double most = 0.0;
        for (const Busy& b : t.run.busy) {
            most = b.limiter == limiter ? std::max(most, b.average) : most;
        }
        return most / ticks * share;
    };
    p.utilization.tensor = busy(Limiter::tensor_core, spread);
    p.utilization.fp32 = busy(Limiter::fp32, spread);
    p.utilization.issue =
        t.run.instructions / (gpu.sm.count.value() * gpu.sm.sub_partitions.value()) / (t.time * t.clock_hz);
    p.utilization.shared = busy(Limiter::shared, spread);
    p.utilization.l1 = busy(Limiter::l1, spread);
    p.utilization.l2 = busy(Limiter::l2, 1.0);
    p.utilization.dram =
        (t.run.traffic.dram_read + t.run.traffic.dram_written) / t.time / gpu.dram.bandwidth.value();
}

void add_counters(const kernel::Kernel& kernel, const KernelTime& t, const hw::Gpu& gpu, Prediction& p) {
    const Traffic& moved = t.run.traffic;
    const double visits = machine::slice_visits(gpu);
    const double reads = moved.l2_read / gpu.l1.sector.value() * visits;
    const double writes = (moved.l2_written - moved.l2_changed) / gpu.l1.sector.value() * visits;
    const double atomics = moved.l2_passes / gpu.l1.sector.value() * visits;
    const double returning = moved.l2_returned / gpu.l1.sector.value() * visits;
    const double at_work = static_cast<double>(std::min(t.run.sms, kernel.grid.volume()));
    const double cycles = cycles_of(t.run.end);
    p.counters = {
        {"dram__bytes_read.sum", moved.dram_read},
        {"dram__bytes_write.sum", moved.dram_written},
        {"lts__t_sectors.sum", reads + writes + atomics},
        {"lts__t_sectors_op_read.sum", reads},
        {"lts__t_sectors_op_write.sum", writes},
        {"lts__t_sectors_op_atom.sum", returning},
        {"lts__t_sectors_op_red.sum", atomics - returning},
        {"l1tex__m_xbar2l1tex_read_bytes.sum", moved.received},
        {"smsp__inst_executed.sum", t.run.instructions},
        {"launch__waves_per_multiprocessor", p.waves},
        {"sm__warps_active.avg.pct_of_peak_sustained_active",
         cycles > 0.0 ? 100.0 * t.run.warp_cycles / (cycles * at_work * gpu.sm.warps_max.value()) : 0.0}};
}

}  // namespace

Prediction explain_kernel(const kernel::Kernel& kernel, const KernelTime& t, const hw::Gpu& gpu,
                          const prediction::Conditions& conditions) {
    Prediction p;
    finish(gpu, with_prior_band(t.time, t.limiter, kernel, gpu), p);
    if (!t.run.cut.whole()) {
        p.band_source += fmt::format(
            "; run in part ({} of {} SMs{}{}), the rest taken to be alike", t.run.cut.sms, t.run.cut.of_sms,
            t.run.cut.skipped > 0 ? ", the first, some and the last CTAs of each" : "",
            t.run.cut.trips > 0 ? ", some trips of loops" : "");
    }
    add_bounds(t, p);
    const double run = t.time - t.floor;
    const double full = t.run.end > 0 ? cycles_of(t.run.first_idle) / cycles_of(t.run.end) : 1.0;
    p.shares = {{"launch", t.floor / t.time},
                {"run:" + std::string(to_string(t.run_limiter)), run / t.time * full},
                {"tail", run / t.time * (1.0 - full)}};
    add_utilization(t, gpu, p);
    p.flops_per_s = t.run.flop / t.time;
    p.dram_bytes_per_s = (t.run.traffic.dram_read + t.run.traffic.dram_written) / t.time;
    p.l2_bytes_per_s = (t.run.traffic.l2_read + t.run.traffic.l2_written) / t.time;
    p.occupancy = {t.run.occupancy.ctas_per_sm, t.run.occupancy.warps_per_sm,
                   std::string(machine::to_string(t.run.occupancy.limit)),
                   std::string(machine::to_string(t.run.occupancy.next_limit))};
    p.waves = static_cast<double>(t.run.ctas) / static_cast<double>(t.run.sms * t.run.occupancy.ctas_per_sm);
    add_counters(kernel, t, gpu, p);
    p.clock_hz = t.clock_hz;
    p.power_w = machine::watts(activity_of(t.run, kernel, gpu, conditions.data), hw::Seconds(t.time), gpu,
                               t.clock_hz / t.free_clock_hz);
    p.steps.push_back({"kernel", kernel.name, t.time});
    return p;
}

Prediction explain_memory_step(const std::string& kind, const std::string& name, const MemoryStep& step,
                               const hw::Gpu& gpu) {
    Prediction p;
    const double time = step.time();
    finish(gpu, with_prior_band(time, step.limiter()), p);
    p.bounds = {
        {Limiter::dram, step.dram, {{"read_bytes", step.read_bytes}, {"written_bytes", step.written_bytes}}},
        {Limiter::launch, step.floor, {{"floor_s", step.floor}}}};
    p.shares = {{"launch", step.floor / time}, {"dram", step.dram / time}};
    if (step.link > 0.0) {
        p.bounds.insert(p.bounds.begin(), {Limiter::bytes_in_flight, step.link, {{"link_s", step.link}}});
        p.shares.emplace_back("link", step.link / time);
    }
    p.dram_bytes_per_s = (step.read_bytes + step.written_bytes) / time;
    p.utilization.dram = p.dram_bytes_per_s / gpu.dram.bandwidth.value();
    p.occupancy.limit = p.occupancy.next_limit = "none";
    p.counters = {{"dram__bytes_read.sum", step.read_bytes}, {"dram__bytes_write.sum", step.written_bytes}};
    p.clock_hz = gpu.clock.boost.value();
    machine::Activity activity;
    activity.dram = hw::Bytes(step.read_bytes + step.written_bytes);
    p.power_w = machine::watts(activity, hw::Seconds(time), gpu);
    p.steps.push_back({kind, name, time});
    return p;
}

}  // namespace warptime::model::simulation
