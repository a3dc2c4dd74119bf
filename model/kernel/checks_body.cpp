// Checks of role bodies: nesting, loops, tokens, ops and their accesses.
// Source: README.md of this folder.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "model/kernel/builder.hpp"
#include "model/kernel/checks_detail.hpp"
#include "model/kernel/enum_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace warptime::model::kernel::detail {

void Record::fail(std::string_view field, const std::string& value, std::string_view form) const {
    std::string where = fmt::format("kernel '{}' {}", kernel.name, kind);
    if (kind != "launch" && kind != "schedule") {
        where += fmt::format(" {}", id);
    }
    if (!name.empty()) {
        where += fmt::format(" '{}'", name);
    }
    throw Error(fmt::format("{} {}", where, field), value, std::string(form));
}

std::string label_of(const Kernel& kernel, std::size_t token) {
    const std::string_view name = kernel.tokens[token].name.view();
    return name.empty() ? fmt::format("#{}", token) : std::string(name);
}

void check_index(const Record& record, std::string_view field, const Index& index) {
    const Kernel& kernel = record.kernel;
    const std::size_t last = std::size_t{index.first} + index.count;
    record.expect(last <= kernel.terms.size(), field, static_cast<std::int64_t>(last),
                  "terms inside the pool of terms");
    for (std::size_t i = index.first; i < last; ++i) {
        const Term& term = kernel.terms[i];
        record.expect(term.divisor >= 1, field, term.divisor, "a positive divisor");
        record.expect(term.modulus >= 0, field, term.modulus, "a modulus that is not negative");
        record.expect(term.low <= term.high, field, term.low, "low <= high in a clamp");
        const std::int64_t position = term.position;
        if (term.variable == Variable::tile) {
            record.expect(position < 4, field, position, "tile 0 to 3");
        } else if (term.variable == Variable::loop) {
            record.expect(position < max_loop_depth, field, position, "loop 0 to 7");
        } else if (const std::uint32_t nested = nested_count(term.variable); nested > 0) {
            record.expect(is_id(position + nested - 1, kernel.nested.size()), field, position,
                          "the number of a nested expression");
        } else {
            record.expect(position == 0, field, position, "no position");
        }
    }
}

namespace {

void check_box(const Record& op, std::string_view field, const Access& access) {
    const Buffer& buffer = op.kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const bool by_stage = access.rank == buffer.rank + 1 && buffer.stages > 1;
    op.expect(access.reuse == 0, field, std::int64_t{access.reuse}, "no reuse: boxes say what they move");
    op.expect(access.rank == buffer.rank || by_stage, field, std::int64_t{access.rank},
              "the rank of the buffer, or one more for the stage");
    const bool shared = buffer.space == Space::shared || buffer.space == Space::cluster_shared;
    for (std::size_t d = 0; d < access.rank; ++d) {
        const std::int64_t extent = d < buffer.rank ? buffer.extent[d] : buffer.stages;
        const std::int64_t box = access.box[d];
        op.expect(box >= 1 && box <= (std::int64_t{1} << 32), field, box, "a box of at least 1 element");
        if (shared || access.bounds == Bounds::wrap) {
            op.expect(box <= extent, field, box, "a box inside its buffer");
        }
        if (shared && access.origin[d].is_constant()) {
            const std::int64_t origin = access.origin[d].constant;
            op.expect(origin >= 0 && origin <= extent - box, field, origin, "an origin with the box inside");
        }
    }
    if (access.outer > 0) {
        // Lanes in the box, each with a part of a row.
        op.expect(access.inner_extent >= 1, field, access.inner_extent, "inner_extent of at least 1");
        op.expect(access.inner >= 1, field, access.inner, "at least 1 element of a row for each lane");
    }
}

void check_pattern(const Record& op, std::string_view field, const Access& access) {
    const std::int64_t bytes = access.bytes;
    op.expect(bytes >= 1 && bytes <= 32 && (bytes & (bytes - 1)) == 0, field, bytes,
              "1, 2, 4, 8, 16 or 32 bytes per lane");
    const Buffer& buffer = op.kernel.buffers[static_cast<std::size_t>(access.buffer)];
    op.expect(access.rank == 1 || access.rank == buffer.rank, field, std::int64_t{access.rank},
              "rank 1 or the rank of the buffer");
    op.expect(access.joined >= 0.0 && access.joined <= 1.0, field, access.joined, "joined from 0 to 1");
    op.expect(access.joined == 0.0 || access.direction == Direction::write, field, access.joined,
              "joined only where the access writes");
    op.expect(access.far >= 0.0 && access.far <= 1.0, field, access.far, "far from 0 to 1");
    op.expect(
        access.far == 1.0 || (access.direction == Direction::read && access.pattern == PatternKind::listed),
        field, access.far, "far only of reads at listed places");
    op.expect(access.reuse <= op.kernel.reuse.size(), field, std::int64_t{access.reuse},
              "0, or the number of a reuse of the kernel");
    const std::size_t end = std::size_t{access.pool_first} + access.pool_length;
    switch (access.pattern) {
        case PatternKind::stride:
            op.expect(access.inner_extent >= 1, field, access.inner_extent, "inner_extent of at least 1");
            break;
        case PatternKind::random:
            op.expect(access.distinct >= 1, field, access.distinct, "at least 1 distinct element");
            break;
        case PatternKind::chase:
            op.expect(access.window >= 1, field, access.window, "a window of at least 1 element");
            op.expect(access.step != 0, field, access.step, "a step other than 0");
            break;
        case PatternKind::listed:
            op.expect(access.pool_length > 0 && access.pool_length % 32 == 0, field,
                      std::int64_t{access.pool_length}, "32 element indices for each access of a warp");
            op.expect(end <= op.kernel.address_list.size(), field, static_cast<std::int64_t>(end),
                      "addresses inside the list");
            break;
        case PatternKind::stream:
            op.expect(access.pool_length > 0, field, std::int64_t{access.pool_length}, "at least 1 run");
            op.expect(end <= op.kernel.address_pool.size(), field, static_cast<std::int64_t>(end),
                      "runs inside the pool");
            break;
        case PatternKind::collective:
        case PatternKind::contiguous:
        case PatternKind::broadcast:
            break;
    }
}

}  // namespace

