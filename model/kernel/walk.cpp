// Runs every warp of a CTA until it blocks, round after round, and sums its events. Ignores and source: see
// the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/walk.hpp"

#include "hw/error.hpp"
#include "model/kernel/body_cursor.hpp"
#include "model/kernel/checks_detail.hpp"
#include "model/kernel/collective.hpp"
#include "model/kernel/matrix_work.hpp"
#include "model/kernel/walk_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warptime::model::kernel {

namespace {

using detail::TokenUser;
using detail::WalkTokens;

constexpr std::int64_t most_events = std::int64_t{1} << 30;

/// One warp on its way through its items.
struct WarpRun {
    WalkPlace place;
    TokenUser user;
    Coordinates at;
    BodyCursor cursor;
    bool in_item = false;
    bool waiting = false;  ///< stands at a wait that has not passed
    bool done = false;
    std::int64_t needed = 0;
    std::vector<std::int64_t> executions;  ///< by op, from the role's first
};

class Walk {
  public:
    Walk(const Kernel& kernel, std::span<const WorkItem> items, WalkVisitor* visitor, std::int64_t rank)
        : kernel_(kernel), items_(items), visitor_(visitor), rank_(rank), tokens_(kernel, warps_of(kernel)) {
        std::int32_t cta_warp = 0;
        for (std::size_t r = 0; r < kernel.roles.size(); ++r) {
            const Role& role = kernel.roles[r];
            for (std::int32_t i = 0; i < role.instances; ++i) {
                for (std::int32_t w = 0; w < role.warps; ++w) {
                    WarpRun run;
                    run.place = {r, i, w, cta_warp, 0, 1.0, 1.0, nullptr};
                    run.user = {static_cast<std::size_t>(cta_warp), i, role.alternate ? 1 : role.instances};
                    run.executions.assign(kernel.ops.size(), 0);
                    runs_.push_back(std::move(run));
                    ++cta_warp;
                }
            }
        }
    }

    void run() {
        count();
        std::size_t left = runs_.size();
        while (left > 0) {
            bool moved = false;
            for (WarpRun& run : runs_) {
                if (!run.done && advance(run)) {
                    moved = true;
                    left -= run.done ? 1U : 0U;
                }
            }
            if (!moved) {
                deadlock();
            }
        }
    }

  private:
    static std::size_t warps_of(const Kernel& kernel) {
        std::size_t warps = 0;
        for (const Role& role : kernel.roles) {
            warps += static_cast<std::size_t>(role.warps) * static_cast<std::size_t>(role.instances);
        }
        return warps;
    }

    [[nodiscard]] bool performs(const WarpRun& run, std::size_t item) const {
        const Role& role = kernel_.roles[run.place.role];
        return !role.alternate || static_cast<std::int64_t>(item) % role.instances == run.place.instance;
    }

    void enter(WarpRun& run, std::size_t item) const {
        const Role& role = kernel_.roles[run.place.role];
        run.at = coordinates_of(items_[item]);
        run.at.cta_rank = rank_;
        run.at.warp = run.place.warp;
        run.at.instance = run.place.instance;
        const std::int64_t thread = std::int64_t{run.place.cta_warp} * 32;
        run.at.thread[0] = thread % kernel_.cta.x;
        run.at.thread[1] = thread / kernel_.cta.x % kernel_.cta.y;
        run.at.thread[2] = thread / kernel_.cta.x / kernel_.cta.y;
        run.place.item = item;
        run.cursor = BodyCursor(role.first_node, role.last_node);
        run.in_item = true;
    }

    /// Token that gets an arrival from the leaf, or none.
    [[nodiscard]] Id arrival_at(const WarpRun& run) const {
        const Node& node = kernel_.nodes[run.cursor.place().node];
        if (node.kind == NodeKind::signal) {
            return kernel_.signals[node.payload].token;
        }
        if (node.kind == NodeKind::op && kernel_.ops[node.payload].completes != no_id &&
            runs_here(kernel_, kernel_.ops[node.payload], run.cursor, run.at)) {
            return kernel_.ops[node.payload].completes;
        }
        return no_id;
    }

    void event() {
        if (++events_ > most_events) {
            throw Error(fmt::format("kernel '{}' walk", kernel_.name), "more than 2^30 events",
                        "a work item that ends");
        }
    }

    void count() {
        std::vector<TokenUser> users;
        for (WarpRun& run : runs_) {
            users.push_back(run.user);
            for (std::size_t item = 0; item < items_.size(); ++item) {
                const bool performed = performs(run, item);
                enter(run, item);
                while (run.cursor.advance(kernel_, run.at)) {
                    event();
                    const Id token = arrival_at(run);
                    if (token != no_id) {
                        tokens_.count_arrival(run.user, token, performed);
                    }
                }
            }
            run.in_item = false;
            run.place.item = 0;
        }
        tokens_.end_of_counting(users);
        events_ = 0;
    }

