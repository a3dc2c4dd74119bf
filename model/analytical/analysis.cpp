// The stages of an analysis: one item, the busiest SM, and the makespan at the clock of the load.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/analysis.hpp"

#include "model/analytical/activity.hpp"
#include "model/analytical/chain.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/fill_and_drain.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/limiter_of_analysis.hpp"
#include "model/analytical/settled_item.hpp"
#include "model/analytical/stage_waits.hpp"
#include "model/analytical/timeline.hpp"
#include "model/analytical/traffic.hpp"
#include "model/analytical/unequal_loops.hpp"
#include "model/machine/dram/dram.hpp"
#include "model/machine/dram/loaded_latency.hpp"
#include "model/machine/dram/loop_at_memory.hpp"
#include "model/machine/dram/round_spread.hpp"
#include "model/machine/dram/slots_at_memory.hpp"
#include "model/machine/dram/victims.hpp"
#include "model/machine/issue/instruction_fetch.hpp"
#include "model/machine/l1/pending_lines.hpp"
#include "model/machine/l2/l2.hpp"
#include "model/machine/l2/l2_ports.hpp"
#include "model/machine/l2/l2_residence.hpp"
#include "model/machine/l2/uneven_slices.hpp"
#include "model/machine/launch/launch.hpp"
#include "model/machine/occupancy/given_sms.hpp"
#include "model/machine/occupancy/groups_at_work.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/machine/occupancy/stragglers.hpp"
#include "model/machine/occupancy/waves.hpp"
#include "model/machine/occupancy/whole_bands.hpp"
#include "model/machine/power/clock.hpp"
#include "model/machine/power/sustained_clock.hpp"
#include "model/machine/tensor/tensor_core.hpp"
#include "model/steady/closed_queue.hpp"
#include "model/steady/overlap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace warptime::model::analytical {

