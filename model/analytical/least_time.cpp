// The least time of a kernel from its main loops alone.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/least_time.hpp"

#include "hw/tensor_rate.hpp"
#include "model/analytical/chain.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/kernel/access_origin.hpp"
#include "model/kernel/body_nodes.hpp"
#include "model/kernel/collective.hpp"
#include "model/kernel/stages_ahead.hpp"
#include "model/kernel/typical_item.hpp"
#include "model/machine/bulk/outside.hpp"
#include "model/machine/bulk/tma.hpp"
#include "model/machine/demand/op_kind.hpp"
#include "model/machine/dram/dram.hpp"
#include "model/machine/dram/write_back.hpp"
#include "model/machine/l1/access_bytes.hpp"
#include "model/machine/l1/lane_copies.hpp"
#include "model/machine/l1/row_sectors.hpp"
#include "model/machine/l2/crossbar.hpp"
#include "model/machine/l2/l2.hpp"
#include "model/machine/l2/l2_ports.hpp"
#include "model/machine/l2/store_drain.hpp"
#include "model/machine/launch/launch.hpp"
#include "model/machine/occupancy/given_sms.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/machine/occupancy/waves.hpp"
#include "model/machine/power/clock.hpp"
#include "model/machine/shared/matrix_rows.hpp"
#include "model/machine/shared/shared.hpp"
#include "model/machine/tensor/matrix_demand.hpp"
#include "model/machine/tensor/tensor_core.hpp"
#include "model/steady/waits_in_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace warptime::model::analytical {

