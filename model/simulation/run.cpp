// Event loop of one kernel: CTAs, warps, and the end. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/run.hpp"

#include "hw/error.hpp"
#include "model/machine/l1/l1_room.hpp"
#include "model/machine/l1/pending_lines.hpp"
#include "model/machine/launch/launch_floor.hpp"
#include "model/machine/occupancy/given_sms.hpp"
#include "model/machine/occupancy/groups_at_work.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/machine/occupancy/work_items.hpp"
#include "model/simulation/event_queue.hpp"
#include "model/simulation/tokens.hpp"
#include "model/simulation/warp_choice.hpp"
#include "model/simulation/warps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace warptime::model::simulation {

using kernel::Id;
using kernel::NodeKind;

namespace {

constexpr std::uint64_t most_events = std::uint64_t{1} << 31;

struct Warp {
    kernel::Coordinates at;
    kernel::BodyCursor cursor;
    std::size_t item = 0;  ///< position among the items of its CTA
    bool in_item = false;
    bool at_leaf = false;
    bool finished = true;
    bool has_slot = false;  ///< the issue slot of the op at its place is reserved, at `slot`
    Ticks slot = 0;
    Ticks ready = 0;   ///< earliest start of its next instruction
    Ticks done = 0;    ///< latest completion of an issued instruction
    Ticks stored = 0;  ///< arrival of its stores; 0 when it has waited for them
    Ticks item_start = 0;
    Ticks next_turn = 0;  ///< earliest begin of its next trip; 0 where no copy of this trip sets one
    Ticks asked = 0;      ///< time when it asked for the issue slot of the op at its place
    Ticks results = 0;    ///< latest result of an issued instruction that has one
    Ticks copied = 0;     ///< end of its copies that complete no token; a group takes them up
    WarpChoice choice;
    double stands_for = 0.0;          ///< of the trip and CTA where it is now; 0 while it has no work
    double sms = 1.0;                 ///< SMs that it stands for
    std::int64_t* history = nullptr;  ///< by op: executions, and times that later ops may depend on
    SubPartition* part = nullptr;
    std::uint32_t slot_of_cta = 0, number = 0;  ///< place of its CTA, and its own in there
};

struct Cta {
    explicit Cta(const kernel::Kernel& kernel, const TokenRules& rules) : tokens(kernel, rules) {}
    std::int64_t id = -1;
    std::uint64_t seed = 0;
    double stands_for = 1.0;  ///< CTAs of its SM
    std::int32_t sm = 0;
    std::size_t place = 0;  ///< among the CTAs of the SM: its warps follow those of lower places
    std::size_t unfinished = 0;
    Ticks looked = 0, look = 0;  ///< begin and length of the look that saw a word of another CTA; 0: none
    std::array<std::int64_t, kernel::max_loop_depth> looked_in{};  ///< trips of the loops around that look
    Ticks start = 0, end = 0;
    double real_start = 0.0;
    std::vector<std::int64_t> items;
    Tokens tokens;
};

class Simulation {
  public:
    Simulation(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
               double clock_hz, Trace* trace, double most_whole, bool loops)
        : kernel_(kernel),
          items_(kernel),
          plan_(kernel, gpu, conditions),
          places_(warp_places(kernel)),
          kinds_(kernel),
          trace_(trace),
          turnaround_(ticks_of(machine::cta_turnaround(kernel, gpu).value())),
          launch_interval_(ticks_of(machine::launch_interval(kernel, gpu).value())),
          result_(placed(kernel, gpu, conditions, most_whole, loops)),
          cut_(result_.cut),
          rules_(kernel, items_.count() > 0 ? items_.at(0) : kernel::WorkItem{}, &mean_choice_),
          ctas_run_(cut_.ctas()),
          sms_run_(cut_.whole() ? result_.sms : cut_.sms),
          stands_for_(static_cast<double>(cut_.of_sms) / static_cast<double>(cut_.sms)),
          chip_(gpu, static_cast<int>(sms_run_), clock_hz,
                machine::fullest_group(gpu, std::min(result_.sms, result_.ctas), kernel.cluster.volume()),
                1.0 / stands_for_),
          memory_(kernel, gpu, conditions, chip_, 1.0 / stands_for_,
                  new_shares(kernel, plan_, cut_, result_.occupancy.ctas_per_sm), plan_.skewed) {
        const auto slots = std::min<std::int64_t>(ctas_run_, sms_run_ * result_.occupancy.ctas_per_sm);
        free_.assign(static_cast<std::size_t>(sms_run_), result_.occupancy.ctas_per_sm);
        taken_.assign(static_cast<std::size_t>(sms_run_),
                      std::vector<bool>(static_cast<std::size_t>(result_.occupancy.ctas_per_sm)));
        last_end_.assign(static_cast<std::size_t>(sms_run_), 0.0);
        handed_out_.assign(static_cast<std::size_t>(sms_run_), 0);
        even_part_ = (ctas_run_ + sms_run_ - 1) / sms_run_;
        launch_interval_ = ticks_of(cycles_of(launch_interval_) * stands_for_);
        for (std::int64_t slot = 0; slot < slots; ++slot) {
            ctas_.emplace_back(kernel, rules_);
            unused_.push_back(static_cast<std::uint32_t>(slots - 1 - slot));
        }
        warps_.resize(static_cast<std::size_t>(slots) * places_.size());
        history_.resize(warps_.size() * plan_.history_size);
        for (std::size_t w = 0; w < warps_.size(); ++w) {
            warps_[w].history = history_.data() + w * plan_.history_size;
            warps_[w].slot_of_cta = static_cast<std::uint32_t>(w / places_.size());
            warps_[w].number = static_cast<std::uint32_t>(w % places_.size());
        }
        // All CTAs of the SM share the places of its L1.
        const double room = machine::l1_of_sm(kernel, gpu);
        for (Sm& sm : chip_.sms) sm.places.set_most(machine::pending_lines(room, gpu));
        hand_over_depth_ = depth_of_hand_overs(kernel);
        if (trace_ != nullptr) log_units();
    }