    /// An alternating instance passes over the token phases of another's item.
    void pass_over(WarpRun& run) {
        while (run.cursor.advance(kernel_, run.at)) {
            const Node& node = kernel_.nodes[run.cursor.place().node];
            if (node.kind == NodeKind::wait) {
                tokens_.pass_wait(run.user, kernel_.waits[node.payload].token);
            } else if (const Id token = arrival_at(run); token != no_id) {
                (void)tokens_.arrive(run.user, token, false);
            }
        }
    }

    /// Runs a warp until it blocks or is done; false when it could not move at all.
    bool advance(WarpRun& run) {
        bool moved = false;
        std::size_t item = run.in_item ? run.place.item : (run.place.item = 0);
        for (;;) {
            if (!run.in_item) {
                if (item == items_.size()) {
                    run.done = true;
                    return true;
                }
                enter(run, item);
                if (!performs(run, item)) {
                    pass_over(run);
                    run.in_item = false;
                    ++item;
                    continue;
                }
            }
            if (!run.waiting) {
                if (!run.cursor.advance(kernel_, run.at)) {
                    run.in_item = false;
                    moved = true;
                    ++item;
                    continue;
                }
                event();
            }
            if (!leaf(run)) {
                return moved;
            }
            moved = true;
        }
    }

    /// False when the leaf is a wait that does not pass.
    bool leaf(WarpRun& run) {
        const Node& node = kernel_.nodes[run.cursor.place().node];
        run.place.at = &run.at;
        run.place.weight = run.cursor.place().weight;
        run.place.lanes = run.cursor.place().lanes;
        switch (node.kind) {
            case NodeKind::wait: {
                const Wait& wait = kernel_.waits[node.payload];
                run.needed = tokens_.needed_phase(run.user, wait.token, wait.lag);
                run.waiting = !tokens_.complete(run.user, wait.token, run.needed);
                if (run.waiting) {
                    return false;
                }
                tokens_.pass_wait(run.user, wait.token);
                visitor_->on_wait(run.place, wait.token, run.needed);
                break;
            }
            case NodeKind::signal:
                arrive(run, kernel_.signals[node.payload].token);
                break;
            case NodeKind::op:
                op(run, static_cast<Id>(node.payload));
                break;
            case NodeKind::mark:
                visitor_->on_mark(run.place, kernel_.marks[node.payload].name);
                break;
            case NodeKind::loop:
            case NodeKind::branch:
                break;
        }
        return true;
    }

    void arrive(WarpRun& run, Id token) {
        visitor_->on_signal(run.place, token, tokens_.arrive(run.user, token, true));
    }

    void op(WarpRun& run, Id id) {
        const Op& op = kernel_.ops[static_cast<std::size_t>(id)];
        if (!runs_here(kernel_, op, run.cursor, run.at)) {
            return;
        }
        const std::int64_t execution = run.executions[static_cast<std::size_t>(id)]++;
        const double lanes = run.place.lanes;
        run.place.lanes *= lane_share(kernel_, op.lanes, run.at);
        visitor_->on_op(run.place, id, execution);
        accesses(run, id, op, execution);
        run.place.lanes = lanes;
        if (op.completes != no_id) {
            arrive(run, op.completes);
        }
    }

    /// Accesses of an op with its lanes that are active; an op without one has none.
    void accesses(WarpRun& run, Id id, const Op& op, std::int64_t execution) {
        const double share = run.place.lanes > 0.0 ? op.enabled : 0.0;
        if (share <= 0.0) return;
        if (!hw::is_group_product(op.cls) || run.place.warp % 4 == 0) {
            for (int slot = 0; slot < static_cast<int>(op.access_count); ++slot) {
                const Access& access = kernel_.accesses_of(op)[static_cast<std::size_t>(slot)];
                const Role& role = kernel_.roles[run.place.role];
                if (!box_share(kernel_, role, op, access).counted_at(run.place.instance, run.place.warp)) {
                    continue;
                }
                AccessBytes bytes = access_bytes(kernel_, op, access, run.at, execution);
                if (access.pattern != PatternKind::collective) {
                    bytes.inside *= op.active * run.place.lanes;
                }
                bytes.requests *= share;
                bytes.requested *= share;
                bytes.inside *= share;
                visitor_->on_access(run.place, id, slot, bytes);
            }
        }
    }

    [[noreturn]] void deadlock() const {
        std::string waits;
        for (const WarpRun& run : runs_) {
            if (run.waiting) {
                const Node& node = kernel_.nodes[run.cursor.place().node];
                const Role& role = kernel_.roles[run.place.role];
                const auto token = static_cast<std::size_t>(kernel_.waits[node.payload].token);
                waits += fmt::format("{}role '{}' instance {} warp {} waits for '{}' phase {}",
                                     waits.empty() ? "" : ", ", role.name.view(), run.place.instance,
                                     run.place.warp, detail::label_of(kernel_, token), run.needed);
            }
        }
        throw Error(fmt::format("kernel '{}' tokens", kernel_.name), "deadlock: " + waits,
                    "an arrival for every wait");
    }

