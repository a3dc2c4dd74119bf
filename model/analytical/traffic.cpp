// Follows the reads and writes of each buffer through L2 and DRAM.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/traffic.hpp"

#include "model/analytical/shared_reads.hpp"
#include "model/machine/atomics/atomic_service.hpp"
#include "model/machine/bulk/outside.hpp"
#include "model/machine/dram/dirtied.hpp"
#include "model/machine/dram/filled_sectors.hpp"
#include "model/machine/dram/first_visits.hpp"
#include "model/machine/dram/lone_pieces.hpp"
#include "model/machine/dram/write_back.hpp"
#include "model/machine/l1/local_memory.hpp"
#include "model/machine/l2/fresh_in_waves.hpp"
#include "model/machine/l2/kept_since.hpp"
#include "model/machine/l2/l2.hpp"
#include "model/machine/l2/l2_reuse.hpp"
#include "model/machine/l2/l2_room.hpp"
#include "model/machine/l2/merging_in_waves.hpp"
#include "model/machine/l2/others_on_sm.hpp"
#include "model/machine/l2/request_merging.hpp"
#include "model/machine/l2/reuse_in_shares.hpp"
#include "model/machine/l2/scattered_reads.hpp"
#include "model/machine/occupancy/groups_at_work.hpp"
#include "model/machine/occupancy/tile_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace warptime::model::analytical {

namespace {

using hw::Bytes;
using hw::Cycles;

/// Whether CTAs of the kernel have written what other CTAs of the kernel read in `buffer`. The written buffer
/// may have another name: partial sums that the last CTA of a tile adds up.
bool written_here(const kernel::Kernel& kernel, const kernel::Buffer& buffer, const ItemDemand& item) {
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
        if (item.buffers[b].written_bytes > 0.0 && kernel.buffers[b].dtype == buffer.dtype &&
            kernel.buffers[b].elements() == buffer.elements()) {
            return true;
        }
    }
    return false;
}

/// A buffer counts as warm if an earlier step wrote the buffer or the description says so. A warm buffer is
/// in the L2 as far as the buffer fits. `emptied`: caches are emptied before every kernel, also of what the
/// kernel before left there.
bool starts_warm(const kernel::Kernel& kernel, const kernel::Buffer& buffer, const ItemDemand& item,
                 prediction::Cache cache, bool emptied) {
    switch (buffer.before) {
        case kernel::Before::warm:
            return !emptied || buffer.contents != kernel::Contents::written_by ||
                   written_here(kernel, buffer, item);
        case kernel::Before::cold:
        case kernel::Before::dirty:
            return false;
        case kernel::Before::by_conditions:
            break;
    }
    return cache == prediction::Cache::warm;
}

/// Share of a warm buffer of which the L2 has lost the lines. `touched`: distinct bytes of the kernel.
/// Between two runs of a kernel all of these come, and what launches between them touch; between a kernel and
/// the one that reads its result, half of the kernel's others and what earlier steps have touched
/// (docs/mechanisms/l2.md).
double lost_since(const kernel::Buffer& buffer, double own, double touched,
                  const prediction::Conditions& conditions, const hw::Gpu& gpu) {
    if (buffer.contents == kernel::Contents::written_by) {
        return machine::lost_since_left(own, touched, static_cast<double>(buffer.since_bytes), gpu);
    }
    const bool by_conditions = buffer.before == kernel::Before::by_conditions;
    const double between = by_conditions ? prediction::touched_between(conditions, buffer.name) : 0.0;
    return 1.0 - machine::kept_share(touched + between, gpu);
}

/// Set that is read again and again in one operand. The other operands take their share of the L2.
machine::L2Set set_of(const machine::BufferTraffic& use, double whole, double footprint,
                      const kernel::Kernel& kernel, const hw::Gpu& gpu, std::int64_t sms) {
    machine::L2Set set;
    set.bytes = footprint;
    const bool everywhere =
        machine::fullest_group(gpu, sms, kernel.cluster.volume()) < static_cast<double>(sms);
    const bool part = !use.shifted && use.span_bytes < 0.75 * whole;
    set.reach = part && everywhere ? 1.0 / std::max(1.0, gpu.l2.partitions.value()) : 1.0;
    return set;
}

/// Share of a buffer's reads at addresses of their own. CTAs that read a buffer so are at other lines of it
/// at any time, and their requests do not merge.
double scattered_share(const machine::BufferTraffic& use) {
    return use.read_bytes > 0.0 ? std::min(1.0, use.scattered.read / use.read_bytes) : 0.0;
}

