// When the CTAs of the busiest SM start, go round their main loop and end: waves of CTAs, persistent CTAs
// that take one tile after another, and what CTAs that share the SM wait for one another. Ignores: how SMs
// differ. Source: Little's law on the busiest server (closed_queue.hpp), wave quantization
// (occupancy/waves.hpp), and the recorded rows that each function names. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/analytical/analysis.hpp"
#include "model/analytical/closed_queue.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/issue_runs.hpp"
#include "model/analytical/out_of_step.hpp"
#include "model/analytical/out_of_step_items.hpp"
#include "model/analytical/server.hpp"
#include "model/analytical/stage_waits.hpp"
#include "model/analytical/waits_in_order.hpp"
#include "model/memory/instruction_fetch.hpp"
#include "model/memory/l2_ports.hpp"
#include "model/occupancy/waves.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace warptime::model::analytical {

/// Of an analysis whose item, traffic and placement are known; it must outlive this. `sms`: that get CTAs.
template <class S>
class Timeline {
  public:
    Timeline(const Analysis<S>& a, const hw::Gpu<S>& gpu, const WaitsOfWaves<S>& waits, std::int64_t sms)
        : a_(a),
          gpu_(gpu),
          waits_(waits),
          sms_(sms),
          busiest_(a.item.loop.demand.busiest()),
          busy_before_(of_prologue(a.item, waits.ahead)),
          busy_after_(longest_of(a.item.after)),
          copying_turn_(copying_turn(a.item, gpu)) {
        if (a.item.asynchronous) {
            const bool bulk = hw::Cycles<S>{} < a.item.loop.demand[Server::tma];
            for (std::size_t i = 0; i < server_count; ++i) {
                const auto server = static_cast<Server>(i);
                // What lanes copy and nobody multiplies writes to shared memory and does nothing else there.
                const bool only_copied = !a.item.self_fed && server == Server::shared && !bulk;
                if (server != Server::l1 && server != Server::crossbar_read && !only_copied &&
                    server != Server::shared_write && (server != Server::tma || a.item.self_fed)) {
                    multiply_ = hw::max(multiply_, a.item.loop.demand.cycles[i]);
                }
            }
        }
        alone_ = item(1, waits.first);
    }

    /// Period of the main loop with `resident` CTAs on the SM: the busiest server, the chain, or what one
    /// turn of the pipeline takes its producer. Recorded loops with producers of their own follow the largest
    /// of them; a smoother law fits no better. Where the warps that multiply also copy, the CTAs of an SM
    /// wait for one another at the busiest server; one CTA alone takes its own chain.
    [[nodiscard]] hw::Cycles<S> period(std::int64_t resident, const StageWaits<S>& waits) const {
        const hw::Cycles<S> chain = waits.of(resident);
        const hw::Cycles<S> once = a_.item.loop.demand[busiest_];
        const hw::Cycles<S> busy = once * S(static_cast<double>(resident));
        if (a_.item.self_fed) {
            const hw::Cycles<S> own = own_chain(a_.item, gpu_) - waits_.sooner + others_gather();
            const hw::Cycles<S> trip = hw::max(chain, own);
            const hw::Cycles<S> alone = hw::max(hw::max(trip, once), copying_turn_);
            const S rest = (alone - once).value();
            return hw::Cycles<S>(copies_in_bulk() ? steady_turn_time(resident, once.value(), rest)
                                                  : turn_time(resident, once.value(), rest));
        }
        if (!a_.item.asynchronous && of_sub_partition(busiest_)) {
            const hw::Cycles<S> jumps =
                memory::jump_cycles(a_.item.loop.code, gpu_) * S(a_.item.loop.branches);
            const hw::Cycles<S> in_turn = hw::max(among_warps(busy, resident), in_step(resident));
            return hw::max(hw::max(busy + behind_branches(resident), in_turn) + jumps,
                           hw::max(at_port(resident), text_in_turn(resident)));
        }
        if (!a_.item.asynchronous && a_.item.loads_itself && busiest_ == Server::l1) {
            // What one CTA loads, stores and multiplies in turn leaves the path to the L1 to the others
            // meanwhile (Triton's element by element, CUTLASS's of 2 bytes a lane).
            const hw::Cycles<S> rest = chain + others_gather() - once;
            return hw::Cycles<S>(turn_time(resident, once.value(), hw::max(S(0.0), rest.value())));
        }
        const bool at_l1 = a_.item.keeps_local && busiest_ == Server::l1;
        if (at_l1 || (a_.item.swaps_shared && busiest_ == Server::shared)) {
            return hw::max(hw::max(busy, chain), out_of_turn(busy, chain, at_l1, resident));
        }
        if (!a_.item.asynchronous) return hw::max(hw::max(busy, chain), at_port(resident));
        if (hw::Cycles<S>{} < waits.taken) {
            const S elsewhere = hw::max(S(0.0), (chain - waits.taken).value());
            const hw::Cycles<S> turn(turn_time(resident, waits.taken.value(), elsewhere));
            return hw::max(hw::max(busy, hw::Cycles<S>(between_two(resident))), turn);
        }
        // One thread that waits, expects and issues needs its time for each turn, and what it computes
        // before.
        const bool bulk = a_.item.loop.demand[Server::tma] > hw::Cycles<S>{};
        const hw::Cycles<S> least = bulk ? gpu_.pipeline.step_floor + a_.item.copy_issue : hw::Cycles<S>{};
        // A warpgroup that adds each trip's sums to its own goes on to the next trip when it has (gemm_fp8,
        // 48x64 to 128x80 in 80 to 256 trips: 1.00 to 1.04 of that, fit and development rows).
        const hw::Cycles<S> added = a_.item.multiplied;
        const hw::Cycles<S> pace = bulk ? hw::Cycles<S>{} : hw::Cycles<S>(between_two(resident));
        const hw::Cycles<S> gaps =
            !bulk && of_sub_partition(busiest_) ? behind_branches(resident) : hw::Cycles<S>{};
        if (multiplies_before_copies(a_.item)) {
            return with_waits(without_waits(resident), waits_.copies);
        }
        return hw::max(hw::max(hw::max(busy + gaps, pace), chain), hw::max(least, added));
    }

