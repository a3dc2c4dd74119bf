// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/body.hpp"

#include "bindings/advice/transforms/index_edit.hpp"
#include "bindings/advice/transforms/loops.hpp"
#include "model/kernel/body_nodes.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace warptime::advice {

namespace {

namespace mk = model::kernel;
using hw::InstructionClass;

constexpr double full_warp = 32.0;

bool reads_or_writes(const Kernel& kernel, const Op& op, mk::Space space) {
    const auto accesses = kernel.accesses_of(op);
    return std::any_of(accesses.begin(), accesses.end(),
                       [&](const Access& access) { return space_of(kernel, access) == space; });
}

/// Deps of each op, all in one list.
std::vector<std::vector<mk::Dep>> deps_of_ops(const Kernel& kernel) {
    std::vector<std::vector<mk::Dep>> deps(kernel.ops.size());
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        for (const mk::Dep& dep : kernel.deps_of(kernel.ops[op])) deps[op].push_back(dep);
    }
    return deps;
}

void set_deps(Kernel& kernel, const std::vector<std::vector<mk::Dep>>& deps) {
    kernel.more_deps.clear();
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        Op& op = kernel.ops[i];
        op.deps = {};
        op.dep_count = static_cast<std::uint32_t>(deps[i].size());
        op.more_deps =
            op.dep_count > op.deps.size() ? static_cast<std::uint32_t>(kernel.more_deps.size()) : 0;
        for (std::size_t d = 0; d < deps[i].size(); ++d) {
            if (d < op.deps.size()) {
                op.deps[d] = deps[i][d];
            } else {
                kernel.more_deps.push_back(deps[i][d]);
            }
        }
    }
}

void add_unique(std::vector<mk::Dep>& deps, const mk::Dep& dep) {
    if (std::find(deps.begin(), deps.end(), dep) == deps.end()) deps.push_back(dep);
}

/// An op that only computes: no access, no token.
Op plain_op(InstructionClass cls, std::int64_t count, std::int64_t chain) {
    Op op;
    op.cls = cls;
    op.count = count;
    op.chain = chain;
    return op;
}

bool is_global_atomic(const Op& op) {
    return op.cls == InstructionClass::atom_global || op.cls == InstructionClass::red_global;
}

}  // namespace

void insert_ops(Kernel& kernel, std::size_t at, const std::vector<Op>& added) {
    const auto node = std::find_if(kernel.nodes.begin(), kernel.nodes.end(), [at](const mk::Node& n) {
        return n.kind == mk::NodeKind::op && n.payload == at;
    });
    const auto place = static_cast<std::uint32_t>(node - kernel.nodes.begin());
    const auto more = static_cast<std::uint32_t>(added.size());
    for (mk::Node& n : kernel.nodes) {
        if (n.kind == mk::NodeKind::op && n.payload >= at) n.payload += more;
        if (n.end > place) n.end += more;
    }
    std::vector<mk::Node> nodes;
    for (std::uint32_t i = 0; i < more; ++i) {
        nodes.push_back({mk::NodeKind::op, static_cast<std::uint32_t>(at) + i, place + i + 1});
    }
    kernel.nodes.insert(kernel.nodes.begin() + place, nodes.begin(), nodes.end());
    for (mk::Role& role : kernel.roles) {
        if (role.first_node > place) role.first_node += more;
        if (role.last_node > place) role.last_node += more;
    }
    auto deps = deps_of_ops(kernel);
    for (auto& list : deps) {
        for (mk::Dep& dep : list) {
            if (static_cast<std::size_t>(dep.op) >= at) dep.op += static_cast<mk::Id>(more);
        }
    }
    kernel.ops.insert(kernel.ops.begin() + static_cast<std::ptrdiff_t>(at), added.begin(), added.end());
    deps.insert(deps.begin() + static_cast<std::ptrdiff_t>(at), added.size(), {});
    for (std::uint32_t i = 0; i < more; ++i) {
        kernel.ops[at + i].first_access =
            at + i > 0 ? kernel.ops[at + i - 1].first_access + kernel.ops[at + i - 1].access_count : 0;
    }
    set_deps(kernel, deps);
}

