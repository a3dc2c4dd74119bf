// When the CTAs of the busiest SM start, go round their main loop and end.
// Covers waves of CTAs, and persistent CTAs that take one tile after another. Also covers waits between CTAs
// of one SM.
// Ignores: how SMs differ.
// Source: Little's law on the busiest server (closed_queue.hpp), wave quantization (occupancy/waves.hpp), and
// the recorded rows that each function names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/analysed_kernel.hpp"
#include "model/analytical/copying_loop.hpp"
#include "model/analytical/stage_waits.hpp"
#include "model/machine/demand/server.hpp"
#include "model/machine/dram/dram.hpp"
#include "model/machine/issue/instruction_fetch.hpp"
#include "model/machine/issue/issue_runs.hpp"
#include "model/machine/l2/l2.hpp"
#include "model/machine/l2/l2_ports.hpp"
#include "model/machine/occupancy/uneven_items.hpp"
#include "model/machine/occupancy/waves.hpp"
#include "model/steady/closed_queue.hpp"
#include "model/steady/out_of_step_items.hpp"
#include "model/steady/waits_in_order.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace warptime::model::analytical {

/// Timeline of the busiest SM, once item, traffic and placement are known. The analysis must outlive the
/// timeline. `sms`: SMs that get CTAs.
class Timeline {
  public:
    Timeline(const Analysis& a, const hw::Gpu& gpu, const WaitsOfWaves& waits, std::int64_t sms)
        : a_(a),
          gpu_(gpu),
          waits_(waits),
          sms_(sms),
          busiest_(a.item.loop.demand.busiest()),
          busy_before_(of_prologue(a.item, waits.ahead)),
          busy_after_(longest_of(a.item.after)),
          copying_turn_(copying_turn(a.item, gpu)) {
        if (a.item.asynchronous) {
            const bool bulk = hw::Cycles{} < a.item.loop.demand[machine::Server::tma];
            for (std::size_t i = 0; i < machine::server_count; ++i) {
                const auto server = static_cast<machine::Server>(i);
                // Lanes' copies that no products read use shared memory only for their writes.
                const bool only_copied = !a.item.self_fed && server == machine::Server::shared && !bulk;
                if (server != machine::Server::l1 && server != machine::Server::crossbar_read &&
                    !only_copied && server != machine::Server::shared_write &&
                    (server != machine::Server::tma || a.item.self_fed)) {
                    multiply_ = std::max(multiply_, a.item.loop.demand.cycles[i]);
                }
            }
        }
        computes_ = computes();
        alone_ = item(1, waits.first);
    }

    /// Period of the main loop with `resident` CTAs on the SM. The period is the longest of three times: the
    /// busiest server, the chain, and one turn of the producer. Recorded loops with separate producers follow
    /// that maximum; a smoother law fits no better. Where the warps that multiply also copy, the CTAs of an
    /// SM queue at the busiest server. A single CTA takes its own chain.
    [[nodiscard]] hw::Cycles period(std::int64_t resident, const StageWaits& waits) const {
        return std::max(among_tied(resident), period_apart(resident, waits));
    }

