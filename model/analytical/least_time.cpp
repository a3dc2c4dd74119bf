// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/least_time.hpp"

#include "model/analytical/access_origin.hpp"
#include "model/analytical/body_nodes.hpp"
#include "model/analytical/bounds/launch.hpp"
#include "model/analytical/bounds/tensor_core.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/op_kind.hpp"
#include "model/analytical/typical_item.hpp"
#include "model/kernel/collective.hpp"
#include "model/memory/l2_ports.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warptime::model::analytical {

namespace {

/// Of all main loops of an item.
struct LoopWork {
    double tensor_cycles = 0.0;
    double received_bytes = 0.0;  ///< by asynchronous copies in all trips but the last
};

void add_trip_op(const kernel::Kernel& kernel, const kernel::Role& role, const kernel::Op& op, double share,
                 double trips, const hw::Gpu<double>& gpu, LoopWork& work) {
    const int warps = role.warps * (role.alternate ? 1 : role.instances);
    const double executions = share * static_cast<double>(op.count);
    if (is_matrix(op.cls)) {
        work.tensor_cycles += trips * tensor_core_cycles(op, executions, warps, gpu).value();
        return;
    }
    if (!is_asynchronous_copy(op.cls)) return;
    for (const kernel::Access& access : kernel.accesses_of(op)) {
        if (!is_global(kernel, access) || access.pattern != kernel::PatternKind::collective ||
            access.direction != kernel::Direction::read) {
            continue;
        }
        const AccessOrigin origin = origin_of(kernel, access);
        const double movers =
            warps / kernel::box_share(kernel, role, op, access, origin.variables).warps(role);
        work.received_bytes += std::max(0.0, trips - 1.0) * share * movers *
                               access_bytes(kernel, access, origin).full * access.multicast_ctas;
    }
}

LoopWork main_loops(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu) {
    const kernel::Coordinates item = typical_item(kernel);
    LoopWork work;
    int first_warp = 0;
    for (const kernel::Role& role : kernel.roles) {
        const MainLoop main = main_loop(kernel, role, item);
        const std::size_t end = main.node < role.last_node ? kernel.nodes[main.node].end : main.node;
        for (std::size_t n = main.node + 1; n < end; n = next_node(kernel, n)) {
            if (kernel.nodes[n].kind != kernel::NodeKind::op) continue;
            const kernel::Op& op = kernel.ops[kernel.nodes[n].payload];
            if (!is_matrix(op.cls) && !is_asynchronous_copy(op.cls)) continue;
            const double share = guarded_share(kernel, op, role, first_warp, item, 1, main.trips);
            add_trip_op(kernel, role, op, share, main.trips, gpu, work);
        }
        first_warp += role.warps * role.instances;
    }
    return work;
}

}  // namespace

hw::Seconds<double> least_time(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu,
                               const prediction::Conditions& conditions) {
    const LoopWork work = main_loops(kernel, gpu);
    auto sms = static_cast<std::int64_t>(gpu.sm.count.value());
    if (conditions.available_sms > 0) sms = std::min<std::int64_t>(sms, conditions.available_sms);
    const auto items = static_cast<double>(kernel.schedule.item_count());
    const double at_work = std::min(static_cast<double>(sms), static_cast<double>(kernel.grid.volume()));
    const double share = std::max(1.0, items / static_cast<double>(sms));
    const bool whole = kernel.schedule.kind == kernel::ScheduleKind::one_per_cta;
    // With few SMs at work what only one of them asks for comes faster.
    const memory::PortCosts<double> port = memory::port_costs(
        occupancy::fullest_group(gpu, static_cast<std::int64_t>(at_work), kernel.cluster.volume()), gpu);
    const double busiest =
        std::max(work.tensor_cycles, work.received_bytes * std::min(port.own, port.shared));
    // What follows a CTA is made room for while others of its SM go on.
    const double cycles =
        busiest * (whole ? std::ceil(share) : share) - prediction::cta_turnaround(kernel, gpu).value();
    const double tensor = gpu.clock.tensor_base.value();
    const double fastest = work.tensor_cycles > 0.0 ? tensor : std::max(tensor, gpu.clock.plain.value());
    const double clock = conditions.clock_hz > 0.0 ? conditions.clock_hz : gpu.clock.boost.value() * fastest;
    const prediction::Cache cache = work.received_bytes > 0.0 ? conditions.cache : prediction::Cache::warm;
    // Sums in another order round otherwise.
    constexpr double rounding = 1.0 - 1e-9;
    return hw::Seconds<double>((launch_floor(cache, false, gpu).value() + std::max(0.0, cycles) / clock) *
                               rounding);
}

}  // namespace warptime::model::analytical
