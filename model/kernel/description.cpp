// Clears and grows descriptions, and keeps their memory.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/description.hpp"

namespace warptime::model::kernel {

void Kernel::clear() {
    name.clear();
    grid = cluster = cta = Dim3{};
    registers_per_thread = 32;
    static_shared = dynamic_shared = 0;
    carveout = -1;
    named_barriers = 1;
    schedule.kind = ScheduleKind::one_per_cta;
    schedule.tiles = {1, 1, 1, 1};
    schedule.raster = Raster::along_n;
    schedule.group = 1;
    schedule.split_k = 1;
    schedule.stream_k = false;
    schedule.k_iterations = 1;
    schedule.items.clear();
    coverage = Coverage{};
    evidence = Evidence::any;
    hand_overs = HandOvers{};
    buffers.clear();
    tokens.clear();
    roles.clear();
    cta_classes.clear();
    nodes.clear();
    ops.clear();
    files.clear();
    accesses.clear();
    more_deps.clear();
    loops.clear();
    waits.clear();
    signals.clear();
    branches.clear();
    marks.clear();
    terms.clear();
    nested.clear();
    lane_counts.clear();
    address_pool.clear();
    address_list.clear();
    reuse.clear();
}

void Program::clear() {
    kernel_count = 0;
    memsets.clear();
    memcpys.clear();
    exchanges.clear();
    steps.clear();
    warnings.clear();
}

Kernel& Program::add_kernel() {
    if (kernel_count == kernels.size()) {
        kernels.emplace_back();
    }
    Kernel& kernel = kernels[kernel_count];
    kernel.clear();
    steps.push_back({StepKind::kernel, static_cast<std::uint32_t>(kernel_count), {no_id, no_id}});
    if (steps.size() > 1) {
        steps.back().after[0] = static_cast<Id>(steps.size() - 2);
    }
    ++kernel_count;
    return kernel;
}

void Program::add_memset(std::int64_t bytes) {
    steps.push_back({StepKind::memset, static_cast<std::uint32_t>(memsets.size()), {no_id, no_id}});
    if (steps.size() > 1) {
        steps.back().after[0] = static_cast<Id>(steps.size() - 2);
    }
    memsets.push_back({bytes});
}

void Program::add_memcpy(const Memcpy& copy) {
    steps.push_back({StepKind::memcpy, static_cast<std::uint32_t>(memcpys.size()), {no_id, no_id}});
    if (steps.size() > 1) {
        steps.back().after[0] = static_cast<Id>(steps.size() - 2);
    }
    memcpys.push_back(copy);
}

void Program::add_exchange(const Exchange& exchange) {
    steps.push_back({StepKind::exchange, static_cast<std::uint32_t>(exchanges.size()), {no_id, no_id}});
    if (steps.size() > 1) {
        steps.back().after[0] = static_cast<Id>(steps.size() - 2);
    }
    exchanges.push_back(exchange);
}

}  // namespace warptime::model::kernel