    /// The same where no warp waits for the loads of another one.
    [[nodiscard]] hw::Cycles period_apart(std::int64_t resident, const StageWaits& waits) const {
        const hw::Cycles chain = waits.of(resident);
        const hw::Cycles once = a_.item.loop.demand[busiest_];
        const hw::Cycles busy = once * static_cast<double>(resident);
        if (a_.item.self_fed) {
            const hw::Cycles own = own_chain(a_.item, gpu_) - waits_.sooner + others_gather();
            const hw::Cycles trip = std::max(chain, own);
            const hw::Cycles alone = std::max(std::max(trip, once), copying_turn_);
            const double rest = (alone - once).value();
            // Boxes of one size, and issue slots of one cycle, are constant services. Trips of a loop that
            // reads operands or waits for products at other units differ.
            const bool constant = copies_in_bulk() || busiest_ == machine::Server::issue;
            const hw::Cycles queued(constant ? steady::steady_turn_time(resident, once.value(), rest)
                                             : steady::turn_time(resident, once.value(), rest));
            return std::max(queued, among_groups(resident));
        }
        if (!a_.item.asynchronous && machine::of_sub_partition(busiest_)) {
            const hw::Cycles jumps = machine::jump_cycles(a_.item.loop.code, gpu_) * a_.item.loop.branches;
            const hw::Cycles in_turn = std::max(among_warps(busy, resident), in_step(resident));
            const hw::Cycles in_turn_at_units = std::max(busy + behind_branches(resident), in_turn) + jumps;
            return std::max(std::max(in_turn_at_units, in_no_order(resident)),
                            std::max(at_port(resident), text_in_turn(resident)));
        }
        if (!a_.item.asynchronous && a_.item.loads_itself && busiest_ == machine::Server::l1) {
            // While one CTA loads, stores and multiplies in turn, the path to the L1 is free for the other
            // CTAs.
            const hw::Cycles rest = chain + others_gather() - once;
            return hw::Cycles(steady::turn_time(resident, once.value(), std::max(0.0, rest.value())));
        }
        if (a_.item.swaps_shared && busiest_ == machine::Server::shared) {
            return std::max(std::max(busy, chain), out_of_turn(busy, chain, resident));
        }
        if (!a_.item.asynchronous) {
            const hw::Cycles queued = std::max(at_port(resident), at_banks(resident));
            return std::max(std::max(busy, chain), std::max(queued, in_no_order(resident)));
        }
        if (hw::Cycles{} < waits.taken) {
            const double elsewhere = std::max(0.0, (chain - waits.taken).value());
            const hw::Cycles turn(steady::turn_time(resident, waits.taken.value(), elsewhere));
            return std::max(std::max(busy, hw::Cycles(between_two(resident))), turn);
        }
        // A producer is one thread that waits, expects and issues. Each turn costs that time and the
        // instructions before the copies.
        const bool bulk = a_.item.loop.demand[machine::Server::tma] > hw::Cycles{};
        const hw::Cycles least = bulk ? gpu_.pipeline.step_floor + a_.item.copy_issue : hw::Cycles{};
        // A warpgroup that adds each trip's sums to its own goes on only after the addition. Recorded
        // (gemm_fp8, fit and development rows): 48x64 to 128x80 in 80 to 256 trips take 1.00 to 1.04 of that.
        const hw::Cycles added = a_.item.multiplied;
        const hw::Cycles pace = bulk ? hw::Cycles{} : hw::Cycles(between_two(resident));
        const hw::Cycles gaps =
            !bulk && machine::of_sub_partition(busiest_) ? behind_branches(resident) : hw::Cycles{};
        if (multiplies_before_copies(a_.item)) {
            return with_waits(without_waits(resident), waits_.copies);
        }
        const hw::Cycles beside = among_groups(resident);
        return std::max(std::max(std::max(busy + gaps, pace), std::max(chain, beside)),
                        std::max(least, added));
    }

    /// Groups of warps wait for their own products and then compute with the results. They go round three
    /// queues: the tensor cores, the issue slots or the busiest pipe beside them, and the special functions.
    /// So a part of the arithmetic stays exposed. Source: stalls of one and of two CTAs of attention on an SM
    /// (launches attention_8 and attention_16; docs/mechanisms/loops-and-chains.md).
    [[nodiscard]] hw::Cycles among_groups(std::int64_t resident) const {
        const double groups = a_.item.side_by_side;
        const std::int64_t customers = a_.item.side_by_side * resident;
        if (customers < 2 || !a_.item.uses_products) return {};
        const machine::Demand& demand = a_.item.loop.demand;
        double issue = 0.0;
        for (const machine::Server server : {machine::Server::issue, machine::Server::registers,
                                             machine::Server::fp32, machine::Server::integer}) {
            issue = std::max(issue, demand[server].value());
        }
        const double products = demand[machine::Server::tensor].value() / groups;
        const std::array<double, 3> services{issue / groups, demand[machine::Server::sfu].value() / groups,
                                             products};
        // The chain of a group counts the products of all groups, which it would wait for in step.
        const auto queued = [&](std::int64_t at_once, std::size_t queues, double own) {
            const std::span<const double> at(services.data(), queues);
            const double elsewhere = std::max(0.0, own - std::accumulate(at.begin(), at.end(), 0.0));
            return hw::Cycles(steady::turn_of_queues(at_once, at, elsewhere));
        };
        const double chain = a_.item.loop.chain.value();
        const hw::Cycles apart = queued(customers, 3, chain - (groups - 1.0) * products);
        // Groups that meet in each trip are in step.
        if (!(hw::Cycles{} < demand[machine::Server::barrier])) return apart;
        return std::max(apart, queued(a_.item.side_by_side, 2, chain));
    }

    /// Extra time of the first pass through the code. Negative where the caches hold more at the start than
    /// between later passes.
    [[nodiscard]] hw::Cycles first_pass(bool flushed) const {
        const machine::Part* longest = &a_.item.loop;
        for (const machine::Part* part : {&a_.item.before, &a_.item.after}) {
            if (part->code > longest->code) longest = part;
        }
        const double text = a_.item.before.code + a_.item.loop.code + a_.item.after.code;
        const std::int64_t resident =
            machine::tail_residency(std::min<std::int64_t>(a_.items, sms_ * a_.occupancy.ctas_per_sm), sms_);
        const machine::Fetchers by = fetchers(resident);
        const hw::Cycles busy = longest->demand[busiest_] * static_cast<double>(resident);
        const hw::Cycles again = machine::fetch_interval(longest->code, by, gpu_) * longest->code;
        const hw::Cycles first = machine::first_fetch_interval(text, by, flushed, gpu_) * longest->code;
        return std::max(busy, first) - std::max(busy, again);
    }