/// Items of one cluster of SMs that ask for the same lines at a time.
double readers_of(const machine::BufferTraffic& use, const machine::Operand& operand,
                  const machine::TileOrder& order, const machine::GroupRuns& runs, bool laps) {
    // A multicast copy meets no other request.
    if (use.multicast) return 1.0;
    if (laps) return runs.length * runs.count;
    if (use.repeat > 0.0) return machine::readers_of_repeated(use.repeat, runs);
    const machine::Dependence slices{operand.along_m, operand.along_n, operand.along_batch,
                                     operand.along_split};
    return machine::readers_in_group(order, slices, runs);
}

/// Bytes of `from_dram` whose pieces lie alone.
double lone_bytes(const machine::BufferTraffic& use, double from_dram, const hw::Gpu& gpu) {
    if (use.in_rows || !(use.scattered.visits > 0.0)) return 0.0;
    const double part = use.scattered.read / use.scattered.visits;
    return from_dram * scattered_share(use) *
           machine::lone_share(part, gpu.dram.access_bytes.value(), gpu.l1.line.value());
}

/// Reads of one buffer by all items.
struct BufferReads {
    const machine::BufferTraffic* use = nullptr;
    /// SMs that go round the same whole set end up side by side.
    bool laps = false;
    double lines = 0.0;      ///< bytes of the lines that another partition asks the lines' home for
    double reached = 0.0;    ///< bytes among which the kernel reads
    double gaps = 0.0;       ///< bytes that nobody asks for, in lines of which other bytes are read
    double from_dram = 0.0;  ///< bytes
};

/// Scattered reads of a buffer by all items.
machine::ScatteredSet scattered_set(const BufferReads& buffer, double items, const hw::Gpu& gpu) {
    const machine::BufferTraffic& use = *buffer.use;
    const double line = gpu.l1.line.value();
    const double in_use = machine::bytes_of_sectors(use.scattered.sectors, gpu);
    machine::ScatteredSet set;
    set.visits = use.scattered.visits * items;
    set.lines = std::max(1.0, (use.scattered.span > 0.0 ? use.scattered.span : buffer.reached) / line);
    const double span = set.lines * in_use;
    const double part = std::max(use.scattered.read / use.scattered.visits, 1.0);
    set.parts = machine::parts_of_line(part, use.scattered.sectors, gpu);
    // Bytes that one visit reads together.
    const double word = std::max(1.0, use.scattered.words / use.scattered.all);
    set.once = machine::parts_visited(set.lines * set.parts, part / word,
                                      use.scattered.all * items * word / std::max(span, word));
    return set;
}

/// Notes the first visits to a set whose warps go anywhere in it, if they bring more than those of other
/// sets.
void note_first_visits(const machine::BufferTraffic& use, const machine::ScatteredSet& set, double items,
                       machine::FirstVisits& most) {
    const double part = use.scattered.read / use.scattered.visits;
    const double anywhere = std::clamp(use.scattered.apart / std::max(1.0, use.scattered.span), 0.0, 1.0);
    const double brought = std::min(set.visits, set.once) * part * anywhere;
    if (brought <= most.share) return;
    const double cells = std::max(1.0, std::min(set.once, set.lines * set.parts));
    most = {brought, use.scattered.all * items / cells};
}

/// Where loads of a buffer find their bytes. `distinct`: share of a wave's requests that are the first to
/// touch their bytes.
LoadWaits load_waits(const BufferReads& buffer, const machine::OperandTraffic& moved, double distinct,
                     double items, double waves) {
    const machine::BufferTraffic& use = *buffer.use;
    LoadWaits result;
    double later = 0.0;  // Share of the later waves' first loads that find nothing in the L2.
    if (use.scattered.read > 0.0) {
        result.first = std::min(1.0, buffer.from_dram / (use.read_bytes * items));
        later = result.first;
    } else if (moved.wave_bytes > 0.0) {
        result.first = std::min(1.0, distinct);
        const double once = moved.wave_bytes / waves;
        if (waves > 1.0) later = std::clamp((moved.dram_bytes - once) / (moved.wave_bytes - once), 0.0, 1.0);
    }
    result.fresh = (1.0 + (waves - 1.0) * later) / waves;
    return result;
}