    /// What the first pass through the code takes beyond later ones (less than nothing where the caches still
    /// hold more than they do in turns).
    [[nodiscard]] hw::Cycles<S> first_pass(bool flushed) const {
        const Part<S>* longest = &a_.item.loop;
        for (const Part<S>* part : {&a_.item.before, &a_.item.after}) {
            if (part->code > longest->code) longest = part;
        }
        const double text = a_.item.before.code + a_.item.loop.code + a_.item.after.code;
        const std::int64_t resident = occupancy::tail_residency(
            std::min<std::int64_t>(a_.items, sms_ * a_.occupancy.ctas_per_sm), sms_);
        const memory::Fetchers by = fetchers(resident);
        const hw::Cycles<S> busy = longest->demand[busiest_] * S(static_cast<double>(resident));
        const hw::Cycles<S> again = memory::fetch_interval(longest->code, by, gpu_) * S(longest->code);
        const hw::Cycles<S> first = memory::first_fetch_interval(text, by, flushed, gpu_) * S(longest->code);
        return hw::max(busy, first) - hw::max(busy, again);
    }

    /// The only CTA of an SM, with one work item.
    [[nodiscard]] hw::Cycles<S> alone() const { return alone_.makespan(); }

    [[nodiscard]] Exposure<S> exposure() const {
        return a_.persistent || a_.item.alternating ? persistent() : waves();
    }

  private:
    /// Of the busiest server before the loop. Stages behind the first come in while that one is multiplied,
    /// so that on its way into the SM the loop waits for one of those `ahead` and not for all; what they
    /// write to shared memory holds up its reads there.
    [[nodiscard]] static hw::Cycles<S> of_prologue(const ItemDemand<S>& item, int ahead) {
        if (!copies_by_lanes(item)) return longest_of(item.before);
        const double stages = std::clamp(item.trips, 1.0, static_cast<double>(ahead));
        hw::Cycles<S> longest{};
        for (std::size_t i = 0; i < server_count; ++i) {
            const auto server = static_cast<Server>(i);
            const bool way = server == Server::crossbar_read || server == Server::l1;
            longest = hw::max(longest, item.before.demand.cycles[i] / S(way ? stages : 1.0));
        }
        return longest;
    }