    /// The only CTA of an SM, with one work item.
    [[nodiscard]] hw::Cycles alone() const { return alone_.makespan(); }

    [[nodiscard]] Exposure exposure() const {
        return a_.persistent || a_.item.alternating ? persistent() : waves();
    }

    /// The same for listed items of different lengths (uneven_items.hpp). The mean item gives the pace; all
    /// that SMs wait beyond their own work is tail. Persistent CTAs take every `ctas`-th item.
    [[nodiscard]] Exposure of_items(std::span<const kernel::WorkItem> items, bool on_demand) const {
        Exposure even = exposure();
        // Trips of the main loop go with the k-iterations, of which some may stand before the loop.
        double iterations = 0.0;
        for (const kernel::WorkItem& item : items) iterations += static_cast<double>(item.end - item.begin);
        const double share =
            iterations > 0.0 ? a_.item.trips * static_cast<double>(items.size()) / iterations : 0.0;
        const auto length = [&](std::int64_t i) {
            const kernel::WorkItem& item = items[static_cast<std::size_t>(i)];
            return static_cast<double>(item.end - item.begin) * share;
        };
        const auto count = static_cast<std::int64_t>(items.size());
        const bool differ = std::any_of(items.begin(), items.end(), [&](const kernel::WorkItem& item) {
            return item.end - item.begin != items[0].end - items[0].begin;
        });
        if (!differ || a_.item.trips == 0.0) return even;
        const std::int64_t most = std::max(1, a_.occupancy.ctas_per_sm);
        std::vector<machine::ItemPace> paces;
        machine::UnevenMakespan time;
        double mean = 0.0;  // of an SM's own work
        if (a_.persistent || a_.item.alternating) {
            const std::int64_t ctas = std::min(a_.ctas, sms_ * most);
            const double turns = static_cast<double>(count) / static_cast<double>(ctas);
            // Time of a CTA that has a mean number of mean items.
            const double fixed = even.prologue.value() + even.epilogue.value();
            const double trip = even.main_loop.value() / (turns * a_.item.trips);
            if (on_demand) {
                // CTAs ask for the next item, so that the list runs over as many slots as there are CTAs.
                const std::vector<machine::ItemPace> alone{{fixed / turns, trip}};
                time = machine::uneven_makespan(count, length, ctas, alone);
                mean = time.busy;
                return with_tail(even, time.makespan, mean);
            }
            for (std::int64_t r = 0; r < machine::ceil_divide(ctas, sms_); ++r)
                paces.push_back({fixed, trip});
            std::vector<double> of_cta(static_cast<std::size_t>(ctas), 0.0);
            for (std::int64_t i = 0; i < count; ++i) of_cta[static_cast<std::size_t>(i % ctas)] += length(i);
            time = machine::uneven_makespan(
                ctas, [&](std::int64_t c) { return of_cta[static_cast<std::size_t>(c)]; }, sms_, paces);
            mean = even.makespan().value() - even.tail.value();
        } else {
            for (std::int64_t r = 1; r <= most; ++r) {
                Exposure one = item(r, waits_.first);
                if (r == most && count > sms_ * most) fall_out_of_step(one);
                paces.push_back({(one.prologue + one.epilogue).value() +
                                     (count > sms_ * most ? a_.turnaround.value() : 0.0),
                                 one.main_loop.value() / a_.item.trips});
            }
            time = machine::uneven_makespan(count, length, sms_, paces);
            mean = time.busy;
        }
        return with_tail(even, time.makespan, mean);
    }

  private:
    /// An exposure whose parts add up to `mean`, with the rest of the makespan as tail.
    [[nodiscard]] static Exposure with_tail(Exposure even, double makespan, double mean) {
        const double parts = (even.prologue + even.main_loop + even.epilogue).value();
        const double work = std::min(mean, makespan);
        const double scale = parts > 0.0 ? work / parts : 1.0;
        even.scale(scale);
        even.tail = hw::Cycles(makespan - work);
        return even;
    }

    /// Busy time of the busiest server before the loop. While the first stage is multiplied, the later stages
    /// arrive. So on the way into the SM the loop waits for one of `ahead` stages, not for all. Writes of all
    /// stages to shared memory still delay the reads there.
    [[nodiscard]] static hw::Cycles of_prologue(const ItemDemand& item, int ahead) {
        if (!copies_by_lanes(item)) return longest_of(item.before);
        const double stages = std::clamp(item.trips, 1.0, static_cast<double>(ahead));
        hw::Cycles longest{};
        for (std::size_t i = 0; i < machine::server_count; ++i) {
            const auto server = static_cast<machine::Server>(i);
            const bool way = server == machine::Server::crossbar_read || server == machine::Server::l1;
            longest = std::max(longest, item.before.demand.cycles[i] / (way ? stages : 1.0));
        }
        return longest;
    }