void check_access(const Record& op, std::string_view field, const Access& access) {
    const Kernel& kernel = op.kernel;
    op.expect(is_id(access.buffer, kernel.buffers.size()), field, std::int64_t{access.buffer},
              "the number of a buffer");
    const std::int64_t rank = access.rank;
    op.expect(rank >= 1 && rank <= max_rank, field, rank, "rank 1 to 5");
    for (std::size_t d = 0; d < access.rank; ++d) {
        check_index(op, field, access.origin[d]);
    }
    if (access.pattern == PatternKind::collective) {
        check_box(op, field, access);
    } else {
        check_pattern(op, field, access);
    }
    const std::int64_t multicast = access.multicast_ctas;
    const bool peer = kernel.buffers[static_cast<std::size_t>(access.buffer)].space == Space::cluster_shared;
    const bool global = kernel.buffers[static_cast<std::size_t>(access.buffer)].space == Space::global;
    const bool lanes = (peer || global) && access.pattern != PatternKind::collective;
    op.expect(access.skew == 1.0 || lanes, field, access.skew,
              "skew only where lanes go to global or other CTAs' shared memory");
    // The slice that is asked most may not be the one that this access asks most.
    if (peer) {
        op.expect(access.skew > 0.0 && access.skew <= static_cast<double>(kernel.cluster.volume()), field,
                  access.skew, "skew above 0, up to the CTAs of the cluster");
    } else {
        op.expect(access.skew >= 0.0 && std::isfinite(access.skew), field, access.skew, "skew of at least 0");
    }
    op.expect(multicast >= 1 && multicast <= kernel.cluster.volume(), field, multicast,
              "multicast to 1 up to all CTAs of the cluster");
}

namespace {

/// Roles that signal and await a token, in their order.
struct TokenUse {
    std::vector<std::size_t> waits;
    std::vector<std::size_t> signals;

    static void add(std::vector<std::size_t>& roles, std::size_t role) {
        if (roles.empty() || roles.back() != role) roles.push_back(role);
    }
};

class BodyCheck {
  public:
    explicit BodyCheck(const Kernel& kernel)
        : kernel_(kernel), uses_(kernel.tokens.size()), role_of_op_(kernel.ops.size(), 0) {}

    void run() {
        for (std::size_t r = 0; r < kernel_.roles.size(); ++r) {
            role_ = r;
            depth_ = 0;
            loops_ = 0;
            for (std::size_t i = kernel_.roles[r].first_node; i < kernel_.roles[r].last_node; ++i) {
                node(i);
            }
        }
        sizes();
        deps();
        tokens();
    }