void remove_ops(Kernel& kernel, const std::function<bool(const Op&)>& drop) {
    const auto before = deps_of_ops(kernel);
    std::vector<mk::Id> number(kernel.ops.size(), mk::no_id);
    std::vector<std::vector<mk::Dep>> through(kernel.ops.size());
    std::vector<std::vector<mk::Dep>> deps;
    std::vector<Op> ops;
    std::vector<Access> accesses;
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        std::vector<mk::Dep> kept;
        for (const mk::Dep& dep : before[i]) {
            const auto from = static_cast<std::size_t>(dep.op);
            if (from < i && number[from] == mk::no_id) {
                for (const mk::Dep& on : through[from]) {
                    add_unique(kept, {on.op, on.distance + dep.distance});
                }
            } else if (from < i || !drop(kernel.ops[from])) {
                // A later op, of the trip before, keeps its old number until all are known.
                add_unique(kept, dep);
            }
        }
        through[i] = kept;
        if (drop(kernel.ops[i])) continue;
        number[i] = static_cast<mk::Id>(ops.size());
        Op op = kernel.ops[i];
        const auto its = kernel.accesses_of(op);
        op.first_access = static_cast<std::uint32_t>(accesses.size());
        accesses.insert(accesses.end(), its.begin(), its.end());
        ops.push_back(op);
        deps.push_back(kept);
    }
    for (auto& list : deps) {
        std::vector<mk::Dep> renumbered;
        for (const mk::Dep& dep : list) {
            const mk::Id op = number[static_cast<std::size_t>(dep.op)];
            if (op != mk::no_id) add_unique(renumbered, {op, dep.distance});
        }
        list = renumbered;
    }
    std::vector<std::uint32_t> place(kernel.nodes.size() + 1, 0);
    std::vector<mk::Node> nodes;
    for (std::size_t n = 0; n < kernel.nodes.size(); ++n) {
        place[n] = static_cast<std::uint32_t>(nodes.size());
        mk::Node node = kernel.nodes[n];
        if (node.kind == mk::NodeKind::op) {
            if (number[node.payload] == mk::no_id) continue;
            node.payload = static_cast<std::uint32_t>(number[node.payload]);
        }
        nodes.push_back(node);
    }
    place.back() = static_cast<std::uint32_t>(nodes.size());
    // A loop or branch that lost all of its ops keeps nothing inside.
    for (mk::Node& node : nodes) node.end = place[node.end];
    for (mk::Role& role : kernel.roles) {
        role.first_node = place[role.first_node];
        role.last_node = place[role.last_node];
    }
    kernel.nodes = std::move(nodes);
    kernel.ops = std::move(ops);
    kernel.accesses = std::move(accesses);
    set_deps(kernel, deps);
}

bool unspill(Kernel& kernel) {
    const auto spills = [&kernel](const Op& op) {
        return (op.cls == InstructionClass::ld_local || op.cls == InstructionClass::st_local) &&
               (op.access_count == 0 || reads_or_writes(kernel, op, mk::Space::local));
    };
    if (std::none_of(kernel.ops.begin(), kernel.ops.end(), spills)) return false;
    remove_ops(kernel, [](const Op& op) {
        return op.cls == InstructionClass::ld_local || op.cls == InstructionClass::st_local;
    });
    return true;
}

namespace {

/// Lanes at work in an op by itself, where some of many stand aside: predicated ops, and those behind an
/// exit.
bool is_partly_active(const Kernel& kernel, const mk::Node& node) {
    constexpr double elected = 1.5 / full_warp;
    constexpr double nearly_all = 0.95;
    if (node.kind != mk::NodeKind::op) return false;
    const Op& op = kernel.ops[node.payload];
    return op.lanes == mk::no_id && op.active > elected && op.active < nearly_all;
}

/// A branch that fewer lanes of a warp take: these lanes, and not predicates, leave its ops partly active.
bool is_taken_by_few_lanes(const Kernel& kernel, const mk::Node& node) {
    if (node.kind != mk::NodeKind::branch) return false;
    const mk::Branch& branch = kernel.branches[node.payload];
    return branch.lanes == mk::no_id && branch.mean_lanes > 0.0 && branch.mean_lanes < full_warp;
}

/// Whether all ops of a node and its children are such, with nothing to wait for among them.
bool is_partly_active(const Kernel& kernel, std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
        const mk::Node& node = kernel.nodes[n];
        const bool inner = node.kind == mk::NodeKind::loop ||
                           (node.kind == mk::NodeKind::branch && !is_taken_by_few_lanes(kernel, node));
        if (!inner && !is_partly_active(kernel, node)) return false;
    }
    return true;
}

