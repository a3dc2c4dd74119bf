// Finds main loops and unfolds one iteration in their middle. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/loop_events.hpp"

#include "model/kernel/body_cursor.hpp"
#include "model/kernel/evaluate_index.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace warptime::model::steady::detail {

namespace {

/// Inner loops up to this many trips are unfolded.
constexpr std::int64_t most_unfolded = 8;

class Finder {
  public:
    Finder(const kernel::Kernel& kernel, const kernel::WorkItem& item, LoopEvents& out)
        : kernel_(kernel), out_(out) {
        at_ = kernel::coordinates_of(item);
    }

    void find() {
        out_.loops.clear();
        out_.leaves.clear();
        for (std::size_t r = 0; r < kernel_.roles.size(); ++r) {
            role_ = &kernel_.roles[r];
            depth_ = 0;
            Best best;
            choose(role_->first_node, role_->last_node, best);
            if (best.work <= 0.0) {
                continue;
            }
            main_loop(r, best);
        }
        for (std::size_t t = 0; t < kernel_.tokens.size(); ++t) {
            share_phases(t);
        }
        for (const RoleLoop& loop : out_.loops) {
            number_phases(loop);
        }
    }

  private:
    struct Best {
        std::size_t node = 0;
        int depth = 0;
        double work = 0.0;
        std::int64_t trips = 0;
    };

    [[nodiscard]] std::int64_t trips_at(const kernel::Node& node) const {
        return kernel::trips_of(kernel_, kernel_.loops[node.payload], at_);
    }

    /// Instructions in [first, last), with loops multiplied out. Loop positions are those of the place.
    double work(std::size_t first, std::size_t last, int depth) {
        double sum = 0.0;
        for (std::size_t i = first; i < last;) {
            const kernel::Node& node = kernel_.nodes[i];
            if (node.kind == kernel::NodeKind::op) {
                sum += static_cast<double>(kernel_.ops[node.payload].count);
            } else if (node.kind == kernel::NodeKind::loop) {
                const std::int64_t trips = trips_at(node);
                at_.loop[depth] = trips / 2;
                sum += static_cast<double>(trips) * work(i + 1, node.end, depth + 1);
                at_.loop[depth] = 0;
            } else if (node.kind == kernel::NodeKind::branch) {
                sum += work(i + 1, node.end, depth);
            } else {
                sum += 0.125;  // waits and signals count a little, so that a loop without ops is a loop
            }
            i = node.end;
        }
        return sum;
    }

    /// Chooses the loop with most work in [first, last), then an inner loop that is too long to unfold.
    void choose(std::size_t first, std::size_t last, Best& best) {
        Best here;
        std::size_t i = first;
        while (i < last) {
            const kernel::Node& node = kernel_.nodes[i];
            if (node.kind == kernel::NodeKind::loop) {
                const std::int64_t trips = trips_at(node);
                at_.loop[depth_] = trips / 2;
                const double weight = static_cast<double>(trips) * work(i + 1, node.end, depth_ + 1);
                at_.loop[depth_] = 0;
                if (weight > here.work) {
                    here = {i, depth_, weight, trips};
                }
                i = node.end;
            } else {
                ++i;  // into a branch as well
            }
        }
        if (here.work <= 0.0) {
            return;
        }
        best = here;
        Best inner;
        at_.loop[depth_] = here.trips / 2;
        ++depth_;
        choose(here.node + 1, kernel_.nodes[here.node].end, inner);
        --depth_;
        if (inner.trips > most_unfolded) {
            // An inner loop with most of the work is the main loop.
            const double share = inner.work * static_cast<double>(here.trips) / here.work;
            if (share > 0.5) {
                best = inner;
                return;
            }
        }
        at_.loop[depth_] = 0;
    }

    void main_loop(std::size_t r, const Best& best) {
        loop_ = &out_.loops.emplace_back();
        loop_->role = r;
        loop_->node = best.node;
        loop_->trips = best.trips;
        loop_->first_leaf = out_.leaves.size();
        loop_->tokens.assign(kernel_.tokens.size(), TokenCount{});
        // Counts the prologue, on the first way to the loop.
        std::fill(std::begin(at_.loop), std::end(at_.loop), 0);
        count_before(role_->first_node, role_->last_node, best.node, 1, 0);
        place_loops(best.node);
        at_.loop[best.depth] = best.trips / 2;
        unfold(best.node + 1, kernel_.nodes[best.node].end, best.depth + 1, best.node, 1);
        loop_->leaf_count = out_.leaves.size() - loop_->first_leaf;
        loop_->instances = takes_turns() ? role_->instances : 1;
        count_runs();
        std::fill(std::begin(at_.loop), std::end(at_.loop), 0);
    }