namespace {

using prediction::LaunchSizes;

/// Reads of a trip, by the tile coordinate that they go with.
struct Panels {
    int of_row = 0, of_column = 0, other = 0;
};

void note_panel(const kernel::AccessOrigin& origin, Panels& panels) {
    const bool one = origin.along_m != origin.along_n && !origin.shifted && !(origin.repeat > 0.0);
    ++(!one ? panels.other : origin.along_m ? panels.of_row : panels.of_column);
}

void add_trip_op(const kernel::Kernel& kernel, const kernel::Role& role, const kernel::Op& op, double share,
                 const hw::Gpu& gpu, LeastWork& work, Panels& panels) {
    const int warps = role.warps * (role.alternate ? 1 : role.instances);
    const double executions = share * static_cast<double>(op.count);
    if (machine::is_matrix(op.cls)) {
        work.tensor_cycles += machine::tensor_core_cycles(op, executions, warps, gpu).value();
        machine::Part part;
        machine::add_matrix(op, executions, warps, gpu, part);
        work.tensor_flop += part.tensor_flop;
        work.tensor_dtype = op.dtype;
        if (hw::is_group_product(op.cls)) {
            work.by_wgmma = true;
            work.shared_cycles +=
                machine::shared_cycles(
                    executions * warps / hw::warps_of_group * kernel::wgmma_operand_bytes(op), gpu)
                    .value();
        }
        return;
    }
    if (machine::moves_matrices(op)) {
        const double passes = machine::matrix_rows(kernel, op, machine::banks_of(gpu)).passes;
        const double bytes = gpu.shared.banks.value() * gpu.shared.bank_width.value() * passes;
        work.shared_cycles += machine::shared_cycles(executions * warps * bytes, gpu).value();
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
        const machine::AccessBytes bytes = machine::access_bytes(kernel, access, origin);
        const double boxes = share * movers * access.multicast_ctas;
        const double received = boxes * bytes.full;
        if (op.cls == hw::InstructionClass::cp_async_bulk_tensor) {
            if (work.rows_count < work.rows.size()) {
                const bool by_tiles = access.rank > 1 && machine::goes_with_tile(kernel, access.origin[1]);
                work.rows[work.rows_count++] = {access.buffer, boxes * bytes.rows, bytes.row_bytes,
                                                share * movers * bytes.rows, by_tiles ? access.box[1] : 0};
            }
        }
        note_panel(origin, panels);
        work.written_cycles += machine::shared_cycles(received, gpu).value();
        work.received_bytes += received;
        work.multicast = work.multicast || access.multicast_ctas > 1;
        const kernel::Before before = kernel.buffers[static_cast<std::size_t>(access.buffer)].before;
        work.by_conditions = work.by_conditions && before == kernel::Before::by_conditions;
    }
}

/// Whether a CTA takes one item after another, rather than being replaced.
bool stays(const LaunchSizes& sizes) {
    return !sizes.one_per_cta && sizes.ctas < sizes.items;
}

/// Items that a slot takes one after another, and slots of an SM that are at work at once.
struct Turns {
    double items = 1.0, slots = 1.0;
};

Turns turns_of(const LeastWork& work, const LaunchSizes& sizes, std::int64_t sms) {
    const std::int64_t items = sizes.items;
    const std::int64_t ctas = stays(sizes) ? sizes.ctas : items;
    const std::int64_t slots = ctas <= sms ? ctas : sms * work.ctas_per_sm;
    const std::int64_t at_once = std::max<std::int64_t>(1, std::min(ctas, slots));
    return {static_cast<double>(machine::ceil_divide(items, at_once)),
            static_cast<double>(machine::ceil_divide(at_once, sms))};
}

/// Cycles until the first stage has come from the L2.
double first_stage(const LeastWork& work, bool for_themselves, bool from_dram, double port,
                   const hw::Gpu& gpu) {
    if (for_themselves) return near_copy_latency(gpu).value() + work.received_bytes * port;
    const bool waits = work.in_bulk && work.received_bytes > 0.0;
    return waits ? load_latency(from_dram, gpu).value() + work.received_bytes * port : 0.0;
}

/// Time that a CTA alone on its SM takes for an item, where its warps copy ahead for themselves. The first
/// stage comes from the L2. Later trips wait for their stages or follow one another as fast as a warp issues
/// them.
double one_after_another(const LeastWork& work, double trips, double port, const hw::Gpu& gpu) {
    const double received = work.received_bytes * port;
    const double warps = std::max(1.0, work.warps_of_first_role / gpu.sm.sub_partitions.value());
    const double across = work.copies - work.copies_along_k;
    const double turn =
        work.by_wgmma
            ? std::max(received, gpu.pipeline.copying_turn.value() +
                                     warps * (gpu.pipeline.copy_interval.value() * work.copies_along_k +
                                              gpu.pipeline.copy_interval_across.value() * across))
            : received + gpu.pipeline.turn.value();
    const double fill = first_stage(work, true, false, port, gpu);
    const double round = fill + steady::waits_in_order(work.ahead, 0.0, gpu).value();
    const double more = std::max(0.0, trips - 1.0);
    const double waiting = steady::trips_that_wait(more, work.ahead);
    return fill + waiting * std::max(turn, round / work.ahead) + (more - waiting) * turn;
}

/// The highest clock that a kernel may have whose time is below `limit`. `trips`: of all items. Its tensor
/// work over its time gives the least use of the tensor cores. The clock falls with the use, and the time
/// falls with the clock.
double highest_clock(const LeastWork& work, double trips, const hw::Gpu& gpu,
                     const prediction::Conditions& conditions, double limit) {
    if (conditions.clock_hz > 0.0) return conditions.clock_hz;
    const double tensor = gpu.clock.tensor_base.value();
    if (!(work.tensor_cycles > 0.0))
        return gpu.clock.boost.value() * std::max(tensor, gpu.clock.plain.value());
    const double highest = gpu.clock.boost.value() * tensor;
    if (!(work.by_lanes || work.in_bulk)) return highest;
    // Overlapped times below a quarter of the longest do not count (overlap.hpp), so that a clock may change
    // a time by a little more than itself.
    constexpr double about = 0.98;
    const double flop = trips * work.tensor_flop;
    const double peak = hw::tensor_rate(work.tensor_dtype, gpu).value() * gpu.sm.count.value();
    const double use = about * flop / (limit * highest * peak);
    return std::min(highest, machine::launch_clock(true, use, gpu, conditions.data).value());
}

}  // namespace

namespace {

/// Whether a loop has one trip for each k-iteration of an item, however many there are.
bool goes_by_iterations(const kernel::Kernel& kernel, const kernel::Loop& loop) {
    if (loop.trips.expected) return false;
    constexpr std::array<std::int64_t, 4> numbers{1, 2, 1021, 1 << 20};
    return std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t iterations) {
        kernel::Coordinates item;
        item.item_end = iterations;
        return kernel::evaluate(kernel, loop.trips.index, item) == iterations;
    });
}