/// Neighbouring nodes whose ops are such become branches that fewer warps take, each with all lanes.
bool gather_lanes(Kernel& kernel) {
    constexpr std::size_t worth = 4;
    std::vector<mk::Node> nodes;
    std::vector<mk::Branch> branches;
    std::vector<std::uint32_t> place(kernel.nodes.size() + 1, 0);
    std::vector<bool> fresh;  // nodes whose ends are known already
    const auto push = [&](std::size_t n) {
        mk::Node node = kernel.nodes[n];
        if (node.kind == mk::NodeKind::branch) {
            branches.push_back(kernel.branches[node.payload]);
            node.payload = static_cast<std::uint32_t>(branches.size() - 1);
        }
        nodes.push_back(node);
        fresh.push_back(false);
    };
    bool changed = false;
    for (std::size_t n = 0; n < kernel.nodes.size();) {
        if (is_taken_by_few_lanes(kernel, kernel.nodes[n])) {
            for (const std::size_t end = mk::next_node(kernel, n); n < end; ++n) {
                place[n] = static_cast<std::uint32_t>(nodes.size());
                push(n);
            }
            continue;
        }
        place[n] = static_cast<std::uint32_t>(nodes.size());
        std::size_t limit = kernel.nodes.size();
        for (const mk::Role& role : kernel.roles) {
            if (n < role.last_node) limit = std::min<std::size_t>(limit, role.last_node);
        }
        for (std::size_t outer = 0; outer < n; ++outer) {
            if (kernel.nodes[outer].end > n) limit = std::min<std::size_t>(limit, kernel.nodes[outer].end);
        }
        std::size_t run = n;
        while (run < limit && is_partly_active(kernel, run, mk::next_node(kernel, run))) {
            run = mk::next_node(kernel, run);
        }
        double lanes = 0.0;
        std::size_t ops = 0;
        for (std::size_t at = n; at < run; ++at) {
            if (kernel.nodes[at].kind != mk::NodeKind::op) continue;
            lanes += kernel.ops[kernel.nodes[at].payload].active;
            ++ops;
        }
        if (ops < worth) {
            push(n++);
            continue;
        }
        const double share = lanes / static_cast<double>(ops);
        nodes.push_back({mk::NodeKind::branch, static_cast<std::uint32_t>(branches.size()),
                         static_cast<std::uint32_t>(nodes.size() + 1 + run - n)});
        fresh.push_back(true);
        mk::Branch taken;
        taken.warps_taking = share;
        branches.push_back(taken);
        // What ended before the run ends before the branch.
        for (const std::size_t first = n; n < run; ++n) {
            if (n > first) place[n] = static_cast<std::uint32_t>(nodes.size());
            if (kernel.nodes[n].kind == mk::NodeKind::op) {
                Op& op = kernel.ops[kernel.nodes[n].payload];
                op.active = std::min(1.0, op.active / share);
            }
            push(n);
        }
        changed = true;
    }
    if (!changed) return false;
    place.back() = static_cast<std::uint32_t>(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!fresh[i]) nodes[i].end = place[nodes[i].end];
    }
    for (mk::Role& role : kernel.roles) {
        role.first_node = place[role.first_node];
        role.last_node = place[role.last_node];
    }
    kernel.nodes = std::move(nodes);
    kernel.branches = std::move(branches);
    return true;
}

}  // namespace