    /// Warps of a sub-partition take its issue slots one after another for the addresses of single elements:
    /// what a warp waits for the others in a trip.
    [[nodiscard]] hw::Cycles<S> others_gather() const {
        const double own =
            std::min(1.0, hw::value_of(gpu_.sm.sub_partitions) / static_cast<double>(a_.item.warps));
        return a_.item.loop.demand[Server::issue] * S(a_.item.gathers ? 1.0 - own : 0.0);
    }
    /// Of the busiest server.
    [[nodiscard]] static hw::Cycles<S> longest_of(const Part<S>& part) {
        hw::Cycles<S> longest{};
        for (const hw::Cycles<S>& busy : part.demand.cycles) longest = hw::max(longest, busy);
        return longest;
    }

    /// Whether the port or the bulk engine is the busiest: a CTA has several stages on their way there, boxes
    /// of one size that nobody's products hold up (triton_tma, three CTAs an SM).
    [[nodiscard]] bool copies_in_bulk() const {
        return hw::Cycles<S>{} < a_.item.loop.demand[Server::tma] &&
               (busiest_ == Server::crossbar_read || busiest_ == Server::tma);
    }

    /// Straight code: the chain of one CTA, then the queue of its neighbours on the busiest server.
    [[nodiscard]] hw::Cycles<S> straight(const Part<S>& part, const hw::Cycles<S>& busiest,
                                         std::int64_t resident) const {
        return hw::max(part.chain + busiest * S(static_cast<double>(resident)), text_of(part, resident));
    }

    [[nodiscard]] memory::Fetchers fetchers(std::int64_t resident) const {
        const double warps =
            static_cast<double>(resident * a_.item.warps) / hw::value_of(gpu_.sm.sub_partitions);
        return {warps, a_.item.warps == 1 && a_.sms > 1};
    }

    /// Until the text of a part has been fetched once.
    [[nodiscard]] hw::Cycles<S> text_of(const Part<S>& part, std::int64_t resident) const {
        return memory::fetch_interval(part.code, fetchers(resident), gpu_) * S(part.code);
    }

    /// The same in a loop whose warps wait for their own results, too, and between two instructions.
    [[nodiscard]] hw::Cycles<S> text_in_turn(std::int64_t resident) const {
        const hw::Cycles<S> text = text_of(a_.item.loop, resident);
        if (!(hw::Cycles<S>{} < text)) return text;
        const hw::Cycles<S> issue(S(a_.item.loop.instructions / std::max(1, a_.item.warps)));
        return text + hw::max(a_.item.loop.chain - issue, hw::Cycles<S>{});
    }

    /// Warps that read operands and multiply go round two queues, that of their sub-partition and that of the
    /// shared memory: where both are nearly as busy, each waits for the other now and then.
    [[nodiscard]] S between_two(std::int64_t resident) const {
        S multiply(0.0);
        for (const Server server :
             {Server::issue, Server::registers, Server::fp32, Server::fp64, Server::fp16, Server::integer}) {
            multiply = hw::max(multiply, a_.item.loop.demand[server].value());
        }
        const S read = hw::max(a_.item.loop.demand[Server::l1], a_.item.loop.demand[Server::shared]).value();
        if (!(S(0.0) < multiply) || !(S(0.0) < read) || a_.item.warps == 0) return S(0.0);
        // Barriers and operands on their way take no queue's time.
        const S turn = multiplies_before_copies(a_.item) ? gpu_.pipeline.turn.value() : S(0.0);
        const S pace = pace_of_two_queues(resident * a_.item.warps, multiply, read,
                                          turn * S(static_cast<double>(a_.item.warps)));
        return pace * S(static_cast<double>(resident));
    }

    /// The turn of a warp that waits for its loads, and at the SM's port for those of the others; its own
    /// transfer is a part of its chain.
    [[nodiscard]] hw::Cycles<S> at_port(std::int64_t resident) const {
        const S port = a_.item.loop.demand[Server::crossbar_read].value();
        if (!(S(0.0) < port) || a_.item.warps == 0) return {};
        const S one = port / S(static_cast<double>(a_.item.warps));
        const S rest = hw::max(a_.item.loop.chain.value() - one, S(0.0));
        return hw::Cycles<S>(steady_turn_time(resident * a_.item.warps, one, rest));
    }