    const Kernel& kernel_;
    std::span<const WorkItem> items_;
    WalkVisitor* visitor_;
    std::int64_t rank_;
    WalkTokens tokens_;
    std::vector<WarpRun> runs_;
    std::int64_t events_ = 0;
};

/// Adds up the events of a walk.
class Summing : public WalkVisitor {
  public:
    explicit Summing(const Kernel& kernel) : kernel_(kernel), slots_(kernel.accesses.size()) {
        totals.tokens.resize(kernel.tokens.size());
    }
    void on_op(const WalkPlace& place, Id id, std::int64_t /*execution*/) override {
        const Op& op = kernel_.ops[static_cast<std::size_t>(id)];
        const double count = static_cast<double>(op.count) * place.weight;
        totals.instructions[static_cast<std::size_t>(op.cls)] += count;
        const bool matrix = op.shape[2] > 0;
        if (matrix) {
            totals.matrix_flop += count * op.enabled * flop_of(op);
        } else {
            totals.vector_flop += count * op.enabled * flop_of(op) * op.active * place.lanes;
        }
    }
    void on_access(const WalkPlace& place, Id op, int slot, const AccessBytes& bytes) override {
        const std::size_t first = kernel_.ops[static_cast<std::size_t>(op)].first_access;
        Traffic& traffic = slots_[first + static_cast<std::size_t>(slot)];
        traffic.requests += bytes.requests * place.weight;
        traffic.requested_bytes += bytes.requested * place.weight;
        traffic.inside_bytes += bytes.inside * place.weight;
    }
    void on_wait(const WalkPlace& place, Id token, std::int64_t /*phase*/) override {
        totals.tokens[static_cast<std::size_t>(token)].waits += place.weight;
    }
    void on_signal(const WalkPlace& place, Id token, std::int64_t /*phase*/) override {
        totals.tokens[static_cast<std::size_t>(token)].arrivals += place.weight;
    }
    void finish() {
        for (std::size_t id = 0; id < kernel_.ops.size(); ++id) {
            const Op& op = kernel_.ops[id];
            for (std::size_t slot = 0; slot < op.access_count; ++slot) {
                const Traffic& traffic = slots_[op.first_access + slot];
                if (traffic.requests <= 0.0) continue;
                const Access& access = kernel_.accesses[op.first_access + slot];
                totals.accesses.push_back({static_cast<Id>(id), static_cast<int>(slot), access.buffer,
                                           kernel_.buffers[static_cast<std::size_t>(access.buffer)].space,
                                           access.direction, traffic});
            }
        }
    }

    WalkTotals totals;

  private:
    const Kernel& kernel_;
    std::vector<Traffic> slots_;
};

template <class Keep>
Traffic sum_of(const std::vector<AccessTotals>& accesses, Keep keep) {
    Traffic sum;
    for (const AccessTotals& access : accesses) {
        if (keep(access)) {
            sum.requests += access.traffic.requests;
            sum.requested_bytes += access.traffic.requested_bytes;
            sum.inside_bytes += access.traffic.inside_bytes;
        }
    }
    return sum;
}

}  // namespace

double flop_of(const Op& op) {
    const double product = 2.0 * static_cast<double>(op.shape[0]) * static_cast<double>(op.shape[1]) *
                           static_cast<double>(op.shape[2]);
    switch (op.cls) {
        case InstructionClass::wgmma:
        case InstructionClass::tcgen05_mma:
            return matrix_flop(op) / 4.0;  // of a group of four warps
        case InstructionClass::mma_sync:
            return product * hw::numbers_in(op.dtype);
        case InstructionClass::fma_f32:
        case InstructionClass::fma_f64:
            return 64.0;
        case InstructionClass::fma_f16x2:
            return 128.0;
        case InstructionClass::add_f32:
        case InstructionClass::mul_f32:
            return 32.0;
        default:
            return 0.0;
    }
}

double WalkTotals::all_instructions() const {
    double sum = 0.0;
    for (const double count : instructions) {
        sum += count;
    }
    return sum;
}

Traffic WalkTotals::traffic(Space space, Direction direction) const {
    return sum_of(accesses, [&](const AccessTotals& access) {
        return access.space == space && access.direction == direction;
    });
}

Traffic WalkTotals::traffic_of_buffer(Id buffer, Direction direction) const {
    return sum_of(accesses, [&](const AccessTotals& access) {
        return access.buffer == buffer && access.direction == direction;
    });
}

void walk(const Kernel& kernel, std::span<const WorkItem> items, WalkVisitor& visitor,
          std::int64_t cta_rank) {
    Walk(kernel, items, &visitor, cta_rank).run();
}

WalkTotals walk_totals(const Kernel& kernel, std::span<const WorkItem> items) {
    Summing sums(kernel);
    walk(kernel, items, sums);
    sums.finish();
    return std::move(sums.totals);
}

WalkTotals walk_totals(const Kernel& kernel, const WorkItem& item) {
    return walk_totals(kernel, std::span<const WorkItem>(&item, 1));
}

}  // namespace warptime::model::kernel
