// Walks the roles of a kernel once and adds each op's demand to one item.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/item_demand.hpp"

#include "model/analytical/inner_copies.hpp"
#include "model/analytical/item_whole.hpp"
#include "model/analytical/kept_in_l2.hpp"
#include "model/analytical/stretches.hpp"
#include "model/analytical/waiting_behind_copies.hpp"
#include "model/kernel/body_nodes.hpp"
#include "model/kernel/builder.hpp"
#include "model/kernel/collective.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/kernel/index_span.hpp"
#include "model/kernel/mean_over_trips.hpp"
#include "model/kernel/places_from_loads.hpp"
#include "model/kernel/typical_item.hpp"
#include "model/machine/atomics/atomic_demand.hpp"
#include "model/machine/atomics/atomics.hpp"
#include "model/machine/bulk/box_copies.hpp"
#include "model/machine/cluster/cluster.hpp"
#include "model/machine/demand/op_kind.hpp"
#include "model/machine/demand/reach.hpp"
#include "model/machine/dram/followers.hpp"
#include "model/machine/dram/lone_pieces.hpp"
#include "model/machine/issue/arithmetic.hpp"
#include "model/machine/issue/issue_demand.hpp"
#include "model/machine/issue/issue_runs.hpp"
#include "model/machine/issue/op_issue.hpp"
#include "model/machine/issue/operand_turns.hpp"
#include "model/machine/issue/predicate_latency.hpp"
#include "model/machine/issue/unit_queue.hpp"
#include "model/machine/l1/access_bytes.hpp"
#include "model/machine/l1/access_demand.hpp"
#include "model/machine/l1/constants.hpp"
#include "model/machine/l1/l1.hpp"
#include "model/machine/l1/l1_neighbours.hpp"
#include "model/machine/l1/l1_room.hpp"
#include "model/machine/l1/l1_share.hpp"
#include "model/machine/l1/lane_copies.hpp"
#include "model/machine/l1/lane_touch.hpp"
#include "model/machine/l1/load_batch.hpp"
#include "model/machine/l1/load_waits.hpp"
#include "model/machine/l1/narrow_rows.hpp"
#include "model/machine/l1/pending_lines.hpp"
#include "model/machine/l1/row_lanes.hpp"
#include "model/machine/l1/sectors_in_use.hpp"
#include "model/machine/l1/texture.hpp"
#include "model/machine/l2/crossbar.hpp"
#include "model/machine/l2/others_on_sm.hpp"
#include "model/machine/l2/store_drain.hpp"
#include "model/machine/l2/stored_boxes.hpp"
#include "model/machine/local/kept_of_local.hpp"
#include "model/machine/local/local_traffic.hpp"
#include "model/machine/shared/matrix_rows.hpp"
#include "model/machine/shared/shared.hpp"
#include "model/machine/tensor/matrix_demand.hpp"
#include "model/machine/tensor/matrix_queue.hpp"
#include "model/machine/tensor/tensor_core.hpp"
#include "model/steady/carried_trips.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace warptime::model::analytical {
namespace {

using hw::Cycles;
using hw::InstructionClass;
using hw::Unit;
using kernel::Access;
using kernel::Kernel;
using kernel::NodeKind;
using kernel::Op;

constexpr double lanes_per_warp = 32.0;

/// Ops of a kernel that need no allocation.
constexpr std::size_t usual_ops = 640;

/// Time of a hand-over from CTA to CTA: from the look that sees a word to the word for the next CTA.
class HandOverTime {
  public:
    explicit HandOverTime(const Kernel& kernel) : kernel_(kernel) {}

    void note(std::size_t id, const Cycles& start, const Cycles& issued, const Cycles& end) {
        const kernel::HandOvers& own = kernel_.hand_overs;
        if (!(0.0 < own.in_series)) return;
        if (id == static_cast<std::size_t>(own.wait)) {
            wait_ = start;
            look_ = end - start;
        }
        if (id == static_cast<std::size_t>(own.told) && Cycles{} < look_) {
            between_ = std::max(between_, issued - wait_);
        }
    }
    /// Nodes [first, last) have been followed on a clock that is `by` behind the one around.
    void move(std::size_t first, std::size_t last, const Cycles& by) {
        if (!(0.0 < kernel_.hand_overs.in_series)) return;
        const auto [low, high] = steady::ops_of(kernel_, first, last);
        const auto wait = static_cast<std::size_t>(kernel_.hand_overs.wait);
        if (low <= wait && wait < high) wait_ += by;
    }
    /// A part of the item has ended that took so long; the next one has a clock of its own.
    void next_part(const Cycles& taken) { wait_ = wait_ - taken; }
    [[nodiscard]] Cycles time() const { return std::max(look_, between_); }

  private:
    const Kernel& kernel_;
    Cycles wait_{}, look_{}, between_{};
};

/// Counts the copies that a warp issues with an op of the main loop.
void count_copies(const kernel::Kernel& kernel, const kernel::Op& op, ItemDemand& item) {
    const auto copies = static_cast<double>(op.count);
    item.copies += copies;
    if (op.access_count > 0 && kernel::goes_along_rows(kernel, kernel.accesses[op.first_access]))
        item.copies_along_k += copies;
}

class Accumulator {
  public:
    /// Adds to `result`, which is empty.
    Accumulator(const Kernel& kernel, const hw::Gpu& gpu, const Cycles& load_latency, std::int64_t resident,
                ItemDemand& result, const WaitsByBuffer& waits, Followed followed)
        : kernel_(kernel),
          gpu_(gpu),
          load_latency_(load_latency),
          waits_(waits),
          followed_(followed),
          resident_(resident),
          item_(kernel::typical_item(kernel)),
          beyond_typical_(kernel::beyond_typical(kernel)),
          pieces_(machine::pieces_of(gpu)),
          result_(result),
          neighbours_(kernel, gpu),
          stores_(machine::store_slowdown(machine::storing_sms(kernel, gpu), gpu)) {}

    Accumulator(const Accumulator&) = delete;
    Accumulator& operator=(const Accumulator&) = delete;

    void run() {
        result_.buffers.reset(kernel_.buffers.size());
        tensor_cores_read_ = std::any_of(kernel_.ops.begin(), kernel_.ops.end(),
                                         [](const Op& op) { return hw::is_group_product(op.cls); });
        complete_.reset(kernel_.ops.size());
        seen_.reset(kernel_.buffers.size());
        for (const kernel::Role& role : kernel_.roles) {
            result_.warps += role.warps * role.instances;
        }
        for (const kernel::Role& role : kernel_.roles) {
            result_.trips = std::max(result_.trips, main_loop_of(role).trips);
        }
        for (const kernel::Role& role : kernel_.roles) {
            add_role(role);
            first_warp_ += role.warps * role.instances;
        }
        shorten_unlooped();
        result_.hand_over = hand_over_.time();
        if (result_.self_fed) fold_prologue(result_);
        if (through_array_ || (beside_loop_ && !result_.asynchronous)) {
            share_array(result_);
        } else if (!result_.asynchronous) {
            share_data_path(result_);
        }
    }

  private:
    /// What the followed warps do, or what all do on average where they do not differ.
    [[nodiscard]] double of_followed(double mean, const kernel::SlowestWarps& slowest) const {
        const double own = followed_ == Followed::slowest_of_cta    ? slowest.of_cta
                           : followed_ == Followed::slowest_of_grid ? slowest.of_grid
                                                                    : -1.0;
        return own < 0.0 ? mean : own;
    }

    [[nodiscard]] kernel::MainLoop main_loop_of(const kernel::Role& role) const {
        kernel::MainLoop main = kernel::main_loop(kernel_, role, item_);
        if (main.node < role.last_node && 0.0 < beyond_typical_) {
            // Between the trips of the typical item and of one that is a k-iteration longer.
            kernel::Coordinates longer = item_;
            ++longer.item_end;
            const kernel::Loop& loop = kernel_.loops[kernel_.nodes[main.node].payload];
            main.trips += beyond_typical_ * (kernel::mean_trips_of(kernel_, loop, longer) - main.trips);
        }
        if (main.node < role.last_node) {
            main.trips = of_followed(main.trips, kernel_.loops[kernel_.nodes[main.node].payload].slowest);
        }
        return main;
    }

    /// Passes of a role through its loop in one trip of the item. Roles that peel a trip or two pass once; a
    /// role that handles several stages in each pass has far fewer passes.
    [[nodiscard]] double pass_of_trip(double passes) const {
        constexpr double peels = 0.75;
        return passes < peels * result_.trips ? passes / result_.trips : 1.0;
    }

