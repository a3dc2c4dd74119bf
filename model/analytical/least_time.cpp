// The least time of a kernel from its main loops alone.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/least_time.hpp"

#include "model/analytical/chain.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/kernel/access_origin.hpp"
#include "model/kernel/body_nodes.hpp"
#include "model/kernel/collective.hpp"
#include "model/kernel/stages_ahead.hpp"
#include "model/kernel/typical_item.hpp"
#include "model/machine/demand/op_kind.hpp"
#include "model/machine/l1/access_bytes.hpp"
#include "model/machine/l1/lane_copies.hpp"
#include "model/machine/l2/l2_ports.hpp"
#include "model/machine/launch/launch.hpp"
#include "model/machine/occupancy/given_sms.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/machine/occupancy/waves.hpp"
#include "model/machine/shared/matrix_rows.hpp"
#include "model/machine/shared/shared.hpp"
#include "model/machine/tensor/tensor_core.hpp"
#include "model/steady/waits_in_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warptime::model::analytical {

namespace {

/// Work of all main loops of an item.
struct LoopWork {
    double tensor_cycles = 0.0;
    double shared_cycles = 0.0;   ///< of operands that are read, and of writes where both take turns
    double received_bytes = 0.0;  ///< by asynchronous copies in all trips but the last
    double received_a_trip = 0.0;
    double written_cycles = 0.0;  ///< of shared memory, for received bytes
    bool by_wgmma = false;
    bool by_lanes = false, in_bulk = false;     ///< kind of asynchronous copies
    double copies = 0.0, copies_along_k = 0.0;  ///< by lanes, of one warp in a trip
    double trips = 0.0;
};

void add_trip_op(const kernel::Kernel& kernel, const kernel::Role& role, const kernel::Op& op, double share,
                 double trips, const hw::Gpu& gpu, LoopWork& work) {
    const int warps = role.warps * (role.alternate ? 1 : role.instances);
    const double executions = share * static_cast<double>(op.count);
    if (machine::is_matrix(op.cls)) {
        work.tensor_cycles += trips * machine::tensor_core_cycles(op, executions, warps, gpu).value();
        if (op.cls == hw::InstructionClass::wgmma) {
            constexpr double warpgroup = 4.0;
            work.by_wgmma = true;
            work.shared_cycles +=
                trips *
                machine::shared_cycles(executions * warps / warpgroup * kernel::wgmma_operand_bytes(op), gpu)
                    .value();
        }
        return;
    }
    if (machine::moves_matrices(op)) {
        const double passes = machine::matrix_rows(kernel, op, machine::banks_of(gpu)).passes;
        const double bytes = gpu.shared.banks.value() * gpu.shared.bank_width.value() * passes;
        work.shared_cycles += trips * machine::shared_cycles(executions * warps * bytes, gpu).value();
        return;
    }
    (op.cls == hw::InstructionClass::cp_async ? work.by_lanes : work.in_bulk) = true;
    work.copies += static_cast<double>(op.count);
    if (op.access_count > 0 && kernel::goes_along_rows(kernel, kernel.accesses[op.first_access]))
        work.copies_along_k += static_cast<double>(op.count);
    for (const kernel::Access& access : kernel.accesses_of(op)) {
        if (!machine::is_global(kernel, access) || access.pattern != kernel::PatternKind::collective ||
            access.direction != kernel::Direction::read) {
            continue;
        }
        const kernel::AccessOrigin origin = kernel::origin_of(kernel, access);
        const double movers = static_cast<double>(warps) /
                              kernel::box_share(kernel, role, op, access, origin.variables).warps(role);
        const double received =
            share * movers * machine::access_bytes(kernel, access, origin).full * access.multicast_ctas;
        work.written_cycles += trips * machine::shared_cycles(received, gpu).value();
        work.received_bytes += std::max(0.0, trips - 1.0) * received;
        work.received_a_trip += received;
    }
}

LoopWork main_loops(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    const kernel::Coordinates item = kernel::typical_item(kernel);
    LoopWork work;
    int first_warp = 0;
    for (const kernel::Role& role : kernel.roles) {
        const kernel::MainLoop main = kernel::main_loop(kernel, role, item);
        work.trips = std::max(work.trips, main.trips);
        const std::size_t end = main.node < role.last_node ? kernel.nodes[main.node].end : main.node;
        for (std::size_t n = main.node + 1; n < end; n = kernel::next_node(kernel, n)) {
            if (kernel.nodes[n].kind != kernel::NodeKind::op) continue;
            const kernel::Op& op = kernel.ops[kernel.nodes[n].payload];
            if (!machine::is_matrix(op.cls) && !machine::is_asynchronous_copy(op.cls) &&
                !machine::moves_matrices(op))
                continue;
            // An execution without an enabled lane takes less.
            if (op.enabled < 1.0 || op.lanes != kernel::no_id) continue;
            const double share = kernel::guarded_share(kernel, op, role, first_warp, item, 1, main.trips);
            add_trip_op(kernel, role, op, share, main.trips, gpu, work);
        }
        first_warp += role.warps * role.instances;
    }
    return work;
}

/// Whether a CTA takes one item after another, rather than being replaced.
bool stays(const kernel::Kernel& kernel) {
    return kernel.schedule.kind != kernel::ScheduleKind::one_per_cta &&
           kernel.grid.volume() < kernel.schedule.item_count();
}

/// Items that a slot takes one after another, and slots of an SM that are at work at once.
struct Turns {
    double items = 1.0, slots = 1.0;
};

Turns turns_of(const kernel::Kernel& kernel, const hw::Gpu& gpu, std::int64_t sms) {
    const std::int64_t items = kernel.schedule.item_count();
    const std::int64_t ctas = stays(kernel) ? kernel.grid.volume() : items;
    const std::int64_t slots =
        ctas <= sms ? ctas : sms * machine::residency(kernel, machine::limits_of(gpu)).ctas_per_sm;
    const std::int64_t at_once = std::max<std::int64_t>(1, std::min(ctas, slots));
    return {static_cast<double>(machine::ceil_divide(items, at_once)),
            static_cast<double>(machine::ceil_divide(at_once, sms))};
}

/// Cycles until the first stage has come from the L2.
double first_stage(const LoopWork& work, bool for_themselves, double port, const hw::Gpu& gpu) {
    if (for_themselves) return near_copy_latency(gpu).value() + work.received_a_trip * port;
    const bool waits = work.in_bulk && work.received_a_trip > 0.0;
    return waits ? load_latency(false, gpu).value() + work.received_a_trip * port : 0.0;
}

/// Time that a CTA alone on its SM takes for an item, where its warps copy ahead for themselves. The first
/// stage comes from the L2. Later trips wait for their stages or follow one another as fast as a warp issues
/// them.
double one_after_another(const kernel::Kernel& kernel, const LoopWork& work, double port,
                         const hw::Gpu& gpu) {
    const double received = work.received_a_trip * port;
    const kernel::Role& role = kernel.roles[0];
    const double warps = std::max(1.0, role.warps * role.instances / gpu.sm.sub_partitions.value());
    const double across = work.copies - work.copies_along_k;
    const double turn =
        work.by_wgmma
            ? std::max(received, gpu.pipeline.copying_turn.value() +
                                     warps * (gpu.pipeline.copy_interval.value() * work.copies_along_k +
                                              gpu.pipeline.copy_interval_across.value() * across))
            : received + gpu.pipeline.turn.value();
    const int ahead = kernel::stages_ahead(kernel);
    const double fill = first_stage(work, true, port, gpu);
    const double round = fill + steady::waits_in_order(ahead, 0.0, gpu).value();
    const double more = std::max(0.0, work.trips - 1.0);
    const double waiting = steady::trips_that_wait(more, ahead);
    return fill + waiting * std::max(turn, round / ahead) + (more - waiting) * turn;
}

}  // namespace

