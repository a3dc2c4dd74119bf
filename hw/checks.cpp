// Checks between the facts of one GPU. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/checks.hpp"

#include "hw/error.hpp"
#include "hw/unit.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace warptime::hw {
namespace {

using G = Gpu;

Finding compare(std::string_view check, std::string_view parameter, double value, double expected,
                double tolerance, std::string_view unit) {
    const bool ok = expected > 0 && std::fabs(value - expected) <= tolerance * expected;
    return {check, std::string(parameter), format_value(value, unit),
            fmt::format("{} within {} %", format_value(expected, unit), tolerance * 100), ok};
}

Finding at_most(std::string_view check, std::string_view parameter, double value, double bound,
                std::string_view unit) {
    return {check, std::string(parameter), format_value(value, unit), "at most " + format_value(bound, unit),
            value <= bound};
}

Finding dram_bandwidth(const G& gpu) {
    // Both edges of the clock transfer, 8 bits a byte.
    const double derived = gpu.dram.bus_width.value() * 2 * gpu.clock.memory.value() / 8;
    return compare("bus width x 2 x memory clock is the DRAM bandwidth", "dram.bandwidth",
                   gpu.dram.bandwidth.value(), derived, 0.05, "B/s");
}

Finding tensor_peak(const G& gpu) {
    if (gpu.tensor.bf16.value() == 0) {
        // Tensor cores before Ampere have no bf16; then no peak is published either.
        return at_most("tensor rate x SMs x clock is the published peak", "tensor.published_bf16",
                       gpu.tensor.published_bf16.value(), 0, "op/s");
    }
    const auto derived = gpu.tensor.bf16 * gpu.sm.count * gpu.clock.tensor_peak;
    return compare("tensor rate x SMs x clock is the published peak", "tensor.published_bf16",
                   gpu.tensor.published_bf16.value(), derived.value(), 0.03, "op/s");
}

Finding fp32_peak(const G& gpu) {
    // A fused multiply-add is two operations.
    const double derived = 2 * gpu.fp32.lanes.value() * gpu.sm.count.value() * gpu.clock.boost.value();
    return compare("fp32 lanes x 2 x SMs x clock is the published peak", "fp32.published",
                   gpu.fp32.published.value(), derived, 0.03, "op/s");
}

Finding threads(const G& gpu) {
    return compare("threads are 32 x warps", "sm.threads_max", gpu.sm.threads_max.value(),
                   gpu.sm.warps_max.value() * warp_threads, 0, "1");
}

Finding cta_threads(const G& gpu) {
    return at_most("a CTA fits on an SM", "cta.threads_max", gpu.cta.threads_max.value(),
                   gpu.sm.threads_max.value(), "1");
}

Finding shared_optin(const G& gpu) {
    return at_most("opt-in and reserved shared memory fit on an SM", "shared.per_cta_optin",
                   gpu.shared.per_cta_optin.value() + gpu.shared.reserved_per_cta.value(),
                   gpu.shared.capacity.value(), "B");
}

Finding shared_default(const G& gpu) {
    return at_most("the default shared memory is no more than opt-in", "shared.per_cta_default",
                   gpu.shared.per_cta_default.value(), gpu.shared.per_cta_optin.value(), "B");
}

Finding carveout(const G& gpu) {
    const double largest = gpu.shared.carveouts.empty() ? 0 : gpu.shared.carveouts.back().value();
    return compare("the largest carveout is the shared capacity", "shared.carveouts", largest,
                   gpu.shared.capacity.value(), 0, "B");
}

Finding shared_in_l1(const G& gpu) {
    return at_most("shared memory is part of the L1", "shared.capacity", gpu.shared.capacity.value(),
                   gpu.l1.capacity.value(), "B");
}

Finding shared_bandwidth(const G& gpu) {
    return compare("banks x width is the shared bandwidth", "shared.bandwidth", gpu.shared.bandwidth.value(),
                   gpu.shared.banks.value() * gpu.shared.bank_width.value(), 0, "B/cycle");
}

Finding sectors(const G& gpu) {
    const double line = gpu.l1.line.value();
    const double sector = gpu.l1.sector.value();
    return {"a line is a whole number of sectors", "l1.sector", format_value(sector, "B"),
            "a divisor of the line", sector > 0 && line >= sector && std::fmod(line, sector) == 0};
}

Finding registers(const G& gpu) {
    const double parts = gpu.sm.sub_partitions.value();
    const double unit = gpu.sm.register_allocation_unit.value();
    const bool ok = parts > 0 && unit > 0 && std::fmod(gpu.sm.registers.value(), parts * unit) == 0;
    return {"registers divide into sub-partitions and allocation units", "sm.registers",
            format_value(gpu.sm.registers.value(), "1"), "a multiple of sub-partitions x allocation unit",
            ok};
}

Finding sms_on_gpcs(const G& gpu) {
    return at_most("every GPC has at least one TPC", "gpc.count", gpu.gpc.count.value() * gpu.tpc.sms.value(),
                   gpu.sm.count.value(), "1");
}

Finding clusters(const G& gpu) {
    return at_most("the portable cluster is no more than the largest", "cluster.ctas_portable_max",
                   gpu.cluster.ctas_portable_max.value(), gpu.cluster.ctas_max.value(), "1");
}

Finding cluster_groups(const G& gpu) {
    double sms = 0;
    for (const Number& group : gpu.cluster.groups) sms += group.value();
    return at_most("groups of SMs fit on the chip", "cluster.groups", sms, gpu.sm.count.value(), "1");
}

Finding groups(const G& gpu) {
    return at_most("every GPC has an SM", "gpc.count", gpu.gpc.count.value(), gpu.sm.count.value(), "1");
}

Finding tensor_droop(const G& gpu) {
    const double left = gpu.clock.tensor_base.value() - gpu.clock.tensor_slope.value();
    return {"tensor work leaves some of the clock", "clock.tensor_slope",
            format_value(gpu.clock.tensor_slope.value(), "1"), "less than clock.tensor_base", left > 0.0};
}

Finding tensor_clock(const G& gpu) {
    return at_most("the tensor peak clock is no more than boost", "clock.tensor_peak",
                   gpu.clock.tensor_peak.value(), gpu.clock.boost.value(), "cycle/s");
}

Finding far_latency(const G& gpu) {
    return at_most("near L2 is no slower than far", "latency.l2_near", gpu.latency.l2_near.value(),
                   gpu.latency.l2_far.value(), "cycle");
}

Finding latency_order(const G& gpu) {
    return at_most("L1 is no slower than L2", "latency.l1", gpu.latency.l1.value(),
                   gpu.latency.l2_near.value(), "cycle");
}

Finding dram_latency(const G& gpu) {
    return at_most("L2 is no slower than DRAM", "latency.l2_far", gpu.latency.l2_far.value(),
                   gpu.latency.dram.value(), "cycle");
}

/// Keys that are shares and must lie in (0, 1].
void check_shares(const G& gpu, std::vector<Finding>& findings) {
    const std::array<std::string_view, 6> keys{"clock.tensor_base",        "clock.plain",
                                               "dram.read_efficiency",     "dram.write_efficiency",
                                               "tensor.mma_sync_fraction", "l2.dirty_capacity"};
    for (const std::string_view key : keys) {
        const double share = key_value(gpu, key_index(key));
        findings.push_back({"a share lies in (0, 1]", std::string(key), format_value(share, "1"),
                            "more than 0 and at most 1", share > 0 && share <= 1});
    }
}

/// Keys that some formula divides by.
void check_positive(const G& gpu, std::vector<Finding>& findings) {
    const std::array<std::string_view, 25> keys{"sm.count",
                                                "sm.sub_partitions",
                                                "sm.warps_max",
                                                "sm.ctas_max",
                                                "clock.boost",
                                                "clock.memory",
                                                "dram.capacity",
                                                "dram.bandwidth",
                                                "l2.capacity",
                                                "l2.partitions",
                                                "l1.line",
                                                "fp32.lanes",
                                                "fp64.lanes",
                                                "fp16.lanes",
                                                "integer.lanes",
                                                "sfu.lanes",
                                                "shuffle.lanes",
                                                "texture.lanes",
                                                "texture.fetch_lanes",
                                                "texture.texel_bytes",
                                                "texture.blend_bytes",
                                                "l2.bandwidth",
                                                "l2.port_bandwidth",
                                                "overlap.exponent",
                                                "l2.write_bandwidth"};
    for (const std::string_view key : keys) {
        const KeyInfo& info = key_info[key_index(key)];
        const double value = key_value(gpu, key_index(key));
        findings.push_back({"a divisor is more than 0", std::string(key), format_value(value, info.unit),
                            "more than 0", value > 0 && std::isfinite(value)});
    }
}

void require(const Finding& finding, const G& gpu) {
    if (!finding.ok) {
        throw Error(gpu.id + " " + finding.parameter, finding.value,
                    fmt::format("{} ({})", finding.expected, finding.check));
    }
}

}  // namespace

std::vector<Finding> check_gpu(const Gpu& gpu) {
    std::vector<Finding> findings;
    for (const auto check :
         {dram_bandwidth, tensor_peak, fp32_peak, threads, cta_threads, shared_optin, shared_default,
          carveout, shared_in_l1, shared_bandwidth, sectors, registers, sms_on_gpcs, clusters, cluster_groups,
          tensor_clock, far_latency, latency_order, dram_latency}) {
        findings.push_back(check(gpu));
    }
    check_shares(gpu, findings);
    check_positive(gpu, findings);
    return findings;
}

void require_sound(const Gpu& gpu) {
    for (const Finding& finding : check_gpu(gpu)) {
        require(finding, gpu);
    }
}

void require_possible(const Gpu& gpu) {
    for (const auto check : {shared_optin, shared_default, carveout, shared_in_l1, sectors, registers, groups,
                             clusters, tensor_droop}) {
        require(check(gpu), gpu);
    }
}

}  // namespace warptime::hw