namespace {

using hw::Bytes;
using hw::Cycles;
using hw::Seconds;
using machine::launch_clock;

void place(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
           Analysis& a) {
    const std::int64_t sms = machine::reachable_sms(
        gpu, kernel.cluster.volume(), machine::given_sms(gpu, conditions), a.occupancy.ctas_per_sm);
    a.items = kernel.schedule.item_count();
    a.ctas = kernel.grid.volume();
    a.slots = sms * a.occupancy.ctas_per_sm;
    a.persistent = kernel.schedule.kind != kernel::ScheduleKind::one_per_cta && a.ctas < a.items;
    a.sms = std::min({sms, a.ctas, a.items});
    if (a.ctas > a.items && a.items <= a.slots && machine::launches_whole_bands(kernel)) {
        a.fullest_sm = machine::fullest_sm(machine::order_of(kernel.schedule), sms, a.occupancy.ctas_per_sm);
    }
    a.fullest_group = machine::fullest_group(gpu, a.sms, kernel.cluster.volume());
    a.waves = static_cast<double>(a.ctas) / static_cast<double>(a.slots);
}

/// Whether only some SMs of each graphics processing cluster are at work.
bool shares_ports(const hw::Gpu& gpu, const Analysis& a) {
    return a.fullest_group < machine::largest_group(gpu);
}

/// Sets the ports' times when only some SMs of a cluster are at work.
void share_ports(const hw::Gpu& gpu, Analysis& a) {
    if (!shares_ports(gpu, a)) return;
    const machine::PortCosts cost = machine::port_costs(a.fullest_group, gpu);
    for (machine::Part* part : {&a.item.before, &a.item.loop, &a.item.after}) {
        // Multicast bytes are shared in any case.
        const bool multicast = part->fetched_bytes < part->received_bytes;
        const double own = multicast ? 0.0 : part->fetched_bytes * a.traffic.own_share;
        part->demand[machine::Server::crossbar_read] =
            Cycles(own * cost.own + (part->received_bytes - own) * cost.shared);
        part->demand[machine::Server::crossbar_write] = Cycles(part->sent_bytes * cost.stored);
    }
}

/// CTAs that share an SM: as many as fit, or fewer where the grid has fewer for each SM.
std::int64_t sharing(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                     const prediction::Conditions& conditions, const machine::Occupancy& occupancy) {
    const std::int64_t sms = machine::given_sms(gpu, conditions);
    return std::clamp<std::int64_t>(
        machine::ceil_divide(std::min(kernel.grid.volume(), kernel.schedule.item_count()), sms), 1,
        std::max(1, occupancy.ctas_per_sm));
}

/// Number of waits for plain loads in one slot, over all items of the slot.
double load_rounds(const Analysis& a) {
    const double of_item = a.item.total([](const machine::Part& p) { return p.load_rounds; });
    const double turns = std::ceil(static_cast<double>(a.items) /
                                   static_cast<double>(a.persistent ? a.ctas : std::min(a.items, a.slots)));
    return of_item * turns;
}

/// Whether warps go round a loop and wait in each turn for their own loads.
bool waits_in_a_loop(const Analysis& a) {
    return !a.item.asynchronous && a.item.trips > 1.0;
}

/// Whether all warps of a CTA wait for all of its loads, once, before they compute with them. CTAs of an SM
/// then go round two queues, one at the SM's units and one at DRAM. A single CTA takes the sum of both.
bool meets_without_loop(const Analysis& a) {
    return a.item.trips <= 1.0 &&
           0.0 < a.item.total([](const machine::Part& p) { return p.met_busy.value(); });
}

/// Extra time of the last warp against most warps, in a loop of plain loads. Warps that stage their loads
/// meet in every turn and meanwhile load for the next turn.
Cycles behind_most(const Analysis& a, const hw::Gpu& gpu) {
    if (!waits_in_a_loop(a) || a.item.loads_itself) return {};
    const double rounds = a.item.total([](const machine::Part& p) { return p.load_rounds; });
    const auto warps = static_cast<double>(a.concurrent() * a.item.warps);
    const Cycles spread = a.traffic.from_dram ? gpu.dram.round_spread : gpu.l2.round_spread;
    // A slot that is late gets no further CTA.
    return std::min(machine::last_of_warps(load_rounds(a), warps, spread),
                    machine::last_of_warps(rounds, warps, spread) + a.alone);
}

/// Waits for DRAM of a slot whose CTAs replace each other.
double waits_of_waves(const Analysis& a) {
    const double received = a.traffic.received.value();
    if (waits_in_a_loop(a) || a.persistent || a.items <= a.slots || !(0.0 < received)) return 0.0;
    if (!a.traffic.from_dram) return 0.0;
    if (a.item.asynchronous) return 0.0;
    const double turns = a.item.total([](const machine::Part& p) { return p.load_rounds; });
    const double waves = static_cast<double>(a.items) / static_cast<double>(a.slots);
    return waves * turns * std::min(1.0, a.traffic.dram_read.value() / received);
}

/// The busiest unit of an SM, but for the turns of register operands: in cycles of a CTA.
Cycles busiest_unit(const Analysis& a) {
    Cycles busiest{};
    for (std::size_t i = 0; i < machine::server_count; ++i) {
        if (static_cast<machine::Server>(i) == machine::Server::registers) continue;
        busiest = std::max(
            busiest,
            Cycles(a.item.total([&](const machine::Part& p) { return p.demand.cycles[i].value(); })));
    }
    return busiest;
}

/// Turns of a slot whose CTAs replace each other, in cycles. `rounds`: of loads, in a turn.
machine::SlotTurn turn_of_slot(const Analysis& a, double rounds, const hw::Gpu& gpu) {
    const std::int64_t resident = a.occupancy.ctas_per_sm;
    const machine::Waves waves = machine::waves_of(a.items, a.slots);
    const double warps = static_cast<double>(resident * a.item.warps) / gpu.sm.sub_partitions.value();
    const double own = busiest_unit(a).value();
    machine::SlotTurn turn;
    turn.own = own;
    turn.together = own * static_cast<double>(resident);
    turn.elsewhere = (a.alone + a.turnaround).value() - own;
    turn.exposed = machine::exposed_share(warps, rounds, gpu);
    turn.turns = static_cast<double>(waves.full_waves);
    turn.last = own * static_cast<double>(machine::tail_residency(waves.tail_items, a.slots / resident));
    turn.vacant = a.turnaround.value();
    return turn;
}

/// Time that an SM's loads need with the lines that its L1 keeps for those under way.
machine::HeldPlace held_lines(const Analysis& a) {
    const double items = static_cast<double>(a.items) / static_cast<double>(std::max<std::int64_t>(1, a.sms));
    return {Cycles(a.item.total([](const machine::Part& p) { return p.pending.value(); }) * items),
            Cycles(a.item.total([](const machine::Part& p) { return p.pending_queued.value(); }) * items)};
}

void combine(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
             Analysis& a) {
    const machine::HeldPlace held = held_lines(a);
    const Cycles run =
        std::max(std::max(a.exposure.makespan() + a.item.longest, a.item.slowest), held.alone) + a.first_text;
    // The last SM idles until its first CTA. The other CTAs are handed out while SMs run.
    const Cycles first = machine::cta_launch_cycles(kernel, static_cast<double>(a.sms), gpu);
    const Cycles launch = machine::cta_launch_cycles(kernel, static_cast<double>(a.ctas), gpu);
    const Cycles handed = first + Cycles(machine::handed_out((launch - first).value(), run.value(),
                                                             static_cast<double>(a.slots)));
    // The last CTA cannot end before it has been handed out and has run.
    const double slot_waits = waits_of_waves(a);
    const Cycles told = first + a.alone + a.item.hand_over * kernel.hand_overs.in_series;
    const Cycles ended = std::max(std::max(handed, launch + a.alone), told);
    const bool bulk = a.item.loop.demand[machine::Server::tma] > Cycles{};
    const bool maps = bulk && machine::copies_by_tensor_map(kernel);
    a.floor = machine::launch_floor(conditions.cache, maps, a.traffic.dram_read, gpu) +
              machine::cold_after_others(conditions, a.traffic.dram_read, gpu);
    // launch.descriptor holds the arithmetic before the first box. A description that states this arithmetic
    // pays for it once.
    if (maps) {
        const Seconds said = a.item.before.chain / (gpu.clock.boost * gpu.clock.tensor_base);
        a.floor = a.floor - std::min(gpu.launch.descriptor, said);
    }
    a.dram_time =
        machine::dram_seconds({a.traffic.dram_read, a.traffic.dram_row_read, a.traffic.dram_scattered_read},
                              {a.traffic.dram_written, a.traffic.dram_scattered_written}, gpu);
    // CTAs that go to any free SM leave no cluster of SMs behind. CTAs with fixed work do.
    const bool even = !a.persistent && a.waves > 1.0;
    const double late = even ? 1.0 : machine::slowest_group(gpu);
    const Cycles stores = machine::l2_ingest_cycles(a.traffic.l2_stored, gpu);
    // CTAs that replace each other store while others read.
    const bool throughout = Cycles{} < a.item.loop.demand[machine::Server::crossbar_write] ||
                            (even && !waits_in_a_loop(a) && !a.item.asynchronous);
    // Bytes asked for at once are those of the first round of the first wave.
    const double bursts = std::max(1.0, a.waves) * std::max(1.0, a.item.trips);
    const Bytes read = a.item.uses_tensor
                           ? a.traffic.l2_read
                           : a.traffic.l2_read + machine::beyond_even(a.traffic.l2_read / bursts, gpu);
    const Cycles both = machine::read_and_stored_cycles(read, stores, throughout, gpu) + a.traffic.outside;
    // Lines from DRAM enter the slices in the same way as stores.
    const Cycles evenly = std::max(both, stores * late + machine::l2_ingest_cycles(a.traffic.dram_read, gpu));
    const machine::AtomicTime& atomics = a.traffic.atomics;
    // A slice serves one request at a time, whatever it asks for. One with hot words serves its part of all
    // else as well. Where loads name a skew, atomics crowd in the same slice.
    const Cycles fullest =
        Cycles{} < a.traffic.fullest ? a.traffic.fullest + atomics.beyond : a.traffic.fullest;
    const Cycles l2 = std::max(evenly + std::max(a.traffic.hot_words, fullest), a.traffic.hot_lines);
    const double exponent = gpu.overlap.exponent.value();
    a.exponent = exponent;
    const Cycles crowded(
        steady::beyond_overlapped((atomics.mean + atomics.beyond).value(), atomics.mean.value(), exponent));
    const double flop =
        static_cast<double>(a.items) * a.item.total([](const machine::Part& p) { return p.tensor_flop; });
    const double peak = tensor_rate(a.item.tensor_dtype, gpu).value() * gpu.sm.count.value();
    double utilization = 0.0;
    // With one CTA on an SM, no other CTA fills the time between two waves.
    const bool in_step = even && a.occupancy.ctas_per_sm == 1 && waits_in_a_loop(a);
    const Cycles apart = std::min(in_step ? apart_of_waves(a.apart, a.turnaround, a.waves) : a.apart, run);
    const Cycles last = behind_most(a, gpu);
    // Tensor kernels wait for victims within launch.descriptor, which was fitted over dirty lines.
    const bool at_once = conditions.cache == prediction::Cache::flushed && !a.item.uses_tensor;
    const Seconds victims =
        at_once ? machine::wait_for_victims(a.traffic.dram_read, a.traffic.dram_written, bursts, gpu)
                : Seconds{};
    const bool only_stores =
        even && !(0.0 < a.traffic.received.value()) && !(Cycles{} < atomics.mean) && !a.item.asynchronous;
    // Times of SMs, DRAM, slices, and what keeps atomics besides, with SMs, DRAM, slices without atomics, and
    // atomics multiplied by a factor. Passes that crowd in one slice keep the unit there that adds, and not
    // the slice: other requests overlap with them.
    constexpr std::array<double, 4> as_they_are{1.0, 1.0, 1.0, 1.0};
    const auto parts = [&](const hw::Frequency& clock, const std::array<double, 4>& by) {
        std::array<double, 4> of{((ended - apart) / clock).value() * by[0],
                                 (a.dram_time - victims).value() * by[1],
                                 (l2 / clock).value() * by[2] + (atomics.mean / clock).value() * by[3], 0.0};
        const std::array<double, 2> besides{(crowded / clock).value() * by[3],
                                            (atomics.back / clock).value() * by[3]};
        of[3] = steady::overlapped(std::span<const double>(besides), exponent);
        // Slices and channels follow one another with deep queues between them: the slower sets the pace.
        const double dram = of[1];
        of[of[1] < of[2] ? 1 : 2] = 0.0;
        if (0.0 < slot_waits) {
            // Slots wait for DRAM while the launch unit hands out other CTAs.
            const auto seconds = [&](const Cycles& cycles) { return (cycles / clock).value() * by[0]; };
            const double written = machine::written_seconds(a.traffic.dram_written, gpu).value() * by[1];
            double slot = seconds(run - apart);
            const double queue = (gpu.dram.queue / clock).value();
            const double held_up = (gpu.dram.write_wait / clock).value();
            const double alone = machine::held_by_writes(slot, slot_waits * held_up, written);
            if (meets_without_loop(a)) {
                slot = steady::pace_of_two_queues(a.occupancy.ctas_per_sm, alone, of[1]);
            } else {
                // CTAs that queue anywhere and wait besides, and CTAs that stay in step: each law bounds the
                // time from above, so the shorter counts.
                const double rounds = slot_waits / a.waves;
                const machine::SlotTurn turn = turn_of_slot(a, rounds, gpu);
                slot = std::min(machine::queued(alone, of[1], slot_waits * queue),
                                machine::slots_at_memory(machine::in_seconds(turn, seconds(Cycles(1.0))),
                                                         {rounds * queue, rounds * held_up, of[1], written}));
            }
            slot = machine::handed_out(seconds(launch - first), slot, static_cast<double>(a.slots));
            of[0] = std::max(seconds(first) + slot, seconds(launch + a.alone - apart));
            of[1] = 0.0;
        }
        // Straight kernels, whose CTAs replace each other, follow the exponent that was fitted on them.
        if (waits_in_a_loop(a)) {
            const bool loops = Cycles{} < a.loop_period;
            const double chain = loops ? (a.loop_chain / a.loop_period).value() : 1.0;
            of[0] = machine::loop_at_memory(
                of[0],
                {chain, load_rounds(a), of[2], of[1],
                 machine::written_seconds(a.traffic.dram_written, gpu).value() * by[1],
                 (last / clock).value(), a.traffic.from_dram ? a.dram_time.value() * by[1] : 0.0},
                clock, gpu);
            of[1] = of[2] = 0.0;
        }
        if (only_stores) {
            // Nobody waits for a store, so that SMs, slices and channels are a line with deep queues between.
            const double slowest = *std::max_element(of.begin(), of.end());
            of = {slowest, 0.0, 0.0, 0.0};
        }
        if (Cycles{} < held.queued) {
            // Loads that keep the L1's lines wait for DRAM meanwhile, and others wait for their lines.
            const double waits = (held.queued / clock).value() * by[0];
            of[0] = std::max(of[0], machine::queued((held.alone / clock).value() * by[0], dram, waits));
        }
        return of;
    };
    // Where places that are visited at random come from DRAM in the first part of the kernel, DRAM holds the
    // kernel up there and the other units do later.
    const auto early = [&](const hw::Frequency& clock, double time) {
        const double dram = a.dram_time.value();
        if (!(0.0 < a.traffic.first_visits.share * dram)) return time;
        const std::array<double, 4> of = parts(clock, {1.0, 0.0, 1.0, 1.0});
        const double others = steady::overlapped(std::span<const double>(of), exponent);
        return time * machine::with_first_visits(dram, others, a.traffic.first_visits) /
               std::max(dram, others);
    };
    // Overlapped time in cycles, kept where every part goes with the clock; 0 until known.
    Cycles paced{};
    const auto overlapped_at = [&](const hw::Frequency& clock) {
        const bool dram = !(a.dram_time < (l2 + atomics.mean) / clock);
        if (!dram && Cycles{} < paced) return paced / clock;
        const std::array<double, 4> of = parts(clock, as_they_are);
        const Seconds time(early(clock, steady::overlapped(std::span<const double>(of), exponent)));
        if (!dram) paced = time * clock;
        return time;
    };
    // CTAs of one wave begin together. Of more, the one that ends last is long or began late.
    const double beyond = a.items > a.slots && !a.persistent ? a.item.beyond.value() : 0.0;
    const auto behind_at = [&](const hw::Frequency& clock, const Seconds& others) {
        return Cycles(machine::behind_the_last(beyond, static_cast<double>(a.items),
                                               (apart + others * clock).value())) /
               clock;
    };
    const auto time_at = [&](const hw::Frequency& clock) {
        const Seconds others = overlapped_at(clock);
        return a.floor + apart / clock + victims + others + behind_at(clock, others);
    };
    // The clock falls with the load and the load rises with the clock. The first round guesses the load from
    // the longest part alone. Two more rounds settle to below a part in ten thousand, since the slope is
    // small. Without tensor work the clock rises with the time since a flush. The second round knows the time
    // since a flush.
    constexpr int rounds = 3;
    const bool given = conditions.clock_hz > 0.0;
    const auto clock_of_load = [&] {
        const hw::Frequency clock = launch_clock(a.item.uses_tensor, utilization, gpu, conditions.data);
        return a.item.uses_tensor ? clock : clock * machine::clock_left(a.time, conditions, gpu);
    };
    for (int round = 0; round < rounds; ++round) {
        a.clock = given ? hw::Frequency(conditions.clock_hz) : clock_of_load();
        if (a.item.uses_tensor && round == 0) {
            const std::array<double, 4> of = parts(a.clock, as_they_are);
            a.time = a.floor + apart / a.clock + victims + Seconds(*std::max_element(of.begin(), of.end()));
        } else {
            a.time = time_at(a.clock);
        }
        if (!a.item.uses_tensor) {
            if (round > 0 || given || !(a.clock < clock_of_load())) break;
            continue;
        }
        utilization = flop / (a.time.value() * a.clock.value() * peak);
    }
    a.free_clock = given ? std::max(a.clock, clock_of_load()) : a.clock;
    if (conditions.duty == prediction::Duty::sustained && !given) {
        a.clock =
            machine::sustained_clock(activity_of(a, gpu, conditions.data), a.free_clock, gpu,
                                     [&](const hw::Frequency& clock) { return time_at(clock).value(); });
        a.time = time_at(a.clock);
        if (a.item.uses_tensor) utilization = flop / (a.time.value() * a.clock.value() * peak);
    }
    // A norm changes by the power of a part's share; queues inside of a part need a second look.
    const std::array<double, 4> now = parts(a.clock, as_they_are);
    const double overlapped = steady::overlapped(std::span<const double>(now), exponent);
    const Seconds behind = behind_at(a.clock, Seconds(overlapped));
    const bool queues = waits_in_a_loop(a) || 0.0 < slot_waits || Cycles{} < atomics.mean;
    const auto saved = [&](std::size_t part) {
        if (!queues) {
            return Seconds(0.5 * steady::share_of_overlapped(now[part], overlapped, exponent) * overlapped);
        }
        std::array<double, 4> by = as_they_are;
        by[part] = 0.5;
        const std::array<double, 4> of = parts(a.clock, by);
        return Seconds(std::max(0.0, overlapped - steady::overlapped(std::span<const double>(of), exponent)));
    };
    const Seconds of_sms = saved(0);
    const double handing = std::clamp(((handed - run) / ended).value(), 0.0, 1.0);
    a.saved = {a.floor * 0.5 + of_sms * handing,
               of_sms * (1.0 - handing) + behind * 0.5,
               saved(1) + victims * 0.5,
               saved(2),
               saved(3),
               apart / a.clock * 0.5};
    a.sm_time = run / a.clock + behind;
    a.launch_time = launch / a.clock;
    a.l2_time = l2 / a.clock;
    a.atomic_time = machine::together(a.traffic.atomics, gpu) / a.clock;
    a.tensor_utilization = utilization;
}

/// Latency of a load before traffic is known. The load comes from DRAM unless the caches are warm. Where
/// single lanes walk a warm set line by line, the latency follows the share that the L2 has kept.
Cycles first_latency(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                     const prediction::Conditions& conditions) {
    if (conditions.cache != prediction::Cache::warm) return load_latency(true, gpu);
    double footprint = 0.0;
    bool random = false;
    bool strange = false;
    for (const kernel::Access& access : kernel.accesses) {
        if (access.pattern != kernel::PatternKind::chase) {
            continue;
        }
        // Lines of the window, each once.
        const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
        const double step = std::max(1.0, static_cast<double>(access.step)) * hw::bytes_of(buffer.dtype);
        const double lines = static_cast<double>(access.window) * hw::bytes_of(buffer.dtype) / step;
        footprint += lines * std::min(step, gpu.l1.line.value());
        random = true;
        strange = strange || buffer.before == kernel::Before::warm;
    }
    // A buffer described as warm was brought in by an earlier kernel on any SM; other lines came by this SM.
    if (strange) return machine::lane_latency(machine::places_of_strangers(footprint, gpu), gpu);
    if (!random) return load_latency(false, gpu);
    const Cycles near = (gpu.latency.l2_near + gpu.latency.l2_far) * 0.5;
    const double missed =
        machine::missed_after_sweep(footprint, gpu.l2.capacity.value(), gpu.l2.retained.value());
    return near + (gpu.latency.dram - near) * missed;
}

}  // namespace