hw::Seconds least_time(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                       const prediction::Conditions& conditions) {
    const LoopWork work = main_loops(kernel, gpu);
    const std::int64_t sms = machine::given_sms(gpu, conditions);
    const double at_work = std::min(static_cast<double>(sms), static_cast<double>(kernel.grid.volume()));
    const Turns turns = turns_of(kernel, gpu, sms);
    // With few SMs at work, bytes that a single SM asks for come faster.
    const machine::PortCosts ports = machine::port_costs(
        machine::fullest_group(gpu, static_cast<std::int64_t>(at_work), kernel.cluster.volume()), gpu);
    const double port = std::min(ports.own, ports.shared);
    const bool for_themselves = kernel.roles.size() == 1 && kernel.cluster.volume() == 1 && work.by_lanes &&
                                !work.in_bulk && work.tensor_cycles > 0.0;
    // Lanes' copies and reads by ldmatrix take turns at shared memory.
    const double array = work.shared_cycles + (for_themselves && !work.by_wgmma ? work.written_cycles : 0.0);
    const double busiest = std::max({work.tensor_cycles, array, work.received_bytes * port});
    // Where items are dealt out evenly, the SM with the most items ends last.
    const std::int64_t of_sm = machine::ceil_divide(kernel.schedule.item_count(), sms);
    const double of_items =
        busiest * (stays(kernel) ? turns.items * turns.slots : static_cast<double>(of_sm));
    double cycles = 0.0;
    if (turns.items == 1.0 || stays(kernel)) {
        cycles = of_items + first_stage(work, for_themselves, port, gpu);
    } else {
        // Room for a CTA's successor is made while other CTAs of the SM go on.
        cycles = of_items - machine::cta_turnaround(kernel, gpu).value();
    }
    if (for_themselves) cycles = std::max(cycles, turns.items * one_after_another(kernel, work, port, gpu));
    const double tensor = gpu.clock.tensor_base.value();
    const double fastest = work.tensor_cycles > 0.0 ? tensor : std::max(tensor, gpu.clock.plain.value());
    const double clock = conditions.clock_hz > 0.0 ? conditions.clock_hz : gpu.clock.boost.value() * fastest;
    const bool maps = work.in_bulk && work.received_bytes > 0.0 && machine::copies_by_tensor_map(kernel);
    // Sums in another order round differently.
    constexpr double rounding = 1.0 - 1e-9;
    return hw::Seconds((machine::launch_floor(conditions.cache, maps, {}, gpu).value() + std::max(0.0, cycles) / clock) *
                       rounding);
}

}  // namespace warptime::model::analytical