    /// False if nothing can happen any more before all CTAs have ended.
    bool ends() {
        dispatch(0);
        while (!queue_.empty()) {
            const Event event = queue_.pop();
            if (queue_.pushed() > most_events) {
                throw Error(kernel_.name + " simulation", "more than 2^31 events",
                            "a kernel of less work, or the analytical engine");
            }
            now_ = event.time;
            handle(event);
        }
        return unused_.size() == ctas_.size() && next_cta_ == ctas_run_;
    }
    [[nodiscard]] bool leaves_out_trips() const { return cut_.trips > 0; }

  private:
    enum What : std::uint32_t { warp_runs, cta_starts, cta_leaves, dispatches };
    static constexpr int what_shift = 30;
    static std::uint32_t event(What what, std::size_t index) {
        return (static_cast<std::uint32_t>(what) << what_shift) | static_cast<std::uint32_t>(index);
    }

    static Run placed(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                      const prediction::Conditions& conditions, double most_whole, bool loops) {
        Run result;
        result.occupancy = machine::residency(kernel, machine::limits_of(gpu));
        result.sms = machine::reachable_sms(gpu, kernel.cluster.volume(), machine::given_sms(gpu, conditions),
                                            result.occupancy.ctas_per_sm);
        result.ctas = kernel.grid.volume();
        result.cut =
            cut_of(kernel, result.sms, result.occupancy.ctas_per_sm, most_whole, most_cut_events, loops);
        return result;
    }

    void handle(const Event& event) {
        const std::uint32_t index = event.what & ((1U << what_shift) - 1U);
        switch (static_cast<What>(event.what >> what_shift)) {
            case warp_runs:
                resume(index, event.time);
                break;
            case cta_starts:
                start(index, event.time);
                break;
            case cta_leaves: {
                ++free_[static_cast<std::size_t>(ctas_[index].sm)];
                taken_[static_cast<std::size_t>(ctas_[index].sm)][ctas_[index].place] = false;
                unused_.push_back(index);
                // CTAs that end now leave before the next ones are handed out.
                queue_.push(event.time, Simulation::event(dispatches, 0), EventClass::late);
                break;
            }
            case dispatches:
                dispatch(event.time);
                break;
        }
    }

    // ---- the trace

    void log_units() {
        each_unit(chip_, [this](const std::string& name, std::int32_t sm, Server& server) {
            if (sm >= trace_->detailed_sms) return;
            // Units of the chip serve many warps at once: they are shown as busy, not by op.
            trace_->units.push_back({name, sm, {sm < 0 ? &trace_->nothing : &trace_->running, {}}});
            server.keep_log(&trace_->units.back().log);
        });
    }

    [[nodiscard]] bool traced(const Cta& cta) const {
        return trace_ != nullptr && cta.sm < trace_->detailed_sms;
    }

    // ---- CTAs

    /// Hands out CTAs, whole clusters at a time, each to the SM with most room, the first of equals.
    void dispatch(Ticks now) {
        const auto cluster = static_cast<std::size_t>(kernel_.cluster.volume());
        while (next_cta_ < ctas_run_ && unused_.size() >= cluster) {
            if (unused_.size() < ctas_.size() && room_for_even_parts() < static_cast<std::int64_t>(cluster))
                return;
            for (std::size_t i = 0; i < cluster; ++i) {
                const auto sm = roomiest();
                --*sm;
                ++handed_out_[static_cast<std::size_t>(sm - free_.begin())];
                const std::uint32_t slot = unused_.back();
                unused_.pop_back();
                ctas_[slot].id = cut_.id(next_cta_);
                ctas_[slot].seed = scattered(static_cast<std::uint64_t>(ctas_[slot].id));
                ctas_[slot].stands_for = cut_.stands_for(next_cta_++);
                ctas_[slot].sm = static_cast<std::int32_t>(sm - free_.begin());
                ctas_[slot].place = take_place(ctas_[slot].sm);
                queue_.push(chip_.dispatcher.serve(now, launch_interval_), event(cta_starts, slot));
            }
        }
    }

    /// CTAs that SMs have room for which have not had their even part of all CTAs. An SM works off its oldest
    /// warps first, so that its CTAs end one after another and others get the next ones in turn.
    [[nodiscard]] std::int64_t room_for_even_parts() const {
        std::int64_t room = 0;
        for (std::size_t sm = 0; sm < free_.size(); ++sm) {
            room +=
                std::max<std::int64_t>(0, std::min<std::int64_t>(free_[sm], even_part_ - handed_out_[sm]));
        }
        return room;
    }