/// Whether an op stores to global memory, or adds there.
bool stores(const kernel::Kernel& kernel, const kernel::Op& op) {
    const auto accesses = kernel.accesses_of(op);
    return std::any_of(accesses.begin(), accesses.end(), [&](const kernel::Access& access) {
        return machine::is_global(kernel, access) && access.direction != kernel::Direction::read;
    });
}

}  // namespace

LeastWork least_work(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    const kernel::Coordinates item = kernel::typical_item(kernel);
    LeastWork work;
    work.fed_by_others = true;
    bool alike = true;  // whatever the sizes are
    int first_warp = 0;
    Panels panels;
    for (const kernel::Role& role : kernel.roles) {
        const kernel::MainLoop main = kernel::main_loop(kernel, role, item);
        work.trips = std::max(work.trips, main.trips);
        work.alternates = work.alternates || (role.alternate && role.instances > 1);
        if (main.node < role.last_node) {
            alike = alike && goes_by_iterations(kernel, kernel.loops[kernel.nodes[main.node].payload]);
        }
        for (std::size_t n = role.first_node; n < role.last_node; n = kernel::next_node(kernel, n)) {
            alike = alike && (n == main.node || kernel.nodes[n].kind != kernel::NodeKind::loop);
        }
        bool copies = false;
        bool multiplies = false;
        for (std::size_t n = role.first_node; n < role.last_node; ++n) {
            if (kernel.nodes[n].kind != kernel::NodeKind::op) continue;
            const hw::InstructionClass cls = kernel.ops[kernel.nodes[n].payload].cls;
            copies = copies || machine::is_asynchronous_copy(cls);
            multiplies = multiplies || machine::is_matrix(cls);
        }
        const std::size_t end = main.node < role.last_node ? kernel.nodes[main.node].end : main.node;
        for (std::size_t n = main.node + 1; n < end; n = kernel::next_node(kernel, n)) {
            if (kernel.nodes[n].kind != kernel::NodeKind::op) continue;
            const kernel::Op& op = kernel.ops[kernel.nodes[n].payload];
            work.stores_in_loop = work.stores_in_loop || stores(kernel, op);
            if (!machine::is_matrix(op.cls) && !machine::is_asynchronous_copy(op.cls) &&
                !machine::moves_matrices(op))
                continue;
            // An execution without an enabled lane takes less.
            if (op.enabled < 1.0 || op.lanes != kernel::no_id) continue;
            alike = alike && !op.when.active;
            const double share = kernel::guarded_share(kernel, op, role, first_warp, item, 1, main.trips);
            add_trip_op(kernel, role, op, share, gpu, work, panels);
        }
        work.fed_by_others = work.fed_by_others && !(copies && multiplies);
        first_warp += role.warps * role.instances;
    }
    work.of_product =
        panels.of_row == 1 && panels.of_column == 1 && panels.other == 0 && work.rows_count == 2;
    work.by_iterations = alike && kernel.schedule.kind != kernel::ScheduleKind::listed;
    work.one_role = kernel.roles.size() == 1;
    if (!kernel.roles.empty()) work.warps_of_first_role = kernel.roles[0].warps * kernel.roles[0].instances;
    work.cluster = kernel.cluster.volume();
    work.ctas_per_sm = machine::residency(kernel, machine::limits_of(gpu)).ctas_per_sm;
    work.ahead = kernel::stages_ahead(kernel);
    work.in_ring = work.in_bulk && work.fed_by_others && kernel::copy_ring(kernel).of_trip <= 1.0;
    work.turnaround = machine::cta_turnaround(kernel, gpu).value();
    work.maps = work.in_bulk && work.received_bytes > 0.0 && machine::copies_by_tensor_map(kernel);
    return work;
}

