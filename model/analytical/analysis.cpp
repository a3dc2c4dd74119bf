// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/analysis.hpp"

#include "hw/dual.hpp"
#include "hw/math.hpp"
#include "model/analytical/activity.hpp"
#include "model/analytical/bounds/dram.hpp"
#include "model/analytical/bounds/l2.hpp"
#include "model/analytical/bounds/launch.hpp"
#include "model/analytical/bounds/tensor_core.hpp"
#include "model/analytical/bounds/uneven_slices.hpp"
#include "model/analytical/chain.hpp"
#include "model/analytical/closed_queue.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/exponent_beside.hpp"
#include "model/analytical/fill_and_drain.hpp"
#include "model/analytical/kept_items.hpp"
#include "model/analytical/limiter_of_analysis.hpp"
#include "model/analytical/loaded_latency.hpp"
#include "model/analytical/loop_at_memory.hpp"
#include "model/analytical/overlap.hpp"
#include "model/analytical/round_spread.hpp"
#include "model/analytical/stage_waits.hpp"
#include "model/analytical/timeline.hpp"
#include "model/analytical/victims.hpp"
#include "model/memory/instruction_fetch.hpp"
#include "model/memory/l2_ports.hpp"
#include "model/memory/l2_residence.hpp"
#include "model/occupancy/groups_at_work.hpp"
#include "model/occupancy/placement.hpp"
#include "model/occupancy/sm_limits.hpp"
#include "model/occupancy/waves.hpp"
#include "model/occupancy/whole_bands.hpp"
#include "model/power/sustained_clock.hpp"
#include "model/prediction/clock.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <type_traits>

