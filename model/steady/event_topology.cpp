// Nodes and edges of the event graph; loop_events.cpp finds the loops and their events. Ignores and source:
// see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/event_topology.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks_detail.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/steady/loop_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace warptime::model::steady {

namespace {

using detail::LoopEvents;
using detail::RoleLoop;

[[noreturn]] void fail(const kernel::Kernel& kernel, const char* what, std::string value,
                       const char* expected) {
    throw Error(fmt::format("kernel '{}' {}", kernel.name, what), std::move(value), expected);
}

class Topology {
  public:
    Topology(const kernel::Kernel& kernel, const LoopEvents& events, EventTopology& out)
        : kernel_(kernel), events_(events), out_(out) {}

    void build() {
        copies_.fill(1);
        match_rates();
        nodes();
        order();
        deps();
        tokens();
        renumber();
    }

  private:
    [[nodiscard]] const RoleLoop& loop(std::size_t r) const { return events_.loops[r]; }
    [[nodiscard]] std::int64_t waits(std::size_t r, std::size_t t) const {
        return loop(r).tokens[t].waits * copies_[r];
    }
    [[nodiscard]] std::int64_t phases(std::size_t r, std::size_t t) const {
        return loop(r).tokens[t].phases * copies_[r];
    }
    [[nodiscard]] bool by_warp(std::size_t t) const { return kernel_.tokens[t].scope == kernel::Scope::warp; }

    /// Repeats loops until those that meet at a token use it equally often in one graph iteration.
    void match_rates() {
        for (int round = 0; round < 16; ++round) {
            bool same = true;
            for (std::size_t t = 0; t < kernel_.tokens.size(); ++t) {
                for (std::size_t a = 0; a < events_.loop_count; ++a) {
                    for (std::size_t b = 0; b < events_.loop_count; ++b) {
                        const std::int64_t given = phases(a, t);
                        const std::int64_t taken = waits(b, t);
                        if (by_warp(t) || given == 0 || taken == 0 || given == taken ||
                            kernel_.tokens[t].scope == kernel::Scope::grid) {
                            continue;
                        }
                        same = false;
                        const std::int64_t common = std::lcm(given, taken);
                        copies_[a] *= common / given;
                        copies_[b] *= common / taken;
                        if (a == b || copies_[a] > max_graph_nodes || copies_[b] > max_graph_nodes) {
                            fail(kernel_, "event graph",
                                 fmt::format("token '{}' at {} and {} an iteration",
                                             kernel::detail::label_of(kernel_, t), given, taken),
                                 "signals and waits at rates that meet");
                        }
                    }
                }
            }
            if (same) {
                return;
            }
        }
        fail(kernel_, "event graph", "rates of tokens that contradict each other", "rates that meet");
    }

    [[nodiscard]] int node_of(std::size_t r, std::int64_t instance, std::int64_t copy,
                              std::size_t leaf) const {
        const auto size = static_cast<std::int64_t>(loop(r).leaf_count);
        return static_cast<int>(base_[r] + (instance * copies_[r] + copy) * size +
                                static_cast<std::int64_t>(leaf));
    }

    void nodes() {
        out_.node_count = out_.edge_count = 0;
        out_.loop_count = static_cast<int>(events_.loop_count);
        for (std::size_t r = 0; r < events_.loop_count; ++r) {
            const RoleLoop& role = loop(r);
            base_[r] = out_.node_count;
            out_.loops[r] = {static_cast<std::int16_t>(role.role), static_cast<std::uint16_t>(role.node),
                             static_cast<std::int16_t>(copies_[r]), role.trips};
            const std::int64_t count =
                role.instances * copies_[r] * static_cast<std::int64_t>(role.leaf_count);
            if (out_.node_count + count > max_graph_nodes) {
                fail(kernel_, "event graph", std::to_string(out_.node_count + count) + " events",
                     "at most 96 in the main loops");
            }
            for (std::int64_t i = 0; i < role.instances; ++i) {
                for (std::int64_t c = 0; c < copies_[r]; ++c) {
                    for (std::size_t l = 0; l < role.leaf_count; ++l) {
                        const detail::Leaf& leaf = events_.leaf(role, l);
                        out_.nodes[static_cast<std::size_t>(out_.node_count++)] = {
                            leaf.kind, leaf.payload, static_cast<std::int16_t>(role.role),
                            static_cast<std::int16_t>(i), static_cast<std::int16_t>(c)};
                    }
                }
            }
        }
    }