bool converge(Kernel& kernel) {
    bool changed = gather_lanes(kernel);
    std::vector<std::pair<double, std::uint32_t>> open;  // share of the lanes, end
    for (std::size_t n = 0; n < kernel.nodes.size(); ++n) {
        while (!open.empty() && open.back().second <= n) open.pop_back();
        const mk::Node& node = kernel.nodes[n];
        if (node.kind == mk::NodeKind::branch) {
            mk::Branch& branch = kernel.branches[node.payload];
            const double lanes = branch.mean_lanes / full_warp;
            const bool partly = is_taken_by_few_lanes(kernel, node);
            open.emplace_back(partly ? lanes : 1.0, node.end);
            if (!partly) continue;
            branch.warps_taking *= lanes;
            branch.mean_lanes = full_warp;
            branch.slowest = {};
            changed = true;
        } else if (node.kind == mk::NodeKind::op && !open.empty()) {
            double share = 1.0;
            for (const auto& [lanes, end] : open) share *= lanes;
            Op& op = kernel.ops[node.payload];
            op.active = std::min(1.0, op.active / share);
        } else if (node.kind == mk::NodeKind::loop) {
            mk::Loop& loop = kernel.loops[node.payload];
            if (!loop.trips.expected) continue;
            const bool uneven = loop.trips.max_over_lanes > loop.trips.mean || loop.slowest.of_cta >= 0.0;
            changed = changed || uneven;
            loop.trips.max_over_lanes = loop.trips.max_over_warps = loop.trips.mean;
            loop.slowest = {};
        }
    }
    return changed;
}

namespace {

/// Loads of a loop that a store puts into shared memory as they are: the number of the load, then of the
/// store.
std::vector<std::pair<std::size_t, std::size_t>> copies_through_registers(const Kernel& kernel) {
    constexpr std::int32_t least_bytes = 4;
    std::vector<std::pair<std::size_t, std::size_t>> copies;
    const auto around = loops_around(kernel);
    for (std::size_t store = 0; store < kernel.ops.size(); ++store) {
        const Op& put = kernel.ops[store];
        if (put.cls != InstructionClass::st_shared || put.access_count != 1 || around[store].empty())
            continue;
        for (const mk::Dep& dep : kernel.deps_of(put)) {
            const auto load = static_cast<std::size_t>(dep.op);
            const Op& got = kernel.ops[load];
            const bool copied = got.cls == InstructionClass::ld_global && got.access_count == 1 &&
                                dep.distance == 0 && around[load] == around[store] && got.count == put.count;
            if (copied && kernel.accesses[got.first_access].bytes >= least_bytes &&
                kernel.accesses[got.first_access].bytes == kernel.accesses[put.first_access].bytes) {
                copies.emplace_back(load, store);
                break;
            }
        }
    }
    return copies;
}

/// Inserts a wait before node `at`.
void insert_wait(Kernel& kernel, std::size_t at, const mk::Wait& wait) {
    std::uint32_t number = 0;
    for (std::size_t n = 0; n < at; ++n) number += kernel.nodes[n].kind == mk::NodeKind::wait ? 1U : 0U;
    for (mk::Node& node : kernel.nodes) {
        if (node.kind == mk::NodeKind::wait && node.payload >= number) ++node.payload;
        if (node.end > at) ++node.end;
    }
    const auto place = static_cast<std::uint32_t>(at);
    kernel.nodes.insert(kernel.nodes.begin() + static_cast<std::ptrdiff_t>(at),
                        mk::Node{mk::NodeKind::wait, number, place + 1});
    kernel.waits.insert(kernel.waits.begin() + number, wait);
    for (mk::Role& role : kernel.roles) {
        if (role.first_node > place) ++role.first_node;
        if (role.last_node > place) ++role.last_node;
    }
}

}  // namespace