namespace warptime::model::analytical {

namespace {

using hw::Bytes;
using hw::Cycles;
using hw::Seconds;
using prediction::launch_clock;

template <class S>
void place(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu, const prediction::Conditions& conditions,
           Analysis<S>& a) {
    std::int64_t sms = static_cast<std::int64_t>(hw::value_of(gpu.sm.count));
    if (conditions.available_sms > 0) {
        sms = std::min<std::int64_t>(sms, conditions.available_sms);
    }
    sms = occupancy::reachable_sms(gpu, kernel.cluster.volume(), sms, a.occupancy.ctas_per_sm);
    a.items = kernel.schedule.item_count();
    a.ctas = kernel.grid.volume();
    a.slots = sms * a.occupancy.ctas_per_sm;
    a.persistent = kernel.schedule.kind != kernel::ScheduleKind::one_per_cta && a.ctas < a.items;
    a.sms = std::min({sms, a.ctas, a.items});
    if (a.ctas > a.items && a.items <= a.slots && occupancy::launches_whole_bands(kernel)) {
        a.fullest_sm =
            occupancy::fullest_sm(occupancy::order_of(kernel.schedule), sms, a.occupancy.ctas_per_sm);
    }
    a.fullest_group = occupancy::fullest_group(gpu, a.sms, kernel.cluster.volume());
    a.waves = static_cast<double>(a.ctas) / static_cast<double>(a.slots);
}

/// Whether only some SMs of each graphics processing cluster are at work.
template <class S>
bool shares_ports(const hw::Gpu<S>& gpu, const Analysis<S>& a) {
    return a.fullest_group < occupancy::largest_group(gpu);
}

/// What the ports take then.
template <class S>
void share_ports(const hw::Gpu<S>& gpu, Analysis<S>& a) {
    if (!shares_ports(gpu, a)) return;
    const memory::PortCosts<S> cost = memory::port_costs(a.fullest_group, gpu);
    for (Part<S>* part : {&a.item.before, &a.item.loop, &a.item.after}) {
        // What is multicast is shared anyway.
        const bool multicast = part->fetched_bytes < part->received_bytes;
        const S own = multicast ? S(0.0) : S(part->fetched_bytes) * a.traffic.own_share;
        part->demand[Server::crossbar_read] =
            Cycles<S>(own * cost.own + (S(part->received_bytes) - own) * cost.shared);
        part->demand[Server::crossbar_write] = Cycles<S>(S(part->sent_bytes) * cost.stored);
    }
}

/// CTAs that share an SM: as many as fit, or as the grid has for each.
template <class S>
std::int64_t sharing(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu,
                     const prediction::Conditions& conditions, const occupancy::Occupancy& occupancy) {
    auto sms = static_cast<std::int64_t>(hw::value_of(gpu.sm.count));
    if (conditions.available_sms > 0) sms = std::min<std::int64_t>(sms, conditions.available_sms);
    return std::clamp<std::int64_t>(
        occupancy::ceil_divide(std::min(kernel.grid.volume(), kernel.schedule.item_count()), sms), 1,
        std::max(1, occupancy.ctas_per_sm));
}

/// SM cycles of one slot in which a warp waits for plain loads, in units of one such wait.
template <class S>
S load_rounds(const Analysis<S>& a) {
    const double of_item = a.item.total([](const Part<S>& p) { return p.load_rounds; });
    const double turns = std::ceil(static_cast<double>(a.items) /
                                   static_cast<double>(a.persistent ? a.ctas : std::min(a.items, a.slots)));
    return S(of_item * turns);
}

/// Whether warps go round a loop and wait for what they have loaded in each turn.
template <class S>
bool waits_in_a_loop(const Analysis<S>& a) {
    return !a.item.asynchronous && a.item.trips > 1.0;
}

/// What the last of all warps takes longer than most, in a loop of plain loads. Warps that stage what they
/// load meet in every turn, and load for the next one meanwhile.
template <class S>
Cycles<S> behind_most(const Analysis<S>& a, const hw::Gpu<S>& gpu) {
    if (!waits_in_a_loop(a) || a.item.loads_itself) return {};
    const double rounds = a.item.total([](const Part<S>& p) { return p.load_rounds; });
    const auto warps = static_cast<double>(a.concurrent() * a.item.warps);
    const Cycles<S> spread = a.traffic.from_dram ? gpu.dram.round_spread : gpu.l2.round_spread;
    // A slot that is late gets no further CTA.
    return hw::min(last_of_warps(hw::value_of(load_rounds(a)), warps, spread),
                   last_of_warps(rounds, warps, spread) + a.alone);
}

template <class S>
void combine(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu, const prediction::Conditions& conditions,
             Analysis<S>& a) {
    const Cycles<S> run = a.exposure.makespan() + a.first_text;
    // The last SM has nothing to do until it gets its first CTA; the others are handed out meanwhile.
    const Cycles<S> first = cta_launch_cycles(kernel, static_cast<double>(a.sms), gpu);
    const Cycles<S> launch = cta_launch_cycles(kernel, static_cast<double>(a.ctas), gpu);
    const Cycles<S> handed =
        first + Cycles<S>(handed_out((launch - first).value(), run.value(), static_cast<double>(a.slots)));
    // The last CTA cannot end before it has been handed out and has run.
    const Cycles<S> ended = hw::max(handed, launch + a.alone);
    const bool bulk = a.item.loop.demand[Server::tma] > Cycles<S>{};
    // A kernel that reads nothing waits for nothing that a flush has made cold (recorded stores of 1 to 8 MB,
    // empty kernels), nor does one that reads what a step before it has written (354 sums of splits by
    // elements, fit and development rows: 0.47 us too slow, all alike, launch.cold).
    const bool reads_nothing = !bulk && !(S(0.0) < a.traffic.received.value());
    const bool finds_all = reads_nothing || prediction::reads_results_only(kernel);
    a.floor = launch_floor(finds_all ? prediction::Cache::warm : conditions.cache,
                           bulk && prediction::copies_by_tensor_map(kernel), gpu);
    // What a library's kernels compute before their first box is a part of launch.descriptor; Triton's say
    // it.
    if (bulk && a.item.self_fed) {
        const Seconds<S> said = a.item.before.chain / (gpu.clock.boost * gpu.clock.tensor_base);
        a.floor = a.floor - hw::min(gpu.launch.descriptor, said);
    }
    a.dram_time = dram_seconds(a.traffic.dram_read - a.traffic.dram_row_read, a.traffic.dram_row_read,
                               a.traffic.dram_written, gpu);
    // CTAs that come to whatever SM is free leave no cluster of SMs behind; those with work of their own do.
    const bool even = !a.persistent && a.waves > 1.0;
    const S late(even ? 1.0 : slowest_group(gpu));
    const Cycles<S> stores = l2_ingest_cycles(a.traffic.l2_stored, gpu);
    const bool throughout = Cycles<S>{} < a.item.loop.demand[Server::crossbar_write];
    // What is asked for at once: by the first round of the first wave.
    const double bursts = std::max(1.0, a.waves) * std::max(1.0, a.item.trips);
    const Bytes<S> read = a.item.uses_tensor
                              ? a.traffic.l2_read
                              : a.traffic.l2_read + beyond_even(a.traffic.l2_read / S(bursts), gpu);
    const Cycles<S> both = read_and_stored_cycles(read, stores, throughout, gpu) + a.traffic.outside;
    // Lines that come from DRAM are put into the slices as stores are.
    const Cycles<S> l2 = hw::max(hw::max(both, stores * late + l2_ingest_cycles(a.traffic.dram_read, gpu)),
                                 a.traffic.hot_lines);
    const double flop =
        static_cast<double>(a.items) * a.item.total([](const Part<S>& p) { return p.tensor_flop; });
    const S peak = tensor_rate(a.item.tensor_dtype, gpu).value() * gpu.sm.count.value();
    S utilization(0.0);
    // Of one CTA an SM nobody fills the time between two waves.
    const bool in_step = even && a.occupancy.ctas_per_sm == 1 && waits_in_a_loop(a);
    const Cycles<S> apart = hw::min(in_step ? apart_of_waves(a.apart, a.turnaround, a.waves) : a.apart, run);
    const Cycles<S> last = behind_most(a, gpu);
    // What products wait is within what their begin takes, which was fitted over dirty lines
    // (launch.descriptor).
    const bool at_once = conditions.cache == prediction::Cache::flushed && !a.item.uses_tensor;
    const Seconds<S> victims =
        at_once ? wait_for_victims(a.traffic.dram_read, a.traffic.dram_written, bursts, gpu) : Seconds<S>{};
    const auto parts = [&](const hw::Frequency<S>& clock) {
        std::array<S, 4> of{((ended - apart) / clock).value(), (a.dram_time - victims).value(),
                            (l2 / clock).value(), (a.traffic.atomics / clock).value()};
        // Slices and channels stand one behind the other with deep queues between: the slower is the pace.
        of[of[1] < of[2] ? 1 : 2] = S(0.0);
        // Straight kernels, whose CTAs replace each other, follow the exponent that was fitted on them.
        if (waits_in_a_loop(a)) {
            const bool loops = Cycles<S>{} < a.loop_period;
            const S chain = loops ? (a.loop_chain / a.loop_period).value() : S(1.0);
            of[0] = loop_at_memory<S>(
                of[0],
                {chain, load_rounds(a), of[2], of[1], written_seconds(a.traffic.dram_written, gpu).value(),
                 (last / clock).value()},
                clock, gpu);
            of[1] = of[2] = S(0.0);
        }
        return of;
    };
    const S exponent = exponent_beside(a.item, sharing(kernel, gpu, conditions, a.occupancy), gpu);
    Cycles<S> paced{};  // what overlaps, where all of it goes with the clock; 0 until it is known
    const auto overlapped_at = [&](const hw::Frequency<S>& clock) {
        const bool dram = !(a.dram_time < l2 / clock);
        if (!dram && Cycles<S>{} < paced) return paced / clock;
        const std::array<S, 4> of = parts(clock);
        const Seconds<S> time(overlapped(std::span<const S>(of), exponent));
        if (!dram) paced = time * clock;
        return time;
    };
    const auto time_at = [&](const hw::Frequency<S>& clock) {
        return a.floor + apart / clock + victims + overlapped_at(clock);
    };
    // The clock falls with the load and the load rises with the clock. The first round guesses the load from
    // the longest part alone; two more settle to below a part in ten thousand, since the slope is small.
    // Without tensor work it rises with the time since a flush, and the second round knows how long.
    constexpr int rounds = 3;
    const bool given = conditions.clock_hz > 0.0;
    const auto clock_of_load = [&] {
        const hw::Frequency<S> clock = launch_clock(a.item.uses_tensor, utilization, gpu, conditions.data);
        return a.item.uses_tensor ? clock : clock * prediction::clock_left(a.time, conditions, gpu);
    };
    for (int round = 0; round < rounds; ++round) {
        a.clock = given ? hw::Frequency<S>(S(conditions.clock_hz)) : clock_of_load();
        if (a.item.uses_tensor && round == 0) {
            const std::array<S, 4> of = parts(a.clock);
            a.time =
                a.floor + apart / a.clock + victims + Seconds<S>(*std::max_element(of.begin(), of.end()));
        } else {
            a.time = time_at(a.clock);
        }
        if (!a.item.uses_tensor) {
            if (round > 0 || given || !(a.clock < clock_of_load())) break;
            continue;
        }
        utilization = S(flop) / (a.time.value() * a.clock.value() * peak);
    }
    a.free_clock = a.clock;
    if (conditions.duty == prediction::Duty::sustained && !given) {
        a.clock =
            power::sustained_clock(activity_of(a, gpu, conditions.data), a.free_clock, gpu,
                                   [&](const hw::Frequency<S>& clock) { return time_at(clock).value(); });
        a.time = time_at(a.clock);
        if (a.item.uses_tensor) utilization = S(flop) / (a.time.value() * a.clock.value() * peak);
    }
    a.sm_time = run / a.clock;
    a.launch_time = launch / a.clock;
    a.l2_time = l2 / a.clock;
    a.atomic_time = a.traffic.atomics / a.clock;
    a.tensor_utilization = utilization;
}

/// Latency of a load before traffic is known: from DRAM unless the caches are warm; where single lanes go
/// through a warm set line by line, whatever share of it the L2 has kept.
template <class S>
Cycles<S> first_latency(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu,
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
        footprint += lines * std::min(step, hw::value_of(gpu.l1.line));
        random = true;
        strange = strange || buffer.before == kernel::Before::warm;
    }
    // What the description calls warm was brought by whoever ran before; else it was this SM.
    if (strange) return memory::lane_latency(memory::places_of_strangers(footprint, gpu), gpu);
    if (!random) return load_latency(false, gpu);
    const Cycles<S> near = (gpu.latency.l2_near + gpu.latency.l2_far) * S(0.5);
    const S missed(
        memory::missed_after_sweep(footprint, hw::value_of(gpu.l2.capacity), hw::value_of(gpu.l2.retained)));
    return near + (gpu.latency.dram - near) * missed;
}

}  // namespace