    /// The SM with most room, among those that have not had their even part of all CTAs.
    std::vector<int>::iterator roomiest() {
        auto best = free_.begin();
        const auto key = [&](std::vector<int>::iterator sm) {
            const bool more = handed_out_[static_cast<std::size_t>(sm - free_.begin())] < even_part_;
            return std::pair(*sm > 0 && more, *sm);
        };
        for (auto sm = free_.begin(); sm != free_.end(); ++sm) {
            if (key(best) < key(sm)) best = sm;
        }
        return best;
    }

    /// First place of the SM that no CTA has.
    std::size_t take_place(std::int32_t sm) {
        std::vector<bool>& taken = taken_[static_cast<std::size_t>(sm)];
        const auto place = std::find(taken.begin(), taken.end(), false);
        *place = true;
        return static_cast<std::size_t>(place - taken.begin());
    }

    void start(std::uint32_t slot, Ticks now) {
        Cta& cta = ctas_[slot];
        cta.start = cta.end = now;
        cta.real_start = real_at(now);
        cta.unfinished = places_.size();
        cta.looked = cta.look = 0;
        cta.items.clear();
        items_.append_of_cta(cta.id, cta.items);
        cta.tokens.restart();
        memory_.begin(slot);
        if (places_.empty()) {
            leave(slot);
        }
        for (std::size_t w = 0; w < places_.size(); ++w) {
            Warp& warp = warps_[slot * places_.size() + w];
            warp.item = 0;
            warp.in_item = warp.at_leaf = warp.finished = warp.has_slot = false;
            warp.ready = warp.done = warp.results = now;
            warp.stored = warp.next_turn = warp.copied = 0;
            choose(warp, cta, w);
            stand_for(warp, cta.stands_for);
            std::fill_n(warp.history, plan_.history_size, 0);
            warp.part = &part(cta, places_[w]);
            queue_.push(now, event(warp_runs, slot * places_.size() + w));
        }
    }

    /// The pace of a warp. The slowest of the grid is in the CTA halfway through the run, which is its mean
    /// place.
    void choose(Warp& warp, const Cta& cta, std::size_t w) {
        const std::uint64_t number = scattered(static_cast<std::uint64_t>(cta.id));
        const bool slowest = number % places_.size() == w;
        const bool halfway = cta.id == cut_.id(ctas_run_ / 2);
        warp.choice = {&kinds_,
                       &cut_,
                       !slowest  ? Pace::others
                       : halfway ? Pace::slowest_of_grid
                                 : Pace::slowest_of_cta,
                       static_cast<double>(places_.size()),
                       scattered(number + w),
                       &turned_,
                       &trip_ended_};
        // There is one such warp, however many SMs its SM stands for.
        warp.sms = slowest && halfway ? 1.0 : cut_.sms_of(cta.id);
    }

    // ---- time of the whole kernel: where all warps at work stand for others, it passes as many times as
    // fast

    void stand_for(Warp& warp, double stands_for) {
        if (warp.stands_for == stands_for) return;
        if (!cut_.whole()) {
            real_ = real_at(now_);
            real_since_ = now_;
        }
        at_work_ += (stands_for > 0.0 ? 1 : 0) - (warp.stands_for > 0.0 ? 1 : 0);
        standing_for_ += stands_for - warp.stands_for;
        warp.stands_for = stands_for;
    }

    /// In ticks, not before the last change of what the warps stand for.
    [[nodiscard]] double real_at(Ticks time) const {
        if (cut_.whole()) return static_cast<double>(time);
        const double pace = at_work_ > 0 ? standing_for_ / static_cast<double>(at_work_) : 1.0;
        return real_ + static_cast<double>(time - real_since_) * pace;
    }

    void leave(std::uint32_t slot) {
        const Cta& cta = ctas_[slot];
        result_.end = std::max(result_.end, cta.end);
        const double real_end = real_at(now_) + static_cast<double>(cta.end - now_);
        result_.warp_cycles += static_cast<double>(places_.size()) * stands_for_ *
                               (real_end - cta.real_start) / static_cast<double>(ticks_per_cycle);
        double& last = last_end_[static_cast<std::size_t>(cta.sm)];
        last = std::max(last, real_end);
        if (trace_ != nullptr) {
            trace_->ctas.push_back({cta.start, cta.end, cta.sm, static_cast<std::int32_t>(cta.place), cta.id,
                                    cta.items, cta.stands_for});
        }
        queue_.push(cta.end + turnaround_, event(cta_leaves, slot));
    }

    // ---- warps