/// The buffers of a kernel that are read, and the order of the reads.
struct Reads {
    bool emptied = false;  ///< a profiler has emptied the caches before this kernel
    machine::ReuseCase reuse;
    std::size_t count = 0;
    hw::SmallVector<machine::Operand, usual_buffers> operands;
    hw::SmallVector<BufferReads, usual_buffers> buffers;
    bool merge = false;  ///< whether merging of requests is asked for
    double apart = 0.0;  ///< share of the requests of CTAs at different iterations, which do not merge
    RecentSharedReads* recent = nullptr;  ///< answers for earlier kernels, if any are kept
    SharedReads own;                      ///< used if no answers are kept
    const SharedReads* shared = nullptr;  ///< by operand
};

/// Share of a buffer's requests that is left when all possible merges happen.
double left_of(const Reads& reads, std::size_t i, const hw::Gpu& gpu) {
    const machine::GroupRuns runs = machine::group_runs(reads.reuse.concurrent, gpu);
    const double left = machine::left_of_merged(
        readers_of(*reads.buffers[i].use, reads.operands[i], reads.reuse.order, runs, reads.buffers[i].laps),
        gpu);
    return std::lerp(left, 1.0, std::max(reads.apart, scattered_share(*reads.buffers[i].use)));
}

/// Share of the possible merges that happen while CTAs wait for the L2. The bytes that lanes copy in a trip
/// decide how closely CTAs that lag catch up.
double in_step_of(const machine::BufferTraffic& use, std::int64_t concurrent, const ItemDemand& item,
                  const hw::Gpu& gpu) {
    const double residents = machine::group_runs(concurrent, gpu).count;
    if (!(use.copied_lines > 0.0)) return machine::in_step_while_waiting(residents, item.warps, gpu);
    const double bytes = use.copied_lines * use.line_bytes / (item.trips * item.warps);
    return machine::in_step_by_copies(bytes, use.line_bytes, gpu);
}

/// Whether CTAs wait for whole lines from DRAM that no other CTA reads.
bool waits_alone(const Reads& reads, double items, const hw::Gpu& gpu) {
    const double wave = std::min(static_cast<double>(reads.reuse.concurrent), items);
    for (std::size_t i = 0; i < reads.count; ++i) {
        const machine::BufferTraffic& use = *reads.buffers[i].use;
        const bool whole_lines = use.line_bytes >= gpu.l1.line.value();
        const bool once = reads.buffers[i].from_dram > 0.5 * use.read_bytes * items;
        if (whole_lines && once && reads.shared->in_first_wave[i] >= wave) return true;
    }
    return false;
}

/// Share of the CTAs in step, among those whose places allow it.
double in_step_of(const Reads& reads, const kernel::Kernel& kernel, const ItemDemand& item,
                  const machine::GroupRuns& runs, const hw::Gpu& gpu) {
    const auto items = static_cast<double>(kernel.schedule.item_count());
    const bool bulk = hw::Cycles{} < item.loop.demand[machine::Server::tma];
    const double others = machine::others_on_sm(kernel, item.warps, bulk, runs.count, gpu);
    // CTAs that only load catch up with one another at the memory (microbench_request_merging, bursts).
    const bool computes = item.loop.flop + item.loop.tensor_flop > 0.0;
    return machine::share_in_step(others, waits_alone(reads, items, gpu), computes ? item.trips : 0.0, gpu);
}

Lookups lookups_of(const Reads& reads, const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    const auto items = static_cast<double>(kernel.schedule.item_count());
    Lookups result;
    for (std::size_t i = 0; i < reads.count; ++i) {
        const BufferReads& buffer = reads.buffers[i];
        const double fetched = buffer.use->sectors_read * gpu.l1.sector.value() * items;
        // The number of merges hardly changes how often both partitions are asked, so half of the possible
        // merges count.
        const double requests = fetched * (0.5 * (1.0 + left_of(reads, i, gpu)));
        // Atomics bring lines to their home alone.
        const double crossed = fetched > 0.0 ? machine::crossings(requests, buffer.lines, gpu) : 0.0;
        result.looked_up += Bytes(fetched);
        result.looked_up += Bytes(crossed);
        if (!(buffer.from_dram > 0.0)) continue;
        result.filled += Bytes(buffer.from_dram);
        result.filled += Bytes(crossed);
    }
    return result;
}