    void add_role(const kernel::Role& role) {
        const auto [main, most] = main_loop_of(role);
        role_ = &role;
        free_.warps = role.warps - 1;
        free_.instances = role.instances - 1;
        free_.lanes = 32.0 * role.warps * role.instances - 1.0;
        role_copies_ = role_multiplies_ = role_loads_ = role_stages_ = false;
        inner_copies_ = main < role.last_node ? awaited_inside(kernel_, main + 1, kernel_.nodes[main].end)
                                              : kernel::no_id;
        groups_ = {};
        if (role.alternate && role.instances > 1) {
            result_.alternating = true;
            result_.alternating_instances = role.instances;
            result_.in_turn =
                std::any_of(kernel_.tokens.begin(), kernel_.tokens.end(),
                            [](const kernel::Token& token) { return token.key == kernel::TokenKey::tile; });
        }
        drain();
        Cycles own_length{};
        first_op_ = kernel::first_op(kernel_, role.first_node, role.last_node);
        const auto length = [this, &own_length](machine::Part& part, std::size_t first, std::size_t last,
                                                int depth, double trips) {
            part_ = &part;
            waited_ = Cycles{};
            const double pass = depth > 0 ? pass_of_trip(trips) : 1.0;
            own_depth_ = depth;
            stretches_.begin(part, warps_of_sub_partition());
            Cycles tail{};
            const Cycles all_there = depth > 0 ? trip(first, last, pass, depth, trips, tail)
                                               : body(first, last, pass, depth, trips);
            const Cycles chain = std::exchange(groups_, {}).period(all_there) * pass;
            part.chain = std::max(part.chain, chain);
            last_chain_ = chain;
            own_length += chain * (pass < 1.0 ? result_.trips : trips);
            hand_over_.next_part(chain / pass);
            tail_ = tail;
            stretches_.leave(chain / pass, waited_, pass, part);
            part.load_wait = std::max(part.load_wait, waited_ * pass);
        };
        length(result_.before, role.first_node, main, 0, 1.0);
        if (main < role.last_node) {
            free_.loop[0] = std::max(0.0, most - 1.0);
            const machine::Demand others = result_.loop.demand;
            // What stands behind the loop waits for results of its last trip.
            first_op_ = kernel::first_op(kernel_, main + 1, kernel_.nodes[main].end);
            own_loads_ = own_loads(main + 1, kernel_.nodes[main].end);
            length(result_.loop, main + 1, kernel_.nodes[main].end, 1, most);
            // Every role is counted with all trips. The work of trips that a role peels stands in another
            // part.
            const double peeled = pass_of_trip(most) < 1.0 ? 0.0 : result_.trips - most;
            for (std::size_t i = 0; i < machine::server_count; ++i) {
                result_.peeled.cycles[i] += (result_.loop.demand.cycles[i] - others.cycles[i]) * peeled;
            }
            free_.loop[0] = 0.0;
            result_.self_fed = result_.self_fed || (role_copies_ && role_multiplies_ && !pipelines_inside());
            if (role_multiplies_ && !role.alternate && tensor_cores_read_) {
                // Groups of one role that a producer feeds count as one, as the recorded fp8 products say.
                const int of_role = role_copies_ ? std::max(1, role.warps / hw::warps_of_group) : 1;
                result_.side_by_side = role.instances * of_role;
            }
            result_.loads_itself =
                result_.loads_itself || (role_loads_ && (role_multiplies_ || role_stages_));
            local_.leave(result_.loop, result_.loads_itself, load_latency_, gpu_);
            // Warps that wait in each trip have waited for the results when they leave the loop.
            if (!result_.asynchronous) {
                first_op_ = kernel::first_op(kernel_, kernel_.nodes[main].end, role.last_node);
            }
            const Cycles tail = tail_;
            length(result_.after, kernel_.nodes[main].end, role.last_node, 0, 1.0);
            result_.after.chain = std::max(result_.after.chain, last_chain_ + tail);
            own_length += tail;
        }
        longest_role_ = std::max(longest_role_, own_length);
    }

    /// A role without a main loop does all its work before the loops of others, by the sum of the parts. Its
    /// last part runs beside them: no item takes longer than its longest role.
    void shorten_unlooped() {
        if (result_.asynchronous) return;
        const Cycles parts = result_.before.chain + result_.loop.chain * result_.trips + result_.after.chain;
        const Cycles beside = std::max(Cycles{}, parts - longest_role_);
        result_.before.chain = std::max(Cycles{}, result_.before.chain - beside);
        result_.before.met_idle = std::max(Cycles{}, result_.before.met_idle - beside);
    }

    [[nodiscard]] bool pipelines_inside() const { return inner_copies_ != kernel::no_id; }

    /// Warps of the current role in each sub-partition that has any.
    [[nodiscard]] std::int64_t warps_of_sub_partition() const {
        const auto parts = static_cast<std::int64_t>(gpu_.sm.sub_partitions.value());
        return (std::int64_t{role_->warps} * role_->instances + parts - 1) / parts;
    }

    /// Adds nodes [first, last), each executed `times`. Returns when one warp's in-order pass over the nodes
    /// ends that begins at `begin`.
    Cycles body(std::size_t first, std::size_t last, double times, int depth, double trips,
                const Cycles& begin = Cycles{}) {
        Cycles issued = begin;
        Cycles done = begin;
        const Cycles outside = path_busy_;
        path_busy_ = Cycles{};
        const machine::UnitQueue units_outside = units_;
        units_ = machine::UnitQueue{};
        loops_around_ = depth;
        for (std::size_t n = first; n < last; n = kernel::next_node(kernel_, n)) {
            const kernel::Node& node = kernel_.nodes[n];
            switch (node.kind) {
                case NodeKind::op: {
                    const Op& op = kernel_.ops[node.payload];
                    const double lanes = lanes_;
                    enabled_ = op.enabled;
                    if (op.lanes != kernel::no_id) {
                        const kernel::MeanLanes mean = lanes_of(op.lanes, depth);
                        enabled_ *= mean.taken;
                        lanes_ *= mean.lanes;
                    }
                    const double share =
                        op.when.active && trips > 0.0
                            ? kernel::guarded_share(kernel_, op, *role_, first_warp_, item_, depth, trips)
                            : 1.0;
                    const Cycles sent_before = part_->demand[machine::Server::crossbar_write];
                    const Cycles read_before = part_->demand[machine::Server::crossbar_read];
                    add_op(op, times * share);
                    if (pipelines_inside() && op.cls == InstructionClass::cp_async && times > 0.0)
                        brought_ = (part_->demand[machine::Server::crossbar_read] - read_before) / times;
                    sent_ = times > 0.0
                                ? (part_->demand[machine::Server::crossbar_write] - sent_before) / times
                                : Cycles{};
                    step(node.payload, op, times * share, issued, done);
                    lanes_ = lanes;
                    break;
                }
                case NodeKind::loop: {
                    const kernel::Loop& loop = kernel_.loops[node.payload];
                    const double inner = of_followed(trips_of(loop, depth), loop.slowest);
                    free_.loop[static_cast<std::size_t>(depth)] = std::max(0.0, inner - 1.0);
                    const std::size_t around = first_op_;
                    const double own_around = std::exchange(own_loads_, own_loads(n + 1, node.end));
                    first_op_ = kernel::first_op(kernel_, n + 1, node.end);
                    const Cycles waited = waited_;
                    waited_ = Cycles{};
                    Cycles tail{};
                    CopyGroups before = std::exchange(groups_, {});
                    const Cycles alone = trip(n + 1, node.end, times * inner, depth + 1, inner, tail);
                    const CopyGroups inside = std::exchange(groups_, std::move(before));
                    const Cycles pass = inside.period(alone);
                    const Cycles waited_inside = waited_ * inner;
                    waited_ = waited + waited_inside;
                    loops_around_ = depth;
                    first_op_ = around;
                    own_loads_ = own_around;
                    free_.loop[static_cast<std::size_t>(depth)] = 0.0;
                    const Cycles start = carried_.described ? std::max(issued, inputs_of(n + 1, node.end))
                                                            : std::max(issued, done);
                    const Cycles filled = groups_.fill(inside, start);
                    issued = start + filled + pass * inner;
                    hand_over_.move(n + 1, node.end, issued - pass);
                    done = std::max(done, issued + tail);
                    if (carried_.described) {
                        const auto [low, high] = steady::ops_of(kernel_, n + 1, node.end);
                        carried_.note({low, high, Cycles{}, filled + pass * inner,
                                       filled + pass * inner + tail, issued, waited_inside, false, Cycles{}});
                    }
                    break;
                }
                case NodeKind::branch: {
                    const kernel::Branch& branch = kernel_.branches[node.payload];
                    const double lanes = lanes_;
                    const double taken = taken_;
                    double taking = of_followed(branch.warps_taking, branch.slowest);
                    lanes_ *= branch.mean_lanes / lanes_per_warp;
                    if (branch.lanes != kernel::no_id) {
                        const kernel::MeanLanes mean = lanes_of(branch.lanes, depth);
                        taking = of_followed(mean.taken, branch.slowest);
                        lanes_ *= mean.lanes;
                    }
                    taken_ *= taking;
                    const Cycles before = issued;
                    const Cycles waited = waited_;
                    waited_ = Cycles{};
                    const std::size_t noted = carried_.events.size();
                    const Cycles end = body(n + 1, node.end, times * taking, depth, trips, before);
                    waited_ = waited + waited_ * taking;
                    if (carried_.described) carried_.take_in_part(noted, end, taking);
                    lanes_ = lanes;
                    taken_ = taken;
                    issued += (end - before) * taking;
                    hand_over_.move(n + 1, node.end, issued - end);
                    done = std::max(done, issued);
                    take_in_part(n + 1, node.end, before, taking);
                    break;
                }
                case NodeKind::wait:
                    if (part_ == &result_.loop && !pipelines_inside())
                        note_wait(kernel_, node, issued, result_);
                    if (kernel_.waits[node.payload].token == inner_copies_)
                        groups_.wait(kernel_.waits[node.payload].lag, issued);
                    if (machine::ends_bulk_stores(kernel_, kernel_.waits[node.payload].token)) {
                        issued = stores_.arrived(std::max(issued, done), gpu_);
                    }
                    break;
                case NodeKind::signal:
                    if (kernel_.signals[node.payload].token == inner_copies_) groups_.commit(issued);
                    break;
                case NodeKind::mark:
                    break;
            }
        }
        drain();
        stores_.leave();
        runs_.close(gpu_, *part_);
        // A body that is repeated takes no less than its unit. A body that runs once may end before the unit
        // does.
        const Cycles busy = depth > 0 ? std::max(path_busy_, units_.busy()) : path_busy_;
        busy_ = busy;
        path_busy_ = outside;
        units_ = units_outside;
        return std::max(std::max(issued, done), begin + busy);
    }