    /// Runs a warp up to the next op that cannot start now, or a wait that cannot pass yet.
    void resume(std::uint32_t id, Ticks now) {
        Warp& warp = warps_[id];
        const WarpPlace& place = places_[warp.number];
        Cta& cta = ctas_[warp.slot_of_cta];
        for (;;) {
            if (!warp.at_leaf) {
                if (!warp.in_item && !enter_item(id, warp, place, cta, now)) {
                    return;
                }
                turned_ = trip_ended_ = false;
                const bool more = warp.cursor.advance(kernel_, warp.at, warp.choice);
                if (turned_) warp.ready = std::max(warp.ready, warp.results);
                if (trip_ended_ && warp.next_turn > 0) {
                    warp.ready = std::max(warp.ready, warp.next_turn);
                    warp.next_turn = 0;
                }
                if (!more) {
                    if (traced(cta)) end_item(warp, place, cta);
                    warp.in_item = false;
                    ++warp.item;
                    continue;
                }
                stand_for(warp, cta.stands_for * warp.cursor.place().stands_for);
                warp.at_leaf = true;
            }
            const kernel::Node& node = kernel_.nodes[warp.cursor.place().node];
            if (node.kind == NodeKind::op) {
                const kernel::Op& op = kernel_.ops[node.payload];
                if (runs_here(kernel_, op, warp.cursor, warp.at)) {
                    const OpPlan& plan = plan_.ops[node.payload];
                    if (!warp.cursor.place().taken) {
                        count(warp, op, plan);
                        pass_by(warp, place, cta, static_cast<Id>(node.payload), now);
                    } else if (!begins(id, warp, plan, static_cast<Id>(node.payload), now)) {
                        return;
                    } else {
                        count(warp, op, plan);
                        if (plan.plain && trace_ == nullptr) {
                            perform_plain(warp, op, plan, now);
                        } else {
                            perform(warp, place, cta, static_cast<Id>(node.payload), now);
                        }
                    }
                }
            } else if (node.kind == NodeKind::wait) {
                const kernel::Wait& wait = kernel_.waits[node.payload];
                const std::optional<Ticks> passes = cta.tokens.passes_at(place.user, wait);
                if (!passes) {
                    cta.tokens.await(place.user, wait, id);
                    return;
                }
                if (traced(cta) && *passes > warp.ready) {
                    trace_->waits.push_back({warp.ready, *passes, cta.sm,
                                             static_cast<std::int32_t>(cta.place),
                                             static_cast<std::int32_t>(place.user.warp), wait.token});
                }
                warp.ready = std::max(warp.ready, *passes);
                cta.tokens.pass(place.user, wait.token);
            } else if (node.kind == NodeKind::signal) {
                const kernel::Signal& signal = kernel_.signals[node.payload];
                arrive(cta, place, signal.token, signalled(warp, signal), true, true);
            }
            warp.at_leaf = false;
        }
    }

    /// Time of a signal. A group commits the copies that the warp has issued.
    [[nodiscard]] Ticks signalled(const Warp& warp, const kernel::Signal& signal) const {
        const kernel::Token& token = kernel_.tokens[static_cast<std::size_t>(signal.token)];
        if (signal.on == kernel::SignalOn::completion) return std::max(warp.ready, warp.done);
        return token.kind == kernel::TokenKind::async_group ? std::max(warp.ready, warp.copied) : warp.ready;
    }

    /// True if an op starts now: its inputs are there and its issue slot has come. Otherwise the warp looks
    /// again at the known time, so that no unit hears of a request before its time.
    bool begins(std::uint32_t id, Warp& warp, const OpPlan& plan, Id op, Ticks now) {
        Ticks from = warp.slot;
        if (!warp.has_slot) {
            from = std::max(warp.ready, inputs_complete(warp, plan));
            if (from <= now && plan.lines > 0.0 && !has_places(id, warp, plan, now)) return false;
            if (from <= now) {
                warp.asked = now;
                if (trace_ != nullptr) trace_->running = op;
                const Ticks slot = warp.part->issue.serve(now, plan.issue) - plan.issue;
                warp.slot = from = std::max(slot, warp.part->ports.serve(now, plan.ports) - plan.ports);
                warp.has_slot = true;
            }
        }
        if (from > now) {
            queue_.push(from, event(warp_runs, id));
            return false;
        }
        warp.has_slot = false;
        return true;
    }

    /// Whether the L1 has places for the lines of a load. Otherwise its warp looks again when it has, and
    /// when those that came before have entered.
    bool has_places(std::uint32_t id, const Warp& warp, const OpPlan& plan, Ticks now) {
        LinePlaces& places = chip_.sms[static_cast<std::size_t>(ctas_[warp.slot_of_cta].sm)].places;
        const bool first = places.waiting.empty() || places.waiting.front().warp == id;
        const Ticks free = first ? places.free_from(plan.lines, now) : now;
        if (first && free <= now) return true;
        if (places.waiting.empty() || !first) places.waiting.push_back({id, now});
        if (first) queue_.push(free, event(warp_runs, id));
        return false;
    }

    /// A load has gone out, whose lines keep their places until it has come back. The next one looks for
    /// places.
    void take_places(std::uint32_t id, Sm& sm, double lines, Ticks until, Ticks now) {
        std::deque<LinePlaces::Waiting>& waiting = sm.places.waiting;
        const bool waited = !waiting.empty() && waiting.front().warp == id;
        if (lines > 0.0) sm.places.enter(lines, waited ? waiting.front().asked : now, now, until);
        if (!waited) return;
        waiting.pop_front();
        if (!waiting.empty()) queue_.push(now, event(warp_runs, waiting.front().warp));
    }

    SubPartition& part(const Cta& cta, const WarpPlace& place) {
        Sm& sm = chip_.sms[static_cast<std::size_t>(cta.sm)];
        return sm.sub_partitions[(cta.place * places_.size() + place.user.warp) % sm.sub_partitions.size()];
    }

    /// Takes up the warp's next work item; false when the warp has none, or has to ask for one later.
    bool enter_item(std::uint32_t id, Warp& warp, const WarpPlace& place, Cta& cta, Ticks now) {
        const kernel::Role& role = kernel_.roles[place.role];
        if (role.first_node == role.last_node) {
            // An idle warp does not ask for work on behalf of the others either.
            finish(warp, cta);
            return false;
        }
        for (;; ++warp.item) {
            if (warp.item == cta.items.size() && items_.on_demand() && next_item_ < items_.count()) {
                if (warp.ready > now) {
                    queue_.push(warp.ready, event(warp_runs, id));
                    return false;
                }
                cta.items.push_back(next_item_++);
            }
            if (warp.item >= cta.items.size()) {
                finish(warp, cta);
                return false;
            }
            warp.at = coordinates_at(kernel_, place, items_.at(cta.items[warp.item]),
                                     cta.id % kernel_.cluster.volume());
            warp.cursor = kernel::BodyCursor(role.first_node, role.last_node);
            if (performs(role, place.instance, static_cast<std::int64_t>(warp.item))) {
                forget_times(warp);
                warp.in_item = true;
                warp.item_start = std::max(now, warp.ready);
                return true;
            }
            pass_over(warp, place, cta);
        }
    }

