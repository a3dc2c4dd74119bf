// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/analysis.hpp"

#include "hw/dual.hpp"
#include "hw/math.hpp"
#include "model/analytical/activity.hpp"
#include "model/analytical/bounds/dram.hpp"
#include "model/analytical/bounds/l2.hpp"
#include "model/analytical/bounds/launch.hpp"
#include "model/analytical/bounds/tensor_core.hpp"
#include "model/analytical/chain.hpp"
#include "model/analytical/closed_queue.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/fill_and_drain.hpp"
#include "model/analytical/loaded_latency.hpp"
#include "model/analytical/overlap.hpp"
#include "model/analytical/stage_waits.hpp"
#include "model/memory/instruction_fetch.hpp"
#include "model/memory/l2_ports.hpp"
#include "model/memory/l2_residence.hpp"
#include "model/occupancy/groups_at_work.hpp"
#include "model/occupancy/placement.hpp"
#include "model/occupancy/sm_limits.hpp"
#include "model/occupancy/waves.hpp"
#include "model/power/sustained_clock.hpp"
#include "model/prediction/clock.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace warptime::model::analytical {

namespace {

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
    a.sms = std::min(sms, a.ctas);
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
    return std::clamp<std::int64_t>(occupancy::ceil_divide(kernel.grid.volume(), sms), 1,
                                    std::max(1, occupancy.ctas_per_sm));
}

template <class S>
class Timeline {
  public:
    Timeline(const Analysis<S>& a, const hw::Gpu<S>& gpu, const WaitsOfWaves<S>& waits, std::int64_t sms)
        : a_(a), gpu_(gpu), waits_(waits), sms_(sms), busiest_(a.item.loop.demand.busiest()) {
        if (a.item.asynchronous) {
            for (std::size_t i = 0; i < server_count; ++i) {
                const auto server = static_cast<Server>(i);
                if (server != Server::l1 && server != Server::crossbar_read &&
                    server != Server::shared_write && (server != Server::tma || a.item.self_fed)) {
                    multiply_ = hw::max(multiply_, a.item.loop.demand.cycles[i]);
                }
            }
        }
    }

    /// Period of the main loop with `resident` CTAs on the SM: the busiest server, the chain, or what one
    /// turn of the pipeline takes its producer. Recorded loops with producers of their own follow the largest
    /// of them; a smoother law fits no better. Where the warps that multiply also copy, the CTAs of an SM
    /// wait for one another at the busiest server; one CTA alone takes its own chain.
    [[nodiscard]] Cycles<S> period(std::int64_t resident, const StageWaits<S>& waits) const {
        const Cycles<S> chain = waits.of(resident);
        const Cycles<S> once = a_.item.loop.demand[busiest_];
        const Cycles<S> busy = once * S(static_cast<double>(resident));
        if (a_.item.self_fed) {
            const Cycles<S> trip = hw::max(chain, a_.item.loop.chain);
            const Cycles<S> alone = hw::max(hw::max(trip, once), copying_turn(a_.item, gpu_));
            return Cycles<S>(turn_time(resident, once.value(), (alone - once).value()));
        }
        if (!a_.item.asynchronous && of_sub_partition(busiest_)) {
            return hw::max(hw::max(busy + behind_branch(resident), among_warps(busy, resident)),
                           hw::max(at_port(resident), text_of(a_.item.loop, resident)));
        }
        if (!a_.item.asynchronous) return hw::max(hw::max(busy, chain), at_port(resident));
        // One thread that waits, expects and issues needs its time for each turn, and what it computes
        // before.
        const bool bulk = a_.item.loop.demand[Server::tma] > Cycles<S>{};
        const Cycles<S> least = bulk ? gpu_.pipeline.step_floor + a_.item.copy_issue : Cycles<S>{};
        const Cycles<S> pace = bulk ? Cycles<S>{} : Cycles<S>(between_two(resident));
        return hw::max(hw::max(hw::max(busy, pace), chain), least);
    }