    void add(int from, int to, std::int64_t distance, EdgeCause cause, const detail::Leaf* source,
             bool latency, double scale, kernel::Id token = kernel::no_id) {
        if (out_.edge_count == max_graph_edges) {
            fail(kernel_, "event graph", "more than 384 dependences", "at most 384 in the main loops");
        }
        TopologyEdge& edge = out_.edges[static_cast<std::size_t>(out_.edge_count++)];
        edge.from = static_cast<std::int16_t>(from);
        edge.to = static_cast<std::int16_t>(to);
        edge.distance = static_cast<std::int16_t>(std::clamp<std::int64_t>(distance, -30000, 30000));
        edge.cause = cause;
        edge.latency = latency;
        edge.op = source != nullptr && source->kind == kernel::NodeKind::op ? source->payload : kernel::no_id;
        edge.token = token;
        edge.scale = scale;
    }

    void order() {
        for (std::size_t r = 0; r < events_.loop_count; ++r) {
            const RoleLoop& role = loop(r);
            const auto length = copies_[r] * static_cast<std::int64_t>(role.leaf_count);
            for (std::int64_t i = 0; i < role.instances && length > 0; ++i) {
                const int first = node_of(r, i, 0, 0);
                for (std::int64_t n = 0; n < length; ++n) {
                    const detail::Leaf& leaf =
                        events_.leaf(role, static_cast<std::size_t>(n) % role.leaf_count);
                    const bool last = n + 1 == length;
                    add(first + static_cast<int>(n), last ? first : first + static_cast<int>(n) + 1,
                        last ? 1 : 0, EdgeCause::order, &leaf, false, leaf.issue_scale);
                }
            }
        }
    }

    void deps() {
        for (std::size_t r = 0; r < events_.loop_count; ++r) {
            for (std::size_t l = 0; l < loop(r).leaf_count; ++l) {
                const detail::Leaf& leaf = events_.leaf(loop(r), l);
                if (leaf.kind == kernel::NodeKind::op) {
                    const kernel::Op& op = kernel_.ops[static_cast<std::size_t>(leaf.payload)];
                    for (std::size_t d = 0; d < op.dep_count; ++d) {
                        dep(r, l, op.deps[d]);
                    }
                }
            }
        }
    }

    /// Position of run `occurrence` of an op among the leaves, or leaf_count.
    [[nodiscard]] std::size_t find(const RoleLoop& role, kernel::Id op, std::int64_t occurrence) const {
        std::size_t l = 0;
        while (l < role.leaf_count &&
               !(events_.leaf(role, l).kind == kernel::NodeKind::op && events_.leaf(role, l).payload == op &&
                 events_.leaf(role, l).occurrence == occurrence)) {
            ++l;
        }
        return l;
    }

    void dep(std::size_t r, std::size_t l, const kernel::Dep& dep) {
        const RoleLoop& role = loop(r);
        const detail::Leaf& target = events_.leaf(role, l);
        const std::size_t any = find(role, dep.op, 0);
        if (any == role.leaf_count) {
            return;  // computed before the loop
        }
        const detail::Leaf& source = events_.leaf(role, any);
        const bool together = source.loop == target.loop && target.loop != role.node;
        if (!together && target.occurrence != 0) {
            return;  // the first run in the inner loop has waited already
        }
        const std::int64_t runs = source.runs;
        for (std::int64_t i = 0; i < role.instances; ++i) {
            for (std::int64_t c = 0; c < copies_[r]; ++c) {
                // Runs of the source are numbered through all copies of the graph iteration.
                std::int64_t run = 0;
                double scale = 1.0;
                std::int64_t distance = dep.distance;
                if (together && target.folded > 1) {
                    // One node stands for all trips of the inner loop, so a dep carried by that loop adds up.
                    scale = static_cast<double>(target.folded);
                    if (distance > 0) {
                        scale /= static_cast<double>(distance);
                        distance = 1;
                    }
                    run = (c - distance) * runs;
                } else if (together) {
                    run = c * runs + target.occurrence - distance;
                } else {
                    run = (c - distance) * runs + runs - 1;
                }
                if (together && target.folded > 1 && any == l && dep.distance > 0) {
                    // The warp continues only when the last trip has been issued.
                    const bool wraps = l + 1 == role.leaf_count && c + 1 == copies_[r];
                    const int here = node_of(r, i, c, l);
                    add(here, wraps ? node_of(r, i, 0, 0) : here + 1, wraps ? 1 : 0, EdgeCause::order,
                        &source, true, static_cast<double>(target.folded - 1) / dep.distance);
                }
                const std::int64_t all = copies_[r] * runs;
                const std::int64_t back = -kernel::detail::floor_divide(run, all);
                const std::int64_t at = kernel::detail::floor_modulo(run, all);
                const std::size_t from = find(role, dep.op, at % runs);
                add(node_of(r, i, at / runs, from), node_of(r, i, c, l), back, EdgeCause::dep, &source, true,
                    scale);
            }
        }
    }