    void end_item(const Warp& warp, const WarpPlace& place, const Cta& cta) {
        trace_->items.push_back({warp.item_start, std::max(warp.item_start, warp.ready), cta.sm,
                                 static_cast<std::int32_t>(cta.place),
                                 static_cast<std::int32_t>(place.user.warp), cta.items[warp.item]});
    }

    /// An instance whose turn it is not counts the token phases of the item.
    void pass_over(Warp& warp, const WarpPlace& place, Cta& cta) {
        while (warp.cursor.advance(kernel_, warp.at, warp.choice)) {
            const kernel::Node& node = kernel_.nodes[warp.cursor.place().node];
            if (node.kind == NodeKind::wait) {
                cta.tokens.pass(place.user, kernel_.waits[node.payload].token);
            } else if (const Id token = arrival_at(kernel_, warp.cursor, warp.at); token != kernel::no_id) {
                arrive(cta, place, token, 0, false, node.kind == NodeKind::signal);
            }
        }
    }

    void finish(Warp& warp, Cta& cta) {
        warp.finished = true;
        stand_for(warp, 0.0);
        cta.end = std::max({cta.end, warp.ready, warp.done});
        if (--cta.unfinished == 0) {
            first_end_ = first_end_ == 0 ? cta.end : std::min(first_end_, cta.end);
            leave(warp.slot_of_cta);
        }
    }

    void arrive(Cta& cta, const WarpPlace& place, Id token, Ticks time, bool performed, bool signal) {
        woken_.clear();
        cta.tokens.arrive(place.user, token, time, performed, signal, woken_);
        for (const std::uint32_t id : woken_) {
            // The warp looks again; it goes on at the time of the phase, which is known now.
            queue_.push(std::max(now_, warps_[id].ready), event(warp_runs, id));
        }
    }

    /// Times of the items before count no more, executions do.
    void forget_times(Warp& warp) const {
        for (const OpPlan& plan : plan_.ops) std::fill_n(warp.history + plan.history + 1, plan.kept, 0);
    }

    /// Time when all inputs of an op are there.
    [[nodiscard]] Ticks inputs_complete(const Warp& warp, const OpPlan& plan) const {
        Ticks latest = 0;
        const Input* input = plan_.inputs.data() + plan.first_input;
        for (const Input* last = input + plan.input_count; input != last; ++input) {
            const std::int64_t* of = warp.history + input->history;
            const std::int64_t execution = *of - input->back;
            if (execution >= 0) {
                const Ticks there = of[1 + (execution & (input->kept - 1))];
                latest = std::max(latest, there - input->sooner);
            }
        }
        return latest;
    }

    static void remember(Warp& warp, const OpPlan& plan, Ticks done) {
        std::int64_t* of = warp.history + plan.history;
        of[1 + (*of & (plan.kept - 1))] = done;
        ++*of;
        warp.done = std::max(warp.done, done);
        if (plan.has_result) warp.results = std::max(warp.results, done);
    }

    /// Performs an op that asks its sub-partition alone.
    void perform_plain(Warp& warp, const kernel::Op& op, const OpPlan& plan, Ticks now) const {
        const Ticks issued = now + plan.issue;
        const Ticks piped = warp.part->pipes[plan.pipe].serve(now, plan.pipe_time);
        warp.ready = std::max(issued, piped - plan.passed_on);
        const Ticks served = std::max(issued, piped);
        const Ticks last = served - std::min(plan.last_interval, served - now);
        const double enabled = op.enabled == 1.0 && op.lanes == kernel::no_id ? 1.0 : enabled_of(warp, op);
        const Ticks done = std::max(chained(warp, plan, enabled, last), served);
        remember(warp, plan, done);
        if (plan.holds_warp) warp.ready = std::max(warp.ready, done);
    }

    /// Share of the executions that a lane's predicate enables. Without lanes there are none.
    [[nodiscard]] double enabled_of(const Warp& warp, const kernel::Op& op) const {
        return warp.cursor.place().lanes * kernel::lane_share(kernel_, op.lanes, warp.at) > 0.0 ? op.enabled
                                                                                                : 0.0;
    }

    /// End of an op whose last instruction, behind others, has issued by `last`. Links of a chain wait for
    /// one another while others are served, so those waits are not added.
    static Ticks chained(const Warp& warp, const OpPlan& plan, double enabled, Ticks last) {
        const Ticks latency = part_of(plan.latency, enabled);
        if (plan.links == 1) return last + latency;
        const Ticks own = std::max(plan.issue, plan.pipe_time);
        return std::max(last + part_of(plan.latency / plan.links, enabled),
                        warp.asked + own - std::min(own, plan.last_interval) + latency);
    }

    static Ticks part_of(Ticks ticks, double share) {
        return share == 1.0 ? ticks : ticks_of(cycles_of(ticks) * share);
    }