namespace {

RecentSharedReads* reads_of(KeptStages* kept) {
    return kept == nullptr ? nullptr : &kept->problem;
}

/// Time of the busiest SM, once its item and the source of the traffic are known.
void settle_sm(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
               Analysis& a) {
    share_ports(gpu, a);
    const WaitsOfWaves waits = waits_of_waves(kernel, a.item, a.traffic, gpu);
    a.loop_chain = waits.first.chain;
    a.apart = fill_and_drain(a.item, waits.first.fill, load_latency(a.traffic.from_dram, gpu));
    const Timeline timeline(a, gpu, waits, a.slots / a.occupancy.ctas_per_sm);
    a.loop_period = waits_in_a_loop(a) ? timeline.period(a.occupancy.ctas_per_sm, waits.first) : Cycles{};
    const std::vector<kernel::WorkItem> unequal = items_of_unequal_loops(kernel, a.item.trips, a.slots);
    // Where the length of each CTA is known, the longest one is no straggler at an unknown place.
    if (!unequal.empty()) a.item.beyond = Cycles{};
    a.exposure = kernel.schedule.kind == kernel::ScheduleKind::listed
                     ? timeline.of_items(kernel.schedule.items, kernel.schedule.on_demand)
                 : unequal.empty() ? timeline.exposure()
                                   : timeline.of_items(unequal, false);
    a.first_text = timeline.first_pass(conditions.cache != prediction::Cache::warm);
    a.alone = timeline.alone() + a.first_text;
}

/// Works out one item's demand in place. The item is the larger part of an analysis, and a copy would cost
/// time.
void body_stage(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
                KeptStages* kept, prediction::BodyNumber body, Analysis& a) {
    a.occupancy = machine::residency(kernel, machine::limits_of(gpu));
    const Cycles latency = first_latency(kernel, gpu, conditions);
    const std::int64_t resident = sharing(kernel, gpu, conditions, a.occupancy);
    if (body == prediction::unknown_body) {
        add_item_demand(kernel, gpu, latency, resident, a.item);
    } else {
        kept->body.add(kernel, body, gpu, latency, resident, a.item);
    }
}

/// Where the items run, and which bytes they move.
void problem_stage(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
                   KeptStages* kept, Analysis& a) {
    place(kernel, gpu, conditions, a);
    a.turnaround = machine::cta_turnaround(kernel, gpu);
    a.traffic = traffic(kernel, a.item, a.concurrent(), gpu, conditions, a.sms, reads_of(kept));
    const std::int64_t resident = sharing(kernel, gpu, conditions, a.occupancy);
    Cycles latency = first_latency(kernel, gpu, conditions);
    if (a.traffic.places.near < 1.0) {
        // The set has outgrown the L2: the same item, with longer waits for loads.
        latency = machine::latency_of(a.traffic.places, gpu);
        a.item = item_demand(kernel, gpu, latency, resident);
    }
    settle_item(kernel, gpu, latency, resident, a.traffic, a.item);
    settle_sm(kernel, gpu, conditions, a);
}

/// Makespan at the clock that the load leaves.
void time_stage(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
                Analysis& a) {
    combine(kernel, gpu, conditions, a);
    a.limiter = name_limiter(a);
}

}  // namespace