  private:
    [[nodiscard]] Record record(std::string_view kind, std::size_t id) const {
        return {kernel_, kind, id, {}};
    }

    void leave(std::size_t i) {
        while (depth_ > 0 && kernel_.nodes[open_[depth_ - 1]].end == i) {
            --depth_;
            loops_ -= kernel_.nodes[open_[depth_]].kind == NodeKind::loop ? 1 : 0;
        }
    }

    void node(std::size_t i) {
        leave(i);
        const Node& node = kernel_.nodes[i];
        const Record here = record("node", i);
        const std::size_t kind = static_cast<std::size_t>(node.kind);
        here.expect(kind < next_.size(), "kind", static_cast<std::int64_t>(kind), "a kind of node");
        here.expect(node.payload == next_[kind], "payload", std::int64_t{node.payload},
                    "records of one kind numbered in the order of their nodes");
        ++next_[kind];
        const std::size_t sizes[] = {kernel_.ops.size(),     kernel_.loops.size(),    kernel_.waits.size(),
                                     kernel_.signals.size(), kernel_.branches.size(), kernel_.marks.size()};
        here.expect(node.payload < sizes[kind], "payload", std::int64_t{node.payload}, "an existing record");
        if (node.kind == NodeKind::loop || node.kind == NodeKind::branch) {
            const std::size_t limit =
                depth_ > 0 ? kernel_.nodes[open_[depth_ - 1]].end : kernel_.roles[role_].last_node;
            here.expect(node.end > i && node.end <= limit, "end", std::int64_t{node.end},
                        "a body inside the one around it");
            here.expect(depth_ < open_.size(), "depth", static_cast<std::int64_t>(depth_ + 1),
                        "at most 16 loops and branches nested");
            loops_ += node.kind == NodeKind::loop ? 1 : 0;
            here.expect(loops_ <= max_loop_depth, "depth", std::int64_t{loops_}, "at most 8 loops nested");
            open_[depth_++] = i;
        } else {
            here.expect(node.end == i + 1, "end", std::int64_t{node.end}, "the next node");
        }
        payload(node);
    }

    void payload(const Node& node) {
        const std::size_t id = node.payload;
        switch (node.kind) {
            case NodeKind::op:
                role_of_op_[id] = role_;
                op(id);
                break;
            case NodeKind::loop:
                loop(id);
                break;
            case NodeKind::wait: {
                const Wait& wait = kernel_.waits[id];
                token(record("wait", id), wait.token);
                record("wait", id).expect(wait.lag >= 0, "lag", std::int64_t{wait.lag}, "not negative");
                TokenUse::add(uses_[static_cast<std::size_t>(wait.token)].waits, role_);
                break;
            }
            case NodeKind::signal: {
                const Signal& signal = kernel_.signals[id];
                token(record("signal", id), signal.token);
                TokenUse::add(uses_[static_cast<std::size_t>(signal.token)].signals, role_);
                break;
            }
            case NodeKind::branch: {
                const Branch& branch = kernel_.branches[id];
                const Record here = record("branch", id);
                here.expect(branch.warps_taking >= 0.0 && branch.warps_taking <= 1.0, "warps_taking",
                            branch.warps_taking, "a fraction from 0 to 1");
                lanes(here, branch.lanes);
                here.expect(branch.lanes == no_id || branch.warps_taking == 1.0, "warps_taking",
                            branch.warps_taking, "no share beside `lanes`, which says who takes it");
                here.expect(branch.lanes == no_id || branch.mean_lanes == 32.0, "mean_lanes",
                            branch.mean_lanes, "no mean beside `lanes`, which says how many");
                here.expect(branch.mean_lanes >= 0.0 && branch.mean_lanes <= 32.0, "mean_lanes",
                            branch.mean_lanes, "0 to 32");
                for (const double share : {branch.slowest.of_cta, branch.slowest.of_grid}) {
                    here.expect(share == -1.0 || (share >= 0.0 && share <= 1.0), "slowest", share,
                                "a fraction from 0 to 1, or -1 for warps_taking");
                }
                break;
            }
            case NodeKind::mark:
                break;
        }
    }