prediction::LaunchSizes sizes_of(const kernel::Kernel& kernel, const LeastWork& work) {
    LaunchSizes sizes{kernel.schedule.item_count(),
                      kernel::typical_item(kernel).item_end,
                      kernel.grid.volume(),
                      kernel.schedule.kind == kernel::ScheduleKind::one_per_cta,
                      {}};
    for (std::size_t i = 0; i < std::min(sizes.pitches.size(), kernel.buffers.size()); ++i) {
        const kernel::Buffer& buffer = kernel.buffers[i];
        if (buffer.rank > 1) sizes.pitches[i] = buffer.stride[1] * hw::bytes_of(buffer.dtype);
        if (buffer.rank > 1) sizes.rows[i] = buffer.extent[1];
    }
    if (!work.of_product) return sizes;
    for (const LeastWork::Rows& rows : work.rows) {
        const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(rows.buffer)];
        const double asked = static_cast<double>(sizes.items) * work.trips * rows.fetched * rows.bytes;
        sizes.read_bytes +=
            std::min(static_cast<double>(buffer.elements()) * hw::bytes_of(buffer.dtype), asked);
    }
    return sizes;
}

namespace {

/// Cycles of the bulk engine for a trip's boxes. Where the pitch is not known, rows begin at lines.
double engine_cycles(const LeastWork& work, const LaunchSizes& sizes, const hw::Gpu& gpu) {
    const double line = gpu.l1.line.value();
    double lines = 0.0;
    for (std::size_t i = 0; i < work.rows_count; ++i) {
        const LeastWork::Rows& rows = work.rows[i];
        const auto buffer = static_cast<std::size_t>(rows.buffer);
        const std::int64_t pitch = buffer < sizes.pitches.size() ? sizes.pitches[buffer] : 0;
        lines += rows.rows * (pitch > 0 ? machine::lines_per_row(rows.bytes, pitch, line)
                                        : std::max(1.0, rows.bytes / line));
    }
    return machine::tma_cycles(lines, gpu).value();
}

/// Bytes that all items send to the L2's slices at least.
double sent_bytes(const LeastStores& stores, const LaunchSizes& sizes, const hw::Gpu& gpu) {
    if (!(stores.row_bytes > 0.0) || sizes.stored_pitch == 0) return sizes.written_bytes;
    return sizes.written_bytes *
           machine::stored_per_byte(stores.row_bytes, sizes.stored_pitch, gpu.l1.sector.value(), stores.span);
}

/// Cycles behind an item's main loop.
double after_loop(const LeastStores& stores, const LaunchSizes& sizes, const hw::Gpu& gpu) {
    const double sent = sent_bytes(stores, sizes, gpu) / static_cast<double>(sizes.items);
    double chain = stores.least;
    if (stores.sent[0] < stores.sent[1]) {
        const double slope = (stores.chain[1] - stores.chain[0]) / (stores.sent[1] - stores.sent[0]);
        const double from =
            sent < stores.sent[0] ? sent : std::max(stores.sent[0], sent + stores.sent[0] - stores.sent[1]);
        chain = std::max(chain, stores.chain[0] + slope * (from - stores.sent[0]));
    }
    return chain + std::max(stores.busiest, machine::crossbar_write_cycles(sent, gpu).value());
}

/// Cycles of the L2's slices for the boxes and stores of a product. Of a wave of W items in a row-major or
/// any other order, the panels of rows times those of columns are at least W; so the two kinds' bytes that
/// are the first of their wave are at least twice the root of their product over W.
double slice_cycles(const LeastWork& work, const LaunchSizes& sizes, double trips, double concurrent,
                    const hw::Gpu& gpu) {
    const bool known = work.of_product && work.in_bulk && work.fed_by_others && !work.stores_in_loop;
    if (!known) return 0.0;
    std::array<double, 2> served{};  // of an item
    double outside = 0.0;
    for (std::size_t i = 0; i < served.size(); ++i) {
        const LeastWork::Rows& rows = work.rows[i];
        const auto buffer = static_cast<std::size_t>(rows.buffer);
        const bool known_buffer =
            buffer < sizes.rows.size() && sizes.rows[buffer] > 0 && sizes.pitches[buffer] > 0;
        if (!known_buffer) return 0.0;
        const std::int64_t height = sizes.rows[buffer];
        const double inside =
            rows.high == 0 ? 1.0
                           : static_cast<double>(height) /
                                 static_cast<double>(machine::ceil_divide(height, rows.high) * rows.high);
        const double beyond = trips * rows.fetched * rows.bytes * (1.0 - inside);
        const double row =
            machine::sector_bytes_per_row(rows.bytes, sizes.pitches[buffer], gpu.l1.sector.value());
        served[i] = trips * rows.fetched * row - beyond;
        outside += beyond;
    }
    const auto items = static_cast<double>(sizes.items);
    const double one_of = machine::unmerged_share(0.0, gpu);
    const double first = 2.0 * std::sqrt(served[0] * served[1] / concurrent);
    const double asked = items * (one_of * (served[0] + served[1]) + (1.0 - one_of) * first);
    const hw::Cycles stored = machine::l2_ingest_cycles(hw::Bytes(sent_bytes(work.stores, sizes, gpu)), gpu);
    return (machine::read_and_stored_cycles(hw::Bytes(asked), stored, false, gpu) +
            machine::outside_cycles(outside * items, gpu))
        .value();
}

/// Seconds of DRAM for bytes that no earlier launch has left in the L2, and for dirty lines that leave for
/// them.
double memory_seconds(const LeastWork& work, const LaunchSizes& sizes,
                      const prediction::Conditions& conditions, const hw::Gpu& gpu) {
    if (!work.by_conditions || conditions.cache == prediction::Cache::warm) return 0.0;
    const hw::Bytes read(sizes.read_bytes);
    const bool rows_are_faster = gpu.dram.read_efficiency < gpu.dram.row_efficiency;
    const hw::Bytes written =
        conditions.cache == prediction::Cache::flushed
            ? machine::writes_over_dirty(read, {}, machine::dirty_first_of(gpu), gpu.l2.dirty_fraction,
                                         machine::dirty_capacity_of(gpu))
            : hw::Bytes{};
    return machine::dram_seconds({read, rows_are_faster ? read : hw::Bytes{}, {}}, {written, {}}, gpu)
        .value();
}

/// Least norm (overlap.hpp) of parts of which two take at least `one` and `other`, where this matters for
/// `limit`. Up to two further parts below a quarter of the longest are left out of the norm, so that it may
/// be so much shorter.
double least_overlapped(double one, double other, double limit, const hw::Gpu& gpu) {
    const double longest = std::max(one, other);
    const double shortest = std::min(one, other);
    if (!(longest < limit) || longest + shortest < limit) return longest;
    const double exponent = gpu.overlap.exponent.value();
    const double left_out = 2.0 * std::pow(0.25, exponent);
    const double norm =
        longest * std::pow((1.0 + std::pow(shortest / longest, exponent)) / (1.0 + left_out), 1.0 / exponent);
    return std::max(longest, norm);
}

}  // namespace