    /// A trip of a loop in its steady state, nodes [first, last). Where the description says what a trip
    /// needs of those before, trips overlap; otherwise a trip begins when the trip before has ended. `tail`:
    /// time from the end of the last trip's period until its results are there.
    Cycles trip(std::size_t first, std::size_t last, double times, int depth, double trips, Cycles& tail) {
        steady::CarriedTrips outside = std::move(carried_);
        carried_ = {};
        carried_.begin(kernel_, first, last);
        const Cycles whole = body(first, last, times, depth, trips);
        Cycles period = whole;
        if (carried_.described) {
            const steady::SteadyTrip steady = carried_.steady(kernel_, machine::lead_of_operands(gpu_));
            const Cycles busy = std::max(busy_, steady.period);
            period = std::min(whole, busy);
            waited_ = std::min(waited_, steady.waited);
            tail = whole - period;
        }
        carried_ = std::move(outside);
        return period;
    }

    /// When the ops of nodes [first, last) have what they need of the ops before them in the trip around.
    Cycles inputs_of(std::size_t first, std::size_t last) const {
        const auto [low, high] = steady::ops_of(kernel_, first, last);
        double there = 0.0;
        for (std::size_t op = low; op < high; ++op) {
            for (const kernel::Dep& dep : kernel_.deps_of(kernel_.ops[op])) {
                const auto from = static_cast<std::size_t>(dep.op);
                if (dep.distance == 0 && from >= first_op_ && from < low)
                    there = std::max(there, complete_[from]);
            }
        }
        return Cycles(there);
    }

    /// Trips of the `depth` loops around the current place, the outermost first.
    std::array<double, kernel::max_loop_depth> trips_around(int depth) const {
        std::array<double, kernel::max_loop_depth> trips{};
        for (std::size_t d = 0; d < static_cast<std::size_t>(depth); ++d) trips[d] = free_.loop[d] + 1.0;
        return trips;
    }

    kernel::MeanLanes lanes_of(kernel::Id lanes, int depth) const {
        const auto trips = trips_around(depth);
        return kernel::mean_lanes(kernel_, lanes, *role_, first_warp_, item_,
                                  std::span(trips).first(static_cast<std::size_t>(depth)));
    }

    /// Mean trips of an inner loop, over the trips of the loops around it and over the warps.
    double trips_of(const kernel::Loop& loop, int depth) const {
        if (loop.trips.expected || loop.trips.index.is_constant()) {
            return kernel::mean_trips_of(kernel_, loop, item_);
        }
        const auto trips = trips_around(depth);
        const auto around = std::span(trips).first(static_cast<std::size_t>(depth));
        const auto of_item = [&](const kernel::Coordinates& item) {
            return kernel::mean_trips_around(kernel_, loop, *role_, first_warp_, item, around);
        };
        const std::vector<kernel::WorkItem>& items = kernel_.schedule.items;
        if (!kernel_.schedule.deals_out_tiles()) return of_item(item_);
        // Some items, at equal distances in the list, stand for all.
        constexpr std::size_t most = 512;
        const std::size_t count = std::min(most, items.size());
        double sum = 0.0, longest = 0.0;
        kernel::Coordinates at = item_;
        for (std::size_t i = 0; i < count; ++i) {
            const kernel::WorkItem& item = items[(2 * i + 1) * items.size() / (2 * count)];
            std::ranges::copy(item.tile, at.tile);
            at.item_begin = item.begin;
            at.item_end = item.end;
            const double own = of_item(at);
            sum += own;
            longest = std::max(longest, own);
        }
        if (followed_ == Followed::longest_item) return longest;
        return sum / static_cast<double>(count);
    }

    /// What stands in a branch is ready after the share of it that is taken. That goes for ops of loops
    /// inside the branch, too; nothing behind their loop waits for them.
    void take_in_part(std::size_t first, std::size_t last, const Cycles& before, double taken) {
        for (std::size_t n = first; n < last; ++n) {
            if (kernel_.nodes[n].kind != NodeKind::op) continue;
            double& ready = complete_[kernel_.nodes[n].payload];
            ready = before.value() + (ready - before.value()) * taken;
        }
    }

    /// Share of an op's reads that the L1 serves.
    double l1_hits(const Op& op) {
        const double own = own_hits(op, 1.0);
        if (op.cls != InstructionClass::ld_global || op.access_count != 1) return own;
        return own + (1.0 - own) * neighbours_.found(op.first_access);
    }

    /// The loads under way have arrived.
    void drain() {
        batch_.drain();
        asked_.clear();
        for (std::uint8_t& seen : seen_) {
            if (seen == asked_for) seen = arrived;
        }
    }

    /// Whether all that the item has touched of an access's buffer is still under way. Warps that find such
    /// lines in the L1 wait for them like those that asked first.
    [[nodiscard]] bool comes_together(const Op& op) const {
        return loops_around_ == 0 && op.cls == InstructionClass::ld_global && op.access_count == 1 &&
               kernel_.accesses[op.first_access].reuse > 0 &&
               seen_[static_cast<std::size_t>(kernel_.accesses[op.first_access].buffer)] != arrived;
    }

    /// Share of a loop's warps that find the line in the L1 while it is under way, since another warp of the
    /// CTA has asked for it in the same trip.
    [[nodiscard]] double under_way_here(const Op& op) {
        if (loops_around_ == 0 || role_->warps < 2 || op.cls != InstructionClass::ld_global ||
            op.access_count != 1)
            return 0.0;
        const Access& access = kernel_.accesses[op.first_access];
        if (access.reuse == 0) return 0.0;
        const kernel::Reuse& reuse = kernel_.reuse[access.reuse - 1U];
        const double asking = std::max(1e-9, 1.0 - reuse.whole.back());
        return reuse.together * machine::wait_of_followers(1.0 + reuse.together / asking,
                                                           machine::spread_of_round(own_loads_, gpu_),
                                                           gpu_.latency.l1, load_latency_);
    }

    /// Share of an op's warps that do not wait for the L2: those that find so many lines in the L1.
    double warps_served(const Op& op, double lines, double asked_beside = 0.0) {
        const double own =
            comes_together(op) ? 0.0 : std::max(0.0, own_hits(op, lines) - under_way_here(op) - asked_beside);
        if (op.cls != InstructionClass::ld_global || op.access_count != 1) return own;
        const double found = neighbours_.found_at_once(op.first_access);
        // Scattered lines are found one by one, lines of the same slice together.
        const bool scattered = is_scattered(kernel_.accesses[op.first_access]);
        return own + (1.0 - own) * (scattered ? std::pow(found, lines) : found);
    }

    /// Whether two ops need the same ops.
    [[nodiscard]] bool needs_the_same(const Op& one, const Op& other) const {
        const auto theirs = kernel_.deps_of(other);
        auto next = theirs.begin();
        for (const kernel::Dep& dep : kernel_.deps_of(one)) {
            if (!(next != theirs.end()) || !(*next == dep)) return false;
            ++next;
        }
        return !(next != theirs.end());
    }