    /// Warps of a sub-partition in the loop: of instances that take turns one is.
    [[nodiscard]] std::int64_t looping_warps(std::int64_t resident) const {
        const auto parts = static_cast<std::int64_t>(hw::value_of(gpu_.sm.sub_partitions));
        const std::int64_t looping =
            a_.item.alternating ? a_.item.warps / a_.item.alternating_instances : a_.item.warps;
        return std::max<std::int64_t>(1, occupancy::ceil_divide(resident * looping, parts));
    }
    /// The turn of a warp that waits for its own chain and, link by link, for the other warps of its
    /// sub-partition: the law of a queue knows no scale, so that all links of a turn make one. Units that
    /// hold an instruction for several slots keep the warps in turn (wave_fma, launch_kernel,
    /// instruction_rate).
    [[nodiscard]] hw::Cycles<S> among_warps(const hw::Cycles<S>& busy, std::int64_t resident) const {
        const bool one_slot =
            busiest_ == Server::issue || busiest_ == Server::registers || busiest_ == Server::fp32;
        if (a_.item.uses_tensor || !one_slot) return a_.loop_chain;
        const std::int64_t warps = looping_warps(resident);
        const S own = busy.value() / S(static_cast<double>(warps));
        return hw::Cycles<S>(steady_turn_time(warps, own, hw::max(a_.loop_chain.value() - own, S(0.0))));
    }

    /// The turn of a warp that waits for its local memory, on its sub-partition's way to the L1, or for what
    /// atomics on shared memory give back, on the SM's banks, and for the other warps there: their turns
    /// differ, so that they do not fall into step (microbench_local_memory, loads that hit, and
    /// microbench_atomics, loops that swap words of one bank).
    [[nodiscard]] hw::Cycles<S> out_of_turn(const hw::Cycles<S>& busy, const hw::Cycles<S>& chain,
                                            bool by_sub_partition, std::int64_t resident) const {
        const auto parts = by_sub_partition ? static_cast<std::int64_t>(hw::value_of(gpu_.sm.sub_partitions))
                                            : std::int64_t{1};
        const std::int64_t warps =
            std::max<std::int64_t>(1, occupancy::ceil_divide(resident * a_.item.warps, parts));
        const S own = busy.value() / S(static_cast<double>(warps));
        return hw::Cycles<S>(turn_time(warps, own, hw::max(chain.value() - own, S(0.0))));
    }

    /// The same of warps that come to the same code at the same time.
    [[nodiscard]] hw::Cycles<S> in_step(std::int64_t resident) const {
        const std::int64_t warps = looping_warps(resident);
        if (a_.item.uses_tensor || warps < 2) return a_.loop_chain;
        return pass_in_step(a_.item.loop, a_.loop_chain, warps, gpu_);
    }
    /// Warps of a sub-partition go round their loops in step, one issue slot apart, so that the gap behind a
    /// taken branch is filled by those that come after it and by nothing else (loop_unroll,
    /// instruction_rate; divergence, up to eight warps and 60 branches a trip).
    [[nodiscard]] hw::Cycles<S> behind_branches(std::int64_t resident) const {
        const auto parts = static_cast<std::int64_t>(hw::value_of(gpu_.sm.sub_partitions));
        const std::int64_t warps = occupancy::ceil_divide(resident * a_.item.warps, parts);
        const hw::Cycles<S> gap = gpu_.instructions[hw::InstructionClass::branch].latency;
        const hw::Cycles<S> filled(S(static_cast<double>(warps - 1)));
        return hw::max(hw::Cycles<S>{}, gap - filled) * S(a_.item.loop.branches);
    }

    /// A trip of a loop that waits for copies behind its own, where they have arrived.
    [[nodiscard]] hw::Cycles<S> without_waits(std::int64_t resident) const {
        const hw::Cycles<S> busy = a_.item.loop.demand[busiest_] * S(static_cast<double>(resident));
        const hw::Cycles<S> gaps = of_sub_partition(busiest_) ? behind_branches(resident) : hw::Cycles<S>{};
        return hw::max(hw::max(busy + gaps, hw::Cycles<S>(between_two(resident))), a_.item.loop.chain);
    }