    /// Time per trip that a warp waits while other warps of its sub-partition compute addresses of single
    /// elements. Issue slots go to one warp after another.
    [[nodiscard]] hw::Cycles others_gather() const {
        const double own = std::min(1.0, gpu_.sm.sub_partitions.value() / static_cast<double>(a_.item.warps));
        return a_.item.loop.demand[machine::Server::issue] * (a_.item.gathers ? 1.0 - own : 0.0);
    }

    /// Whether the warps of a CTA meet in each trip.
    [[nodiscard]] bool meets() const { return hw::Cycles{} < a_.item.loop.demand[machine::Server::barrier]; }

    /// Turn of CTAs whose warps meet in each trip and wait for loads or shared memory in the same trip. All
    /// warps wait together, so that only other CTAs use the servers meanwhile: CTAs are the customers of a
    /// closed queue.
    [[nodiscard]] hw::Cycles among_tied(std::int64_t resident) const {
        const machine::Part& loop = a_.item.loop;
        if (a_.item.asynchronous || !meets()) return {};
        const bool loads = hw::Cycles{} < loop.load_wait;
        if (!loads && !(0.0 < loop.shared_turns)) return {};
        const hw::Cycles stretches = a_.item.uses_tensor ? hw::Cycles{} : between_barriers(loop, resident);
        if (!loads) return stretches;
        const double once = loop.demand[busiest_].value();
        const double wait = (loop.load_wait + others_gather()).value();
        return std::max(stretches, hw::Cycles(steady::turn_time(resident, once, wait)));
    }

    /// Busy time of the busiest server in a straight part.
    [[nodiscard]] static hw::Cycles longest_of(const machine::Part& part) {
        hw::Cycles longest{};
        for (const hw::Cycles& busy : part.demand.cycles) longest = std::max(longest, busy);
        return longest;
    }

    /// Whether the SM's port or the bulk engine is the busiest server. A CTA then has several stages queued
    /// there, as boxes of one size, and no products delay them.
    [[nodiscard]] bool copies_in_bulk() const {
        return hw::Cycles{} < a_.item.loop.demand[machine::Server::tma] &&
               (busiest_ == machine::Server::crossbar_read || busiest_ == machine::Server::tma);
    }

    /// Straight code. Warps fill each other's gaps at the units of the sub-partitions, so these and the chain
    /// overlap. At the ways to memory all warps ask at once: their queue stands behind the chain.
    /// Copies that run ahead and products keep the sum also at the units: their constants were fitted so.
    [[nodiscard]] hw::Cycles straight(const machine::Part& part, const hw::Cycles& busiest,
                                      std::int64_t resident) const {
        const auto ctas = static_cast<double>(resident);
        const hw::Cycles text = text_of(part, resident);
        if (a_.item.asynchronous || a_.item.uses_tensor) {
            return std::max(part.chain + busiest * ctas, text);
        }
        hw::Cycles longest = machine::pass_in_step(part, part.chain, looping_warps(resident), gpu_);
        const double others = ctas - 1.0 / static_cast<double>(std::max(1, a_.item.warps));
        for (std::size_t i = 0; i < machine::server_count; ++i) {
            const auto server = static_cast<machine::Server>(i);
            const hw::Cycles once = part.demand.cycles[i];
            longest = std::max(longest, once * ctas);
            if (machine::of_sub_partition(server)) continue;
            longest = std::max(longest, part.chain + once * (others / turns_at(part, server)));
        }
        return std::max(std::max(longest, text), between_barriers(part, resident));
    }

    /// CTAs whose warps meet: while all warps of a CTA wait, only other CTAs use the servers.
    [[nodiscard]] static hw::Cycles between_barriers(const machine::Part& part, std::int64_t resident) {
        if (!(hw::Cycles{} < part.met_busy)) return part.met_idle;
        return hw::Cycles(steady::steady_turn_time(resident, part.met_busy.value(), part.met_idle.value()));
    }

    /// Times that a warp waits in a part for what a server gives.
    [[nodiscard]] static double turns_at(const machine::Part& part, machine::Server server) {
        const bool loads = server == machine::Server::l1 || server == machine::Server::crossbar_read;
        if (loads) return std::max(1.0, part.load_turns);
        return server == machine::Server::shared ? std::max(1.0, part.shared_turns) : 1.0;
    }

    [[nodiscard]] machine::Fetchers fetchers(std::int64_t resident) const {
        const double warps = static_cast<double>(resident * a_.item.warps) / gpu_.sm.sub_partitions.value();
        return {warps, a_.item.warps == 1 && a_.sms > 1};
    }

    /// Time until the text of a part has been fetched once.
    [[nodiscard]] hw::Cycles text_of(const machine::Part& part, std::int64_t resident) const {
        return machine::fetch_interval(part.code, fetchers(resident), gpu_) * part.code;
    }

