// Nodes and edges of the event graph; loop_events.cpp finds the loops and their events. Ignores and source:
// see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/event_topology.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks_detail.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/steady/iteration_order.hpp"
#include "model/steady/loop_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

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
        copies_.assign(events_.loops.size(), 1);
        base_.assign(events_.loops.size(), 0);
        find_places();
        match_rates();
        nodes();
        order();
        deps();
        tokens();
        renumber();
    }

  private:
    static constexpr std::int64_t most_events = std::int64_t{1} << 26;

    /// A number of iterations of a loop in relation to another loop's, in lowest terms.
    struct Rate {
        std::int64_t over = 0, under = 1;
        friend bool operator==(const Rate&, const Rate&) = default;
    };
    /// The iterations of loop `to` are `rate` times those of loop `from`, since they meet at a token.
    struct Meeting {
        std::size_t from = 0, to = 0, token = 0;
        Rate rate;
    };

    [[nodiscard]] std::size_t loop_count() const { return events_.loops.size(); }
    [[nodiscard]] const RoleLoop& loop(std::size_t r) const { return events_.loops[r]; }
    [[nodiscard]] std::int64_t phases(std::size_t r, std::size_t t) const {
        return loop(r).tokens[t].phases * copies_[r];
    }
    [[nodiscard]] bool by_warp(std::size_t t) const { return kernel_.tokens[t].scope == kernel::Scope::warp; }

    /// Notes where in its loop each run of an op stands, and which events arrive at each token.
    void find_places() {
        const std::size_t tokens = kernel_.tokens.size();
        first_run_.assign(kernel_.ops.size() + 1, 0);
        first_arrival_.assign(loop_count() * tokens + 1, 0);
        const auto each = [&](auto run, auto arrival) {
            for (std::size_t r = 0; r < loop_count(); ++r) {
                for (std::size_t l = 0; l < loop(r).leaf_count; ++l) {
                    const detail::Leaf& leaf = events_.leaf(loop(r), l);
                    if (leaf.kind == kernel::NodeKind::op) run(static_cast<std::size_t>(leaf.payload), l);
                    if (leaf.arrives != kernel::no_id) {
                        arrival(r * tokens + static_cast<std::size_t>(leaf.arrives), l);
                    }
                }
            }
        };
        each([&](std::size_t op, std::size_t) { ++first_run_[op + 1]; },
             [&](std::size_t use, std::size_t) { ++first_arrival_[use + 1]; });
        std::partial_sum(first_run_.begin(), first_run_.end(), first_run_.begin());
        std::partial_sum(first_arrival_.begin(), first_arrival_.end(), first_arrival_.begin());
        runs_.resize(first_run_.back());
        arrivals_.resize(first_arrival_.back());
        std::vector<std::size_t> next_run = first_run_;
        std::vector<std::size_t> next_arrival = first_arrival_;
        each([&](std::size_t op, std::size_t l) { runs_[next_run[op]++] = l; },
             [&](std::size_t use, std::size_t l) { arrivals_[next_arrival[use]++] = l; });
    }

    static Rate reduced(std::int64_t over, std::int64_t under) {
        const std::int64_t common = std::gcd(over, under);
        return {over / common, under / common};
    }

    [[noreturn]] void fail_rates(std::size_t token, std::int64_t given, std::int64_t taken) const {
        fail(kernel_, "event graph",
             fmt::format("token '{}' at {} and {} an iteration", kernel::detail::label_of(kernel_, token),
                         given, taken),
             "signals and waits at rates that meet");
    }

    /// Loops that meet at a token: each loop that gives phases with the first that waits for them, and each
    /// that waits with the first that gives.
    [[nodiscard]] std::vector<Meeting> meetings() const {
        std::vector<Meeting> found;
        for (std::size_t t = 0; t < kernel_.tokens.size(); ++t) {
            if (by_warp(t) || kernel_.tokens[t].scope == kernel::Scope::grid) continue;
            std::vector<std::size_t> givers;
            std::vector<std::size_t> takers;
            for (std::size_t r = 0; r < loop_count(); ++r) {
                if (loop(r).tokens[t].phases > 0) givers.push_back(r);
                if (loop(r).tokens[t].waits > 0) takers.push_back(r);
            }
            const auto meet = [&](std::size_t a, std::size_t b) {
                const std::int64_t given = loop(a).tokens[t].phases;
                const std::int64_t taken = loop(b).tokens[t].waits;
                if (a == b && given != taken) fail_rates(t, given, taken);
                found.push_back({a, b, t, reduced(given, taken)});
                found.push_back({b, a, t, reduced(taken, given)});
            };
            if (givers.empty() || takers.empty()) continue;
            for (const std::size_t a : givers) meet(a, takers.front());
            for (const std::size_t b : takers) meet(givers.front(), b);
        }
        std::sort(found.begin(), found.end(),
                  [](const Meeting& a, const Meeting& b) { return a.from < b.from; });
        return found;
    }

    /// Repeats loops until those that meet at a token use it equally often in one graph iteration.
    void match_rates() {
        const std::vector<Meeting> all = meetings();
        std::vector<Rate> rates(loop_count());
        std::vector<std::size_t> group;  // loops that meet, one after another
        for (std::size_t first = 0; first < loop_count(); ++first) {
            if (rates[first].over > 0) continue;
            rates[first] = {1, 1};
            group.assign(1, first);
            for (std::size_t i = 0; i < group.size(); ++i) {
                const std::size_t from = group[i];
                auto meeting = std::lower_bound(all.begin(), all.end(), from,
                                                [](const Meeting& m, std::size_t r) { return m.from < r; });
                for (; meeting != all.end() && meeting->from == from; ++meeting) {
                    const Rate rate = reduced(rates[from].over * meeting->rate.over,
                                              rates[from].under * meeting->rate.under);
                    if (std::max(rate.over, rate.under) > most_events ||
                        (rates[meeting->to].over > 0 && rates[meeting->to] != rate)) {
                        fail_rates(meeting->token, meeting->rate.over, meeting->rate.under);
                    }
                    if (rates[meeting->to].over > 0) continue;
                    rates[meeting->to] = rate;
                    group.push_back(meeting->to);
                }
            }
            std::int64_t whole = 1;
            for (const std::size_t r : group) {
                whole = std::lcm(whole, rates[r].under);
                if (whole > most_events) fail_size(whole);
            }
            std::int64_t common = 0;
            for (const std::size_t r : group) {
                common = std::gcd(common, rates[r].over * (whole / rates[r].under));
            }
            for (const std::size_t r : group) {
                copies_[r] = rates[r].over * (whole / rates[r].under) / common;
            }
        }
    }

    [[noreturn]] void fail_size(std::int64_t events) const {
        fail(kernel_, "event graph", fmt::format("{} events", events),
             "rates of tokens that meet within 2^26 events");
    }

    [[nodiscard]] Place node_of(std::size_t r, std::int64_t instance, std::int64_t copy,
                                std::size_t leaf) const {
        const auto size = static_cast<std::int64_t>(loop(r).leaf_count);
        return static_cast<Place>(base_[r] + (instance * copies_[r] + copy) * size +
                                  static_cast<std::int64_t>(leaf));
    }

    void nodes() {
        out_.nodes.clear();
        out_.edges.clear();
        out_.loops.clear();
        loop_of_.clear();
        for (std::size_t r = 0; r < loop_count(); ++r) {
            const RoleLoop& role = loop(r);
            base_[r] = static_cast<std::int64_t>(out_.nodes.size());
            out_.loops.push_back({static_cast<std::int32_t>(role.role), static_cast<std::uint32_t>(role.node),
                                  static_cast<std::int32_t>(copies_[r]), role.trips});
            const auto leaves = static_cast<std::int64_t>(role.leaf_count);
            const std::int64_t runs = role.instances * copies_[r];
            if (runs > (most_events - base_[r]) / std::max<std::int64_t>(1, leaves)) fail_size(runs);
            for (std::int64_t i = 0; i < role.instances; ++i) {
                for (std::int64_t c = 0; c < copies_[r]; ++c) {
                    for (std::size_t l = 0; l < role.leaf_count; ++l) {
                        const detail::Leaf& leaf = events_.leaf(role, l);
                        add_node(r, leaf.kind, leaf.payload, i, c);
                    }
                }
            }
        }
    }

    Place add_node(std::size_t r, kernel::NodeKind kind, kernel::Id payload, std::int64_t instance,
                   std::int64_t copy) {
        out_.nodes.push_back({kind, payload, static_cast<std::int32_t>(loop(r).role),
                              static_cast<std::int32_t>(instance), static_cast<std::int32_t>(copy)});
        loop_of_.push_back(r);
        return static_cast<Place>(out_.nodes.size() - 1);
    }

    void add(Place from, Place to, std::int64_t distance, EdgeCause cause, const detail::Leaf* source,
             bool latency, double scale, kernel::Id token = kernel::no_id) {
        TopologyEdge& edge = out_.edges.emplace_back();
        edge.from = from;
        edge.to = to;
        edge.distance = static_cast<std::int32_t>(distance);
        edge.cause = cause;
        edge.latency = latency;
        edge.op = source != nullptr && source->kind == kernel::NodeKind::op ? source->payload : kernel::no_id;
        edge.token = token;
        edge.scale = scale;
    }

    void order() {
        for (std::size_t r = 0; r < loop_count(); ++r) {
            const RoleLoop& role = loop(r);
            const auto length = copies_[r] * static_cast<std::int64_t>(role.leaf_count);
            for (std::int64_t i = 0; i < role.instances && length > 0; ++i) {
                const Place first = node_of(r, i, 0, 0);
                for (std::int64_t n = 0; n < length; ++n) {
                    const detail::Leaf& leaf =
                        events_.leaf(role, static_cast<std::size_t>(n) % role.leaf_count);
                    const bool last = n + 1 == length;
                    add(first + static_cast<Place>(n), last ? first : first + static_cast<Place>(n) + 1,
                        last ? 1 : 0, EdgeCause::order, &leaf, false, leaf.issue_scale);
                }
            }
        }
    }

    void deps() {
        for (std::size_t r = 0; r < loop_count(); ++r) {
            for (std::size_t l = 0; l < loop(r).leaf_count; ++l) {
                const detail::Leaf& leaf = events_.leaf(loop(r), l);
                if (leaf.kind == kernel::NodeKind::op) {
                    const kernel::Op& op = kernel_.ops[static_cast<std::size_t>(leaf.payload)];
                    for (const kernel::Dep& each : kernel_.deps_of(op)) {
                        dep(r, l, each);
                    }
                }
            }
        }
    }

    /// Position of run `occurrence` of an op among the leaves of its loop, or leaf_count.
    [[nodiscard]] std::size_t find(const RoleLoop& role, kernel::Id op, std::int64_t occurrence) const {
        const auto id = static_cast<std::size_t>(op);
        const std::size_t place = first_run_[id] + static_cast<std::size_t>(occurrence);
        return place < first_run_[id + 1] ? runs_[place] : role.leaf_count;
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
                    const Place here = node_of(r, i, c, l);
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
        for (std::size_t b = 0; b < loop_count(); ++b) {
            for (std::size_t l = 0; l < loop(b).leaf_count; ++l) {
                const detail::Leaf& leaf = events_.leaf(loop(b), l);
                if (leaf.kind == kernel::NodeKind::wait) {
                    const kernel::Wait& wait = kernel_.waits[static_cast<std::size_t>(leaf.payload)];
                    for (std::size_t a = 0; a < loop_count(); ++a) {
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
                const Place to = node_of(b, i, c, l);
                if (token.kind == kernel::TokenKind::async_group) {
                    // Newest group that has to be complete, and the groups before it: first in, first out.
                    const std::int64_t newest = c * giver.phases + leaf.phases_before - 1 - wait.lag;
                    if (period == 1) {
                        arrival_edges(a, i, newest, period, to, wait.token);
                    } else {
                        const Place first = groups_of(a, i, period, wait.token);
                        const auto at = static_cast<Place>(kernel::detail::floor_modulo(newest, period));
                        add(first + at, to, -kernel::detail::floor_divide(newest, period), EdgeCause::token,
                            nullptr, false, 1.0, wait.token);
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

    /// First of `period` nodes, one for each group of an iteration: it and all groups before it are complete.
    Place groups_of(std::size_t a, std::int64_t instance, std::int64_t period, kernel::Id token) {
        const auto [known, fresh] = groups_.try_emplace({a, instance, token}, Place{0});
        if (!fresh) return known->second;
        const auto first = static_cast<Place>(out_.nodes.size());
        known->second = first;
        for (std::int64_t g = 0; g < period; ++g) add_node(a, kernel::NodeKind::mark, token, instance, 0);
        for (std::int64_t g = 0; g < period; ++g) {
            const Place here = first + static_cast<Place>(g);
            arrival_edges(a, instance, g, period, here, token);
            const Place before = g == 0 ? first + static_cast<Place>(period) - 1 : here - 1;
            add(before, here, g == 0 ? 1 : 0, EdgeCause::token, nullptr, false, 1.0, token);
        }
        return first;
    }

    /// Node that stands for the completion of all ops before leaf `l`, a signal. Such nodes follow one
    /// another through the iteration, so that each op has one edge to them.
    Place ops_before(std::size_t a, std::int64_t instance, std::int64_t copy, std::size_t l) {
        auto& known = completed_[{a, instance, copy}];
        if (known.empty()) {
            const RoleLoop& role = loop(a);
            known.assign(role.leaf_count, Place{-1});
            Place last = -1;
            std::size_t next = 0;
            for (std::size_t k = 0; k < role.leaf_count; ++k) {
                const detail::Leaf& leaf = events_.leaf(role, k);
                if (leaf.kind != kernel::NodeKind::signal ||
                    kernel_.signals[static_cast<std::size_t>(leaf.payload)].on !=
                        kernel::SignalOn::completion) {
                    continue;
                }
                const Place here = add_node(a, kernel::NodeKind::mark, leaf.arrives, instance, copy);
                if (last >= 0) add(last, here, 0, EdgeCause::token, nullptr, false, 1.0, leaf.arrives);
                for (; next < k; ++next) {
                    const detail::Leaf& before = events_.leaf(role, next);
                    if (before.kind != kernel::NodeKind::op) continue;
                    add(node_of(a, instance, copy, next), here, 0, EdgeCause::token, &before, true, 1.0,
                        leaf.arrives);
                }
                known[k] = last = here;
            }
        }
        return known[l];
    }

    /// Adds edges from loop `a`'s arrivals in phase number `phase`, counted from the graph iteration's own.
    void arrival_edges(std::size_t a, std::int64_t instance, std::int64_t phase, std::int64_t period,
                       Place to, kernel::Id token) {
        const RoleLoop& role = loop(a);
        const std::int64_t distance = -kernel::detail::floor_divide(phase, period);
        const std::int64_t within = kernel::detail::floor_modulo(phase, period);
        const std::int64_t per_copy = role.tokens[static_cast<std::size_t>(token)].phases;
        const std::int64_t copy = within / per_copy;
        // The arrivals of an iteration are in the order of their phases.
        const std::size_t use = a * kernel_.tokens.size() + static_cast<std::size_t>(token);
        const auto last = arrivals_.begin() + static_cast<std::ptrdiff_t>(first_arrival_[use + 1]);
        auto arrival = std::lower_bound(
            arrivals_.begin() + static_cast<std::ptrdiff_t>(first_arrival_[use]), last, within % per_copy,
            [&](std::size_t l, std::int64_t wanted) { return events_.leaf(role, l).phase < wanted; });
        for (; arrival != last && events_.leaf(role, *arrival).phase == within % per_copy; ++arrival) {
            const std::size_t l = *arrival;
            const detail::Leaf& leaf = events_.leaf(role, l);
            const Place from = node_of(a, instance, copy, l);
            const bool is_op = leaf.kind == kernel::NodeKind::op;
            add(from, to, distance, EdgeCause::token, &leaf, is_op, 1.0, token);
            if (is_op ||
                kernel_.signals[static_cast<std::size_t>(leaf.payload)].on != kernel::SignalOn::completion) {
                continue;
            }
            // A signal on completion also waits for earlier ops.
            add(ops_before(a, instance, copy, l), to, distance, EdgeCause::token, nullptr, false, 1.0, token);
        }
    }

    [[nodiscard]] std::size_t loop_of(Place node) const { return loop_of_[static_cast<std::size_t>(node)]; }

    /// Shifts the iteration numbers of whole roles until no edge has a negative distance.
    void renumber() {
        std::vector<std::int64_t> shift(loop_count());
        bool changed = true;
        for (std::size_t round = 0; round <= loop_count() && changed; ++round) {
            changed = false;
            for (const TopologyEdge& edge : out_.edges) {
                const std::size_t from = loop_of(edge.from);
                const std::size_t to = loop_of(edge.to);
                if (edge.distance + shift[to] - shift[from] < 0) {
                    shift[to] = shift[from] - edge.distance;
                    changed = true;
                    if (round == loop_count() || from == to) {
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
        for (TopologyEdge& edge : out_.edges) {
            edge.distance = static_cast<std::int32_t>(edge.distance + shift[loop_of(edge.to)] -
                                                      shift[loop_of(edge.from)]);
        }
    }

    const kernel::Kernel& kernel_;
    const LoopEvents& events_;
    EventTopology& out_;
    std::vector<std::int64_t> copies_;                   ///< by loop: its iterations in one of the graph
    std::vector<std::int64_t> base_;                     ///< by loop: its first node
    std::vector<std::size_t> loop_of_;                   ///< by node
    std::vector<std::size_t> first_run_, runs_;          ///< by op: where its runs stand in their loop
    std::vector<std::size_t> first_arrival_, arrivals_;  ///< by loop and token
    std::map<std::tuple<std::size_t, std::int64_t, kernel::Id>, Place> groups_;
    std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, std::vector<Place>> completed_;
};

/// Throws when edges of distance 0 have a cycle, naming its tokens and ops.
void check_moves(const kernel::Kernel& kernel, const EventTopology& topology) {
    const std::vector<Place> order = order_within_iteration(topology.nodes.size(), topology.edges);
    if (order.size() == topology.nodes.size()) {
        return;
    }
    std::vector<bool> moves(topology.nodes.size());
    for (const Place n : order) {
        moves[static_cast<std::size_t>(n)] = true;
    }
    std::string stuck;
    for (std::size_t n = 0; n < topology.nodes.size(); ++n) {
        const GraphNode& node = topology.nodes[n];
        if (!moves[n] && node.kind == kernel::NodeKind::wait) {
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
        case kernel::NodeKind::mark:
            return fmt::format("{}:completion for {}", who, kernel::detail::label_of(kernel, id));
        default:
            return fmt::format("{}:op {} {}", who, node.payload, hw::to_string(kernel.ops[id].cls));
    }
}

}  // namespace warptime::model::steady