hw::Seconds least_time(const LeastWork& work, const prediction::LaunchSizes& sizes, const hw::Gpu& gpu,
                       const prediction::Conditions& conditions, double limit) {
    const double trips = work.by_iterations ? static_cast<double>(sizes.iterations) : work.trips;
    const std::int64_t sms = machine::given_sms(gpu, conditions);
    const double at_work = std::min(static_cast<double>(sms), static_cast<double>(sizes.ctas));
    const Turns turns = turns_of(work, sizes, sms);
    const bool from_dram = work.by_conditions && conditions.cache != prediction::Cache::warm;
    // With few SMs at work, bytes that a single SM asks for come faster.
    const machine::PortCosts ports = machine::port_costs(
        machine::fullest_group(gpu, static_cast<std::int64_t>(at_work), work.cluster), gpu);
    double port = work.multicast ? ports.shared : std::min(ports.own, ports.shared);
    if (work.in_bulk && work.cluster == 1) port = std::min(port, 1.0 / gpu.l2.box_bandwidth.value());
    const bool for_themselves =
        work.one_role && work.cluster == 1 && work.by_lanes && !work.in_bulk && work.tensor_cycles > 0.0;
    // Lanes' copies and reads by ldmatrix take turns at shared memory.
    const double array = work.shared_cycles + (for_themselves && !work.by_wgmma ? work.written_cycles : 0.0);
    const bool on = stays(sizes);
    // A producer that goes on with the next tile copies in every trip; others have copied before the last.
    const bool goes_on = on && work.fed_by_others;
    const double copied = goes_on ? trips : std::max(0.0, trips - 1.0);
    double busiest = std::max(std::max(work.tensor_cycles, array) * trips,
                              std::max(work.received_bytes * port, engine_cycles(work, sizes, gpu)) * copied);
    // A separate producer takes its turn in each trip, and fills a stage again once it has been multiplied.
    const bool produced = work.in_ring && work.tensor_cycles > 0.0 && turns.slots == 1.0;
    if (produced) {
        const double around = load_latency(from_dram, gpu).value() + gpu.latency.tma_extra.value() +
                              work.received_bytes * port + work.tensor_cycles;
        const double turn = std::max(gpu.pipeline.step_floor.value(), around / work.ahead);
        busiest = std::max(busiest, turn * copied);
    }
    // Where items are dealt out evenly, the SM with the most items ends last.
    const std::int64_t of_sm = machine::ceil_divide(sizes.items, sms);
    const double after = after_loop(work.stores, sizes, gpu);
    double of_items = busiest * (on ? turns.items * turns.slots : static_cast<double>(of_sm));
    if (on && work.alternates) {
        // One consumer stores its tile while the other multiplies; the longer of both sets the pace.
        const double loop = busiest * turns.slots;
        of_items = loop + std::max(loop, after) * (turns.items - 1.0);
    }
    double cycles = 0.0;
    if (turns.items == 1.0 || on) {
        cycles =
            of_items + first_stage(work, for_themselves, from_dram, port, gpu) + work.straight_cycles + after;
    } else {
        // Room for a CTA's successor is made while other CTAs of the SM go on.
        cycles = of_items - work.turnaround;
    }
    if (goes_on && produced && !work.alternates)
        cycles += (gpu.pipeline.tile_gap.value() + work.sums_cycles) * (turns.items - 1.0);
    if (for_themselves) cycles = std::max(cycles, turns.items * one_after_another(work, trips, port, gpu));
    const double clock =
        highest_clock(work, static_cast<double>(sizes.items) * trips, gpu, conditions, limit);
    const bool receives = work.received_bytes > 0.0 && trips > 1.0;
    const prediction::Cache cache = receives ? conditions.cache : prediction::Cache::warm;
    // Sums in another order round differently.
    constexpr double rounding = 1.0 - 1e-9;
    const double floor = machine::launch_floor(cache, work.maps && receives, {}, gpu).value();
    const double of_sms = std::max(0.0, cycles) / clock;
    if (!(floor + of_sms < limit) || !(sizes.read_bytes > 0.0))
        return hw::Seconds((floor + of_sms) * rounding);
    const double concurrent = static_cast<double>(
        on ? sizes.ctas : std::min(sizes.items, std::max<std::int64_t>(1, sms * work.ctas_per_sm)));
    const double beside = std::max(slice_cycles(work, sizes, trips, concurrent, gpu) / clock,
                                   memory_seconds(work, sizes, conditions, gpu));
    return hw::Seconds((floor + least_overlapped(of_sms, beside, limit - floor, gpu)) * rounding);
}