    void tokens() {
        for (std::size_t b = 0; b < events_.loop_count; ++b) {
            for (std::size_t l = 0; l < loop(b).leaf_count; ++l) {
                const detail::Leaf& leaf = events_.leaf(loop(b), l);
                if (leaf.kind == kernel::NodeKind::wait) {
                    const kernel::Wait& wait = kernel_.waits[static_cast<std::size_t>(leaf.payload)];
                    for (std::size_t a = 0; a < events_.loop_count; ++a) {
                        wait_edges(b, l, a, wait);
                    }
                }
            }
        }
    }

    /// Adds edges into wait leaf `l` of loop `b` from the arrivals of loop `a`.
    void wait_edges(std::size_t b, std::size_t l, std::size_t a, const kernel::Wait& wait) {
        const auto t = static_cast<std::size_t>(wait.token);
        const kernel::Token& token = kernel_.tokens[t];
        const std::int64_t period = phases(a, t);
        if (period == 0 || token.scope == kernel::Scope::grid || (by_warp(t) && a != b)) {
            return;
        }
        const detail::Leaf& leaf = events_.leaf(loop(b), l);
        const detail::TokenCount& waiter = loop(b).tokens[t];
        const detail::TokenCount& giver = loop(a).tokens[t];
        const bool turns = token.key == kernel::TokenKey::tile && loop(b).instances > 1;
        for (std::int64_t i = 0; i < loop(b).instances; ++i) {
            for (std::int64_t c = 0; c < copies_[b]; ++c) {
                const int to = node_of(b, i, c, l);
                if (token.kind == kernel::TokenKind::async_group) {
                    // Newest group that has to be complete, and the groups before it: first in, first out.
                    const std::int64_t newest = c * giver.phases + leaf.phases_before - 1 - wait.lag;
                    for (std::int64_t back = 0; back < period; ++back) {
                        arrival_edges(a, i, newest - back, period, to, wait.token);
                    }
                    continue;
                }
                const std::int64_t number = c * waiter.waits + leaf.occurrence + waiter.waits_before;
                if (turns) {
                    const std::int64_t turn = number * loop(b).instances + i - wait.lag - token.initial;
                    arrival_edges(a, kernel::detail::floor_modulo(turn, loop(b).instances),
                                  kernel::detail::floor_divide(turn, loop(b).instances) - giver.phases_before,
                                  period, to, wait.token);
                    continue;
                }
                const std::int64_t phase = number - wait.lag - token.initial - giver.phases_before;
                for (std::int64_t j = 0; j < loop(a).instances; ++j) {
                    if (!by_warp(t) || j == i) {
                        arrival_edges(a, j, phase, period, to, wait.token);
                    }
                }
            }
        }
    }

    /// Adds edges from loop `a`'s arrivals in phase number `phase`, counted from the graph iteration's own.
    void arrival_edges(std::size_t a, std::int64_t instance, std::int64_t phase, std::int64_t period, int to,
                       kernel::Id token) {
        const RoleLoop& role = loop(a);
        const std::int64_t distance = -kernel::detail::floor_divide(phase, period);
        const std::int64_t within = kernel::detail::floor_modulo(phase, period);
        const std::int64_t per_copy = role.tokens[static_cast<std::size_t>(token)].phases;
        const std::int64_t copy = within / per_copy;
        for (std::size_t l = 0; l < role.leaf_count; ++l) {
            const detail::Leaf& leaf = events_.leaf(role, l);
            if (leaf.arrives != token || leaf.phase != within % per_copy) {
                continue;
            }
            const int from = node_of(a, instance, copy, l);
            const bool is_op = leaf.kind == kernel::NodeKind::op;
            add(from, to, distance, EdgeCause::token, &leaf, is_op, 1.0, token);
            if (is_op ||
                kernel_.signals[static_cast<std::size_t>(leaf.payload)].on != kernel::SignalOn::completion) {
                continue;
            }
            // A signal on completion also waits for earlier ops.
            for (std::size_t k = 0; k < l; ++k) {
                const detail::Leaf& before = events_.leaf(role, k);
                if (before.kind == kernel::NodeKind::op) {
                    add(node_of(a, instance, copy, k), to, distance, EdgeCause::token, &before, true, 1.0,
                        token);
                }
            }
        }
    }

    [[nodiscard]] std::size_t loop_of(std::int16_t node) const {
        std::size_t r = 0;
        while (r + 1 < events_.loop_count && node >= base_[r + 1]) {
            ++r;
        }
        return r;
    }