    /// Share of the warps in which loads before this one, of places beside its own and still under way, have
    /// not found what they ask for. A row's next sector is opened by one of a trip's loads: each misses now
    /// and then, and the warp waits for all of them. Notes the load's own share.
    double asked_beside(const Op& op, double lines) {
        if (op.cls != InstructionClass::ld_global || op.access_count != 1) return 0.0;
        const Access& access = kernel_.accesses[op.first_access];
        if (access.reuse == 0 || batch_.drained()) return 0.0;
        const auto same = [&](const AskedTogether& other) {
            return kernel_.accesses[other.op->first_access].buffer == access.buffer &&
                   needs_the_same(op, *other.op);
        };
        const double missing = 1.0 - own_hits(op, lines);
        const auto found = std::find_if(asked_.begin(), asked_.end(), same);
        if (found == asked_.end()) {
            asked_.push_back({&op, missing});
            return 0.0;
        }
        return std::exchange(found->missing, found->missing + missing);
    }

    /// Share of reads, or of warps that find `lines` lines, by what the item itself has read before.
    double own_hits(const Op& op, double lines) {
        if (!machine::may_hit_l1(kernel_, op)) {
            return 0.0;
        }
        if (l1_room_ < 0.0) {
            l1_room_ = machine::l1_room(kernel_, gpu_);
        }
        return machine::l1_hit_share(
            kernel_, op,
            {free_, static_cast<double>(role_->warps * role_->instances), lanes_ * enabled_, l1_room_,
             gpu_.l1.line.value(), gpu_.cache.ways.value()},
            lines);
    }

    bool runs_ahead(const Op& op) {
        return op.cls == InstructionClass::ld_local && role_->warps > 1 &&
               local_.runs_ahead(kernel_, op, l1_hits(op), l1_room_);
    }

    /// True if an op of the same trip needs this op's result.
    bool waited_for(std::size_t id) {
        if (waited_for_.size() == 0) {
            waited_for_.reset(kernel_.ops.size());
            machine::mark_waited_for(kernel_, std::span(waited_for_.begin(), waited_for_.size()));
        }
        return waited_for_[id];
    }

    /// Share of a buffer that reads in order, before this place in the code, have brought into the L2.
    [[nodiscard]] double covered_before(kernel::Id buffer) const {
        const auto b = static_cast<std::size_t>(buffer);
        const machine::BufferTraffic& use = result_.buffers[b];
        const double whole = static_cast<double>(kernel_.buffers[b].elements()) *
                             static_cast<double>(hw::bytes_of(kernel_.buffers[b].dtype));
        const double in_order =
            (use.read_bytes - use.scattered.read) * static_cast<double>(kernel_.schedule.item_count());
        return whole > 0.0 ? std::clamp(in_order / whole, 0.0, 1.0) : 0.0;
    }

    /// Whether places of a buffer follow from loaded values.
    bool places_loaded(kernel::Id buffer) {
        if (loaded_places_.empty()) loaded_places_ = kernel::places_from_loads(kernel_);
        return loaded_places_[static_cast<std::size_t>(buffer)];
    }

    Cycles wait_of(const Op& op) const {
        return machine::wait_for_last(kernel_, op, batch_.loads() + 1, load_latency_, pieces_, gpu_);
    }

    /// Share of an access's bytes that nothing the CTA has touched before has brought into the L2.
    [[nodiscard]] double new_to_cta(const Access& access) {
        if (access.reuse == 0) return 1.0;
        const double beside = kernel_.reuse[access.reuse - 1U].beside;
        return std::max(0.0, 1.0 - kept_in_l2(kernel_, access, room_in_l2()) - beside);
    }

    /// CTAs of the whole chip at a time.
    [[nodiscard]] double ctas_at_work() const {
        return std::min(static_cast<double>(kernel_.schedule.item_count()),
                        gpu_.sm.count.value() * static_cast<double>(resident_));
    }

    [[nodiscard]] double room_in_l2() {
        if (l2_room_ < 0.0) l2_room_ = l2_room(kernel_, resident_, gpu_);
        return l2_room_;
    }

    /// Largest share of the loads of one of nodes [first, last) that bring lines for their CTA alone. Loads
    /// of which half do are as often one of two that go together.
    [[nodiscard]] double own_loads(std::size_t first, std::size_t last) {
        double most = 0.0;
        for (std::size_t n = first; n < last && waits_.size() > 0; ++n) {
            if (kernel_.nodes[n].kind != NodeKind::op) continue;
            const Op& op = kernel_.ops[kernel_.nodes[n].payload];
            if (op.cls != InstructionClass::ld_global || op.access_count != 1) continue;
            const Access& access = kernel_.accesses[op.first_access];
            if (access.buffer == kernel::no_id) continue;
            const LoadWaits& waits = waits_[static_cast<std::size_t>(access.buffer)];
            most = std::max(most, (2.0 * std::min(waits.first, waits.fresh) - 1.0) * new_to_cta(access));
        }
        return most;
    }

    /// Share of the wait for DRAM that is left to CTAs of a loop that are not the first to ask for a line.
    [[nodiscard]] double followed(const LoadWaits& waits, const Cycles& near, const Cycles& far) const {
        return machine::wait_of_followers(1.0 / std::max(1e-9, waits.first),
                                          machine::spread_of_round(own_loads_, gpu_), near, far);
    }

    /// Latency of a load that misses the L1 and finds some of its bytes in the L2. The first CTA to ask for a
    /// line waits for DRAM. In a loop, those who follow wait with it. Straight code is passed once, and the
    /// CTAs of an SM are at different places of it; one of them asks while the line is under way.
    Cycles beyond_l1(const Op& op, double hits) {
        const Cycles all = load_latency_ + wait_of(op);
        if (waits_.size() == 0 || op.access_count != 1) return all;
        const Access& access = kernel_.accesses[op.first_access];
        if (access.pattern == kernel::PatternKind::chase || access.buffer == kernel::no_id) return all;
        const LoadWaits& waits = waits_[static_cast<std::size_t>(access.buffer)];
        // Bytes that the CTA has touched before are in the L2 even where the L1 no longer holds them.
        const double fresh = std::min(1.0, new_to_cta(access) / std::max(1e-9, 1.0 - hits));
        double first = std::min(waits.first, fresh);
        bool in_step = true;
        const bool apart = is_scattered(access);
        if (apart) {
            // A warp waits for DRAM if any of its lines comes from there.
            const double lines = machine::touch_of(kernel_, access, op.active, pieces_).lines * (1.0 - hits);
            first = 1.0 - std::pow(1.0 - first, std::max(1.0, lines));
            in_step = !places_loaded(access.buffer);
            if (!in_step) first *= 1.0 - covered_before(access.buffer);
        }
        const Cycles near = std::min(gpu_.latency.l2_far, all);
        const double behind = std::max(0.0, fresh - first);
        const double alone = 1.0 / static_cast<double>(std::max<std::int64_t>(1, resident_));
        const double follow = loops_around_ == 0 || apart ? alone : followed(waits, near, all);
        const double under_way = in_step ? behind * follow : 0.0;
        return near + (all - near) * (waits.fresh * (first + under_way));
    }

    /// Whether a load before has brought the line of an atomic: it reads the same buffer, and both addresses
    /// need the same op.
    [[nodiscard]] bool loaded_before(const Op& op) const {
        const kernel::Id buffer = kernel_.accesses[op.first_access].buffer;
        for (const kernel::Dep& at : kernel_.deps_of(op)) {
            if (at.op < 0 || at.distance > 0) continue;
            for (std::size_t other = first_op_; other < static_cast<std::size_t>(&op - kernel_.ops.data());
                 ++other) {
                const Op& load = kernel_.ops[other];
                if (load.cls != InstructionClass::ld_global || load.access_count != 1 ||
                    kernel_.accesses[load.first_access].buffer != buffer)
                    continue;
                for (const kernel::Dep& dep : kernel_.deps_of(load)) {
                    if (dep.op == at.op && dep.distance == 0) return true;
                }
            }
        }
        return false;
    }