    void loop(std::size_t id) {
        const Loop& loop = kernel_.loops[id];
        const Record here = record("loop", id);
        here.expect(loop.unroll >= 1, "unroll", std::int64_t{loop.unroll}, "at least 1");
        here.expect(loop.machine_unroll >= 1, "machine_unroll", std::int64_t{loop.machine_unroll},
                    "at least 1");
        for (const double slowest : {loop.slowest.of_cta, loop.slowest.of_grid}) {
            here.expect(slowest == -1.0 || (slowest >= 0.0 && slowest <= 1e15), "slowest", slowest,
                        "a number that is not negative, or -1 for the mean");
        }
        const Trips& trips = loop.trips;
        if (trips.expected) {
            for (const double value : {trips.mean, trips.max_over_lanes, trips.max_over_warps}) {
                here.expect(value >= 0.0 && value <= 1e15, "trips", value, "a number that is not negative");
            }
        }
        check_index(here, "trips", trips.index);
        here.expect(!trips.index.is_constant() || trips.index.constant >= 0, "trips", trips.index.constant,
                    "not negative");
    }

    void token(const Record& here, Id token) const {
        here.expect(is_id(token, kernel_.tokens.size()), "token", std::int64_t{token},
                    "the number of a token");
        for (std::size_t i = 0; i < depth_; ++i) {
            const Node& node = kernel_.nodes[open_[i]];
            if (node.kind == NodeKind::branch) {
                const Branch& branch = kernel_.branches[node.payload];
                const double taking = branch.warps_taking;
                here.expect(branch.lanes == no_id, "token", taking,
                            "no branch around it that some lanes take and others do not");
                here.expect(taking == 1.0, "token", taking,
                            "no branch around it that only a fraction of the warps take");
            }
        }
    }

    void op(std::size_t id) {
        const Op& op = kernel_.ops[id];
        const Record here{kernel_, "op", id, {}};
        here.expect(op.cls < InstructionClass::count, "cls", static_cast<std::int64_t>(op.cls),
                    "an instruction class");
        here.expect(op.count >= 1 && op.count <= (std::int64_t{1} << 32), "count", op.count, "1 to 2^32");
        here.expect(op.chain >= 1 && op.chain <= op.count, "chain", op.chain, "1 to count");
        here.expect(op.enabled >= 0.0 && op.enabled <= 1.0, "enabled", op.enabled, "a fraction from 0 to 1");
        const bool tells = op.completes != no_id;
        here.expect(!tells || (op.enabled == 1.0 && op.lanes == no_id), "completes",
                    std::int64_t{op.completes}, "no predicate on an op that completes a token");
        lanes(here, op.lanes);
        here.expect(op.active > 0.0 && op.active <= 1.0, "active", op.active, "above 0 and at most 1");
        here.expect(op.asleep >= 0.0 && op.asleep <= 1e9, "asleep", op.asleep, "0 to 10^9 nanoseconds");
        here.expect(op.asleep == 0.0 || op.cls == InstructionClass::nanosleep, "asleep", op.asleep,
                    "0, but with nanosleep");
        const bool loads_or_stores =
            (op.cls == InstructionClass::ld_global || op.cls == InstructionClass::st_global) &&
            op.access_count == 1;
        if (op.texture != TextureUse::none && !loads_or_stores) {
            here.fail("texture", std::string(name_of(op.texture)),
                      "none, but with ld_global and st_global of one access");
        }
        const bool matrix = op.cls == InstructionClass::mma_sync || hw::is_group_product(op.cls) ||
                            op.cls == InstructionClass::tcgen05_mma;
        for (const std::int64_t size : op.shape) {
            here.expect(matrix ? size >= 1 : size >= 0, "shape", size,
                        matrix ? "m, n and k of the matrix instruction" : "not negative");
        }
        if (op.when.active) {
            check_index(here, "when", op.when.value);
            here.expect(op.when.low <= op.when.high, "when", op.when.low, "low <= high");
        }
        here.expect(std::size_t{op.first_access} + op.access_count <= kernel_.accesses.size(), "first_access",
                    std::int64_t{op.first_access}, "accesses of this kernel");
        for (std::size_t a = 0; a < op.access_count; ++a) {
            const Access& access = kernel_.accesses_of(op)[a];
            if (a < names_.size()) {
                check_access(here, names_[a], access);
            } else {
                check_access(here, fmt::format("access {}", a), access);
            }
        }
        const std::size_t more = op.dep_count > op.deps.size() ? op.dep_count - op.deps.size() : 0;
        here.expect(
            op.more_deps == (more > 0 ? more_deps_ : 0) && more_deps_ + more <= kernel_.more_deps.size(),
            "more_deps", std::int64_t{op.more_deps}, "deps beyond the fourth, in the order of the ops");
        more_deps_ += more;
        if (op.completes != no_id) {
            // A branch around it leaves out the last trips of a pipeline, which fill no stage.
            here.expect(is_id(op.completes, kernel_.tokens.size()), "token", std::int64_t{op.completes},
                        "the number of a token");
            TokenUse::add(uses_[static_cast<std::size_t>(op.completes)].signals, role_);
        }
    }