namespace {

/// What the busiest SM takes, once its item and where the traffic comes from are known.
template <class S>
void settle_sm(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu, const prediction::Conditions& conditions,
               Analysis<S>& a) {
    share_ports(gpu, a);
    const WaitsOfWaves<S> waits = waits_of_waves(kernel, a.item, a.traffic, gpu);
    a.loop_chain = waits.first.chain;
    a.apart = fill_and_drain(a.item, waits.first.fill, load_latency(a.traffic.from_dram, gpu));
    const Timeline<S> timeline(a, gpu, waits, a.slots / a.occupancy.ctas_per_sm);
    a.loop_period = waits_in_a_loop(a) ? timeline.period(a.occupancy.ctas_per_sm, waits.first) : Cycles<S>{};
    a.exposure = timeline.exposure();
    a.first_text = timeline.first_pass(conditions.cache != prediction::Cache::warm);
    a.alone = timeline.alone() + a.first_text;
}

/// Into an item that is still empty.
template <class S>
void take_item(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu, const Cycles<S>& load_latency,
               std::int64_t resident, const Known& known, ItemDemand<S>& empty) {
    if constexpr (std::is_same_v<S, double>) {
        if (known.items != nullptr) {
            known.items->add(kernel, known.body, gpu, load_latency, resident, empty);
            return;
        }
    }
    add_item_demand(kernel, gpu, load_latency, resident, empty);
}

/// Everything that follows from the demand of one item.
template <class S>
void complete(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu, const prediction::Conditions& conditions,
              RecentSharedReads* recent, Analysis<S>& a) {
    place(kernel, gpu, conditions, a);
    a.turnaround = prediction::cta_turnaround(kernel, gpu);
    a.traffic = traffic(kernel, a.item, a.concurrent(), gpu, conditions, a.sms, recent);
    if (a.traffic.places.near < 1.0) {
        // The set has outgrown the L2: the same item, whose loads wait longer.
        a.item = item_demand(kernel, gpu, memory::latency_of(a.traffic.places, gpu),
                             sharing(kernel, gpu, conditions, a.occupancy));
    }
    settle_sm(kernel, gpu, conditions, a);
    combine(kernel, gpu, conditions, a);
    a.limiter = name_limiter(a);
}

}  // namespace