    /// The same for a loop whose warps also wait for their own results between two instructions.
    [[nodiscard]] hw::Cycles text_in_turn(std::int64_t resident) const {
        const hw::Cycles text = text_of(a_.item.loop, resident);
        if (!(hw::Cycles{} < text)) return text;
        const hw::Cycles issue(a_.item.loop.instructions / std::max(1, a_.item.warps));
        return text + std::max(a_.item.loop.chain - issue, hw::Cycles{});
    }

    /// Warps that read operands and multiply go round two queues: the sub-partition and the shared memory.
    /// Where both queues are nearly as busy, a warp sometimes waits at each.
    [[nodiscard]] double between_two(std::int64_t resident) const {
        double multiply = 0.0;
        for (const machine::Server server :
             {machine::Server::issue, machine::Server::registers, machine::Server::fp32,
              machine::Server::fp64, machine::Server::fp16, machine::Server::integer}) {
            multiply = std::max(multiply, a_.item.loop.demand[server].value());
        }
        const double read =
            std::max(a_.item.loop.demand[machine::Server::l1], a_.item.loop.demand[machine::Server::shared])
                .value();
        if (!(0.0 < multiply) || !(0.0 < read) || a_.item.warps == 0) return 0.0;
        // Barriers and operand latency occupy no queue.
        const double turn = multiplies_before_copies(a_.item) ? gpu_.pipeline.turn.value() : 0.0;
        const double pace = steady::pace_of_two_queues(resident * a_.item.warps, multiply, read,
                                                       turn * static_cast<double>(a_.item.warps));
        return pace * static_cast<double>(resident);
    }

    /// Turn of a warp that waits for its own loads and, at the SM's port, for loads of other warps. The
    /// warp's own transfer is a part of its chain.
    [[nodiscard]] hw::Cycles at_port(std::int64_t resident) const {
        const double port = a_.item.loop.demand[machine::Server::crossbar_read].value();
        if (!(0.0 < port) || a_.item.warps == 0) return {};
        const double one = port / static_cast<double>(a_.item.warps);
        const double rest = std::max(a_.item.loop.chain.value() - one, 0.0);
        return hw::Cycles(steady::steady_turn_time(resident * a_.item.warps, one, rest));
    }

    /// The same at the banks of shared memory, where they are busiest and most instructions take several
    /// passes. Single passes follow one another in the order of issue (microbench_bank_conflicts, four
    /// warps).
    [[nodiscard]] hw::Cycles at_banks(std::int64_t resident) const {
        const double banks = a_.item.loop.demand[machine::Server::shared].value();
        if (busiest_ != machine::Server::shared || a_.item.loop.in_passes.value() < 0.5 * banks) return {};
        const double one = banks / static_cast<double>(a_.item.warps);
        const double rest = std::max(a_.item.loop.chain.value() - one, 0.0);
        return hw::Cycles(steady::steady_turn_time(resident * a_.item.warps, one, rest));
    }

    /// Warps of a sub-partition that are in the loop. Of instances that take turns, one is in the loop.
    [[nodiscard]] std::int64_t looping_warps(std::int64_t resident) const {
        const auto parts = static_cast<std::int64_t>(gpu_.sm.sub_partitions.value());
        const std::int64_t looping =
            a_.item.alternating ? a_.item.warps / a_.item.alternating_instances : a_.item.warps;
        return std::max<std::int64_t>(1, machine::ceil_divide(resident * looping, parts));
    }
    /// Turn of a warp that waits for its own chain and, at each link, for its sub-partition's other warps.
    /// The law of a queue has no scale, so all links of a turn can count as one link. Units that hold an
    /// instruction for several slots keep the warps in turn instead (wave_fma, launch_kernel,
    /// instruction_rate).
    [[nodiscard]] hw::Cycles among_warps(const hw::Cycles& busy, std::int64_t resident) const {
        const bool one_slot = busiest_ == machine::Server::issue || busiest_ == machine::Server::registers ||
                              busiest_ == machine::Server::fp32;
        if (a_.item.uses_tensor || !one_slot) return a_.loop_chain;
        const std::int64_t warps = looping_warps(resident);
        const double own = busy.value() / static_cast<double>(warps);
        return hw::Cycles(steady::steady_turn_time(warps, own, std::max(a_.loop_chain.value() - own, 0.0)));
    }