    /// Sets the loops around a node to their middle iterations.
    void place_loops(std::size_t target) {
        int depth = 0;
        for (std::size_t i = role_->first_node; i < target;) {
            const kernel::Node& node = kernel_.nodes[i];
            const bool around = node.end > target;
            if (node.kind == kernel::NodeKind::loop && around) {
                at_.loop[depth] = trips_at(node) / 2;
                ++depth;
            }
            i = around ? i + 1 : node.end;
        }
    }

    /// Number of the role's warps that run an op here.
    std::int64_t warps_that_run(const kernel::Op& op) {
        if (!op.when.active) {
            return role_->warps;
        }
        std::int64_t warps = 0;
        for (std::int64_t w = 0; w < role_->warps; ++w) {
            at_.warp = w;
            const std::int64_t value = kernel::evaluate(kernel_, op.when.value, at_);
            warps += op.when.low <= value && value < op.when.high ? 1 : 0;
        }
        at_.warp = 0;
        return warps;
    }

    /// Counts waits and arrivals of one warp in [first, last) before node `stop`, `times` over. False once
    /// `stop` has been met.
    bool count_before(std::size_t first, std::size_t last, std::size_t stop, std::int64_t times, int depth) {
        for (std::size_t i = first; i < last;) {
            if (i == stop) {
                return false;
            }
            const kernel::Node& node = kernel_.nodes[i];
            if (node.kind == kernel::NodeKind::loop) {
                const bool around = stop > i && stop < node.end;
                const std::int64_t trips = around ? 1 : trips_at(node);
                at_.loop[depth] = 0;
                if (!count_before(i + 1, node.end, stop, times * trips, depth + 1)) {
                    return false;
                }
            } else if (node.kind == kernel::NodeKind::branch) {
                if (!count_before(i + 1, node.end, stop, times, depth)) {
                    return false;
                }
            } else if (node.kind == kernel::NodeKind::wait) {
                token(kernel_.waits[node.payload].token).waits_before += times;
            } else if (node.kind == kernel::NodeKind::signal) {
                token(kernel_.signals[node.payload].token).arrivals_before += times;
            } else if (node.kind == kernel::NodeKind::op) {
                const kernel::Op& op = kernel_.ops[node.payload];
                if (op.completes != kernel::no_id && warps_that_run(op) > 0) {
                    token(op.completes).arrivals_before += times;
                }
            }
            i = node.end;
        }
        return true;
    }

    [[nodiscard]] TokenCount& token(kernel::Id id) { return loop_->tokens[static_cast<std::size_t>(id)]; }

    /// Appends the leaves of [first, last); each stands for `folded` trips of a long inner loop.
    void unfold(std::size_t first, std::size_t last, int depth, std::size_t loop, std::int64_t folded) {
        for (std::size_t i = first; i < last;) {
            const kernel::Node& node = kernel_.nodes[i];
            if (node.kind == kernel::NodeKind::loop) {
                const std::int64_t trips = trips_at(node);
                if (trips <= most_unfolded) {
                    for (std::int64_t k = 0; k < trips; ++k) {
                        at_.loop[depth] = k;
                        unfold(i + 1, node.end, depth + 1, i, folded);
                    }
                } else {
                    at_.loop[depth] = trips / 2;
                    unfold(i + 1, node.end, depth + 1, i, folded * trips);
                }
                at_.loop[depth] = 0;
            } else if (node.kind == kernel::NodeKind::branch) {
                unfold(i + 1, node.end, depth, loop, folded);
            } else if (node.kind != kernel::NodeKind::mark) {
                leaf(i, node, loop, folded);
            }
            i = node.end;
        }
    }