    /// Straight code: the chain of one CTA, then the queue of its neighbours on the busiest server.
    [[nodiscard]] Cycles<S> straight(const Part<S>& part, std::int64_t resident) const {
        S busiest(0.0);
        for (std::size_t i = 0; i < server_count; ++i) {
            busiest = hw::max(busiest, part.demand.cycles[i].value());
        }
        return hw::max(part.chain + Cycles<S>(busiest * S(static_cast<double>(resident))),
                       text_of(part, resident));
    }

    /// What the first pass through the code takes beyond later ones (less than nothing where the caches still
    /// hold more than they do in turns).
    [[nodiscard]] Cycles<S> first_pass(bool flushed) const {
        const Part<S>* longest = &a_.item.loop;
        for (const Part<S>* part : {&a_.item.before, &a_.item.after}) {
            if (part->code > longest->code) longest = part;
        }
        const double text = a_.item.before.code + a_.item.loop.code + a_.item.after.code;
        const std::int64_t resident = occupancy::tail_residency(
            std::min<std::int64_t>(a_.items, sms_ * a_.occupancy.ctas_per_sm), sms_);
        const double warps = warps_of_sub_partition(resident);
        const Cycles<S> busy = longest->demand[busiest_] * S(static_cast<double>(resident));
        const Cycles<S> again = memory::fetch_interval(longest->code, warps, gpu_) * S(longest->code);
        const Cycles<S> first = memory::first_fetch_interval(text, warps, flushed, gpu_) * S(longest->code);
        return hw::max(busy, first) - hw::max(busy, again);
    }

    /// The only CTA of an SM, with one work item.
    [[nodiscard]] Cycles<S> alone() const { return item(1, waits_.first).makespan(); }

    [[nodiscard]] Exposure<S> exposure() const {
        return a_.persistent || a_.item.alternating ? persistent() : waves();
    }

  private:
    [[nodiscard]] double warps_of_sub_partition(std::int64_t resident) const {
        return static_cast<double>(resident * a_.item.warps) / hw::value_of(gpu_.sm.sub_partitions);
    }

    /// Until the text of a part has been fetched once.
    [[nodiscard]] Cycles<S> text_of(const Part<S>& part, std::int64_t resident) const {
        return memory::fetch_interval(part.code, warps_of_sub_partition(resident), gpu_) * S(part.code);
    }

    /// Warps that read operands and multiply go round two queues, that of their sub-partition and that of the
    /// shared memory: where both are nearly as busy, each waits for the other now and then.
    [[nodiscard]] S between_two(std::int64_t resident) const {
        S multiply(0.0);
        for (const Server server :
             {Server::issue, Server::fp32, Server::fp64, Server::fp16, Server::integer}) {
            multiply = hw::max(multiply, a_.item.loop.demand[server].value());
        }
        const S read = hw::max(a_.item.loop.demand[Server::l1], a_.item.loop.demand[Server::shared]).value();
        if (!(S(0.0) < multiply) || !(S(0.0) < read) || a_.item.warps == 0) return S(0.0);
        const S pace = pace_of_two_queues(resident * a_.item.warps, multiply, read);
        return pace * S(static_cast<double>(resident));
    }

    /// The turn of a warp that waits for its loads, and at the SM's port for those of the others; its own
    /// transfer is a part of its chain.
    [[nodiscard]] Cycles<S> at_port(std::int64_t resident) const {
        const S port = a_.item.loop.demand[Server::crossbar_read].value();
        if (!(S(0.0) < port) || a_.item.warps == 0) return {};
        const S one = port / S(static_cast<double>(a_.item.warps));
        const S rest = hw::max(a_.item.loop.chain.value() - one, S(0.0));
        return Cycles<S>(steady_turn_time(resident * a_.item.warps, one, rest));
    }

