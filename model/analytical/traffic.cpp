// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/traffic.hpp"

#include "hw/dual.hpp"
#include "hw/math.hpp"
#include "model/analytical/bounds/l2.hpp"
#include "model/memory/l2_reuse.hpp"
#include "model/memory/request_merging.hpp"
#include "model/memory/write_back.hpp"
#include "model/occupancy/groups_at_work.hpp"
#include "model/occupancy/tile_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace warptime::model::analytical {

namespace {

using hw::Bytes;
using hw::Cycles;

/// A buffer that an earlier step wrote or that the description calls warm is in L2 as far as it fits.
bool starts_warm(const kernel::Buffer& buffer, prediction::Cache cache) {
    switch (buffer.before) {
        case kernel::Before::warm:
            return true;
        case kernel::Before::cold:
        case kernel::Before::dirty:
            return false;
        case kernel::Before::by_conditions:
            break;
    }
    return cache == prediction::Cache::warm;
}

/// What is read again and again of one operand; the others take their share of the L2.
template <class S>
memory::L2Set set_of(const BufferTraffic& use, double whole, double footprint, const kernel::Kernel& kernel,
                     const hw::Gpu<S>& gpu, std::int64_t sms) {
    memory::L2Set set;
    set.bytes = footprint;
    const bool everywhere =
        occupancy::fullest_group(gpu, sms, kernel.cluster.volume()) < static_cast<double>(sms);
    const bool part = !use.shifted && use.span_bytes < 0.75 * whole;
    set.reach = part && everywhere ? 1.0 / std::max(1.0, hw::value_of(gpu.l2.partitions)) : 1.0;
    return set;
}

/// Bytes that can leave L2 again of what is written to a buffer: one that fits stays while it is written
/// again and again (recorded additions to small sets write nothing to DRAM).
template <class S>
double lines_dirtied(double written, const kernel::Buffer& buffer, const hw::Gpu<S>& gpu) {
    const double whole = static_cast<double>(buffer.elements()) * hw::bytes_of(buffer.dtype);
    return whole < hw::value_of(memory::dirty_capacity_of(gpu)) ? std::min(written, whole) : written;
}

/// Items of one cluster of SMs that ask for the same lines at a time.
template <class S>
double readers_of(const BufferTraffic& use, const memory::Operand& operand, const kernel::Kernel& kernel,
                  const occupancy::TileOrder& order, const memory::GroupRuns& runs, bool laps,
                  const hw::Gpu<S>& gpu) {
    // A multicast copy meets no other request.
    if (use.multicast) return 1.0;
    if (laps) return runs.length * runs.count;
    if (use.repeat > 0.0) return memory::readers_of_repeated(use.repeat, runs);
    const occupancy::Dependence slices{operand.along_m, operand.along_n, operand.along_batch,
                                       operand.along_split};
    if (kernel.cluster.volume() > 1) {
        return memory::readers_of_clusters(order, kernel.cluster.volume(),
                                           static_cast<std::int64_t>(hw::value_of(gpu.gpc.count)), slices,
                                           runs);
    }
    return memory::readers_in_group(order, slices, runs);
}

}  // namespace