hw::Seconds least_time(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                       const prediction::Conditions& conditions, double limit) {
    const LeastWork work = least_work(kernel, gpu);
    return least_time(work, sizes_of(kernel, work), gpu, conditions, limit);
}

namespace {

bool waits_for_stores(const kernel::Kernel& kernel) {
    return std::any_of(
               kernel.waits.begin(), kernel.waits.end(),
               [&](const kernel::Wait& wait) { return machine::ends_bulk_stores(kernel, wait.token); }) ||
           std::any_of(kernel.ops.begin(), kernel.ops.end(),
                       [](const kernel::Op& op) { return op.cls == hw::InstructionClass::fence; });
}

/// The one access by which a kernel stores boxes, and its op; null where others store or add as well.
struct Storing {
    const kernel::Op* op = nullptr;
    const kernel::Access* access = nullptr;
};

Storing one_store(const kernel::Kernel& kernel) {
    Storing found;
    for (const kernel::Op& op : kernel.ops) {
        for (const kernel::Access& access : kernel.accesses_of(op)) {
            if (!machine::is_global(kernel, access) || access.direction == kernel::Direction::read) continue;
            const bool box = access.pattern == kernel::PatternKind::collective;
            if (found.op != nullptr || !box || access.direction != kernel::Direction::write) return {};
            found = {&op, &access};
        }
    }
    return found;
}

/// The kernel with a share of each tile inside the matrix that it writes; 0: a single element of the matrix.
kernel::Kernel storing(const kernel::Kernel& kernel, const kernel::Access& access, double share) {
    kernel::Kernel other = kernel;
    kernel::Buffer& buffer = other.buffers[static_cast<std::size_t>(access.buffer)];
    const kernel::AccessOrigin origin = kernel::origin_of(kernel, access);
    for (std::uint8_t d = 0; d < access.rank; ++d) {
        const double whole = std::max(static_cast<double>(access.box[d]), origin.tiled[d]);
        const double part = d == 0 ? whole * share : whole;
        buffer.extent[d] = share > 0.0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(part)) : 1;
    }
    return other;
}