    /// Counts an execution by the share of the warps that branches around let through.
    void count(const Warp& warp, const kernel::Op& op, const OpPlan& plan) {
        const kernel::BodyPlace& at = warp.cursor.place();
        const double weight = at.weight * warp.sms * warp.stands_for;
        result_.instructions += plan.instructions * weight;
        if (plan.flop == 0.0 && plan.tensor_flop == 0.0) return;
        const double lanes = at.lanes * kernel::lane_share(kernel_, op.lanes, warp.at);
        const double busy = lanes > 0.0 ? weight * op.enabled : 0.0;
        result_.flop += plan.flop * busy * (plan.tensor_flop > 0.0 ? 1.0 : lanes);
        result_.tensor_flop += plan.tensor_flop * busy;
    }

    /// An op of a branch that the warp does not take. What others wait for counts as done.
    void pass_by(Warp& warp, const WarpPlace& place, Cta& cta, Id id, Ticks now) {
        if (kernel_.ops[static_cast<std::size_t>(id)].completes != kernel::no_id) {
            complete(warp, place, cta, id, now, std::max(now, warp.ready));
        }
    }

    void perform(Warp& warp, const WarpPlace& place, Cta& cta, Id id, Ticks now) {
        const auto index = static_cast<std::size_t>(id);
        const kernel::Op& op = kernel_.ops[index];
        const OpPlan& plan = plan_.ops[index];
        const double lanes = warp.cursor.place().lanes * kernel::lane_share(kernel_, op.lanes, warp.at);
        // Executions that no lane's predicate enables take their issue slots and nothing else.
        const double enabled = lanes > 0.0 ? op.enabled : 0.0;
        Sm& sm = chip_.sms[static_cast<std::size_t>(cta.sm)];
        if (trace_ != nullptr) trace_->running = id;
        const Ticks text =
            plan.first_fetch > 0 ? fetched(sm, plan, id, warp.history[plan.history], now) : now;
        const Ticks issued = std::max(text, now + plan.issue);
        const Ticks piped = warp.part->pipes[plan.pipe].serve(now, plan.pipe_time);
        if (plan.turn > 0 && warp.next_turn == 0) warp.next_turn = now + plan.turn;
        if (plan.special > 0) {
            auto& unit = warp.part->pipes[static_cast<std::size_t>(hw::Unit::sfu)];
            (void)unit.serve(now, plan.special);
        }
        // While the special-function unit holds its last instruction, the warp goes on in the next cycle.
        warp.ready = plan.queued ? issued : std::max(issued, piped - plan.passed_on);
        // The latency counts from the issue of the last instruction, which then holds its unit for an
        // interval.
        const Ticks served = std::max(issued, piped);
        Ticks done = plan.copies ? now : served - std::min(plan.last_interval, served - now);
        const Ticks banked = sm.shared.serve(now, part_of(plan.shared, enabled));
        // A shuffle's latency has its own pass in it.
        const bool shuffles = plan.pipe == static_cast<std::size_t>(hw::Unit::shuffle);
        done = std::max(done, shuffles ? banked - part_of(plan.shared, enabled) : banked);
        done = std::max(done, sm.l1.serve(now, part_of(plan.l1, enabled)));
        done = std::max(done, sm.constants.serve(now, part_of(plan.constants, enabled)));
        done = std::max(done, sm.cluster.serve(now, part_of(plan.cluster, enabled)));
        Ticks arrived = 0;   // arrival of its stores in the L2
        double lines = 0.0;  // that keep places in the L1
        Ticks held = 0;      // time until which they do
        for (std::size_t a = 0; enabled > 0.0 && a < plan.access_count; ++a) {
            const Requester who{&warp.at,
                                warp.history[plan.history],
                                cta.sm,
                                place.instance,
                                place.warp,
                                kernel_.roles[place.role].warps,
                                lanes,
                                enabled,
                                warp.cursor.place().weight < 1.0,
                                warp.sms,
                                warp.stands_for,
                                cta.seed,
                                warp.slot_of_cta};
            const MemoryPath::Reply reply =
                memory_.access(sm, op, plan, plan_.accesses[plan.first_access + a], who, now);
            // The last instruction of a load has its latency too; a chain pays it again for each link.
            // Executions that are not enabled have none.
            const Ticks last = plan.copies ? now : served - std::min(plan.last_interval, served - now);
            const Ticks latency = part_of(reply.latency, enabled);
            done = std::max(done, std::max(reply.done - (reply.latency - latency), last + latency) +
                                      (plan.links - 1) * latency);
            arrived = std::max(arrived, reply.arrived);
            lines += reply.lines;
            held = std::max(held, reply.held);
        }
        if (plan.texture > 0) {
            done += sm.texture.serve(now, part_of(plan.texture, enabled)) - now +
                    part_of(plan.texture_wait, enabled);
        }
        if (plan.lines > 0.0) {
            take_places(static_cast<std::uint32_t>(&warp - warps_.data()), sm, lines, std::min(held, done),
                        now);
        }
        if (plan.acknowledged > 0) {
            warp.stored = std::max(warp.stored, std::max(done, arrived) + plan.acknowledged);
        }
        if (plan.constants_missed > 0.0) done += missed_constants(id, plan, enabled);
        if (plan.drains) {
            done = std::max(done, warp.stored);
            warp.stored = 0;
        }
        done = chained(warp, plan, enabled, done);
        // A word that is waited for comes between two looks: half a look late on average.
        if (id == kernel_.hand_overs.wait && enabled > 0.0) done += (done - now) / 2;
        done = std::max(done, sm.barrier.serve(now, plan.barrier));
        if (!plan.copies) done = std::max(done, served);
        complete(warp, place, cta, id, now, done);
        if (plan.holds_warp) {
            warp.ready = std::max(warp.ready, done);
            if (traced(cta)) trace_->ops.back().ready = warp.ready;
        }
    }