    /// Turn of warps that come to the units of their sub-partition in no order, since their loads came back
    /// at different times or since they waited at the banks of shared memory. A unit serves all waiting warps
    /// in turn, instruction by instruction. For such a unit mean value analysis holds whatever the services
    /// (Baskett et al., J. ACM 22(2), 1975, doi.org/10.1145/321879.321887).
    [[nodiscard]] hw::Cycles in_no_order(std::int64_t resident) const {
        const machine::Part& loop = a_.item.loop;
        if (a_.item.uses_tensor) return {};
        double unit = 0.0;
        for (std::size_t i = 0; i < machine::server_count; ++i) {
            if (!machine::of_sub_partition(static_cast<machine::Server>(i))) continue;
            unit = std::max(unit, loop.demand.cycles[i].value());
        }
        const double banks = 0.0 < loop.shared_turns ? loop.demand[machine::Server::shared].value() : 0.0;
        const std::int64_t warps = looping_warps(resident);
        if (!(0.0 < unit) || !(0.0 < banks || 0.0 < loop.load_rounds)) return {};
        // The banks serve the warps of all sub-partitions.
        const double parts = gpu_.sm.sub_partitions.value();
        const double share = static_cast<double>(resident) / static_cast<double>(warps);
        const double of_unit = unit * share, of_banks = banks * share / parts;
        const double elsewhere = std::max(0.0, a_.loop_chain.value() - of_unit - of_banks);
        return hw::Cycles(steady::turn_of_groups(warps, parts, of_unit, of_banks, elsewhere));
    }

    /// Turn of a warp that waits for old values of atomics on shared memory, which queue at the SM's banks.
    /// The turns of warps differ, so the warps do not fall into step. Source: microbench_atomics (loops that
    /// swap words of one bank).
    [[nodiscard]] hw::Cycles out_of_turn(const hw::Cycles& busy, const hw::Cycles& chain,
                                         std::int64_t resident) const {
        const std::int64_t warps = std::max<std::int64_t>(1, resident * a_.item.warps);
        const double own = busy.value() / static_cast<double>(warps);
        return hw::Cycles(steady::turn_time(warps, own, std::max(chain.value() - own, 0.0)));
    }

    /// The same for warps that reach the same code at the same time.
    [[nodiscard]] hw::Cycles in_step(std::int64_t resident) const {
        const std::int64_t warps = looping_warps(resident);
        if (a_.item.uses_tensor || warps < 2) return a_.loop_chain;
        return machine::pass_in_step(a_.item.loop, a_.loop_chain, warps, gpu_);
    }
    /// Issue slots that stay empty behind taken branches. Warps of a sub-partition go round their loops in
    /// step, one issue slot apart. So only the warps that come after fill the gap behind a branch. Source:
    /// loop_unroll, instruction_rate; divergence, up to eight warps and 60 branches a trip.
    [[nodiscard]] hw::Cycles behind_branches(std::int64_t resident) const {
        const auto parts = static_cast<std::int64_t>(gpu_.sm.sub_partitions.value());
        const std::int64_t warps = machine::ceil_divide(resident * a_.item.warps, parts);
        const hw::Cycles gap = gpu_.instructions[hw::InstructionClass::branch].latency;
        const hw::Cycles filled(static_cast<double>(warps - 1));
        return std::max(hw::Cycles{}, gap - filled) * a_.item.loop.branches;
    }

    /// A trip of a loop whose wait for copies stands behind its own copies, if the copies have arrived.
    [[nodiscard]] hw::Cycles without_waits(std::int64_t resident) const {
        const hw::Cycles busy = a_.item.loop.demand[busiest_] * static_cast<double>(resident);
        const hw::Cycles gaps =
            machine::of_sub_partition(busiest_) ? behind_branches(resident) : hw::Cycles{};
        return std::max(std::max(busy + gaps, hw::Cycles(between_two(resident))), a_.item.loop.chain);
    }

    /// Time of all trips. The last trip of asynchronous copies has no copies to wait for. In its place stands
    /// the transfer of the first stage, which the prologue waits for. A producer that goes on with the next
    /// tile has no last trip.
    [[nodiscard]] hw::Cycles main_loop(std::int64_t resident, const StageWaits& waits) const {
        if (a_.item.trips == 0.0) return {};
        if (multiplies_before_copies(a_.item)) {
            return all_with_waits(without_waits(resident), a_.item.trips, waits_.copies);
        }
        const hw::Cycles turn = period(resident, waits);
        const bool goes_on = !a_.item.self_fed && (a_.persistent || a_.item.alternating);
        if (!a_.item.asynchronous || goes_on) {
            return turn * a_.item.trips;
        }
        const hw::Cycles multiply = multiply_ * static_cast<double>(resident);
        const hw::Cycles last = std::min(turn, std::max(a_.item.loop.chain, multiply));
        const double more = std::max(0.0, a_.item.trips - 1.0);
        const double waiting = steady::trips_that_wait(more, waits_.ahead);
        const hw::Cycles there =
            waiting < more ? std::min(turn, period(resident, StageWaits{})) * (more - waiting) : hw::Cycles{};
        return turn * waiting + there + last * std::min(1.0, a_.item.trips);
    }

    [[nodiscard]] Exposure item(std::int64_t resident, const StageWaits& waits) const {
        Exposure e;
        e.prologue = waits.fill + straight(a_.item.before, busy_before_, resident);
        e.main_loop = main_loop(resident, waits);
        e.epilogue = straight(a_.item.after, busy_after_, resident);
        return e;
    }

    [[nodiscard]] static steady::ItemTogether together(const Exposure& item) {
        return {(item.prologue + item.epilogue).value(), item.main_loop.value()};
    }