    /// Numbers of active lanes belong to ops and branches in the order of their nodes.
    void lanes(const Record& here, Id lanes) {
        if (lanes == no_id) return;
        here.expect(
            is_id(lanes, kernel_.lane_counts.size()) && static_cast<std::size_t>(lanes) == next_lanes_,
            "lanes", std::int64_t{lanes}, "numbers of lanes in the order of their nodes");
        ++next_lanes_;
        check_index(here, "lanes", kernel_.lane_counts[static_cast<std::size_t>(lanes)]);
    }

    void sizes() const {
        const Record whole{kernel_, "launch", 0, {}};
        whole.expect(next_lanes_ == kernel_.lane_counts.size(), "lane_counts",
                     static_cast<std::int64_t>(kernel_.lane_counts.size()),
                     "as many as ops and branches name");
        whole.expect(more_deps_ == kernel_.more_deps.size(), "more_deps",
                     static_cast<std::int64_t>(kernel_.more_deps.size()), "as many as ops have");
        const std::size_t sizes[] = {kernel_.ops.size(),     kernel_.loops.size(),    kernel_.waits.size(),
                                     kernel_.signals.size(), kernel_.branches.size(), kernel_.marks.size()};
        for (std::size_t kind = 0; kind < next_.size(); ++kind) {
            static constexpr std::string_view names[] = {"ops",     "loops",    "waits",
                                                         "signals", "branches", "marks"};
            const Record launch{kernel_, "launch", 0, {}};
            launch.expect(sizes[kind] == next_[kind], names[kind], static_cast<std::int64_t>(sizes[kind]),
                          "as many records as nodes of the kind");
        }
    }

    void deps() const {
        for (std::size_t id = 0; id < kernel_.ops.size(); ++id) {
            const Op& op = kernel_.ops[id];
            const Record here{kernel_, "op", id, {}};
            for (const Dep& dep : kernel_.deps_of(op)) {
                here.expect(is_id(dep.op, kernel_.ops.size()), "dep", std::int64_t{dep.op},
                            "the number of an op");
                here.expect(role_of_op_[static_cast<std::size_t>(dep.op)] == role_of_op_[id], "dep",
                            std::int64_t{dep.op}, "an op of the same role");
                here.expect(dep.distance >= 0, "dep distance", std::int64_t{dep.distance}, "not negative");
                here.expect(dep.distance > 0 || static_cast<std::size_t>(dep.op) < id, "dep",
                            std::int64_t{dep.op}, "an earlier op when the distance is 0");
            }
        }
    }

    void tokens() const {
        for (std::size_t id = 0; id < kernel_.tokens.size(); ++id) {
            const Token& token = kernel_.tokens[id];
            const TokenUse& use = uses_[id];
            const Record here{kernel_, "token", id, token.name.view()};
            here.expect(use.waits.empty() || !use.signals.empty(), "signals", std::int64_t{0},
                        "at least one, since it is waited for");
            if (token.scope == Scope::warp) {
                const bool each =
                    std::includes(use.signals.begin(), use.signals.end(), use.waits.begin(), use.waits.end());
                here.expect(each, "signals", std::int64_t{0},
                            "a signal in each role that waits, since its scope is one warp");
            }
        }
    }

    const Kernel& kernel_;
    std::vector<TokenUse> uses_;
    std::vector<std::size_t> role_of_op_;
    std::array<std::size_t, 6> next_{};
    std::size_t next_lanes_ = 0;
    std::size_t more_deps_ = 0;
    /// Names of the usual accesses, so that a check builds no text.
    std::array<std::string_view, 3> names_{"access 0", "access 1", "access 2"};
    std::array<std::size_t, static_cast<std::size_t>(max_nesting)> open_{};
    std::size_t depth_ = 0;
    int loops_ = 0;
    std::size_t role_ = 0;
};

}  // namespace

void check_bodies(const Kernel& kernel) {
    BodyCheck(kernel).run();
}

}  // namespace warptime::model::kernel::detail