/// Whether rows of boxes begin inside lines. Boxes then ask for lines in different pieces at each place, and
/// no two requests merge.
bool in_pieces(const kernel::Kernel& kernel, const ItemDemand& item, const BufferReads& buffer,
               const hw::Gpu& gpu) {
    const kernel::Buffer& rows = kernel.buffers[static_cast<std::size_t>(buffer.use - &item.buffers[0])];
    const auto pitch = static_cast<double>(rows.stride[1]) * hw::bytes_of(rows.dtype);
    const bool bulk = Cycles{} < item.loop.demand[machine::Server::tma];
    return bulk && rows.rank > 1 && std::fmod(pitch, gpu.l1.line.value()) != 0.0;
}

/// Bytes of read requests that merge with other requests.
Bytes merged_reads(const Reads& reads, const kernel::Kernel& kernel, const ItemDemand& item,
                   const hw::Gpu& gpu) {
    const auto items = static_cast<double>(kernel.schedule.item_count());
    const machine::GroupRuns runs = machine::group_runs(reads.reuse.concurrent, gpu);
    const double in_step = in_step_of(reads, kernel, item, runs, gpu);
    double merged = 0.0;
    for (std::size_t i = 0; i < reads.count; ++i) {
        const BufferReads& buffer = reads.buffers[i];
        const machine::Operand& operand = reads.operands[i];
        if (buffer.use->multicast) continue;  // meets no other request
        const double fetched = buffer.use->sectors_read * gpu.l1.sector.value() * items;
        if (buffer.laps || buffer.use->repeat > 0.0) {
            merged += fetched * (1.0 - left_of(reads, i, gpu)) *
                      in_step_of(*buffer.use, reads.reuse.concurrent, item, gpu);
            continue;
        }
        const machine::Readers readers{
            reads.reuse.order,
            {operand.along_m, operand.along_n, operand.along_batch, operand.along_split},
            runs,
            std::max<std::int64_t>(1, static_cast<std::int64_t>(gpu.gpc.count.value())),
            kernel.cluster.volume(),
            kernel.schedule.kind != kernel::ScheduleKind::one_per_cta};
        if (in_pieces(kernel, item, buffer, gpu)) continue;
        merged += fetched * in_step * (1.0 - scattered_share(*buffer.use)) *
                  machine::merged_share(readers, machine::merging_law(gpu));
    }
    return Bytes(merged * (1.0 - reads.apart));
}

/// Bytes that the slices serve for reads by CTAs whose warps copy for themselves, as counters count them.
/// Every request that does not merge counts, and each line that the other partition asks for counts once. The
/// unit is visits of `slice_visits` each.
double served_sectors(const Reads& reads, const kernel::Kernel& kernel, const ItemDemand& item,
                      const hw::Gpu& gpu) {
    const auto items = static_cast<double>(kernel.schedule.item_count());
    const machine::GroupRuns runs = machine::group_runs(reads.reuse.concurrent, gpu);
    const double in_step = in_step_of(reads, kernel, item, runs, gpu);
    double served = 0.0;
    for (std::size_t i = 0; i < reads.count; ++i) {
        const BufferReads& buffer = reads.buffers[i];
        const double merged = in_pieces(kernel, item, buffer, gpu) ? 0.0 : reads.shared->merged[i];
        const double fetched = (buffer.use->fetched_bytes - buffer.use->outside_bytes) * items;
        served = served + fetched * (1.0 - in_step * merged) +
                 machine::crossings(fetched * (1.0 - 0.5 * merged), buffer.lines, gpu);
    }
    return served / machine::slice_visits(gpu);
}

/// Share of the kernel for which lines stay in the L2, where some buffers are read at scattered places.
double stay_of_lines(const Reads& reads, double items, double written, const hw::Gpu& gpu) {
    hw::SmallVector<machine::ScatteredSet, usual_buffers> sets;
    sets.reset(reads.count);
    std::size_t scattered = 0;
    machine::PassingLines passing;
    const double line = gpu.l1.line.value();
    for (std::size_t i = 0; i < reads.count; ++i) {
        const machine::BufferTraffic& use = *reads.buffers[i].use;
        const double whole = reads.operands[i].total_bytes;
        if (use.scattered.read > 0.0) sets[scattered++] = scattered_set(reads.buffers[i], items, gpu);
        // Lines that are read once cross to another partition as often as not.
        passing.read += (1.0 - scattered_share(use)) * whole / line * machine::slice_visits(gpu);
    }
    if (scattered == 0) return 1.0;
    passing.written = written / line;
    return machine::stay_of(std::span(sets.begin(), scattered), passing, gpu);
}

