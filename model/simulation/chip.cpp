// Servers of a chip and their rates. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/chip.hpp"

#include "model/machine/dram/dram.hpp"
#include "model/machine/l2/l2_partitions.hpp"
#include "model/machine/l2/l2_ports.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::model::simulation {

using hw::Unit;
using prediction::Limiter;

Chip::Chip(const hw::Gpu& gpu, int sm_count, double clock_hz, double at_work, double share)
    : sms(static_cast<std::size_t>(sm_count)),
      slices(gpu, share),
      banks(gpu, clock_hz / machine::data_rate(gpu).value() / gpu.dram.read_efficiency.value(), share) {
    for (Sm& sm : sms) {
        sm.sub_partitions.resize(static_cast<std::size_t>(gpu.sm.sub_partitions.value()));
    }
    const double visits = machine::slice_visits(gpu);
    const double dram_byte = clock_hz / machine::data_rate(gpu).value();
    rates.shared_byte = 1.0 / gpu.shared.bandwidth.value();
    rates.l1_request = gpu.l1.request_interval.value();
    rates.tma_row = gpu.tma.row_interval.value();
    const machine::PortCosts port =
        machine::port_costs(at_work > 0.0 ? at_work : machine::largest_group(gpu), gpu);
    rates.port_in_byte = port.shared;
    rates.port_own_byte = port.own;
    rates.port_out_byte = port.stored;
    rates.l2_stored_byte = 1.0 / (gpu.l2.ingest_bandwidth.value() * gpu.sm.count.value());
    rates.l2_byte = visits / (gpu.l2.bandwidth.value() * gpu.sm.count.value());
    rates.dram_read_byte = dram_byte / gpu.dram.read_efficiency.value();
    rates.dram_row_byte = dram_byte / gpu.dram.row_efficiency.value();
    rates.dram_scattered_byte = dram_byte / gpu.dram.scattered_efficiency.value();
    rates.dram_write_byte = clock_hz / machine::written_rate(gpu).value() / gpu.dram.write_efficiency.value();
    rates.dram_turn_byte = dram_byte * gpu.dram.turnaround.value();
    rates.latency_l1 = gpu.latency.l1.value();
    rates.latency_near = gpu.latency.l2_near.value();
    rates.latency_l2 = gpu.latency.l2_far.value();
    rates.latency_dram = gpu.latency.dram.value();
    rates.latency_bulk = gpu.latency.tma_extra.value();
}

namespace {

Limiter limiter_of(Unit unit) {
    switch (unit) {
        case Unit::fp32:
        case Unit::fp16:
            return Limiter::fp32;
        case Unit::fp64:
            return Limiter::fp64;
        case Unit::integer:
            return Limiter::integer;
        case Unit::sfu:
            return Limiter::sfu;
        case Unit::tensor:
            return Limiter::tensor_core;
        case Unit::shuffle:
            return Limiter::shared;
        default:
            return Limiter::issue;
    }
}

template <class Get>
Busy over_sms(const Chip& chip, Limiter limiter, Get get) {
    Busy busy{limiter, 0, 0.0};
    for (const Sm& sm : chip.sms) {
        const Ticks ticks = get(sm).busy();
        busy.longest = std::max(busy.longest, ticks);
        busy.average += static_cast<double>(ticks) / static_cast<double>(chip.sms.size());
    }
    return busy;
}

template <class Get>
Busy over_sub_partitions(const Chip& chip, Limiter limiter, Get get) {
    Busy busy{limiter, 0, 0.0};
    for (const Sm& sm : chip.sms) {
        for (const SubPartition& part : sm.sub_partitions) {
            const Ticks ticks = get(part).busy();
            busy.longest = std::max(busy.longest, ticks);
            busy.average +=
                static_cast<double>(ticks) / static_cast<double>(chip.sms.size() * sm.sub_partitions.size());
        }
    }
    return busy;
}

}  // namespace

void each_unit(Chip& chip, const std::function<void(const std::string&, std::int32_t, Server&)>& visit) {
    for (std::size_t i = 0; i < chip.sms.size(); ++i) {
        Sm& sm = chip.sms[i];
        const auto number = static_cast<std::int32_t>(i);
        for (std::size_t p = 0; p < sm.sub_partitions.size(); ++p) {
            const std::string of_part = fmt::format(", sub-partition {}", p);
            visit("issue" + of_part, number, sm.sub_partitions[p].issue);
            visit("register ports" + of_part, number, sm.sub_partitions[p].ports);
            for (std::size_t unit = 0; unit < hw::unit_count; ++unit) {
                visit(std::string(to_string(static_cast<Unit>(unit))) + of_part, number,
                      sm.sub_partitions[p].pipes[unit]);
            }
        }
        visit("shared memory", number, sm.shared);
        visit("shared memory, copies", number, sm.shared_write);
        visit("L1", number, sm.l1);
        visit("barriers", number, sm.barrier);
        visit("instruction fetch", number, sm.fetch);
        visit("TMA", number, sm.tma);
        visit("constants", number, sm.constants);
        visit("texture", number, sm.texture);
        visit("cluster", number, sm.cluster);
        visit("port in", number, sm.port_in);
        visit("port out", number, sm.port_out);
    }
    visit("L2", -1, chip.l2);
    visit("fullest L2 slice", -1, chip.fullest);
    visit("atomics", -1, chip.atomics);
    visit("atomics' returns", -1, chip.atomic_returns);
    visit("DRAM", -1, chip.dram);
}

std::vector<Busy> busy_of(const Chip& chip) {
    std::vector<Busy> all;
    all.push_back(over_sub_partitions(chip, Limiter::issue, [](const SubPartition& p) { return p.issue; }));
    all.push_back(over_sub_partitions(chip, Limiter::issue, [](const SubPartition& p) { return p.ports; }));
    for (std::size_t unit = 0; unit < hw::unit_count; ++unit) {
        all.push_back(over_sub_partitions(chip, limiter_of(static_cast<Unit>(unit)),
                                          [unit](const SubPartition& p) { return p.pipes[unit]; }));
    }
    all.push_back(over_sms(chip, Limiter::shared, [](const Sm& sm) { return sm.shared; }));
    all.push_back(over_sms(chip, Limiter::shared, [](const Sm& sm) { return sm.shared_write; }));
    all.push_back(over_sms(chip, Limiter::l1, [](const Sm& sm) { return sm.l1; }));
    all.push_back(over_sms(chip, Limiter::tma, [](const Sm& sm) { return sm.tma; }));
    all.push_back(over_sms(chip, Limiter::l1, [](const Sm& sm) { return sm.constants; }));
    all.push_back(over_sms(chip, Limiter::l1, [](const Sm& sm) { return sm.texture; }));
    all.push_back(over_sms(chip, Limiter::crossbar, [](const Sm& sm) { return sm.cluster; }));
    all.push_back(over_sms(chip, Limiter::crossbar, [](const Sm& sm) { return sm.port_in; }));
    all.push_back(over_sms(chip, Limiter::crossbar, [](const Sm& sm) { return sm.port_out; }));
    all.push_back({Limiter::l2, chip.l2.busy(), static_cast<double>(chip.l2.busy())});
    all.push_back({Limiter::l2, chip.fullest.busy(), static_cast<double>(chip.fullest.busy())});
    all.push_back({Limiter::atomic, chip.atomics.busy(), static_cast<double>(chip.atomics.busy())});
    all.push_back({Limiter::dram, chip.dram.busy(), static_cast<double>(chip.dram.busy())});
    return all;
}

}  // namespace warptime::model::simulation