    /// Extra time of the last epilogue when all SMs store at once. The L2 takes in less than the SMs' ports
    /// send together. Earlier epilogues fall apart, and their stores mix with other SMs' loads.
    [[nodiscard]] hw::Cycles burst(std::int64_t resident) const {
        const double sending = static_cast<double>(a_.sms) / gpu_.sm.count.value();
        const double alone = machine::port_costs(a_.fullest_group, gpu_).stored;
        const double slower = std::max(1.0, sending / gpu_.l2.ingest_bandwidth.value() / alone);
        const double sent =
            a_.item.after.demand[machine::Server::crossbar_write].value() * static_cast<double>(resident);
        return hw::Cycles(sent * (slower - 1.0));
    }

    /// After the first wave the CTAs of an SM are no longer in step (out_of_step_items.hpp). An item also
    /// takes no less than a closed queue at the busiest server gives. In that queue everything else in an
    /// item is time away from the server. Whole items differ little, so their services are constant.
    void fill_gaps(Exposure& whole) const {
        const std::int64_t resident = a_.occupancy.ctas_per_sm;
        if (resident < 2) return;
        if (!(a_.item.self_fed || a_.item.gathers)) return;
        const double once = of_item(busiest_server()).value();
        const double vacant = a_.turnaround.value();
        const double all = alone_.makespan().value() + vacant;
        const double elsewhere = std::max(0.0, all - once);
        const std::int64_t some = (resident + 1) / 2;
        const double some_loop = resident > 2 ? main_loop(some, waits_.first).value() : 0.0;
        const double apart =
            steady::time_out_of_step(resident, together(alone_), some, some_loop, together(whole), vacant);
        // Loads of single elements are served trip by trip, in no fixed order.
        const double turn = a_.item.gathers ? steady::turn_time(resident, once, elsewhere)
                                            : steady::steady_turn_time(resident, once, elsewhere);
        const double between = std::max(apart, turn) - vacant;
        const double changed = between / whole.makespan().value();
        whole.scale(changed);
    }

    /// CTAs of a grid of several waves that load for themselves drift apart: each goes round a closed queue
    /// at the busiest server, with the rest of its own time as time away from there. That server must be
    /// busier than DRAM: CTAs that wait for DRAM wait for other SMs as well.
    void drift_apart(Exposure& whole) const {
        const std::int64_t resident = a_.occupancy.ctas_per_sm;
        const double waits = a_.item.total([](const machine::Part& p) { return p.load_rounds; });
        if (resident < 2 || a_.item.asynchronous || !(waits > 0.0) || !computes_) return;
        const double once = of_item(busiest_server()).value();
        const double vacant = a_.turnaround.value();
        const double elsewhere = std::max(0.0, alone_.makespan().value() + vacant - once);
        const double between = steady::turn_time(resident, once, elsewhere) - vacant;
        const double changed = between / whole.makespan().value();
        if (!(changed < 1.0)) return;
        whole.scale(changed);
    }

    /// Cycles of an item at a server, over all of its parts.
    [[nodiscard]] hw::Cycles of_item(machine::Server server) const {
        return a_.item.before.demand[server] + a_.item.after.demand[server] +
               a_.item.loop.demand[server] * a_.item.trips;
    }
    [[nodiscard]] machine::Server busiest_server() const {
        auto busiest = machine::Server::issue;
        for (std::size_t i = 0; i < machine::server_count; ++i) {
            const auto server = static_cast<machine::Server>(i);
            if (of_item(busiest) < of_item(server)) busiest = server;
        }
        return busiest;
    }

    /// Whether a server of the SM is busier than DRAM.
    [[nodiscard]] bool computes() const {
        const hw::Cycles busy =
            of_item(busiest_server()) * (static_cast<double>(a_.items) / static_cast<double>(a_.sms));
        const hw::Seconds memory = machine::dram_seconds(
            {a_.traffic.dram_read, a_.traffic.dram_row_read, a_.traffic.dram_scattered_read},
            {a_.traffic.dram_written, a_.traffic.dram_scattered_written}, gpu_);
        return !(busy < memory * gpu_.clock.boost);
    }

    void fall_out_of_step(Exposure& whole) const {
        fill_gaps(whole);
        drift_apart(whole);
    }

    /// CTAs that share an SM in the last wave. Two CTAs that fill the slots of their sub-partitions progress
    /// alike and end together. So the SM that is ready first takes two of the remaining items. Other CTAs,
    /// and more than two, have drifted apart by then, and the items are dealt out singly. Recorded fp32 tiles
    /// of 128x128, 256x64 and 64x256 take whole waves from the third on; tiles of 64x64 do not (gemm_fp32,
    /// gemm_fp32_second).
    [[nodiscard]] std::int64_t in_tail(const machine::Waves& w) const {
        const bool in_step = w.full_waves > 1 && a_.occupancy.ctas_per_sm == 2 && a_.item.asynchronous &&
                             !a_.item.uses_tensor &&
                             (busiest_ == machine::Server::issue || busiest_ == machine::Server::fp32);
        return in_step ? std::min<std::int64_t>(w.tail_items, 2)
                       : machine::tail_residency(w.tail_items, sms_);
    }