    /// Time that a load of constants takes beyond one that finds them near: those that begin a line.
    Ticks missed_constants(Id id, const OpPlan& plan, double enabled) {
        constants_.resize(kernel_.ops.size());
        double& turn = constants_[static_cast<std::size_t>(id)];
        turn += plan.constants_missed * enabled;
        if (turn < 1.0) return 0;
        turn -= 1.0;
        return plan.constants_wait;
    }

    /// Time when the code of an op is there. Warps that reach it in the same trip share one fetch.
    Ticks fetched(Sm& sm, const OpPlan& plan, Id id, std::int64_t execution, Ticks now) const {
        sm.fetched.resize(kernel_.ops.size());
        Sm::Fetched& last = sm.fetched[static_cast<std::size_t>(id)];
        const Ticks time = last.execution < 0 ? plan.first_fetch : plan.fetch;
        if (last.execution != execution) last = {execution, sm.fetch.serve(now, time)};
        return last.done;
    }

    /// Loops around both the look at a word and the word for the next CTA.
    [[nodiscard]] static std::size_t depth_of_hand_overs(const kernel::Kernel& kernel) {
        const auto place = [&](Id op) {
            const auto at =
                std::find_if(kernel.nodes.begin(), kernel.nodes.end(), [op](const kernel::Node& n) {
                    return n.kind == NodeKind::op && static_cast<Id>(n.payload) == op;
                });
            return static_cast<std::size_t>(at - kernel.nodes.begin());
        };
        if (kernel.hand_overs.wait == kernel::no_id) return 0;
        const std::size_t wait = place(kernel.hand_overs.wait);
        const std::size_t told = place(kernel.hand_overs.told);
        std::size_t depth = 0;
        for (std::size_t n = 0; n < std::min(wait, told); ++n) {
            const kernel::Node& node = kernel.nodes[n];
            if (node.kind == NodeKind::loop && std::max(wait, told) < node.end) ++depth;
        }
        return depth;
    }

    /// Keeps the time from a look at a word of another CTA to the word for the next one.
    void hand_over(const Warp& warp, Cta& cta, Id id, Ticks start, Ticks issued, Ticks done) {
        const std::int64_t* loops = std::begin(warp.at.loop);
        const std::int64_t* around = loops + hand_over_depth_;
        if (id == kernel_.hand_overs.wait) {
            looked_ = looks_ == 0 ? cycles_of(done - start) : std::min(looked_, cycles_of(done - start));
            ++looks_;
            cta.looked = start;
            cta.look = done - start;
            std::copy(loops, around, cta.looked_in.begin());
        } else if (id == kernel_.hand_overs.told && cta.look > 0 &&
                   std::equal(loops, around, cta.looked_in.begin())) {
            // CTAs that look at the same time wait for one another. Later, one looks at a time.
            const double each = cycles_of(std::max(cta.look, issued - cta.looked));
            handed_ = hand_overs_ == 0 ? each : std::min(handed_, each);
            ++hand_overs_;
            cta.look = 0;
        }
    }

    void complete(Warp& warp, const WarpPlace& place, Cta& cta, Id id, Ticks start, Ticks done) {
        const auto index = static_cast<std::size_t>(id);
        const OpPlan& plan = plan_.ops[index];
        remember(warp, plan, done);
        if (kernel_.hand_overs.in_series > 0.0)
            hand_over(warp, cta, id, start, std::max(start, warp.ready), done);
        if (traced(cta)) {
            trace_->ops.push_back({start, done, cta.sm, static_cast<std::int32_t>(cta.id),
                                   static_cast<std::int32_t>(place.user.warp), id,
                                   static_cast<std::int32_t>(cta.place), std::max(start, warp.ready)});
        }
        const Id token = kernel_.ops[index].completes;
        if (token != kernel::no_id) {
            arrive(cta, place, token, done + plan.acknowledged, true, false);
        } else if (plan.copies) {
            warp.copied = std::max(warp.copied, done);
        }
    }

    // ---- the end

  public:
    /// Throws an error that names warps that wait, those in one place of a role counted once.
    [[noreturn]] void deadlock() const {
        constexpr std::size_t most_named = 8;
        std::string waits;
        std::size_t named = 0, waiting = 0;
        for (std::size_t id = 0; id < warps_.size(); ++id) {
            const Warp& warp = warps_[id];
            if (warp.finished || !warp.at_leaf ||
                kernel_.nodes[warp.cursor.place().node].kind != NodeKind::wait) {
                continue;
            }
            if (++waiting > most_named) continue;
            ++named;
            const kernel::Node& node = kernel_.nodes[warp.cursor.place().node];
            const kernel::Wait& wait = kernel_.waits[node.payload];
            const WarpPlace& place = places_[id % places_.size()];
            const Cta& cta = ctas_[id / places_.size()];
            waits += fmt::format("{}CTA {} role '{}' instance {} warp {} waits for '{}' phase {}{}",
                                 named == 1 ? "" : ", ", cta.id, kernel_.roles[place.role].name.view(),
                                 place.instance, place.warp,
                                 kernel_.tokens[static_cast<std::size_t>(wait.token)].name.view(),
                                 cta.tokens.needed_phase(place.user, wait),
                                 rules_.arrives(wait.token) ? "" : ", which nobody signals");
        }
        if (waiting > named) waits += fmt::format(", and {} more warps wait", waiting - named);
        throw Error(
            fmt::format("kernel '{}' tokens", kernel_.name),
            fmt::format("deadlock: everything stops in cycle {:.0f}: {}", std::floor(cycles_of(now_)), waits),
            "an arrival for every wait");
    }

