// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/probe.hpp"

#include "hw/error.hpp"
#include "model/system/beside.hpp"
#include "model/system/program.hpp"

#include <charconv>

namespace warptime::validate::microbench {

const std::string& text(const Parameters& parameters, std::string_view name) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) throw Error("params " + std::string(name), "", "a value");
    return found->second;
}

std::int64_t integer(const Parameters& parameters, std::string_view name) {
    const std::string& word = text(parameters, name);
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (failed != std::errc{} || end != word.data() + word.size()) {
        throw Error("params " + std::string(name), word, "a whole number");
    }
    return value;
}

namespace {

/// The longer wait of a load from DRAM, from the rounds of the kernel beside the load.
hw::Cycles wait_beside_load(const Beside& beside, const model::prediction::Engine& engine, const hw::Gpu& gpu,
                            const model::prediction::Conditions& conditions) {
    const auto round_of = [&](const model::kernel::Program& program) {
        const auto found = model::system::explain(program, engine, gpu, conditions);
        return hw::Cycles(found.time * found.clock_hz / beside.rounds);
    };
    return model::system::wait_beside(round_of(beside.load), round_of(beside.alone), gpu);
}

}  // namespace

Value predict(const Probe& probe, std::string_view quantity, const model::prediction::Engine& engine,
              const hw::Gpu& gpu, const model::prediction::Conditions& conditions) {
    if (quantity == "power_w" && probe.program.steps.empty()) {
        // The device is idle, with the clocks up.
        const double idle = gpu.power.idle.value() * gpu.power.tdp.value();
        return {idle, idle, idle, ""};
    }
    // Beside a load, the moved bytes belong to the load.
    const bool of_load = quantity == "bytes_per_s" && !probe.beside.load.steps.empty();
    const auto whole = model::system::explain(of_load ? probe.beside.load : probe.program, engine, gpu,
                                              conditions, probe.between);
    const double wide = whole.high / whole.time;
    const double narrow = whole.low / whole.time;
    Value found;
    found.limiter = model::prediction::to_string(whole.limiter);
    const auto banded = [&](double value) {
        found.value = value;
        found.low = value * narrow;
        found.high = value * wide;
        return found;
    };
    constexpr double us = 1e6;
    constexpr double mhz = 1e-6;
    if (quantity == "kernel_us") return banded(whole.time * us);
    if (quantity == "bytes_per_s") return banded((of_load ? probe.beside.bytes : probe.units) / whole.time);
    if (quantity == "clock_mhz") return banded(whole.clock_hz * mhz);
    if (quantity == "span_us") {
        const double rest =
            probe.without.steps.empty()
                ? 0.0
                : model::system::explain(probe.without, engine, gpu, conditions, probe.between).span;
        return banded((whole.span - rest) * us);
    }
    if (quantity == "host_us") {
        return banded(model::system::host_time(probe.program, probe.between, gpu) * us);
    }
    if (quantity == "power_w") return banded(whole.power_w);
    if (quantity == "ctas_per_sm") return banded(whole.occupancy.ctas_per_sm);
    if (quantity == "clusters") {
        // Resident CTAs of the chip; a cluster has `units` CTAs.
        const double ctas = static_cast<double>(probe.program.kernels.front().grid.volume());
        return banded(ctas / whole.waves / probe.units);
    }
    if (quantity == "region_cycles" || quantity == "cycles_per_instruction") {
        // The clock of the median CTA does not see the last warp of the grid.
        hw::Gpu even = gpu;
        // Nor does it wait for what the SM waits that DRAM serves last.
        even.launch.cold = hw::Seconds(0.0);
        even.dram.round_spread = even.l2.round_spread = hw::Cycles(0.0);
        // The median CTA begins when half of all CTAs have been handed out.
        even.launch.cta_interval = even.launch.cta_interval * hw::Number(0.5);
        if (!probe.beside.load.steps.empty()) {
            even.latency.dram += wait_beside_load(probe.beside, engine, even, conditions);
        }
        // The median CTA does not lie in the largest cluster, whose SMs get less of the L2 than others.
        const double average = gpu.sm.count.value() / std::max(1.0, gpu.gpc.count.value());
        for (auto& group : even.cluster.groups) group = std::min(group, decltype(group + group)(average));
        const auto time = [&](const model::kernel::Program& program) {
            return program.steps.empty() ? 0.0
                                         : model::system::explain(program, engine, even, conditions).time;
        };
        return banded((time(probe.program) - time(probe.without)) * whole.clock_hz / probe.units);
    }
    throw Error("quantity", std::string(quantity),
                "kernel_us, span_us, host_us, bytes_per_s, region_cycles, cycles_per_instruction, clock_mhz, "
                "power_w, "
                "ctas_per_sm or clusters");
}

}  // namespace warptime::validate::microbench