    /// The period from trip to trip. Of asynchronous copies the last trip has none left to wait for: the
    /// transfer of the first stage, which the prologue waits for, stands in its place. A producer that goes
    /// on with the next tile has no last trip.
    [[nodiscard]] hw::Cycles<S> main_loop(std::int64_t resident, const StageWaits<S>& waits) const {
        if (a_.item.trips == 0.0) return {};
        if (multiplies_before_copies(a_.item)) {
            return all_with_waits(without_waits(resident), a_.item.trips, waits_.copies);
        }
        const hw::Cycles<S> turn = period(resident, waits);
        const bool goes_on = !a_.item.self_fed && (a_.persistent || a_.item.alternating);
        if (!a_.item.asynchronous || goes_on) {
            return turn * S(a_.item.trips);
        }
        const hw::Cycles<S> multiply = multiply_ * S(static_cast<double>(resident));
        const hw::Cycles<S> last = hw::min(turn, hw::max(a_.item.loop.chain, multiply));
        const double more = std::max(0.0, a_.item.trips - 1.0);
        const double waiting = trips_that_wait(more, waits_.ahead);
        const hw::Cycles<S> there = waiting < more
                                        ? hw::min(turn, period(resident, StageWaits<S>{})) * S(more - waiting)
                                        : hw::Cycles<S>{};
        return turn * S(waiting) + there + last * S(std::min(1.0, a_.item.trips));
    }

    [[nodiscard]] Exposure<S> item(std::int64_t resident, const StageWaits<S>& waits) const {
        Exposure<S> e;
        e.prologue = waits.fill + straight(a_.item.before, busy_before_, resident);
        e.main_loop = main_loop(resident, waits);
        e.epilogue = straight(a_.item.after, busy_after_, resident);
        return e;
    }

    [[nodiscard]] static ItemTogether<S> together(const Exposure<S>& item) {
        return {(item.prologue + item.epilogue).value(), item.main_loop.value()};
    }

    /// What the last epilogue takes longer because all SMs store at the same time: the L2 takes in less than
    /// their ports send together. Epilogues before it fall apart, and their stores mix with other SMs' loads.
    [[nodiscard]] hw::Cycles<S> burst(std::int64_t resident) const {
        const S sending = S(static_cast<double>(a_.sms)) / gpu_.sm.count.value();
        const S alone = memory::port_costs(a_.fullest_group, gpu_).stored;
        const S slower = hw::max(S(1.0), sending / gpu_.l2.ingest_bandwidth.value() / alone);
        const S sent =
            a_.item.after.demand[Server::crossbar_write].value() * S(static_cast<double>(resident));
        return hw::Cycles<S>(sent * (slower - S(1.0)));
    }

    /// After the first wave the CTAs of an SM are no longer in step (out_of_step_items.hpp). Nor does an item
    /// take less than a machine of one repairman needs for all of them, the busiest server with everything
    /// else that an item takes as the time away; whole items differ little, so that their services are
    /// constant.
    void fill_gaps(Exposure<S>& whole) const {
        const std::int64_t resident = a_.occupancy.ctas_per_sm;
        if (resident < 2 || !(a_.item.self_fed || a_.item.gathers)) return;
        const S once = busiest_of_item(a_.item, gpu_).value();
        const S vacant = a_.turnaround.value();
        const S all = alone_.makespan().value() + vacant;
        const S elsewhere = hw::max(S(0.0), all - once);
        const std::int64_t some = (resident + 1) / 2;
        const S some_loop = resident > 2 ? main_loop(some, waits_.first).value() : S(0.0);
        const S apart =
            time_out_of_step(resident, together(alone_), some, some_loop, together(whole), vacant);
        // Loads of single elements are served in no order, trip by trip.
        const S turn = a_.item.gathers ? turn_time(resident, once, elsewhere)
                                       : steady_turn_time(resident, once, elsewhere);
        const S between = hw::max(apart, turn) - vacant;
        const S changed = between / whole.makespan().value();
        whole.prologue = whole.prologue * changed;
        whole.main_loop = whole.main_loop * changed;
        whole.epilogue = whole.epilogue * changed;
    }