    /// Way of an atomic to its line and back. Of the items that add to the same places, one finds them in
    /// DRAM.
    Cycles atomic_load(const Op& op) const {
        if (op.access_count != 1) return load_latency_;
        const Cycles near = std::min(gpu_.latency.l2_far, load_latency_);
        if (loaded_before(op)) return near;
        const kernel::AccessOrigin origin = kernel::origin_of(kernel_, kernel_.accesses[op.first_access]);
        const kernel::Schedule& schedule = kernel_.schedule;
        const auto same = [](bool along, std::int64_t items) {
            return along ? 1.0 : 1.0 / static_cast<double>(std::max<std::int64_t>(1, items));
        };
        const double first =
            same(origin.along_m, schedule.tiles[0]) * same(origin.along_n, schedule.tiles[1]) *
            same(origin.along_batch, schedule.tiles[2]) * same(origin.along_split, schedule.split_k);
        // A small buffer's lines come once, however often a warp goes round.
        double turns = 1.0;
        for (std::size_t d = 0; d < static_cast<std::size_t>(loops_around_); ++d)
            turns *= free_.loop[d] + 1.0;
        const kernel::Buffer& buffer =
            kernel_.buffers[static_cast<std::size_t>(kernel_.accesses[op.first_access].buffer)];
        const double lines = std::ceil(static_cast<double>(buffer.bytes()) / gpu_.l1.line.value());
        return near + (load_latency_ - near) * std::min(first, lines / turns);
    }

    Cycles latency_of(const Op& op) {
        const hw::InstructionCost& cost = gpu_.instructions[op.cls];
        if (hw::is_group_product(op.cls)) {
            return Cycles(machine::tensor_core_cycles(op, 1.0, 4, gpu_).value()) + cost.latency;
        }
        if (machine::is_asynchronous_copy(op.cls)) return Cycles{};
        // A reduction takes the way of an atomic; only a look at its word waits for it.
        const bool looked_at = op.cls == InstructionClass::red_global && op.access_count == 1 &&
                               waited_for(static_cast<std::size_t>(&op - kernel_.ops.data()));
        if (op.cls == InstructionClass::atom_global || looked_at) {
            return machine::atomic_latency(kernel_, op, atomic_load(op), gpu_);
        }
        if (machine::is_load(op.cls)) {
            // A warp waits for the latency of a miss if any line of the warp misses.
            double share = warps_served(op, 1.0);
            if (share > 0.0) {
                const Access& access = kernel_.accesses[op.first_access];
                const double lines = machine::touch_of(kernel_, access, op.active, pieces_).lines;
                share = warps_served(op, lines, asked_beside(op, lines));
            }
            const double hit = share;
            if (runs_ahead(op)) return gpu_.latency.l1 + machine::texture_latency(kernel_, op, gpu_);
            if (op.cls == InstructionClass::ld_local && machine::loads_elements(kernel_))
                return machine::local_behind_elements(kernel_, op, share, resident_, load_latency_, gpu_);
            // A word that is waited for comes between two looks: half a look late on average.
            if (static_cast<kernel::Id>(&op - kernel_.ops.data()) == kernel_.hand_overs.wait)
                return std::min(load_latency_, gpu_.latency.l2_far) * 1.5;
            const Cycles missed =
                machine::left_in_l2(kernel_, op) || machine::written_by_others(kernel_, op)
                    ? std::min(load_latency_, gpu_.latency.l2_far)
                    : beyond_l1(op,
                                comes_together(op) || 0.0 < under_way_here(op) ? own_hits(op, 1.0) : share);
            return missed * (1.0 - hit) + gpu_.latency.l1 * hit + machine::texture_latency(kernel_, op, gpu_);
        }
        const Cycles found = machine::latency_in_sm(op, kernel_, result_.warps, gpu_);
        const double addresses = machine::constant_addresses(kernel_, op);
        const double missed =
            machine::constants_missed(kernel_, op, gpu_) * static_cast<double>(op.count) * addresses;
        if (addresses > 1.0) {
            // Other lanes' addresses are served behind the first, and lines that the nearest cache lacks come
            // one after another.
            return found + machine::constant_cycles(kernel_, op, gpu_) - gpu_.l1.constant_interval +
                   std::max(Cycles{}, gpu_.latency.constant - found) * missed;
        }
        if (!(missed > 0.0)) return found;
        // Loads of constants that are under way together walk along one line: any of them may begin it.
        constants_missed_ = std::min(1.0, constants_missed_ + missed);
        return found + std::max(Cycles{}, gpu_.latency.constant - found) * constants_missed_;
    }

    /// When a warp may issue further plain loads. Counts waits for loads that went out together. Loads that
    /// follow into freed room overlap with loads still under way and add no wait.
    Cycles room_for_loads(const Op& op, double times) {
        times *= enabled_;
        if (batch_.drained()) {
            part_->load_rounds += times * (1.0 - warps_served(op, 1.0));
            part_->load_turns += times;
            if (part_ == &result_.loop && runs_ahead(op)) local_.wait(times);
        }
        return batch_.room(machine::limited_bytes(kernel_, op, lanes_ * enabled_ * lanes_per_warp), gpu_);
    }

    /// Whether a unit of arithmetic on registers serves an op; barriers, copies and stores only wait.
    [[nodiscard]] bool computes(const Op& op) const {
        const hw::Unit unit = gpu_.instructions[op.cls].unit;
        return unit == hw::Unit::fp32 || unit == hw::Unit::fp64 || unit == hw::Unit::fp16 ||
               unit == hw::Unit::integer || unit == hw::Unit::sfu || unit == hw::Unit::shuffle;
    }