bool async_copy(Kernel& kernel) {
    const auto copies = copies_through_registers(kernel);
    if (copies.empty() || kernel.roles.size() != 1) return false;
    mk::Token token;
    token.name = mk::Name("copies");
    token.kind = mk::TokenKind::async_group;
    token.scope = mk::Scope::warp;
    token.arrivals = static_cast<std::int32_t>(copies.size());
    token.depth = 2;
    kernel.tokens.push_back(token);
    const auto id = static_cast<mk::Id>(kernel.tokens.size() - 1);
    // The wait stands where the last store was, and waits for the copies of the trip before.
    std::size_t last = 0;
    for (const auto& [load, store] : copies) last = std::max(last, store);
    const auto node = std::find_if(kernel.nodes.begin(), kernel.nodes.end(), [last](const mk::Node& n) {
        return n.kind == mk::NodeKind::op && n.payload == last;
    });
    insert_wait(kernel, static_cast<std::size_t>(node - kernel.nodes.begin()), {id, 1});
    // Each op has its accesses behind those of the op before, so that the list is written anew.
    std::vector<Access> accesses;
    std::set<std::size_t> stores;
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        Op& op = kernel.ops[i];
        const auto its = kernel.accesses_of(op);
        std::vector<Access> own(its.begin(), its.end());
        for (const auto& [load, store] : copies) {
            if (load != i || stores.count(store) > 0) continue;
            op.cls = InstructionClass::cp_async;
            op.completes = id;
            own.push_back(kernel.accesses[kernel.ops[store].first_access]);
            stores.insert(store);
        }
        // Ops behind this one still name their old places, which stay valid until all are read.
        op.access_count = static_cast<std::uint16_t>(own.size());
        accesses.insert(accesses.end(), own.begin(), own.end());
    }
    std::uint32_t first = 0;
    for (Op& op : kernel.ops) {
        op.first_access = first;
        first += op.access_count;
    }
    kernel.accesses = std::move(accesses);
    const Op* const begin = kernel.ops.data();
    remove_ops(kernel, [&](const Op& op) { return stores.count(static_cast<std::size_t>(&op - begin)) > 0; });
    // Nothing depends on a copy but the wait.
    auto deps = deps_of_ops(kernel);
    for (auto& list : deps) {
        std::erase_if(list, [&](const mk::Dep& dep) {
            return kernel.ops[static_cast<std::size_t>(dep.op)].completes == id;
        });
    }
    set_deps(kernel, deps);
    std::int64_t& shared = kernel.dynamic_shared > 0 ? kernel.dynamic_shared : kernel.static_shared;
    shared *= 2;
    return true;
}

bool unserialize_wgmma(Kernel& kernel) {
    bool changed = false;
    std::set<mk::Id> groups;
    for (const Op& op : kernel.ops) {
        if (op.cls == InstructionClass::wgmma && op.completes != mk::no_id) groups.insert(op.completes);
    }
    for (mk::Wait& wait : kernel.waits) {
        if (groups.count(wait.token) > 0 && wait.lag == 0) {
            wait.lag = 1;
            changed = true;
        }
    }
    return changed;
}

bool read_only(Kernel& kernel) {
    std::set<mk::Id> written;
    for (const Access& access : kernel.accesses) {
        if (access.direction != mk::Direction::read) written.insert(access.buffer);
    }
    bool reads = false;
    for (Access& access : kernel.accesses) {
        if (access.direction == mk::Direction::read && space_of(kernel, access) == mk::Space::global &&
            access.pattern != mk::PatternKind::collective && written.count(access.buffer) == 0) {
            access.cache = mk::CachePolicy::ca;
            reads = true;
        }
    }
    return reads;
}

bool aggregate_atomics(Kernel& kernel) {
    bool changed = false;
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        Op& op = kernel.ops[i];
        const auto accesses = kernel.accesses_of(op);
        const bool one_address = is_global_atomic(op) && op.lanes == mk::no_id &&
                                 std::any_of(accesses.begin(), accesses.end(), [](const Access& access) {
                                     return access.pattern == mk::PatternKind::broadcast;
                                 });
        if (!one_address) continue;
        if (op.active <= 1.0 / full_warp && kernel.roles.size() == 1 && kernel.roles.front().warps > 1 &&
            !op.when.active) {
            // The warp's lanes are one atomic already; one warp of the CTA can do it for all, after a scan.
            Term warp;
            warp.variable = Variable::warp;
            op.when = {true, add_index(kernel, 0, {warp}), 0, 1};
            const std::int64_t steps = 2 * 5;
            Op scan = plain_op(InstructionClass::shfl, steps, steps);
            Op sums = plain_op(InstructionClass::add_s32, steps, steps);
            Op barriers = plain_op(InstructionClass::bar_sync, 2, 1);
            insert_ops(kernel, i, {scan, sums, barriers});
            i += 3;
            changed = true;
            continue;
        }
        if (op.active <= 1.0 / full_warp) continue;
        op.active = 1.0 / full_warp;
        // Who takes part, how many, the sum by shuffles, and the place of each.
        Op vote = plain_op(InstructionClass::vote, 1, 1);
        Op redux = plain_op(InstructionClass::redux, 1, 1);
        Op rest = plain_op(InstructionClass::logic, 2, 2);
        insert_ops(kernel, i, {vote, redux, rest});
        i += 3;
        changed = true;
    }
    return changed;
}