double busiest_of(const machine::Part& part) {
    return part.demand.cycles[static_cast<std::size_t>(part.demand.busiest())].value();
}

/// Sets what stands before and behind the main loop, as far as no size of a problem changes it. Guards count
/// trips.
void set_straight(const kernel::Kernel& kernel, const hw::Gpu& gpu, LeastWork& work) {
    const bool guarded = std::any_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& op) {
        return op.when.active || op.lanes != kernel::no_id;
    });
    if (guarded) return;
    const Storing store = one_store(kernel);
    const bool waits = waits_for_stores(kernel);
    if (store.op == nullptr && waits) return;
    const hw::Cycles latency = load_latency(false, gpu);
    const ItemDemand item = store.op == nullptr
                                ? item_demand(kernel, gpu, latency, 1)
                                : item_demand(storing(kernel, *store.access, 0.0), gpu, latency, 1);
    // Copies of several stages before the loop have a law of their own.
    work.straight_cycles =
        (item.before.chain + (work.by_lanes ? hw::Cycles{} : hw::Cycles(busiest_of(item.before)))).value();
    work.sums_cycles = item.after.demand[machine::Server::fp32].value();
    LeastStores& stores = work.stores;
    stores.least = item.after.chain.value();
    stores.busiest = busiest_of(item.after);
    if (store.op == nullptr) return;
    const machine::AccessBytes box = machine::access_bytes(kernel, *store.access);
    const bool in_bulk = store.op->cls == hw::InstructionClass::cp_async_bulk_store;
    stores.row_bytes = box.rows > 0.0 ? box.row_bytes : 0.0;
    stores.span = in_bulk ? gpu.l1.line.value() : 0.0;
    // How long plain stores take hangs on the SMs that store as well.
    if (!waits || !in_bulk) return;
    constexpr std::array<double, 2> near{0.97, 1.0};
    for (std::size_t i = 0; i < near.size(); ++i) {
        const ItemDemand tile = item_demand(storing(kernel, *store.access, near[i]), gpu, latency, 1);
        stores.sent[i] = tile.after.sent_bytes;
        stores.chain[i] = tile.after.chain.value();
    }
}

}  // namespace

std::size_t KeptLeastWork::place_of(prediction::BodyNumber body) {
    constexpr std::size_t places = 16384;
    return static_cast<std::size_t>(body % places);
}

const LeastWork& KeptLeastWork::of(const kernel::Kernel& kernel, prediction::BodyNumber body,
                                   const hw::Gpu& gpu) {
    const std::size_t at = place_of(body);
    if (places_.size() <= at) places_.resize(at + 1);
    Place& place = places_[at];
    if (place.body == body && place.work.by_iterations) return place.work;
    place = {body, least_work(kernel, gpu)};
    if (place.work.by_iterations) set_straight(kernel, gpu, place.work);
    return place.work;
}

const LeastWork* KeptLeastWork::find(prediction::BodyNumber body) const {
    const std::size_t at = place_of(body);
    if (places_.size() <= at || places_[at].body != body || !places_[at].work.by_iterations) return nullptr;
    return &places_[at].work;
}

}  // namespace warptime::model::analytical