    /// In-order issue of one warp. An op starts when the op before has issued and its own inputs are there.
    void step(std::size_t id, const Op& op, double times, Cycles& issued, Cycles& done) {
        Cycles start = issued;
        const bool waits = machine::is_load(op.cls) && !machine::is_asynchronous_copy(op.cls);
        Cycles loaded{};  // when the loads that the op waits for have arrived
        bool shared = false;
        for (const kernel::Dep& dep : kernel_.deps_of(op)) {
            // Results from before the loop are complete when the loop begins.
            if (dep.distance == 0 && dep.op >= 0 && static_cast<std::size_t>(dep.op) >= first_op_) {
                const Op& from = kernel_.ops[static_cast<std::size_t>(dep.op)];
                const InstructionClass before = from.cls;
                const Cycles there = Cycles(complete_[static_cast<std::size_t>(dep.op)]) -
                                     machine::sooner_for(from, op.cls, gpu_);
                shared = shared || (machine::is_shared(before) && issued < there);
                result_.uses_products = result_.uses_products || (part_ == &result_.loop && computes(op) &&
                                                                  machine::is_matrix(before));
                if (before == InstructionClass::ld_constant) constants_missed_ = 0.0;
                if (machine::is_load(before)) {
                    loaded = std::max(loaded, there);
                    drain();
                } else {
                    start = std::max(start, there);
                }
            }
        }
        if (shared) part_->shared_turns += times * enabled_;
        if (start < loaded) {
            waited_ += loaded - start;
            start = loaded;
        }
        const Cycles inputs = start;
        if (waits) start = std::max(start, room_for_loads(op, times));
        if (op.cls == InstructionClass::fence) start = stores_.arrived(std::max(start, done), gpu_);
        const hw::InstructionCost& cost = gpu_.instructions[op.cls];
        start = units_.begin(cost.unit, start);
        // Additions go the fence's own way ahead of it, and are done when it comes back.
        const bool adds = op.cls == InstructionClass::red_global || op.cls == InstructionClass::atom_global;
        if (Cycles{} < sent_ && !adds) {
            const bool kept = kernel_.hand_overs.wait != kernel::no_id &&
                              op.cls == InstructionClass::st_global && op.access_count == 1 &&
                              kernel_.accesses[op.first_access].cache == kernel::CachePolicy::cg;
            stores_.add(start, sent_, op.cls == InstructionClass::cp_async_bulk_store, kept);
        }
        const double count = static_cast<double>(op.count);
        const Cycles interval = machine::issue_interval(op, kernel_, gpu_);
        Cycles interval_of_warp = interval;
        Cycles held = interval;  // by the last pass of the op
        Cycles arrival{};        // time from a load's first byte to its last, through the SM's port
        if (waits && op.access_count == 1 && op.cls == InstructionClass::ld_global) {
            const Access& access = kernel_.accesses[op.first_access];
            if (access.pattern != kernel::PatternKind::collective && machine::is_global(kernel_, access)) {
                const machine::LaneTouch touch = machine::touch_of(kernel_, access, op.active, pieces_);
                const double hits = l1_hits(op);
                const double bytes = touch.sectors * gpu_.l1.sector.value() * (1.0 - hits);
                arrival = machine::crossbar_read_cycles(bytes, gpu_) * count;
                const Cycles path = machine::path_cycles(
                    touch.lines * (1.0 - hits) + machine::hit_cycles(touch, gpu_) * hits, gpu_);
                interval_of_warp = std::max(interval, path);
                // The last of several passes is under way once the pass before has gone through.
                if (machine::path_cycles(1.0, gpu_) < path) held = machine::path_cycles(1.0, gpu_);
            }
        }
        if (machine::is_shared(op.cls) && !machine::moves_matrices(op) && op.access_count == 1) {
            const Access& access = kernel_.accesses[op.first_access];
            const bool atomic = access.direction == kernel::Direction::atomic;
            if (access.pattern != kernel::PatternKind::collective && access.buffer != kernel::no_id) {
                // Loads wait for their turn at the sub-partition's path to the banks. Stores queue at that
                // path and let the warp go on. Additions of one without the old value are counted there.
                const Cycles path =
                    machine::path_cycles(machine::shared_passes(op, access, kernel_, gpu_), gpu_);
                if (op.cls == InstructionClass::st_shared || (!atomic && !waited_for(id))) {
                    path_busy_ += path * (count * enabled_);
                } else if (!atomic || op.returns) {
                    interval_of_warp = std::max(interval, path);
                }
            }
        }
        if (machine::moves_matrices(op) && !waited_for(id)) {
            path_busy_ += interval * (count * enabled_);
            interval_of_warp = Cycles(1.0);
        }
        if (op.cls == InstructionClass::ld_shared_cluster && machine::goes_to_peers(kernel_, op)) {
            interval_of_warp = std::max(interval, machine::peer_load_interval(kernel_, op, gpu_));
        }
        if (enabled_ < 1.0) {
            // An execution that no lane's predicate enables takes its issue slots and nothing else.
            interval_of_warp = interval + (interval_of_warp - interval) * enabled_;
            arrival = arrival * enabled_;
        }
        runs_.issue(op, issued < start, interval_of_warp, times, gpu_, *part_);
        issued = start + interval_of_warp * (count * cost.machine.value());
        if (hw::is_group_product(op.cls))
            machine::queue_products(op, role_->warps, gpu_, issued, part_->queued);
        if (part_ == &result_.loop && !(Cycles{} < result_.copy_issue) && machine::moves_matrices(op)) {
            result_.others_read +=
                machine::others_read(kernel_, op, role_->warps, interval_of_warp * count, gpu_);
        }
        // The latency counts from the issue of the last instruction, which holds its unit for an interval.
        const Cycles last = std::max(issued - held, start + arrival);
        Cycles end =
            std::max(issued, last + latency_of(op) * (enabled_ * static_cast<double>(std::max<std::int64_t>(
                                                                     1, std::min(op.chain, op.count)))));
        Cycles queued{};
        if (machine::is_matrix(op.cls)) {
            // All warps of the role multiply at the same time. Each warp waits until the tensor cores have
            // served all.
            const int warps = role_->warps * (role_->alternate ? 1 : role_->instances);
            const Cycles served = machine::tensor_core_cycles(op, static_cast<double>(op.count), warps, gpu_);
            end = std::max(end, start + served);
            if (hw::is_group_product(op.cls)) queued = served;
            if (part_ == &result_.loop && machine::in_series(op)) result_.multiplied = end - start;
        }
        if (part_ == &result_.loop && op.cls == InstructionClass::add_f32) {
            result_.multiplied =
                machine::behind_products(kernel_, op, end - start, gpu_).value_or(result_.multiplied);
        }
        if (op.cls == InstructionClass::fence || op.cls == InstructionClass::cluster_barrier ||
            op.cls == InstructionClass::nanosleep) {
            issued = end;
        }
        issued = units_.pass(op.cls, cost.unit, start, issued, interval_of_warp);
        if (waits && op.access_count == 1 && machine::in_narrow_rows(kernel_.accesses[op.first_access])) {
            machine::wait_for_rows(kernel_, op, role_->warps, start, load_latency_, gpu_, issued, end);
        }
        // Instructions behind a branch are fetched only after the branch has been taken.
        if (op.cls == InstructionClass::branch) issued = end;
        complete_[id] = end.value();
        hand_over_.note(id, start, issued, end);
        if (carried_.described) {
            const bool loads = machine::is_load(op.cls);
            carried_.note(
                {id, id + 1, start - inputs, issued - start, end - start, issued, Cycles{}, loads, queued});
        }
        if (waits && op.access_count == 1 && kernel_.accesses[op.first_access].buffer != kernel::no_id) {
            std::uint8_t& seen = seen_[static_cast<std::size_t>(kernel_.accesses[op.first_access].buffer)];
            seen = std::max(seen, asked_for);
        }
        // Room comes with the first pieces, not with the last.
        if (waits) batch_.issued(end - wait_of(op));
        if (pipelines_inside() && op.cls == InstructionClass::cp_async)
            groups_.copied(issued, beyond_l1(op, 0.0) + gpu_.latency.cp_async_l2, brought_);
        if (machine::is_asynchronous_copy(op.cls) && part_ == &result_.loop && !pipelines_inside()) {
            result_.copy_issue = std::max(result_.copy_issue, issued);
            if (!carried_.described) count_copies(kernel_, op, result_);
        }
        // A barrier that most CTAs go past, as the last one's own, ends nobody's stretch.
        constexpr double mostly = 0.5;
        if (op.cls == InstructionClass::bar_sync && loops_around_ == own_depth_ && times > 0.0 &&
            taken_ > mostly)
            stretches_.meet(issued, issued, waited_, times, *part_);
        const bool fire_and_forget =
            op.cls == InstructionClass::st_global || op.cls == InstructionClass::red_global || !op.returns ||
            op.cls == InstructionClass::st_shared || op.cls == InstructionClass::stmatrix ||
            machine::is_asynchronous_copy(op.cls);
        done = std::max(done, fire_and_forget ? issued : end);
    }

    void add_op(const Op& op, double times) {
        const kernel::Role& role = *role_;
        const int copies = role.alternate ? 1 : role.instances;
        const double warps = static_cast<double>(role.warps) * copies;
        const hw::InstructionCost& cost = gpu_.instructions[op.cls];
        role_copies_ = role_copies_ || machine::is_asynchronous_copy(op.cls);
        role_multiplies_ = role_multiplies_ || machine::is_matrix(op.cls);
        role_loads_ = role_loads_ || machine::is_load(op.cls);
        role_stages_ = role_stages_ || machine::is_shared(op.cls);
        part_->code += static_cast<double>(op.count) * cost.machine.value();
        const double executions = times * static_cast<double>(op.count);
        if (op.cls == InstructionClass::branch) part_->branches += executions;
        const double instructions = executions * warps * cost.machine.value();
        part_->instructions += instructions;
        machine::add_issue(op, executions, role.warps * copies, gpu_, part_->demand);
        if (machine::is_meeting(op.cls)) {
            part_->demand[machine::Server::barrier] += cost.interval * (executions * warps);
        }
        if (cost.unit != Unit::none && machine::server_of(cost.unit) != machine::Server::issue) {
            // Slow units leave the registers enough time.
            const double turns = std::max(1.0, machine::operand_turns(op, gpu_) / cost.interval.value());
            part_->demand[machine::server_of(cost.unit)] +=
                machine::arithmetic_cycles(instructions * turns, role.warps * copies, resident_, cost, gpu_);
        }
        add_enabled(op, times * enabled_, warps);
    }

    /// What the enabled executions of an op ask for, beyond issue slots and its arithmetic unit.
    void add_enabled(const Op& op, double times, double warps) {
        if (times <= 0.0) return;
        const kernel::Role& role = *role_;
        const int copies = role.alternate ? 1 : role.instances;
        const double executions = times * static_cast<double>(op.count);
        switch (op.cls) {
            case InstructionClass::wgmma:
            case InstructionClass::tcgen05_mma:
            case InstructionClass::mma_sync:
                machine::add_matrix(op, executions, role.warps * copies, gpu_, *part_);
                result_.uses_tensor = true;
                result_.tensor_dtype = op.dtype;
                break;
            case InstructionClass::fma_f32:
            case InstructionClass::fma_f64:
                part_->flop += 2.0 * executions * warps * lanes_per_warp * op.active * lanes_;
                break;
            default:
                break;
        }
        if (op.cls == InstructionClass::ld_constant) {
            part_->demand[machine::Server::constants] +=
                machine::constant_cycles(kernel_, op, gpu_) * (executions * warps);
        }
        if (op.texture != kernel::TextureUse::none) {
            part_->demand[machine::Server::texture] +=
                machine::texture_cycles(kernel_, op, gpu_) * (executions * warps);
        }
        if (machine::goes_to_peers(kernel_, op)) {
            part_->demand[machine::Server::cluster] +=
                machine::peer_cycles(kernel_, op, gpu_) * (executions * warps);
        }
        if (op.cls == InstructionClass::atom_shared && op.returns) result_.swaps_shared = true;
        bool shared_known = false;
        for (const Access& access : kernel_.accesses_of(op)) {
            if (machine::is_global(kernel_, access)) {
                add_global(op, access, times, static_cast<int>(warps));
            } else if (machine::is_shared(op.cls) && !machine::moves_matrices(op) &&
                       access.pattern != kernel::PatternKind::collective && access.buffer != kernel::no_id) {
                shared_known = true;
                const double passes = machine::shared_passes(op, access, kernel_, gpu_);
                const Cycles banks(executions * warps * passes);
                part_->demand[machine::Server::shared] += banks;
                if (passes > 1.0) part_->in_passes += banks;
            }
        }
        if (machine::moves_matrices(op)) {
            shared_known = true;
            const machine::MatrixRows rows = machine::matrix_rows(kernel_, op, machine::banks_of(gpu_));
            part_->demand[machine::Server::shared] +=
                machine::shared_cycles(gpu_.shared.banks.value() * gpu_.shared.bank_width.value() *
                                           (executions * warps * rows.passes),
                                       gpu_);
        }
        if (machine::is_shared(op.cls) && !shared_known) {
            part_->demand[machine::Server::shared] +=
                machine::shared_cycles(executions * warps * machine::widest_shared_bytes, gpu_);
        }
    }