    /// The turn of a warp that waits for its own chain and, link by link, for the other warps of its
    /// sub-partition: the law of a queue knows no scale, so that all links of a turn make one. Units that
    /// hold an instruction for several slots keep the warps in turn (wave_fma, launch_kernel,
    /// instruction_rate).
    [[nodiscard]] Cycles<S> among_warps(const Cycles<S>& busy, std::int64_t resident) const {
        const bool one_slot = busiest_ == Server::issue || busiest_ == Server::fp32;
        if (a_.item.uses_tensor || !one_slot) return a_.loop_chain;
        const auto parts = static_cast<std::int64_t>(hw::value_of(gpu_.sm.sub_partitions));
        // Of instances that take turns one is in its loop.
        const std::int64_t looping =
            a_.item.alternating ? a_.item.warps / a_.item.alternating_instances : a_.item.warps;
        const std::int64_t warps =
            std::max<std::int64_t>(1, occupancy::ceil_divide(resident * looping, parts));
        const S own = busy.value() / S(static_cast<double>(warps));
        return Cycles<S>(steady_turn_time(warps, own, hw::max(a_.loop_chain.value() - own, S(0.0))));
    }

    /// Warps of a sub-partition go round their loops in step, one issue slot apart, so that the gap behind a
    /// taken branch is filled by those that come after it and by nothing else (loop_unroll,
    /// instruction_rate).
    [[nodiscard]] Cycles<S> behind_branch(std::int64_t resident) const {
        if (!a_.item.loop.branches) return {};
        const auto parts = static_cast<std::int64_t>(hw::value_of(gpu_.sm.sub_partitions));
        const std::int64_t warps = occupancy::ceil_divide(resident * a_.item.warps, parts);
        const Cycles<S> gap = gpu_.instructions[hw::InstructionClass::branch].latency;
        return hw::max(Cycles<S>{}, gap - Cycles<S>(S(static_cast<double>(warps - 1))));
    }

    /// The period from trip to trip. Of asynchronous copies the last trip has none left to wait for: the
    /// transfer of the first stage, which the prologue waits for, stands in its place. A producer that goes
    /// on with the next tile has no last trip.
    [[nodiscard]] Cycles<S> main_loop(std::int64_t resident, const StageWaits<S>& waits) const {
        const Cycles<S> turn = period(resident, waits);
        const bool goes_on = !a_.item.self_fed && (a_.persistent || a_.item.alternating);
        if (!a_.item.asynchronous || goes_on) {
            return turn * S(a_.item.trips);
        }
        const Cycles<S> multiply = multiply_ * S(static_cast<double>(resident));
        const Cycles<S> last = hw::min(turn, hw::max(a_.item.loop.chain, multiply));
        return turn * S(std::max(0.0, a_.item.trips - 1.0)) + last * S(std::min(1.0, a_.item.trips));
    }

    [[nodiscard]] Exposure<S> item(std::int64_t resident, const StageWaits<S>& waits) const {
        Exposure<S> e;
        e.prologue = waits.fill + straight(a_.item.before, resident);
        e.main_loop = main_loop(resident, waits);
        e.epilogue = straight(a_.item.after, resident);
        return e;
    }

    /// What the last epilogue takes longer because all SMs store at the same time: the L2 takes in less than
    /// their ports send together. Epilogues before it fall apart, and their stores mix with other SMs' loads.
    [[nodiscard]] Cycles<S> burst(std::int64_t resident) const {
        const S sending = S(static_cast<double>(a_.sms)) / gpu_.sm.count.value();
        const S alone = memory::port_costs(a_.fullest_group, gpu_).stored;
        const S slower = hw::max(S(1.0), sending / gpu_.l2.ingest_bandwidth.value() / alone);
        const S sent =
            a_.item.after.demand[Server::crossbar_write].value() * S(static_cast<double>(resident));
        return Cycles<S>(sent * (slower - S(1.0)));
    }