    Run finished() {
        // Requests to L2 and DRAM belong to the kernel; CTAs without work take the time to be handed out.
        result_.end = std::max({result_.end, chip_.l2.free_at(), chip_.fullest.free_at(),
                                chip_.atomics.free_at(), chip_.dram.free_at()});
        result_.busy = busy_of(chip_);
        stretch();
        if (looks_ > 0) {
            // Where no CTA both looks and tells the next one, a hand-over is a look.
            const double each = hand_overs_ > 0 ? handed_ : looked_;
            result_.end = std::max(result_.end, first_end_ + ticks_of(each * kernel_.hand_overs.in_series));
        }
        result_.first_idle = result_.end;
        for (const double last : last_end_) {
            if (last > 0.0) result_.first_idle = std::min(result_.first_idle, static_cast<Ticks>(last));
        }
        result_.events = queue_.pushed();
        result_.traffic = memory_.traffic();
        result_.uses_tensor = plan_.uses_tensor;
        result_.uses_bulk = plan_.uses_bulk;
        result_.loads = plan_.loads;
        result_.tensor_rate = plan_.tensor_rate;
        return std::move(result_);
    }

  private:
    /// Turns the times of a cut run into those of the whole kernel. Units are as busy as in the part that was
    /// run.
    void stretch() {
        if (cut_.whole()) return;
        const double end = real_at(now_) + static_cast<double>(result_.end - now_);
        const double ratio = end / static_cast<double>(result_.end);
        result_.end = static_cast<Ticks>(end);
        for (Busy& busy : result_.busy) {
            busy.longest = static_cast<Ticks>(static_cast<double>(busy.longest) * ratio);
            busy.average *= ratio;
        }
    }

    const kernel::Kernel& kernel_;
    machine::WorkItems items_;
    KernelPlan plan_;
    std::vector<WarpPlace> places_;
    LoopKinds kinds_;
    Trace* trace_;
    Ticks turnaround_;
    Ticks launch_interval_;
    Run result_;
    Cut cut_;
    WarpChoice mean_choice_{&kinds_, &cut_, Pace::others, 1.0, 0, &turned_, &trip_ended_};
    TokenRules rules_;
    std::int64_t ctas_run_;
    std::int64_t sms_run_;
    double stands_for_;  ///< SMs for which one that is run stands
    Chip chip_;
    MemoryPath memory_;
    EventQueue queue_;
    Ticks now_ = 0;
    bool turned_ = false;      ///< a trip has ended for which the next one waits
    bool trip_ended_ = false;  ///< any trip has ended
    double real_ = 0.0;        ///< time of the whole kernel at `real_since_`
    Ticks real_since_ = 0;
    Ticks first_end_ = 0;              ///< end of the CTA that ended first
    std::size_t hand_over_depth_ = 0;  ///< loops around both ends of a hand-over
    double handed_ = 0.0;              ///< cycles of the shortest hand-over from CTA to CTA
    std::int64_t hand_overs_ = 0;
    double looked_ = 0.0;  ///< cycles of the shortest look at a word of another CTA
    std::int64_t looks_ = 0;
    std::int64_t at_work_ = 0;   ///< warps
    double standing_for_ = 0.0;  ///< sum over them
    std::int64_t next_cta_ = 0;
    std::int64_t next_item_ = 0;
    std::vector<int> free_;                 ///< CTAs that each SM has room for
    std::vector<std::int64_t> handed_out_;  ///< CTAs that each SM has had
    std::int64_t even_part_ = 0;            ///< of the CTAs, for an SM
    std::vector<std::vector<bool>> taken_;  ///< places of each SM
    std::vector<double> last_end_;          ///< of the CTAs of each SM
    std::vector<std::uint32_t> unused_;     ///< slots, the next one last
    std::vector<Cta> ctas_;                 ///< by slot
    std::vector<Warp> warps_;               ///< by slot and warp
    std::vector<std::int64_t> history_;     ///< of all warps
    std::vector<std::uint32_t> woken_;
    std::vector<double> constants_;  ///< by op: sum of the shares of its loads that begin a line of constants
};

}  // namespace

Run run(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
        double clock_hz, Trace* trace, double most_whole) {
    Simulation first(kernel, gpu, conditions, clock_hz, trace, most_whole, true);
    if (first.ends()) return first.finished();
    if (!first.leaves_out_trips()) first.deadlock();
    // Roles whose loops differ may leave out trips that belong together, so all trips are run.
    if (trace != nullptr) {
        Trace again;
        again.detailed_sms = trace->detailed_sms;
        *trace = std::move(again);
    }
    Simulation second(kernel, gpu, conditions, clock_hz, trace, most_whole, false);
    if (!second.ends()) second.deadlock();
    return second.finished();
}

}  // namespace warptime::model::simulation