/// Looks up how CTAs share the reads. `most`: room that all operands would take. `stay`: CTAs take one item
/// after another.
void share(double most, bool stay, const hw::Gpu& gpu, Reads& reads) {
    SharedReadsCase of;
    of.reuse = reads.reuse;
    of.operands.reset(reads.count);
    std::copy_n(reads.operands.begin(), reads.count, of.operands.begin());
    of.most_room = most;
    of.stay = stay;
    of.merge = reads.merge;
    if (reads.recent != nullptr) {
        reads.shared = &reads.recent->of(of, gpu);
        return;
    }
    reads.own = shared_reads(of, gpu);
    reads.shared = &reads.own;
}

/// Where a list lets CTAs begin inside a tile, the CTAs of a wave do not read the same blocks at a time.
void read_apart(const kernel::Kernel& kernel, const hw::Gpu& gpu, Reads& reads) {
    if (!kernel.schedule.deals_out_tiles()) return;
    SharedReads apart = *reads.shared;
    reads.apart =
        machine::reuse_in_shares(kernel, reads.reuse, gpu.l2.partitions.value(),
                                 std::span<const machine::Operand>(reads.operands.begin(), reads.count),
                                 std::span(apart.moved.begin(), reads.count));
    for (double& share : apart.merged) share *= 1.0 - reads.apart;
    reads.own = apart;
    reads.shared = &reads.own;
}