bool privatize_atomics(Kernel& kernel, const hw::Gpu& gpu) {
    const auto room = static_cast<std::int64_t>(gpu.shared.per_cta_default.value());
    std::set<mk::Id> bins;
    for (const Op& op : kernel.ops) {
        if (!is_global_atomic(op) || op.returns) continue;
        for (const Access& access : kernel.accesses_of(op)) bins.insert(access.buffer);
    }
    bool changed = false;
    for (const mk::Id id : bins) {
        // A copy: the buffer added below may move the others.
        const mk::Buffer global = kernel.buffers[static_cast<std::size_t>(id)];
        const std::int64_t bytes = global.bytes();
        const std::int64_t base = kernel.static_shared + kernel.dynamic_shared;
        const bool read =
            std::any_of(kernel.accesses.begin(), kernel.accesses.end(), [id](const Access& access) {
                return access.buffer == id && access.direction != mk::Direction::atomic;
            });
        if (base + bytes > room || global.rank != 1 || read || kernel.roles.size() != 1) continue;
        mk::Buffer shared = global;
        shared.name = mk::Name("private");
        shared.space = mk::Space::shared;
        shared.base = base;
        kernel.buffers.push_back(shared);
        kernel.static_shared += bytes;
        const auto own = static_cast<mk::Id>(kernel.buffers.size() - 1);
        std::int64_t element = 4;
        for (Op& op : kernel.ops) {
            if (!is_global_atomic(op)) continue;
            for (std::size_t a = 0; a < op.access_count; ++a) {
                Access& access = kernel.accesses[op.first_access + a];
                if (access.buffer != id) continue;
                access.buffer = own;
                access.skew = 1.0;  // No slice of the L2 serves it any more.
                element = access.bytes;
                op.cls = InstructionClass::atom_shared;
            }
        }
        // Each CTA sets its copy to zero and adds the copy to global memory: a pass over the bins each.
        const auto warps = static_cast<std::int64_t>(kernel.roles.front().warps);
        const std::int64_t warp_bytes = 32 * element;
        const std::int64_t passes = std::max<std::int64_t>(1, bytes / (warp_bytes * warps));
        Term warp;
        warp.coefficient = warp_bytes / hw::bytes_of(global.dtype);
        warp.variable = Variable::warp;
        const auto add = [&](InstructionClass cls, mk::Direction direction, mk::Id buffer, std::size_t at) {
            Op op = plain_op(cls, passes, 1);
            op.returns = cls != InstructionClass::red_global;
            insert_ops(kernel, at, {op});
            Access access;
            access.buffer = buffer;
            access.direction = direction;
            access.bytes = static_cast<std::int32_t>(element);
            access.origin[0] = add_index(kernel, 0, {warp});
            access.step = warp.coefficient * warps;
            Op& placed = kernel.ops[at];
            kernel.accesses.insert(kernel.accesses.begin() + placed.first_access, access);
            placed.access_count = 1;
            for (std::size_t i = at + 1; i < kernel.ops.size(); ++i) ++kernel.ops[i].first_access;
        };
        const std::size_t end = kernel.ops.size() - 1;
        add(InstructionClass::red_global, mk::Direction::atomic, id, end);
        kernel.ops[end].dtype = hw::Dtype::int32;
        add(InstructionClass::ld_shared, mk::Direction::read, own, end);
        add(InstructionClass::st_shared, mk::Direction::write, own, 0);
        changed = true;
    }
    return changed;
}

}  // namespace warptime::advice