    /// CTAs that share an SM in the last wave. Two that have the slots of their sub-partitions between them
    /// get on alike and end together, so that the SM that is ready first takes two of what is left; others,
    /// and more than two, have drifted apart by then, and it is dealt out (fp32 tiles of 128x128, 256x64 and
    /// 64x256 take whole waves from the third on, those of 64x64 do not: gemm_fp32, gemm_fp32_second).
    [[nodiscard]] std::int64_t in_tail(const occupancy::Waves& w) const {
        const bool in_step = w.full_waves > 1 && a_.occupancy.ctas_per_sm == 2 && a_.item.asynchronous &&
                             !a_.item.uses_tensor && (busiest_ == Server::issue || busiest_ == Server::fp32);
        return in_step ? std::min<std::int64_t>(w.tail_items, 2)
                       : occupancy::tail_residency(w.tail_items, sms_);
    }

    [[nodiscard]] Exposure<S> waves() const {
        const std::int64_t resident = a_.occupancy.ctas_per_sm;
        const occupancy::Waves w = occupancy::waves_of(a_.items, sms_ * resident);
        const std::int64_t last = in_tail(w);
        if (w.count() == 0) return {};
        if (w.full_waves == 0) {
            Exposure<S> only = item(last, waits_.first);
            only.epilogue += burst(last);
            if (a_.fullest_sm > last) {
                // One SM has more to store, while the L2 is done with what the others send.
                const hw::Cycles<S> stored = only.epilogue;
                only = item(a_.fullest_sm, waits_.first);
                only.epilogue = hw::max(only.epilogue, stored);
            }
            return only;
        }
        Exposure<S> whole = item(resident, waits_.first);
        if (w.count() > 1) fill_gaps(whole);
        Exposure<S> total = whole;
        if (w.full_waves > 1) {
            if (!waits_.alike) {
                whole = item(resident, waits_.later);
                fill_gaps(whole);
            }
            const S more(static_cast<double>(w.full_waves) - 1.0);
            total.prologue += (whole.prologue + a_.turnaround) * more;
            total.main_loop += whole.main_loop * more;
            total.epilogue += whole.epilogue * more;
        }
        if (w.tail_items > 0) {
            const Exposure<S> rest = waits_.alike && last == 1 ? alone_ : item(last, waits_.later);
            const S share(static_cast<double>(w.tail_items) / static_cast<double>(w.slots));
            total.prologue += whole.prologue * share;
            total.main_loop += whole.main_loop * share;
            total.epilogue += whole.epilogue * share;
            total.tail = rest.makespan() + a_.turnaround - whole.makespan() * share;
        } else if (w.full_waves == 1) {
            total.epilogue += burst(resident);
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
        hw::Cycles<S> step = one.main_loop;
        if (a_.item.alternating) {
            // While one consumer stores its tile the other multiplies. Where a token makes them take turns
            // the longer of the two sets the pace; else they get into each other's way.
            step = a_.item.in_turn
                       ? hw::max(one.main_loop, one.epilogue)
                       : hw::Cycles<S>(pace_of_two_queues(a_.item.alternating_instances,
                                                          one.main_loop.value(), one.epilogue.value()));
            total.epilogue = one.epilogue;
            total.main_loop = step * S(fair - 1.0) + one.main_loop;
        } else {
            // Where a producer runs ahead, a tile's bulk stores leave while the next one is multiplied:
            // between the products of two tiles stands what the consumers take from one to the next, however
            // large, and what they compute with each sum (fp8: tiles of one and two trips were 10 to 18 %
            // too fast).
            const bool ahead = a_.item.loop.demand[Server::tma] > hw::Cycles<S>{} && !a_.item.self_fed;
            const hw::Cycles<S> between =
                ahead ? gpu_.pipeline.tile_gap + a_.item.after.demand[Server::fp32] : one.epilogue;
            step = one.main_loop + between;
            if (a_.item.self_fed) {
                // Warps that copy for themselves fill their stages anew for each tile (triton_persistent).
                step += one.prologue;
                total.prologue = one.prologue * S(fair);
            }
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
    hw::Cycles<S> busy_before_, busy_after_;  ///< of the busiest server in the straight parts
    hw::Cycles<S> copying_turn_;
    hw::Cycles<S> multiply_{};  ///< of the busiest server but those that only copy
    Exposure<S> alone_{};       ///< of one item of a CTA that has its SM to itself
};

}  // namespace warptime::model::analytical