    void leaf(std::size_t i, const kernel::Node& node, std::size_t loop, std::int64_t folded) {
        Leaf leaf{};
        leaf.runs = 1;
        leaf.issue_scale = 1.0;
        leaf.arrives = kernel::no_id;
        leaf.kind = node.kind;
        leaf.payload = static_cast<kernel::Id>(node.payload);
        leaf.node = static_cast<std::uint32_t>(i);
        leaf.loop = static_cast<std::uint32_t>(loop);
        leaf.folded = folded;
        std::int64_t warps = role_->warps;
        if (node.kind == kernel::NodeKind::op) {
            const kernel::Op& op = kernel_.ops[node.payload];
            warps = warps_that_run(op);
            if (warps == 0) {
                return;
            }
            leaf.issue_scale = static_cast<double>(folded);
            if (op.once_per_unroll) {
                const kernel::Loop& around = kernel_.loops[kernel_.nodes[loop].payload];
                leaf.issue_scale /= static_cast<double>(around.unroll) * around.machine_unroll;
            }
            leaf.arrives = op.completes;
        } else if (node.kind == kernel::NodeKind::signal) {
            leaf.arrives = kernel_.signals[node.payload].token;
        } else {
            leaf.occurrence = token(kernel_.waits[node.payload].token).waits++;
            leaf.phases_before = token(kernel_.waits[node.payload].token).arrivals;
        }
        if (leaf.arrives != kernel::no_id) {
            TokenCount& count = token(leaf.arrives);
            leaf.phase = count.arrivals++;
            count.all_arrivals += warps * (role_->alternate ? 1 : role_->instances);
        }
        out_.leaves.push_back(leaf);
    }

    /// Sets occurrence and number of runs of each op.
    void count_runs() {
        std::vector<std::int64_t> runs(kernel_.nodes[loop_->node].end - loop_->node);
        const auto own = std::span(out_.leaves).subspan(loop_->first_leaf, loop_->leaf_count);
        for (Leaf& leaf : own) {
            if (leaf.kind == kernel::NodeKind::op) leaf.occurrence = runs[leaf.node - loop_->node]++;
        }
        for (Leaf& leaf : own) {
            if (leaf.kind == kernel::NodeKind::op) leaf.runs = runs[leaf.node - loop_->node];
        }
    }

    /// True if instances wait for their turn within the loop.
    [[nodiscard]] bool takes_turns() const {
        if (role_->instances == 1 || role_->alternate) {
            return false;
        }
        for (std::size_t t = 0; t < kernel_.tokens.size(); ++t) {
            if (kernel_.tokens[t].key == kernel::TokenKey::tile && loop_->tokens[t].waits > 0 &&
                loop_->tokens[t].arrivals > 0) {
                return true;
            }
        }
        return false;
    }

    /// Sets the phases that an iteration of each role completes. Roles that share a token's arrivals take
    /// part in the same phases.
    void share_phases(std::size_t t) {
        const kernel::Token& token = kernel_.tokens[t];
        const std::int64_t ctas = token.scope == kernel::Scope::cluster ? kernel_.cluster.volume() : 1;
        const std::int64_t need = (token.arrivals + ctas - 1) / ctas;
        std::int64_t all = 0;
        for (const RoleLoop& loop : out_.loops) {
            all += loop.tokens[t].all_arrivals;
        }
        for (RoleLoop& loop : out_.loops) {
            TokenCount& count = loop.tokens[t];
            if (count.arrivals == 0) {
                continue;
            }
            const bool turns = token.key == kernel::TokenKey::tile && loop.instances > 1;
            const std::int64_t given = token.scope == kernel::Scope::warp ? count.arrivals
                                       : turns ? count.all_arrivals / loop.instances
                                               : all;
            count.phases = std::clamp<std::int64_t>(given / need, 1, count.arrivals);
            count.phases_before = count.arrivals_before * count.phases / count.arrivals;
        }
    }

    void number_phases(const RoleLoop& loop) {
        for (std::size_t l = 0; l < loop.leaf_count; ++l) {
            Leaf& leaf = out_.leaves[loop.first_leaf + l];
            if (leaf.arrives != kernel::no_id) {
                const TokenCount& count = loop.tokens[static_cast<std::size_t>(leaf.arrives)];
                leaf.phase = leaf.phase * count.phases / count.arrivals;
            }
            if (leaf.kind == kernel::NodeKind::wait) {
                const kernel::Id token = kernel_.waits[static_cast<std::size_t>(leaf.payload)].token;
                const TokenCount& count = loop.tokens[static_cast<std::size_t>(token)];
                leaf.phases_before =
                    count.arrivals == 0 ? 0 : leaf.phases_before * count.phases / count.arrivals;
            }
        }
    }

    const kernel::Kernel& kernel_;
    LoopEvents& out_;
    kernel::Coordinates at_;
    const kernel::Role* role_ = nullptr;
    RoleLoop* loop_ = nullptr;
    int depth_ = 0;
};

}  // namespace

void find_loop_events(const kernel::Kernel& kernel, const kernel::WorkItem& item, LoopEvents& events) {
    Finder(kernel, item, events).find();
}

}  // namespace warptime::model::steady::detail