template <class S>
Traffic<S> traffic(const kernel::Kernel& kernel, const ItemDemand<S>& item, std::int64_t concurrent,
                   const hw::Gpu<S>& gpu, const prediction::Conditions& conditions, std::int64_t sms) {
    Traffic<S> result;
    const auto items = static_cast<double>(kernel.schedule.item_count());
    std::array<memory::Operand, max_buffers> operands{};
    std::array<memory::OperandTraffic, max_buffers> moved{};
    std::array<bool, max_buffers> warm{};
    std::array<const BufferTraffic*, max_buffers> uses{};
    std::size_t count = 0;
    double footprint = 0.0;
    double written = 0.0;
    double dirtied = 0.0;
    double sent = 0.0;
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
        const BufferTraffic& use = item.buffers[b];
        const kernel::Buffer& buffer = kernel.buffers[b];
        written += use.written_bytes * items;
        dirtied += lines_dirtied(use.written_bytes * items, buffer, gpu);
        sent += use.sent_bytes * items;
        if (use.atomics.window.bytes() > 0.0) {
            result.atomics += atomic_cycles(use.atomics, items, gpu);
        }
        if (use.read_bytes <= 0.0) {
            continue;
        }
        double whole = static_cast<double>(buffer.elements()) * hw::bytes_of(buffer.dtype);
        if (use.random && use.span_bytes > 0.0) {
            whole = std::min(whole, use.span_bytes);
        }
        // Gaps that no access touches are never read.
        whole = std::min(whole, use.read_bytes * items);
        if (use.copied_lines > 0.0) {
            result.hot_lines =
                hw::max(result.hot_lines,
                        hot_line_cycles(use.copied_lines * items, whole / item.trips, use.line_bytes, gpu));
        }
        footprint += whole;
        warm[count] = starts_warm(buffer, conditions.cache);
        uses[count] = &use;
        operands[count++] = {use.along_m,     use.along_n,
                             use.along_batch, use.along_split && kernel.schedule.split_k > 1,
                             use.read_bytes,  whole};
    }
    const double all = hw::value_of(gpu.l2.capacity) * hw::value_of(gpu.l2.usable);
    const double capacity = hw::value_of(gpu.l2.capacity) * hw::value_of(gpu.l2.shared_capacity);
    memory::ReuseCase reuse;
    reuse.order = occupancy::order_of(kernel.schedule);
    reuse.concurrent = std::max<std::int64_t>(1, concurrent);
    reuse.capacity_bytes = capacity;
    reuse.streamed_bytes_per_item = written / items;
    memory::l2_reuse(reuse, std::span(operands).first(count), std::span(moved).first(count));
    const memory::GroupRuns runs = memory::group_runs(reuse.concurrent, gpu);
    double read = 0.0;
    double row_read = 0.0;
    double known = 1.0;  // share of the items after the first wave whose slices an earlier wave has read
    const double waves = std::ceil(items / static_cast<double>(reuse.concurrent));
    result.waves = waves;
    S asked(0.0);
    S looked_up(0.0);
    S filled(0.0);
    S fetched_by_item(0.0);
    for (std::size_t i = 0; i < count; ++i) {
        const S distinct(moved[i].requested_bytes > 0.0 ? moved[i].wave_bytes / moved[i].requested_bytes
                                                        : 1.0);
        // SMs that go round the same set, all of it, end up side by side.
        const bool laps = uses[i]->shifted && uses[i]->read_bytes >= operands[i].total_bytes &&
                          2.0 * static_cast<double>(sms) >= hw::value_of(gpu.sm.count);
        const S fetched(uses[i]->fetched_bytes * items);
        const double left = memory::left_of_merged(
            readers_of(*uses[i], operands[i], kernel, reuse.order, runs, laps, gpu), gpu);
        const S mergeable = fetched * S(1.0 - left);
        // Where every so many-th item reads the same the description says who meets; else pairs do.
        const double carried = uses[i]->repeat > 0.0
                                   ? 1.0 - memory::in_step_while_waiting(runs.count) * (1.0 - left)
                                   : hw::value_of(unmerged_share(laps ? S(0.0) : distinct, gpu));
        result.l2_mergeable += Bytes<S>(mergeable);
        fetched_by_item = fetched_by_item + S(uses[i]->fetched_bytes);
        result.own_share = result.own_share + S(uses[i]->fetched_bytes) * (laps ? S(0.0) : distinct);
        asked = asked + fetched * S(carried);
        // How often both partitions are asked hangs little on how many merge: half of those that can.
        const S requests = fetched - mergeable * S(0.5);
        looked_up = looked_up + fetched;
        if (warm[i] && uses[i]->span_bytes > 0.0 && !uses[i]->random) {
            const memory::L2Places places = memory::places_in_turn(
                set_of(*uses[i], operands[i].total_bytes, footprint, kernel, gpu, sms), gpu);
            if (places.near <= result.places.near) result.places = places;
            const double lost = places.dram * uses[i]->read_bytes * items * carried;
            const S crossed = crossings(requests, S(std::max(lost, moved[i].compulsory_bytes)), gpu);
            read += lost;
            looked_up = looked_up + crossed;
            if (lost > 0.0) filled = filled + S(lost) + crossed;
            result.from_dram = result.from_dram || lost > 0.0;
            continue;
        }
        // A set that is read again and again stays as long as the whole L2 holds it.
        if (warm[i] && footprint <= all) {
            looked_up = looked_up + crossings(requests, S(moved[i].compulsory_bytes), gpu);
            continue;
        }
        // What one item reads again comes from DRAM again when the set has outgrown the L2.
        const double turns = uses[i]->span_bytes > 0.0 && footprint > all
                                 ? std::max(1.0, uses[i]->read_bytes / uses[i]->span_bytes)
                                 : 1.0;
        const double missed =
            uses[i]->shifted && footprint > all ? uses[i]->read_bytes * items : moved[i].dram_bytes * turns;
        read += missed;
        if (warm[i]) {
            // A set that has outgrown the L2 is waited for as long as one that never was in it.
            const double lost = std::min(1.0, missed / (uses[i]->read_bytes * items));
            if (1.0 - lost < result.places.near) result.places = {1.0 - lost, 0.0, lost};
        }
        const S crossed = crossings(requests, S(missed), gpu);
        looked_up = looked_up + crossed;
        filled = filled + S(missed) + crossed;
        row_read += uses[i]->in_rows ? missed : 0.0;
        result.from_dram = true;
        const double first = moved[i].wave_bytes / waves;
        if (first < moved[i].wave_bytes) {
            known *=
                1.0 - std::clamp((moved[i].dram_bytes - first) / (moved[i].wave_bytes - first), 0.0, 1.0);
        }
    }
    result.fresh_later = 1.0 - known;
    if (S(0.0) < fetched_by_item) result.own_share = result.own_share / fetched_by_item;
    result.dram_read = Bytes<S>(S(read));
    result.dram_row_read = Bytes<S>(S(row_read));
    result.l2_read = Bytes<S>(asked);
    result.l2_looked_up = Bytes<S>(looked_up);
    const Bytes<S> stores{S(written)};
    const Bytes<S> dirty{S(dirtied)};
    // Results that leave after the main loop come out wave by wave.
    const bool throughout = Cycles<S>{} < item.loop.demand[Server::crossbar_write];
    const double bursts =
        throughout ? std::numeric_limits<double>::infinity() : items / static_cast<double>(reuse.concurrent);
    result.dram_written =
        conditions.cache == prediction::Cache::flushed
            ? memory::writes_over_dirty(result.dram_read, dirty, memory::dirty_first_of(gpu),
                                        gpu.l2.dirty_fraction, memory::dirty_capacity_of(gpu))
            : memory::writes_over_clean(Bytes<S>(filled), dirty, gpu.l2.capacity,
                                        memory::dirty_capacity_of(gpu), bursts);
    result.l2_written = stores;
    result.l2_stored = Bytes<S>(S(sent));
    result.received = Bytes<S>(S(items * item.total([](const Part<S>& p) { return p.received_bytes; })));
    return result;
}

template Traffic<double> traffic(const kernel::Kernel&, const ItemDemand<double>&, std::int64_t,
                                 const hw::Gpu<double>&, const prediction::Conditions&, std::int64_t);
template Traffic<hw::Dual<4>> traffic(const kernel::Kernel&, const ItemDemand<hw::Dual<4>>&, std::int64_t,
                                      const hw::Gpu<hw::Dual<4>>&, const prediction::Conditions&,
                                      std::int64_t);

}  // namespace warptime::model::analytical