Analysis analyse(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
                 KeptStages* kept, prediction::BodyNumber body) {
    Analysis a;
    body_stage(kernel, gpu, conditions, kept, body, a);
    problem_stage(kernel, gpu, conditions, kept, a);
    time_stage(kernel, gpu, conditions, a);
    return a;
}

void regroup(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
             Analysis& a, KeptStages* kept) {
    const bool from_dram = a.traffic.from_dram;
    const bool found = finds_lines(a.item, a.traffic);
    a.traffic = traffic(kernel, a.item, a.concurrent(), gpu, conditions, a.sms, reads_of(kept));
    const bool finds = finds_lines(a.item, a.traffic);
    if (found || finds) {
        const std::int64_t resident = sharing(kernel, gpu, conditions, a.occupancy);
        const Cycles latency = first_latency(kernel, gpu, conditions);
        if (!finds) a.item = item_demand(kernel, gpu, latency, resident);
        settle_item(kernel, gpu, latency, resident, a.traffic, a.item);
    }
    // An SM sees no other effect of reads that its neighbours share.
    if (found || finds || a.traffic.from_dram != from_dram || sees_reuse(a.item) || shares_ports(gpu, a))
        settle_sm(kernel, gpu, conditions, a);
    time_stage(kernel, gpu, conditions, a);
}

}  // namespace warptime::model::analytical
