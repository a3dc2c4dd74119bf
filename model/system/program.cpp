// Sums the steps of a program on an engine.
// SPDX-License-Identifier: Apache-2.0
#include "model/system/program.hpp"

#include "model/machine/launch/launch_floor.hpp"
#include "model/system/operands_in_turn.hpp"

#include <algorithm>
#include <string>

namespace warptime::model::system {

using prediction::Estimate;
using prediction::Prediction;

Estimate evaluate(const kernel::Program& program, prediction::Stages& stages,
                  const prediction::Conditions& conditions, prediction::BodyNumber body) {
    require_operands_in_turn(program, conditions);
    Estimate total;
    double longest = -1.0;
    for (const kernel::Step& step : program.steps) {
        const bool numbered = step.kind == kernel::StepKind::kernel && step.payload == 0;
        const Estimate part =
            stages.evaluate(program, step, conditions, numbered ? body : prediction::unknown_body);
        total.time += part.time;
        total.low += part.low;
        total.high += part.high;
        total.evidence = std::min(total.evidence, part.evidence);
        if (part.time > longest) {
            longest = part.time;
            total.limiter = part.limiter;
            total.band_class = part.band_class;
        }
    }
    return total;
}

double least_time(const kernel::Program& program, prediction::Stages& stages,
                  const prediction::Conditions& conditions, double limit, prediction::BodyNumber body) {
    // Steps beside the first kernel leave it so much less time.
    double others = 0.0;
    for (const kernel::Step& step : program.steps) {
        if (step.kind != kernel::StepKind::kernel) {
            others += stages.evaluate(program, step, conditions).time;
        } else if (step.payload > 0) {
            others += stages.least_time(program.kernels[step.payload], conditions, limit);
        }
    }
    if (program.kernel_count == 0 || !(others < limit)) return others;
    return others + stages.least_time(program.kernels.front(), conditions, limit - others, body);
}

namespace {

void add_counters(const Prediction& from, Prediction& to) {
    for (const auto& [name, value] : from.counters) {
        // Sums add up over steps; averages and ratios are the longest step's own.
        if (name.size() < 4 || name.compare(name.size() - 4, 4, ".sum") != 0) {
            continue;
        }
        const auto same = std::find_if(to.counters.begin(), to.counters.end(),
                                       [&key = name](const auto& entry) { return entry.first == key; });
        if (same == to.counters.end()) {
            to.counters.emplace_back(name, value);
        } else {
            same->second += value;
        }
    }
}

void add_shares(const Prediction& from, double weight, std::vector<std::pair<std::string, double>>& shares) {
    for (const auto& [name, value] : from.shares) {
        const auto same = std::find_if(shares.begin(), shares.end(),
                                       [&key = name](const auto& entry) { return entry.first == key; });
        if (same == shares.end()) {
            shares.emplace_back(name, value * weight);
        } else {
            same->second += value * weight;
        }
    }
}

}  // namespace

double launch_gap(Between between, const hw::Gpu& gpu) {
    switch (between) {
        case Between::graph:
            return gpu.launch.graph_gap.value();
        case Between::dependent:
            return 0.0;
        case Between::graph_dependent:
            return -gpu.launch.graph_dependent_overlap.value();
        case Between::stream:
            break;
    }
    return gpu.launch.stream_gap.value();
}

namespace {

/// Time from the start of a step to the next one's start along a graph, however short the step. A step that
/// may start before the previous end waits until all CTAs have started.
double least_interval(Between between, const kernel::Program& program, const kernel::Step& step,
                      const hw::Gpu& gpu) {
    if (between != Between::graph_dependent || step.kind != kernel::StepKind::kernel) return 0.0;
    const kernel::Kernel& kernel = program.kernels[step.payload];
    const auto ctas = static_cast<double>(kernel.grid.volume());
    const hw::Cycles handed = machine::launch_interval(kernel, gpu) * ctas;
    return gpu.launch.graph_dependent_interval.value() + (handed / gpu.clock.boost).value();
}

}  // namespace

double host_time(const kernel::Program& program, Between between, const hw::Gpu& gpu) {
    const auto steps = static_cast<double>(program.steps.size());
    if (between == Between::graph || between == Between::graph_dependent) {
        return gpu.launch.graph_host.value() + gpu.launch.graph_host_node.value() * steps;
    }
    return gpu.launch.host.value() * steps;
}

Prediction explain(const kernel::Program& program, const prediction::Engine& engine, const hw::Gpu& gpu,
                   const prediction::Conditions& conditions, Between between) {
    require_operands_in_turn(program, conditions);
    std::vector<Prediction> parts;
    parts.reserve(program.steps.size());
    for (const kernel::Step& step : program.steps) {
        parts.push_back(engine.explain(program, step, gpu, conditions));
    }
    const auto longest = std::max_element(
        parts.begin(), parts.end(), [](const Prediction& a, const Prediction& b) { return a.time < b.time; });
    if (parts.size() == 1 || longest == parts.end()) {
        return parts.empty() ? Prediction{} : parts.front();
    }
    Prediction total = *longest;
    total.time = total.low = total.high = 0.0;
    total.span = 0.0;
    total.steps.clear();
    total.shares.clear();
    const double flop = longest->flops_per_s * longest->time;
    double dram = 0.0;
    double l2 = 0.0;
    double energy = 0.0;
    for (const Prediction& part : parts) {
        energy += part.power_w * part.time;
        // GPU and conditions are those of every step: only their evidence differs.
        if (part.status == prediction::Status::extrapolated) total.status = part.status;
        total.time += part.time;
        total.low += part.low;
        total.high += part.high;
        const auto index = static_cast<std::size_t>(&part - parts.data());
        total.span += index == 0 ? part.span
                                 : std::max(part.span + launch_gap(between, gpu),
                                            least_interval(between, program, program.steps[index - 1], gpu));
        total.steps.insert(total.steps.end(), part.steps.begin(), part.steps.end());
        dram += part.dram_bytes_per_s * part.time;
        l2 += part.l2_bytes_per_s * part.time;
        if (&part != &*longest) {
            add_counters(part, total);
        }
    }
    for (const Prediction& part : parts) {
        add_shares(part, part.time / total.time, total.shares);
    }
    const double stretch = longest->time / total.time;
    total.flops_per_s = flop / total.time;
    total.dram_bytes_per_s = dram / total.time;
    total.l2_bytes_per_s = l2 / total.time;
    total.power_w = energy / total.time;
    for (double* value :
         {&total.utilization.tensor, &total.utilization.fp32, &total.utilization.issue,
          &total.utilization.shared, &total.utilization.l1, &total.utilization.l2, &total.utilization.dram}) {
        *value *= stretch;
    }
    return total;
}

}  // namespace warptime::model::system