    void add_global(const Op& op, const Access& access, double times, int warps) {
        if (access.direction == kernel::Direction::atomic) {
            machine::note_reach(kernel_, op, access, free_,
                                result_.buffers[static_cast<std::size_t>(access.buffer)].reach);
            machine::add_atomic(kernel_, *role_, op, access,
                                times * static_cast<double>(op.count) * warps * lanes_,
                                part_ == &result_.loop ? result_.trips : 1.0, gpu_, *part_,
                                result_.buffers[static_cast<std::size_t>(access.buffer)]);
            return;
        }
        const bool collective = access.pattern == kernel::PatternKind::collective;
        // A box is moved once by the warps that share it. A bulk copy, which one lane issues, is moved by
        // each warp that a branch lets through. Lanes that a divergent warp leaves out move nothing.
        const bool chosen = taken_ < 1.0 && machine::is_bulk(op.cls);
        const kernel::AccessOrigin origin = kernel::origin_of(kernel_, access);
        const double movers =
            collective
                ? static_cast<double>(warps) /
                      (chosen
                           ? 1.0
                           : kernel::box_share(kernel_, *role_, op, access, origin.variables).warps(*role_))
                : static_cast<double>(op.count) * warps;
        const double active = collective ? 1.0 : op.active * lanes_;
        const double executions = times * movers;
        const double sector = gpu_.l1.sector.value();
        const machine::AccessBytes bytes = machine::access_bytes(kernel_, access, origin);
        const bool by_lanes = op.cls == InstructionClass::cp_async && access.cache == kernel::CachePolicy::cg;
        const machine::AccessBytes served = by_lanes ? bytes.on_sectors(sector) : bytes;
        const machine::AccessDemand demand =
            machine::access_demand(kernel_, op, access, bytes, served, pieces_, gpu_, active);
        const machine::LaneTouch& touch = demand.touch;
        double moved = demand.moved;
        double asked = demand.asked;          // bytes asked of the L2's slices
        const double opened = demand.opened;  // bytes opened in DRAM
        const double hits = l1_hits(op);
        moved *= 1.0 - hits;
        asked *= 1.0 - hits;
        machine::BufferTraffic& traffic = result_.buffers[static_cast<std::size_t>(access.buffer)];
        machine::note_dependence(origin, traffic);
        machine::note_reach(kernel_, op, access, free_, traffic.reach);
        const double trips = part_ == &result_.loop ? result_.trips : 1.0;
        const bool straight_strides = access.pattern == kernel::PatternKind::stride && loops_around_ == 0;
        const double lines = executions * touch.lines * gpu_.l1.line.value();
        if (access.direction != kernel::Direction::write) {
            machine::note_local_loads(kernel_, access, traffic);
            // Bytes that another item has brought into the L1 are part of what the item reads.
            const double own = 1.0 - own_hits(op, 1.0);
            traffic.read_bytes += trips * executions * opened * own * access.multicast_ctas;
            if (machine::comes_back(kernel_, access)) {
                traffic.random = traffic.random || access.pattern == kernel::PatternKind::chase;
                traffic.span_bytes += machine::span_bytes(kernel_, op, access, free_, gpu_.l1.line.value());
            }
            if (straight_strides)
                traffic.strided_read_lines = std::max(traffic.strided_read_lines, lines * own);
            if (access.pattern == kernel::PatternKind::listed) {
                const double all = trips * executions;
                machine::note_scattered(kernel_, access, all * touch.lines, all * opened,
                                        all * lanes_per_warp * active * access.bytes, own, pieces_, traffic);
            }
            traffic.fetched_bytes += trips * executions * asked;
            if (access.skew != 1.0 && op.cls == InstructionClass::ld_global) {
                traffic.fullest += machine::l2_cycles(hw::Bytes(asked * machine::slice_visits(gpu_)), gpu_) *
                                   (trips * executions * access.skew);
            }
            if (access.reuse > 0 && op.cls == InstructionClass::ld_global) {
                const kernel::Reuse& reuse = kernel_.reuse[access.reuse - 1U];
                const double lost = reuse.sectors.back() - kept_in_l2(kernel_, access, room_in_l2());
                traffic.lost_bytes += trips * executions * std::min(touch.sectors * sector * lost, moved);
            }
            if (op.cls == InstructionClass::ld_local) {
                traffic.lost_bytes += trips * executions * opened * own *
                                      (1.0 - machine::kept_of_local(kernel_, access, ctas_at_work(), gpu_));
            }
            traffic.sectors_read += trips * executions * moved / sector;
            traffic.multicast = traffic.multicast || access.multicast_ctas > 1;
            traffic.in_rows = traffic.in_rows ||
                              (bytes.rows > 1.0 && bytes.row_bytes < static_cast<double>(bytes.pitch_bytes));
            const double received = executions * moved * access.multicast_ctas;
            part_->received_bytes += executions * moved * access.multicast_ctas;
            part_->fetched_bytes += executions * moved;
            // Clusters of CTAs were fitted with the rate of loads (gemm_bf16, gemm_fp8).
            const bool boxes = op.cls == InstructionClass::cp_async_bulk_tensor &&
                               kernel_.cluster.volume() == 1 && machine::boxes_of_lines(kernel_, gpu_);
            part_->demand[machine::Server::crossbar_read] +=
                boxes ? machine::crossbar_box_cycles(received, gpu_)
                      : machine::crossbar_read_cycles(received, gpu_);
        }
        if (access.direction != kernel::Direction::read) {
            const double sent = executions * (1.0 - access.joined) * demand.sent;
            if (access.skew != 1.0 && op.cls == InstructionClass::st_global) {
                traffic.fullest += machine::l2_ingest_cycles(hw::Bytes(demand.sent), gpu_) *
                                   (trips * executions * access.skew);
            }
            if (!collective) part_->global_passes += Cycles(machine::store_passes(touch) * executions);
            const double written = std::min(demand.useful, bytes.inside);
            const double counted = collective ? written : demand.touch.sectors * sector;
            machine::add_stores(executions, written, counted * (1.0 - access.joined), sent, trips, gpu_,
                                *part_, traffic);
            traffic.looked_up_bytes += trips * executions * (1.0 - access.joined) * demand.looked_up;
            if (straight_strides)
                traffic.strided_written_lines = std::max(traffic.strided_written_lines, lines);
            if (!collective) {
                machine::note_scattered_writes(kernel_, access, trips * executions * touch.lines,
                                               trips * executions * touch.sectors, gpu_, traffic);
            }
            if (!collective && op.cls == InstructionClass::st_global)
                machine::note_parted(touch, trips * executions, gpu_, traffic);
            if (access.pattern == kernel::PatternKind::broadcast && op.cls == InstructionClass::st_global)
                note_stores(op, access, demand, trips * executions, traffic.stores);
            result_.boxes_stored = executions;
            result_.sent_per_stored = demand.padded;
            if (op.cls == InstructionClass::st_local) {
                if (access.reuse > 0) {
                    // Sectors leave the L2 whole.
                    const double stored = trips * executions * touch.sectors * sector;
                    const double again = stored * machine::stored_again(kernel_, access);
                    traffic.again_bytes += again;
                    const double lost =
                        again - stored * machine::kept_of_local(kernel_, access, ctas_at_work(), gpu_);
                    traffic.again_lost += lost;
                    const double piece = gpu_.dram.access_bytes.value();
                    if (is_scattered(access)) {
                        traffic.again_apart += lost * piece / sector *
                                               machine::lone_share(touch.sectors * sector / touch.lines,
                                                                   piece, gpu_.l1.line.value());
                    }
                }
                part_->demand[machine::Server::l1] += machine::local_store_cycles(sent, gpu_);
                if (part_ == &result_.loop) local_.store(sent, stores_.slowdown(), gpu_);
            }
        }
        if (machine::is_asynchronous_copy(op.cls)) {
            result_.asynchronous = result_.asynchronous || !pipelines_inside();
            // Such copies ask the L2 for the whole line, which PTX writes as .L2::128B.
            if (machine::in_narrow_rows(access)) traffic.brought_bytes = gpu_.l1.line.value();
            if (bytes.continued) {
                const kernel::Buffer& buffer = kernel_.buffers[static_cast<std::size_t>(access.buffer)];
                const auto on = static_cast<double>(access.window * hw::bytes_of(buffer.dtype));
                traffic.trip_bytes = std::max(bytes.row_bytes, on);
            }
            // Lanes' copies take turns with reads by ldmatrix and by several warpgroups. Bulk copies do not.
            const bool bulk = op.cls != InstructionClass::cp_async;
            // Bytes that a lane copies in pieces land in banks that other lanes write, too.
            const double pieces =
                machine::in_narrow_rows(access) ? machine::copy_pieces(kernel_, access) : 1.0;
            const Cycles write = machine::shared_cycles(
                executions * active * bytes.full * pieces * access.multicast_ctas, gpu_);
            part_->demand[bulk || tensor_cores_read_ ? machine::Server::shared_write
                                                     : machine::Server::shared] += write;
            if (!bulk && tensor_cores_read_ && warps > 4)
                part_->demand[machine::Server::shared] += write * gpu_.shared.copy_share.value();
            if (bulk)
                machine::add_box_copies(kernel_, access, bytes, executions, trips, gpu_, *part_, traffic);
        }
        if (op.cls == InstructionClass::cp_async && collective && !machine::in_narrow_rows(access)) {
            machine::add_lane_copies(access, executions * served.rows, served.row_bytes, served.pitch_bytes,
                                     trips, tensor_cores_read_, gpu_, *part_, traffic);
        } else if (machine::is_load(op.cls) && op.cls != InstructionClass::cp_async_bulk &&
                   op.cls != InstructionClass::cp_async_bulk_tensor) {
            if (machine::in_narrow_rows(access)) {
                through_array_ = true;
                result_.gathers = result_.gathers || machine::gathers(kernel_, access);
                part_->demand[machine::Server::l1] += machine::l1_row_cycles(kernel_, op, access, gpu_) *
                                                      (times * static_cast<double>(op.count) * warps);
            } else if (collective || !machine::is_taken_by_line(op, access)) {
                // Where the loop copies asynchronously, loads before and behind it leave its array alone.
                if (collective && op.cls == InstructionClass::ld_global) {
                    (part_ == &result_.loop ? through_array_ : beside_loop_) = true;
                }
                part_->demand[machine::Server::l1] +=
                    machine::l1_cycles(times * static_cast<double>(op.count) * warps, gpu_);
            } else {
                const double loads = times * static_cast<double>(op.count) * warps;
                if (!machine::is_asynchronous_copy(op.cls)) {
                    const double pending = lines_under_way();
                    const double places = loads * touch.lines * (1.0 - hits) / pending;
                    const machine::HeldPlace held = held_place(op, access, pending);
                    part_->pending += held.alone * places;
                    part_->pending_queued += held.queued * places;
                }
                const double cycles = machine::line_load_cycles(touch, access.bytes, hits, gpu_, active);
                part_->demand[machine::Server::l1] += Cycles(cycles * loads);
                part_->global_passes +=
                    Cycles(machine::load_passes(touch, access.bytes, hits, gpu_, active) * loads);
            }
        }
    }