template <class S>
Analysis<S> analyse(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu,
                    const prediction::Conditions& conditions, const Known& known) {
    Analysis<S> a;
    a.occupancy = occupancy::residency(kernel, occupancy::limits_of(gpu));
    // In place: it is the larger part of the analysis, and copying it shows.
    take_item(kernel, gpu, first_latency(kernel, gpu, conditions),
              sharing(kernel, gpu, conditions, a.occupancy), known, a.item);
    complete(kernel, gpu, conditions, known.reads, a);
    return a;
}

void regroup(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu,
             const prediction::Conditions& conditions, Analysis<double>& a, RecentSharedReads* recent) {
    const bool from_dram = a.traffic.from_dram;
    a.traffic = traffic(kernel, a.item, a.concurrent(), gpu, conditions, a.sms, recent);
    // An SM notices nothing else of what its neighbours share.
    if (a.traffic.from_dram != from_dram || sees_reuse(a.item) || shares_ports(gpu, a))
        settle_sm(kernel, gpu, conditions, a);
    combine(kernel, gpu, conditions, a);
    a.limiter = name_limiter(a);
}

template Analysis<double> analyse(const kernel::Kernel&, const hw::Gpu<double>&,
                                  const prediction::Conditions&, const Known&);
template Analysis<hw::Dual<4>> analyse(const kernel::Kernel&, const hw::Gpu<hw::Dual<4>>&,
                                       const prediction::Conditions&, const Known&);

}  // namespace warptime::model::analytical