    [[nodiscard]] Exposure waves() const {
        const std::int64_t resident = a_.occupancy.ctas_per_sm;
        const machine::Waves w = machine::waves_of(a_.items, sms_ * resident);
        const std::int64_t last = in_tail(w);
        if (w.count() == 0) return {};
        if (w.full_waves == 0) {
            Exposure only = item(last, waits_.first);
            only.epilogue += burst(last);
            if (a_.fullest_sm > last) {
                // The fullest SM stores more, and its last stores run after the L2 has taken those of the
                // other SMs.
                const hw::Cycles stored = only.epilogue;
                only = item(a_.fullest_sm, waits_.first);
                only.epilogue = std::max(only.epilogue, stored);
            }
            return only;
        }
        Exposure whole = item(resident, waits_.first);
        if (w.count() > 1) fall_out_of_step(whole);
        Exposure total = whole;
        if (w.full_waves > 1) {
            if (!waits_.alike) {
                whole = item(resident, waits_.later);
                fall_out_of_step(whole);
            }
            const double more = static_cast<double>(w.full_waves) - 1.0;
            total.prologue += (whole.prologue + a_.turnaround) * more;
            total.main_loop += whole.main_loop * more;
            total.epilogue += whole.epilogue * more;
        }
        if (w.tail_items > 0) {
            const Exposure rest = waits_.alike && last == 1 ? alone_ : item(last, waits_.later);
            const double share = static_cast<double>(w.tail_items) / static_cast<double>(w.slots);
            total.prologue += whole.prologue * share;
            total.main_loop += whole.main_loop * share;
            total.epilogue += whole.epilogue * share;
            total.tail = rest.makespan() + a_.turnaround - whole.makespan() * share;
        } else if (w.full_waves == 1) {
            total.epilogue += burst(resident);
        }
        return total;
    }

    [[nodiscard]] Exposure persistent() const {
        const std::int64_t ctas = std::min(a_.ctas, sms_ * a_.occupancy.ctas_per_sm);
        const std::int64_t per_cta = machine::items_per_persistent_cta(a_.items, ctas);
        const auto n = static_cast<double>(per_cta);
        const std::int64_t resident = machine::ceil_divide(ctas, sms_);
        const Exposure one = item(resident, waits_.first);
        const double fair =
            std::min(n, std::max(1.0, static_cast<double>(a_.items) / static_cast<double>(ctas)));
        Exposure total;
        total.prologue = one.prologue;
        hw::Cycles step = one.main_loop;
        if (a_.item.alternating) {
            // One consumer stores its tile while the other multiplies. Where a token orders the consumers,
            // the longer phase sets the pace. Without a token the consumers delay each other.
            step = a_.item.in_turn
                       ? std::max(one.main_loop, one.epilogue)
                       : hw::Cycles(steady::pace_of_two_queues(a_.item.alternating_instances,
                                                               one.main_loop.value(), one.epilogue.value()));
            total.epilogue = one.epilogue;
            total.main_loop = step * (fair - 1.0) + one.main_loop;
        } else {
            // Where a producer runs ahead, bulk stores of a tile leave while the next tile is multiplied. Two
            // costs remain between the products of two tiles. One is the consumers' gap, the same for any
            // tile size. The other is the arithmetic on each sum. Without that arithmetic, fp8 tiles of one
            // and two trips were predicted 10 to 18 % too fast.
            const bool ahead = a_.item.loop.demand[machine::Server::tma] > hw::Cycles{} && !a_.item.self_fed;
            const hw::Cycles between =
                ahead ? gpu_.pipeline.tile_gap + a_.item.after.demand[machine::Server::fp32] : one.epilogue;
            step = one.main_loop + between;
            if (a_.item.self_fed) {
                // Warps that copy for themselves fill their stages anew for each tile.
                step += one.prologue;
                total.prologue = one.prologue * fair;
            }
            total.main_loop = one.main_loop * fair;
            total.epilogue = between * (fair - 1.0) + one.epilogue;
        }
        total.tail = step * (n - fair);
        total.epilogue += burst(resident);
        return total;
    }

    const Analysis& a_;
    const hw::Gpu& gpu_;
    const WaitsOfWaves& waits_;
    std::int64_t sms_;
    machine::Server busiest_;
    hw::Cycles busy_before_, busy_after_;  ///< of the busiest server in the straight parts
    hw::Cycles copying_turn_;
    hw::Cycles multiply_{};  ///< of the busiest server among those that do more than copy
    bool computes_ = false;
    Exposure alone_{};  ///< of one item on an SM with a single CTA
};

}  // namespace warptime::model::analytical