    /// Lines that all CTAs of the SM together can have under way.
    double lines_under_way() {
        if (!(0.0 < lines_under_way_)) {
            const double room = machine::l1_of_sm(kernel_, gpu_);
            lines_under_way_ = machine::pending_lines(room, gpu_);
        }
        return lines_under_way_;
    }

    /// Time that a line of a load keeps one of the L1's places.
    [[nodiscard]] machine::HeldPlace held_place(const Op& op, const Access& access, double pending) const {
        const Cycles near = std::min(gpu_.latency.l2_far, load_latency_);
        if (machine::left_in_l2(kernel_, op)) return {near, {}};
        double lost = 1.0;
        if (waits_.size() > 0) {
            const LoadWaits& waits = waits_[static_cast<std::size_t>(access.buffer)];
            lost = waits.first * waits.fresh;
        }
        return machine::held_place(pending, lost, is_scattered(access), near, load_latency_, gpu_);
    }

    /// Adds `executions` of an item's store of one word to what the slices take in for its buffer: flags
    /// that many warps raise. Places of other stores may be described loosely.
    void note_stores(const Op& op, const Access& access, const machine::AccessDemand& demand,
                     double executions, machine::StoreTraffic& stores) {
        const double concurrent = std::min(static_cast<double>(kernel_.schedule.item_count()),
                                           gpu_.sm.count.value() * static_cast<double>(resident_));
        const machine::Window window = machine::window_in_step(kernel_, *role_, op, access, concurrent);
        stores.window = stores.sent > 0.0 ? stores.window.with(window) : window;
        stores.sent += executions * (1.0 - access.joined) * (demand.touch.sectors + demand.touch.parted) *
                       gpu_.l1.sector.value();
    }

    const Kernel& kernel_;
    const hw::Gpu& gpu_;
    Cycles load_latency_;
    const WaitsByBuffer& waits_;
    Followed followed_;
    std::int64_t resident_;
    double lines_under_way_ = 0.0;   ///< 0 until known
    double constants_missed_ = 0.0;  ///< share of the loads of constants under way that wait for a line
    double l2_room_ = -1.0;          ///< negative until known
    double own_loads_ = 0.0;         ///< own_loads of the loop that is being added
    kernel::Coordinates item_;
    double beyond_typical_;
    machine::MemoryPieces pieces_;
    ItemDemand& result_;
    machine::Part* part_ = nullptr;
    const kernel::Role* role_ = nullptr;
    int first_warp_ = 0;        ///< first warp of the role within the CTA
    std::size_t first_op_ = 0;  ///< first op of the loop that is being added
    double lanes_ = 1.0;        ///< share of active lanes in the branches around
    double taken_ = 1.0;        ///< share of the warps that take the branches around
    kernel::Freedom free_{};
    bool through_array_ = false;
    bool beside_loop_ = false;        ///< boxes are loaded before or behind the loop
    bool tensor_cores_read_ = false;  ///< the tensor cores read shared memory without the load and store unit
    double l1_room_ = -1.0;           ///< -1 until it is worked out
    HandOverTime hand_over_{kernel_};
    machine::Neighbours neighbours_;
    static constexpr std::uint8_t asked_for = 1, arrived = 2;
    /// Loads under way of places beside one another, by the first of them.
    struct AskedTogether {
        const Op* op = nullptr;
        double missing = 0.0;  ///< sum of the shares of warps that do not find what the loads ask for
    };
    std::vector<AskedTogether> asked_;
    hw::SmallVector<std::uint8_t, 16> seen_;  ///< by buffer: whether plain loads of it have been issued
    int loops_around_ = 0;
    machine::LoadBatch batch_;
    machine::StoreDrain stores_;
    Stretches stretches_;
    int own_depth_ = 0;  ///< loops around the part's own ops
    machine::UnitQueue units_;
    machine::LocalLoop local_;
    machine::IssueRuns runs_;
    Cycles sent_{};       ///< time at the SM's port of one execution of the current op
    Cycles path_busy_{};  ///< time that the warp's stores in this body hold the path to shared memory
    bool role_copies_ = false;
    bool role_multiplies_ = false;
    bool role_loads_ = false;   ///< the role loads from global memory, asynchronously or not
    bool role_stages_ = false;  ///< the role stages through shared memory
    /// Token of the copies of which the role's main loop fills a pipeline anew in each pass; no_id elsewhere.
    kernel::Id inner_copies_ = kernel::no_id;
    hw::SmallVector<double, usual_ops> complete_;  ///< end of each op in cycles
    hw::SmallVector<bool, usual_ops> waited_for_;  ///< by op; empty until it is asked for
    std::vector<bool> loaded_places_;              ///< by buffer; empty until it is asked for
    Cycles waited_{};                              ///< for plain loads, in the body that is being added
    Cycles busy_{};                                ///< of the units and paths that the last body keeps busy
    Cycles tail_{};                                ///< of the last part: see trip
    Cycles last_chain_{};                          ///< of the last part
    CopyGroups groups_;
    Cycles brought_{};              ///< transfer of the last copy's bytes into the SM
    Cycles longest_role_{};         ///< from a role's first instruction to its last result
    steady::CarriedTrips carried_;  ///< of the loop that is being added
    double enabled_ = 1.0;          ///< share of the executions in which the current op does more than issue
};

}  // namespace
void add_item_demand(const Kernel& kernel, const hw::Gpu& gpu, const Cycles& load_latency,
                     std::int64_t resident, ItemDemand& empty, const WaitsByBuffer& waits, Followed warps) {
    Accumulator(kernel, gpu, load_latency, resident, empty, waits, warps).run();
}

}  // namespace warptime::model::analytical