    /// After the first wave the CTAs of an SM are no longer in step: while one computes its addresses, waits
    /// for its first stages or stores, the others have the busiest server for themselves. Machines of one
    /// repairman again, now with everything else that an item takes as the time away.
    void fill_gaps(Exposure<S>& whole) const {
        const std::int64_t resident = a_.occupancy.ctas_per_sm;
        if (resident < 2 || !copies_by_lanes(a_.item)) return;
        const S once = a_.item.loop.demand[busiest_].value() * S(a_.item.trips);
        const S all = (item(1, waits_.first).makespan() + a_.turnaround).value();
        const S between = hw::max(turn_time(resident, once, all - once), all) - a_.turnaround.value();
        const S shorter = hw::min(S(1.0), between / whole.makespan().value());
        whole.prologue = whole.prologue * shorter;
        whole.main_loop = whole.main_loop * shorter;
        whole.epilogue = whole.epilogue * shorter;
    }

    [[nodiscard]] Exposure<S> waves() const {
        const occupancy::Waves w = occupancy::waves_of(a_.items, sms_ * a_.occupancy.ctas_per_sm);
        Exposure<S> total;
        const double full = static_cast<double>(w.full_waves);
        Exposure<S> whole = item(a_.occupancy.ctas_per_sm, waits_.first);
        const bool several = w.full_waves > 0 && w.full_waves + (w.tail_items > 0 ? 1 : 0) > 1;
        if (several) fill_gaps(whole);
        if (w.full_waves > 0) {
            total.prologue = whole.prologue;
            total.main_loop = whole.main_loop;
            total.epilogue = whole.epilogue;
        }
        if (w.full_waves > 1) {
            whole = item(a_.occupancy.ctas_per_sm, waits_.later);
            fill_gaps(whole);
            total.prologue += (whole.prologue + a_.turnaround) * S(full - 1.0);
            total.main_loop += whole.main_loop * S(full - 1.0);
            total.epilogue += whole.epilogue * S(full - 1.0);
        }
        if (w.tail_items > 0) {
            const Exposure<S> rest = item(occupancy::tail_residency(w.tail_items, sms_),
                                          w.full_waves > 0 ? waits_.later : waits_.first);
            if (w.full_waves == 0) {
                Exposure<S> only = rest;
                only.epilogue += burst(occupancy::tail_residency(w.tail_items, sms_));
                return only;
            }
            const double share = static_cast<double>(w.tail_items) / static_cast<double>(w.slots);
            total.prologue += whole.prologue * S(share);
            total.main_loop += whole.main_loop * S(share);
            total.epilogue += whole.epilogue * S(share);
            total.tail = rest.makespan() + a_.turnaround - whole.makespan() * S(share);
        }
        if (w.full_waves == 1 && w.tail_items == 0) {
            total.epilogue += burst(a_.occupancy.ctas_per_sm);
        }
        return total;
    }

    [[nodiscard]] Exposure<S> persistent() const {
        const std::int64_t ctas = std::min(a_.ctas, sms_ * a_.occupancy.ctas_per_sm);
        const std::int64_t per_cta = occupancy::items_per_persistent_cta(a_.items, ctas);
        const auto n = static_cast<double>(per_cta);
        const std::int64_t resident = occupancy::ceil_divide(ctas, sms_);
        const Exposure<S> one = item(resident, waits_.first);
        const double fair =
            std::min(n, std::max(1.0, static_cast<double>(a_.items) / static_cast<double>(ctas)));
        Exposure<S> total;
        total.prologue = one.prologue;
        Cycles<S> step = one.main_loop;
        if (a_.item.alternating) {
            // While one consumer stores its tile the other multiplies. Where a token makes them take turns
            // the longer of the two sets the pace; else they get into each other's way.
            step = a_.item.in_turn
                       ? hw::max(one.main_loop, one.epilogue)
                       : Cycles<S>(pace_of_two_queues(a_.item.alternating_instances, one.main_loop.value(),
                                                      one.epilogue.value()));
            total.epilogue = one.epilogue;
            total.main_loop = step * S(fair - 1.0) + one.main_loop;
        } else {
            // Where a producer runs ahead, a tile's bulk stores leave while the next one is multiplied:
            // between the products of two tiles stands what the consumers take from one to the next, however
            // large.
            const bool ahead = a_.item.loop.demand[Server::tma] > Cycles<S>{} && !a_.item.self_fed;
            const Cycles<S> between = ahead ? gpu_.pipeline.tile_gap : one.epilogue;
            step = one.main_loop + between;
            total.main_loop = one.main_loop * S(fair);
            total.epilogue = between * S(fair - 1.0) + one.epilogue;
        }
        total.tail = step * S(n - fair);
        total.epilogue += burst(resident);
        return total;
    }