/// Works out the result of `traffic` and fills in `reads`.
Traffic follow_reads(const kernel::Kernel& kernel, const ItemDemand& item, std::int64_t concurrent,
                     const hw::Gpu& gpu, const prediction::Conditions& conditions, std::int64_t sms,
                     Reads& reads) {
    Traffic result;
    const auto items = static_cast<double>(kernel.schedule.item_count());
    const std::size_t all_buffers = kernel.buffers.size();
    hw::SmallVector<bool, usual_buffers> warm(all_buffers);
    reads.operands.reset(all_buffers);
    reads.buffers.reset(all_buffers);
    std::size_t& count = reads.count;
    double footprint = 0.0;
    double written = 0.0;
    machine::Dirtied dirty;
    double filled = 0.0;        // sectors covered in part, as DRAM's bus moves them in each direction
    double filled_apart = 0.0;  // part of these that lies alone at places without an order
    double padded = 0.0;        // part of these bytes that nobody counts
    double pushed = 0.0;        // bytes of lines that make room for such sectors
    double sent = 0.0;
    double counted = 0.0;
    double touched = 0.0;  // distinct bytes that are read or written
    hw::Cycles fullest{};
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
        const machine::BufferTraffic& use = item.buffers[b];
        const kernel::Buffer& buffer = kernel.buffers[b];
        double whole = machine::bytes_in_use(
            buffer, static_cast<double>(std::min(concurrent, kernel.schedule.item_count())));
        whole = use.reach.bytes(whole);
        written += use.written_bytes * items;
        const machine::FilledSectors parts = machine::filled_sectors(
            {use.parted_bytes * items, use.written_bytes * items, whole, use.scattered.written_apart,
             use.read_bytes * items, use.scattered.written_lines / gpu.l1.line.value() * items},
            gpu);
        const machine::Dirtied left = machine::dirtied_by(use, items, whole, parts, gpu);
        dirty.add(left);
        filled += parts.on_bus;
        if (use.scattered.written_apart > 0.0) filled_apart += parts.on_bus;
        padded += parts.on_bus - parts.filled;
        if (parts.filled > 0.0) pushed += parts.lines * gpu.l1.line.value() - parts.touched + parts.filled;
        // A sector that this kernel has changed before is not read again.
        sent += use.sent_bytes * items - std::max(0.0, use.looked_up_bytes * items - whole);
        counted += use.sectors_written * items;
        fullest += use.fullest * items;
        if (use.stores.sent > 0.0) {
            result.hot_words = std::max(result.hot_words, machine::hot_store_cycles(use.stores, items, gpu));
        }
        if (use.atomics.window.bytes() > 0.0) {
            result.atomics.add(machine::atomic_time(use.atomics, items, gpu));
            result.passes += gpu.l1.sector * ((use.atomics.whole + use.atomics.part) * items);
            result.returned += gpu.l1.sector * (use.atomics.returned * items);
        }
        if (use.read_bytes <= 0.0) {
            touched += left.lines;
            continue;
        }
        if (use.random && use.span_bytes > 0.0) {
            whole = std::min(whole, use.span_bytes);
        }
        // Gaps that no access touches are never read.
        const double reached = whole;
        const double with_gaps = std::min(whole, std::max(use.read_bytes, use.strided_read_lines) * items);
        whole = std::min(whole, use.read_bytes * items);
        if (use.copied_lines > 0.0) {
            result.hot_lines = std::max(
                result.hot_lines,
                machine::hot_line_cycles(use.copied_lines * items, whole / item.trips, use.line_bytes, gpu));
        }
        footprint += whole;
        touched += std::max(whole, left.lines);
        warm[count] = starts_warm(kernel, buffer, item, conditions.cache, reads.emptied);
        reads.buffers[count].use = &use;
        reads.buffers[count].reached = reached;
        reads.buffers[count].gaps = with_gaps - whole;
        reads.operands[count++] = {use.along_m,     use.along_n,
                                   use.along_batch, use.along_split && kernel.schedule.split_k > 1,
                                   use.read_bytes,  whole};
    }
    result.fullest = fullest;
    const double all = gpu.l2.capacity.value() * gpu.l2.usable.value();
    const double capacity = machine::room_for_all(gpu);
    machine::ReuseCase& reuse = reads.reuse;
    reuse.order = machine::order_of(kernel.schedule);
    reuse.concurrent = std::max<std::int64_t>(1, concurrent);
    reuse.capacity_bytes = capacity;
    reuse.ways = gpu.cache.ways.value();
    reuse.streamed_bytes_per_item = machine::room_of_written(gpu) * written / items;
    // CTAs that stay go through the waves together.
    const bool stay = kernel.schedule.kind != kernel::ScheduleKind::one_per_cta;
    const bool by_lanes = item.self_fed && kernel.cluster.volume() == 1;
    result.waits.reset(kernel.buffers.size());
    reads.merge = reads.merge || by_lanes;
    share(footprint + written, stay, gpu, reads);
    read_apart(kernel, gpu, reads);
    const double stay_in_l2 = stay_of_lines(reads, items, written, gpu);
    double read = 0.0;
    double row_read = 0.0, scattered_read = 0.0;
    machine::FirstVisits early;  // `share` in bytes
    double opened = 0.0;
    // Share of the items after the first wave whose slices an earlier wave has read.
    double known = 1.0;
    // Share of such items whose slices are still in the L2.
    double kept = 1.0;
    const double waves = std::ceil(items / static_cast<double>(reuse.concurrent));
    result.waves = waves;
    double asked = 0.0;
    double fetched_by_item = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        BufferReads& buffer = reads.buffers[i];
        const machine::BufferTraffic& use = *buffer.use;
        const machine::Operand& operand = reads.operands[i];
        const machine::OperandTraffic& moved = reads.shared->moved[i];
        const double distinct = moved.requested_bytes > 0.0 ? moved.wave_bytes / moved.requested_bytes : 1.0;
        if (!warm[i]) result.first_readers = std::max(result.first_readers, std::min(1.0, distinct));
        buffer.laps = use.shifted && use.read_bytes >= operand.total_bytes &&
                      2.0 * static_cast<double>(sms) >= gpu.sm.count.value();
        buffer.lines = moved.compulsory_bytes;
        // Where items read the same at fixed distances, the description says which items meet; otherwise
        // pairs meet.
        const double carried =
            use.repeat > 0.0 || buffer.laps
                ? 1.0 - in_step_of(use, reuse.concurrent, item, gpu) * (1.0 - left_of(reads, i, gpu))
                : machine::unmerged_share(std::lerp(distinct, 1.0, scattered_share(use)), gpu);
        fetched_by_item = fetched_by_item + use.fetched_bytes;
        result.own_share = result.own_share + use.fetched_bytes * (buffer.laps ? 0.0 : distinct);
        // A slice takes the same time for one sector of a line as for two.
        const double served =
            use.repeat > 0.0 ? std::max(use.fetched_bytes, use.copied_lines * gpu.l2.access_bytes.value())
                             : use.fetched_bytes - use.outside_bytes;
        result.outside += machine::outside_cycles(use.outside_bytes * items, gpu);
        asked = asked + (served * items) * carried;
        if (warm[i] && use.span_bytes > 0.0 && !use.random) {
            const machine::L2Places places =
                machine::places_in_turn(set_of(use, operand.total_bytes, footprint, kernel, gpu, sms), gpu);
            if (places.near <= result.places.near) result.places = places;
            buffer.from_dram = places.dram * use.read_bytes * items * carried;
            const kernel::Buffer& set = kernel.buffers[static_cast<std::size_t>(&use - &item.buffers[0])];
            if (prediction::touched_between(conditions, set.name) > 0.0) {
                // The first round finds what the launches between have left of the set.
                const double lost = lost_since(set, operand.total_bytes, touched, conditions, gpu);
                buffer.from_dram = std::max(buffer.from_dram, lost * operand.total_bytes);
            }
            buffer.lines = std::max(buffer.from_dram, moved.compulsory_bytes);
            read += buffer.from_dram;
            result.from_dram = result.from_dram || buffer.from_dram > 0.0;
            continue;
        }
        const auto number = static_cast<std::size_t>(buffer.use - &item.buffers[0]);
        if (machine::is_local(kernel.buffers[number])) {
            // Threads have written what they read of local memory, so DRAM has only what the L2 has lost.
            const double lost = use.lost_bytes / use.read_bytes;
            buffer.from_dram = buffer.lines = use.lost_bytes * items;
            scattered_read += lone_bytes(use, buffer.from_dram, gpu);
            read += buffer.from_dram;
            result.from_dram = result.from_dram || lost > 0.0;
            result.waits[number] = {lost, lost > 0.0 ? 1.0 : 0.0};
            continue;
        }
        const double lost =
            warm[i] ? lost_since(kernel.buffers[number], operand.total_bytes, touched, conditions, gpu) : 1.0;
        if (!(0.0 < lost)) continue;
        // Where the set has outgrown the L2, an item's repeated reads come from DRAM each time.
        const double turns =
            use.span_bytes > 0.0 && footprint > all ? std::max(1.0, use.read_bytes / use.span_bytes) : 1.0;
        const double missed = use.shifted && footprint > all
                                  ? use.read_bytes * items
                                  : moved.dram_bytes * turns + use.lost_bytes * items;
        buffer.from_dram = buffer.lines = missed;
        if (use.scattered.read > 0.0) {
            const machine::ScatteredSet set = scattered_set(buffer, items, gpu);
            const double part = use.scattered.read / use.scattered.visits;
            const double visits = machine::visits_to_dram(set, use.scattered.far * items, stay_in_l2, gpu);
            machine::ScatteredSet lines = set;
            lines.parts = 1.0;
            lines.once = machine::expected_distinct(set.visits, set.lines);
            opened +=
                std::max(0.0, machine::visits_to_dram(lines, use.scattered.far * items, stay_in_l2, gpu) *
                                      gpu.l1.line.value() -
                                  visits * part);
            const double ordered = std::min(missed, (use.read_bytes - use.scattered.read) * items);
            note_first_visits(use, set, items, early);
            // Places that loads in order come to as well need no visit of their own.
            const double met = std::min(visits, set.once) * std::min(1.0, ordered / buffer.reached);
            buffer.from_dram = buffer.lines =
                ordered + std::min((visits - met) * part, use.scattered.read * items);
        }
        buffer.from_dram *= lost;
        buffer.lines *= lost;
        opened += buffer.gaps * std::min(1.0, missed / operand.total_bytes);
        scattered_read += lone_bytes(use, buffer.from_dram, gpu);
        read += buffer.from_dram;
        if (warm[i] && conditions.cache == prediction::Cache::warm) {
            // A set that has outgrown the L2 costs the same wait as a set that was never there.
            const double missing = std::min(1.0, buffer.from_dram / (use.read_bytes * items));
            if (1.0 - missing < result.places.near) result.places = {1.0 - missing, 0.0, missing};
        }
        row_read += use.in_rows ? buffer.from_dram : 0.0;
        result.from_dram = true;
        LoadWaits& waits = result.waits[static_cast<std::size_t>(buffer.use - &item.buffers[0])];
        waits = load_waits(buffer, moved, distinct, items, waves);
        if (conditions.cache != prediction::Cache::warm) {
            // Beside cold buffers a warm one waits as often as it has lost its lines.
            waits.first *= lost;
            waits.fresh *= lost;
        }
        const double first = moved.wave_bytes / waves;
        if (first < moved.wave_bytes) {
            known *= 1.0 - std::clamp((moved.dram_bytes - first) / (moved.wave_bytes - first), 0.0, 1.0);
        }
        const double again = moved.wave_bytes - moved.compulsory_bytes;
        if (again > 0.0) {
            kept *= 1.0 - std::clamp((moved.dram_bytes - moved.compulsory_bytes) / again, 0.0, 1.0);
        }
    }
    if (stay && item.self_fed && known < 1.0 && reuse.order.planes() == 1) {
        known = (1.0 - machine::fresh_behind_first_wave(reuse.order, reuse.concurrent)) * kept;
    }
    if (by_lanes) asked = served_sectors(reads, kernel, item, gpu);
    result.fresh_later = 1.0 - known;
    if (kernel.schedule.kind == kernel::ScheduleKind::one_per_cta)
        result.wait_with_first = gpu.l2.merged_next.value();
    if (0.0 < fetched_by_item) result.own_share = result.own_share / fetched_by_item;
    early.share = read + filled > 0.0 ? std::min(1.0, early.share / (read + filled)) : 0.0;
    result.first_visits = early;
    result.dram_read = Bytes(read + filled);
    result.dram_row_read = Bytes(row_read + filled - filled_apart);
    result.dram_scattered_read = Bytes(scattered_read + filled_apart);
    result.dram_padding = Bytes(padded);
    result.l2_read = Bytes(asked);
    const Bytes stores{written};
    // Results that leave after the main loop come out wave by wave.
    const bool throughout = Cycles{} < item.loop.demand[machine::Server::crossbar_write];
    const double bursts =
        throughout ? std::numeric_limits<double>::infinity() : items / static_cast<double>(reuse.concurrent);
    // Results leave sooner where operands are hit again, since such operands stay longer than results.
    const bool hit_again = result.own_share < 1.0;
    const Bytes room = hit_again ? gpu.l2.capacity * gpu.l2.usable : gpu.l2.capacity;
    const Bytes lines{dirty.lines};
    const Bytes capacity_of_dirty = machine::dirty_capacity_of(gpu);
    const bool flushed = conditions.cache == prediction::Cache::flushed;
    // What leaves of the kernel's own lines, and others that come before them. Lines that the L2 does not
    // keep from one run to the next leave once a run.
    const Bytes left_behind = conditions.cache == prediction::Cache::warm
                                  ? lines * (1.0 - machine::kept_share(touched, gpu))
                                  : Bytes{};
    const Bytes out =
        flushed ? lines - std::min(lines, capacity_of_dirty)
                : std::max(left_behind, machine::writes_over_clean(lookups_of(reads, kernel, gpu).filled,
                                                                   lines, room, capacity_of_dirty, bursts));
    const Bytes others = flushed ? machine::writes_over_dirty(Bytes(read + opened + pushed), lines,
                                                              machine::dirty_first_of(gpu),
                                                              gpu.l2.dirty_fraction, capacity_of_dirty) -
                                       out
                                 : Bytes{};
    const double per_line = 1.0 / std::max(1.0, dirty.lines);
    result.dram_written = others + out * (dirty.pieces * per_line) + Bytes(filled);
    result.dram_scattered_written = out * (dirty.apart * per_line) + Bytes(filled_apart);
    result.dram_written_padding = out * ((dirty.pieces - dirty.sectors) * per_line);
    result.l2_written = stores;
    result.dirtied = Bytes(dirty.sectors);
    result.l2_stored = Bytes(sent);
    result.sectors_written = gpu.l1.sector * counted;
    result.received = Bytes(items * item.total([](const machine::Part& p) { return p.received_bytes; }));
    return result;
}

}  // namespace

Traffic traffic(const kernel::Kernel& kernel, const ItemDemand& item, std::int64_t concurrent,
                const hw::Gpu& gpu, const prediction::Conditions& conditions, std::int64_t sms,
                RecentSharedReads* recent) {
    Reads reads;
    reads.recent = recent;
    return follow_reads(kernel, item, concurrent, gpu, conditions, sms, reads);
}

Lookups lookups(const kernel::Kernel& kernel, const ItemDemand& item, std::int64_t concurrent,
                const hw::Gpu& gpu, const prediction::Conditions& conditions, std::int64_t sms) {
    Reads reads;
    reads.merge = true;
    reads.emptied = conditions.cache == prediction::Cache::cold;
    const Traffic counted = follow_reads(kernel, item, concurrent, gpu, conditions, sms, reads);
    Lookups result = lookups_of(reads, kernel, gpu);
    result.dram_read = counted.dram_read - counted.dram_padding;
    result.dram_written = counted.dram_written - counted.dram_padding - counted.dram_written_padding;
    result.merged = merged_reads(reads, kernel, item, gpu);
    return result;
}

}  // namespace warptime::model::analytical