    /// Shifts the iteration numbers of whole roles until no edge has a negative distance.
    void renumber() {
        std::array<std::int64_t, static_cast<std::size_t>(max_graph_roles)> shift{};
        bool changed = true;
        for (std::size_t round = 0; round <= events_.loop_count && changed; ++round) {
            changed = false;
            for (int e = 0; e < out_.edge_count; ++e) {
                const TopologyEdge& edge = out_.edges[static_cast<std::size_t>(e)];
                const std::size_t from = loop_of(edge.from);
                const std::size_t to = loop_of(edge.to);
                if (edge.distance + shift[to] - shift[from] < 0) {
                    shift[to] = shift[from] - edge.distance;
                    changed = true;
                    if (round == events_.loop_count || from == to) {
                        fail(kernel_, "tokens",
                             fmt::format(
                                 "deadlock: {} needs '{}' of a later iteration",
                                 describe(kernel_, out_.nodes[static_cast<std::size_t>(edge.to)]),
                                 kernel::detail::label_of(
                                     kernel_, static_cast<std::size_t>(std::max<kernel::Id>(edge.token, 0)))),
                             "an arrival for every wait");
                    }
                }
            }
        }
        for (int e = 0; e < out_.edge_count; ++e) {
            TopologyEdge& edge = out_.edges[static_cast<std::size_t>(e)];
            edge.distance = static_cast<std::int16_t>(edge.distance + shift[loop_of(edge.to)] -
                                                      shift[loop_of(edge.from)]);
        }
    }

    const kernel::Kernel& kernel_;
    const LoopEvents& events_;
    EventTopology& out_;
    std::array<std::int64_t, static_cast<std::size_t>(max_graph_roles)> copies_{};
    std::array<int, static_cast<std::size_t>(max_graph_roles)> base_{};
};

/// Throws when edges of distance 0 have a cycle, naming its tokens and ops.
void check_moves(const kernel::Kernel& kernel, const EventTopology& topology) {
    std::array<int, static_cast<std::size_t>(max_graph_nodes)> waiting{};
    for (int e = 0; e < topology.edge_count; ++e) {
        const TopologyEdge& edge = topology.edges[static_cast<std::size_t>(e)];
        waiting[static_cast<std::size_t>(edge.to)] += edge.distance == 0 ? 1 : 0;
    }
    std::array<int, static_cast<std::size_t>(max_graph_nodes)> ready{};
    int count = 0;
    for (int n = 0; n < topology.node_count; ++n) {
        if (waiting[static_cast<std::size_t>(n)] == 0) {
            ready[static_cast<std::size_t>(count++)] = n;
        }
    }
    for (int i = 0; i < count; ++i) {
        for (int e = 0; e < topology.edge_count; ++e) {
            const TopologyEdge& edge = topology.edges[static_cast<std::size_t>(e)];
            if (edge.from == ready[static_cast<std::size_t>(i)] && edge.distance == 0 &&
                --waiting[static_cast<std::size_t>(edge.to)] == 0) {
                ready[static_cast<std::size_t>(count++)] = edge.to;
            }
        }
    }
    if (count == topology.node_count) {
        return;
    }
    std::string stuck;
    for (int n = 0; n < topology.node_count; ++n) {
        const GraphNode& node = topology.nodes[static_cast<std::size_t>(n)];
        if (waiting[static_cast<std::size_t>(n)] > 0 && node.kind == kernel::NodeKind::wait) {
            stuck += (stuck.empty() ? "" : ", ") + describe(kernel, node);
        }
    }
    fail(kernel, "tokens", "deadlock: " + stuck, "an arrival for every wait");
}

}  // namespace

void build_topology(const kernel::Kernel& kernel, const kernel::WorkItem& item, EventTopology& topology) {
    LoopEvents events;
    detail::find_loop_events(kernel, item, events);
    Topology(kernel, events, topology).build();
    check_moves(kernel, topology);
}

std::string describe(const kernel::Kernel& kernel, const GraphNode& node) {
    const kernel::Role& role = kernel.roles[static_cast<std::size_t>(node.role)];
    std::string who =
        role.name.view().empty() ? fmt::format("role {}", node.role) : std::string(role.name.view());
    if (node.instance > 0) {
        who += fmt::format("[{}]", node.instance);
    }
    const auto id = static_cast<std::size_t>(node.payload);
    switch (node.kind) {
        case kernel::NodeKind::wait:
            return fmt::format(
                "{}:wait {}", who,
                kernel::detail::label_of(kernel, static_cast<std::size_t>(kernel.waits[id].token)));
        case kernel::NodeKind::signal:
            return fmt::format(
                "{}:signal {}", who,
                kernel::detail::label_of(kernel, static_cast<std::size_t>(kernel.signals[id].token)));
        default:
            return fmt::format("{}:op {} {}", who, node.payload, hw::to_string(kernel.ops[id].cls));
    }
}

}  // namespace warptime::model::steady