    const Analysis<S>& a_;
    const hw::Gpu<S>& gpu_;
    const WaitsOfWaves<S>& waits_;
    std::int64_t sms_;
    Server busiest_;
    Cycles<S> multiply_{};  ///< of the busiest server but those that only copy
};

template <class S>
prediction::Limiter limiter_of_loop(const Analysis<S>& a) {
    const Server busiest = a.item.loop.demand.busiest();
    const S load = a.item.loop.demand[busiest].value() * S(static_cast<double>(a.occupancy.ctas_per_sm));
    if (load < a.loop_chain.value()) {
        return a.item.asynchronous ? prediction::Limiter::bytes_in_flight
                                   : prediction::Limiter::chain_latency;
    }
    return limiter_of(busiest);
}

/// SM cycles of one slot in which a warp waits for plain loads, in units of one such wait.
template <class S>
S load_rounds(const Analysis<S>& a) {
    const double of_item = a.item.total([](const Part<S>& p) { return p.load_rounds; });
    const double turns = std::ceil(static_cast<double>(a.items) /
                                   static_cast<double>(a.persistent ? a.ctas : std::min(a.items, a.slots)));
    return S(of_item * turns);
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
    // empty kernels).
    const bool reads_nothing = !bulk && !(S(0.0) < a.traffic.received.value());
    a.floor = launch_floor(reads_nothing ? prediction::Cache::warm : conditions.cache,
                           bulk && prediction::copies_by_tensor_map(kernel), gpu);
    a.dram_time = dram_seconds(a.traffic.dram_read - a.traffic.dram_row_read, a.traffic.dram_row_read,
                               a.traffic.dram_written, gpu);
    // CTAs that come to whatever SM is free leave no cluster of SMs behind; those with work of their own do.
    const bool even = !a.persistent && a.waves > 1.0;
    const S late(even ? 1.0 : slowest_group(gpu));
    const Cycles<S> reads = l2_cycles(a.traffic.l2_read * slice_visits(gpu), gpu);
    const Cycles<S> stores = l2_ingest_cycles(a.traffic.l2_stored, gpu);
    // Lines that come from DRAM are put into the slices as stores are.
    const Cycles<S> l2 =
        hw::max(hw::max(reads + stores, stores * late + l2_ingest_cycles(a.traffic.dram_read, gpu)),
                a.traffic.hot_lines);
    const double flop =
        static_cast<double>(a.items) * a.item.total([](const Part<S>& p) { return p.tensor_flop; });
    const S peak = tensor_rate(a.item.tensor_dtype, gpu).value() * gpu.sm.count.value();
    S utilization(0.0);
    const Cycles<S> apart = hw::min(a.apart, run);
    const auto parts = [&](const hw::Frequency<S>& clock) {
        std::array<S, 4> of{((ended - apart) / clock).value(), a.dram_time.value(), (l2 / clock).value(),
                            (a.traffic.atomics / clock).value()};
        // Slices and channels stand one behind the other with deep queues between: the slower is the pace.
        of[of[1] < of[2] ? 1 : 2] = S(0.0);
        if (!a.item.asynchronous && a.item.trips > 1.0 && S(0.0) < of[2]) {
            of[0] = hw::max(of[0], of[2]);
            of[2] = S(0.0);
        }
        if (!a.item.asynchronous && a.item.trips > 1.0 && S(0.0) < of[1]) {
            // Plain loads of a loop wait longer the busier the DRAM is, which keeps it from being busier.
            // Straight kernels, whose CTAs replace each other, follow the exponent that was fitted on them.
            const S waits = load_rounds(a) * (gpu.dram.queue / clock).value();
            of[0] = queued(of[0], of[1], waits);
            of[1] = S(0.0);
        }
        return of;
    };
    Cycles<S> paced{};  // what overlaps, where all of it goes with the clock; 0 until it is known
    const auto overlapped_at = [&](const hw::Frequency<S>& clock) {
        const bool dram = !(a.dram_time < l2 / clock);
        if (!dram && Cycles<S>{} < paced) return paced / clock;
        const std::array<S, 4> of = parts(clock);
        const Seconds<S> time(overlapped(std::span<const S>(of), gpu.overlap.exponent.value()));
        if (!dram) paced = time * clock;
        return time;
    };
    const auto time_at = [&](const hw::Frequency<S>& clock) {
        return a.floor + apart / clock + overlapped_at(clock);
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
            a.time = a.floor + apart / a.clock + Seconds<S>(*std::max_element(of.begin(), of.end()));
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

/// The cause with the longest time; within the SM's own time the longest exposure.
template <class S>
prediction::Limiter name_limiter(const Analysis<S>& a) {
    using prediction::Limiter;
    const S sm = a.sm_time.value();
    const S dram = a.dram_time.value();
    const S l2 = a.l2_time.value();
    const S launch = hw::max(a.floor.value(), a.launch_time.value());
    const S atomic = a.atomic_time.value();
    if (sm < atomic && dram < atomic && l2 < atomic && launch < atomic) {
        return Limiter::atomic;
    }
    if (sm < launch && dram < launch && l2 < launch) {
        return Limiter::launch;
    }
    if (sm < dram && l2 < dram) {
        return Limiter::dram;
    }
    if (sm < l2) {
        return Limiter::l2;
    }
    const Exposure<S>& e = a.exposure;
    if (e.main_loop < e.tail && e.prologue < e.tail && e.epilogue < e.tail) {
        return Limiter::tail;
    }
    if (e.prologue < e.main_loop && e.epilogue < e.main_loop) {
        return limiter_of_loop(a);
    }
    if (e.prologue < e.epilogue) {
        return limiter_of(a.item.after.demand.busiest());
    }
    return Limiter::chain_latency;
}

}  // namespace

namespace {

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
    a.loop_period = timeline.period(a.occupancy.ctas_per_sm, waits.first);
    a.exposure = timeline.exposure();
    a.first_text = timeline.first_pass(conditions.cache != prediction::Cache::warm);
    a.alone = timeline.alone() + a.first_text;
}

/// Everything that follows from the demand of one item.
template <class S>
void complete(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu, const prediction::Conditions& conditions,
              Analysis<S>& a) {
    place(kernel, gpu, conditions, a);
    a.turnaround = prediction::cta_turnaround(kernel, gpu);
    a.traffic = traffic(kernel, a.item, a.concurrent(), gpu, conditions, a.sms);
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
                    const prediction::Conditions& conditions) {
    Analysis<S> a;
    a.occupancy = occupancy::residency(kernel, occupancy::limits_of(gpu));
    // In place: it is the larger part of the analysis, and copying it shows.
    add_item_demand(kernel, gpu, first_latency(kernel, gpu, conditions),
                    sharing(kernel, gpu, conditions, a.occupancy), a.item);
    complete(kernel, gpu, conditions, a);
    return a;
}

void regroup(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu,
             const prediction::Conditions& conditions, Analysis<double>& a) {
    const bool from_dram = a.traffic.from_dram;
    a.traffic = traffic(kernel, a.item, a.concurrent(), gpu, conditions, a.sms);
    // An SM notices nothing else of what its neighbours share.
    if (a.traffic.from_dram != from_dram || sees_reuse(a.item) || shares_ports(gpu, a))
        settle_sm(kernel, gpu, conditions, a);
    combine(kernel, gpu, conditions, a);
    a.limiter = name_limiter(a);
}

template Analysis<double> analyse(const kernel::Kernel&, const hw::Gpu<double>&,
                                  const prediction::Conditions&);
template Analysis<hw::Dual<4>> analyse(const kernel::Kernel&, const hw::Gpu<hw::Dual<4>>&,
                                       const prediction::Conditions&);

}  // namespace warptime::model::analytical
