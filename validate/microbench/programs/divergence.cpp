// Lanes of a warp that go different ways, as programs: divergence.cu.
// Ignores: which lanes go which way.
// Source: machine code of the probe (sm_90).
// Bodies of up to four instructions are predicated. Longer bodies stand between BSSY and BSYNC.
// More than two targets are a table of addresses and an indirect branch. Each __syncwarp is an empty
// instruction. Recorded rows of one warp give the costs. A region that all lanes take costs 30 cycles, and a
// region that half of the lanes take costs 47. So each arrival at the BSYNC takes 17 cycles, for a vote and
// the use of its result. The lanes of one more target cost 49 cycles. These are the arrival, the branch out
// of the body, and another such vote on who goes next.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/chains.hpp"
#include "validate/microbench/programs/families.hpp"

#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;
using Class = mk::InstructionClass;

constexpr std::int64_t rounds = 64;
/// With this many instructions in a trip, the wait for an addition is filled.
constexpr std::int64_t enough_between = 16;
/// Ways that the compiler's table of addresses has for any number of targets beyond two.
constexpr std::int64_t in_table = 3;

mk::Id after(mk::Builder& build, Class cls, mk::Id before) {
    mk::Op op = op_of(cls);
    if (before != mk::no_id) {
        op.dep_count = 1;
        op.deps[0] = {before, 0};
    }
    return build.op(op);
}

/// Lanes meet: a vote notes the lanes that are there, and the result is compared with the expected lanes.
mk::Id meet(mk::Builder& build, mk::Id before = mk::no_id) {
    return after(build, Class::logic, after(build, Class::vote, before));
}

/// Instructions that only take their slot. Such instructions stand before lanes part, and where all lanes
/// must have met.
void slots(mk::Builder& build, std::int64_t count) {
    mk::Op op = op_of(Class::exit);
    op.count = count;
    build.op(op);
}

/// Multiply-adds on enough chains to issue one a cycle.
void work(mk::Builder& build, std::int64_t count, mk::Id before = mk::no_id) {
    mk::Op op = op_of(Class::fma_f32);
    op.count = count;
    if (before != mk::no_id) {
        op.dep_count = 1;
        op.deps[0] = {before, 0};
    }
    build.op(op);
}

/// `body` again and again on every SM, `unroll` times a trip.
template <class Body>
Probe repeated(const Parameters& p, const hw::Gpu& gpu, std::int64_t unroll, Body&& body) {
    const std::int64_t warps = integer(p, "warps_per_subpartition");
    const auto ctas = static_cast<std::int64_t>(gpu.sm.count.value());
    Probe probe;
    for (const std::int64_t times : {rounds, 2 * rounds}) {
        mk::Kernel& k = times == rounds ? probe.without.add_kernel() : probe.program.add_kernel();
        k.name = "divergence";
        k.grid = {ctas, 1, 1};
        k.cta = {128 * warps, 1, 1};
        k.schedule.tiles = {ctas, 1, 1, 1};
        mk::Builder build(k);
        build.role("warps", static_cast<int>(4 * warps));
        build.loop(times / unroll);
        const mk::Id counted = build.op(op_of(Class::add_s32));
        // With enough instructions the compiler fills the gap, and no instruction waits for the addition.
        const bool between = unroll * integer(p, "body") >= enough_between;
        const mk::Id compared = after(build, Class::set_predicate, between ? mk::no_id : counted);
        for (std::int64_t i = 0; i < unroll; ++i) body(build, i);
        after(build, Class::branch, compared);
        build.end();
        build.finish();
    }
    probe.units = static_cast<double>(rounds * warps);
    return probe;
}

/// A table of addresses sends lanes different ways. `take_one_way` takes the lanes that go the first lane's
/// way.
void take_one_way(mk::Builder& build) {
    after(build, Class::branch, build.op(op_of(Class::shfl)));
}

Probe divergence(const Parameters& p, const hw::Gpu& gpu) {
    const std::int64_t targets = integer(p, "targets");
    const std::int64_t count = integer(p, "body");
    return repeated(p, gpu, 1, [&](mk::Builder& build, std::int64_t /*number*/) {
        if (targets == 1) {
            work(build, count);
            slots(build, 1);
            return;
        }
        slots(build, 1);
        if (targets == 2) {
            build.op(op_of(Class::branch));
        } else {
            // The table has the first two targets and one way for the rest.
            after(build, Class::ld_constant, build.op(op_of(Class::shift)));
            build.loop(in_table);
            take_one_way(build);
            build.end();
        }
        // Each target has its own text and a branch out; only the last target has no branch. The targets that
        // share the rest of the table compare their numbers one after another.
        mk::Op body = op_of(Class::fma_f32);
        body.count = count;
        body.active = 1.0 / static_cast<double>(targets);
        for (std::int64_t target = 1; target <= targets; ++target) {
            if (target >= in_table && target < targets) {
                after(build, Class::branch, build.op(op_of(Class::set_predicate)));
            }
            build.op(body);
            if (target < targets) build.op(op_of(Class::branch));
        }
        // All targets meet at the same instruction.
        build.loop(targets);
        meet(build);
        build.end();
    });
}

Probe predicated(const Parameters& p, const hw::Gpu& gpu) {
    constexpr std::int64_t unroll = 4;
    constexpr std::int64_t most_predicated = 4;
    std::array<mk::Id, unroll> factors{};
    const std::int64_t count = integer(p, "body");
    const double lanes = static_cast<double>(integer(p, "lanes"));
    return repeated(p, gpu, unroll, [&](mk::Builder& build, std::int64_t number) {
        if (count <= most_predicated) {
            // With four multiply-adds a round, the compiler first loads a factor for each round from the
            // constants.
            const bool loads = count == most_predicated;
            if (loads && number == 0) {
                for (mk::Id& factor : factors) factor = build.op(op_of(Class::ld_constant));
            }
            work(build, count, loads ? factors[static_cast<std::size_t>(number)] : mk::no_id);
            slots(build, 1);
            return;
        }
        slots(build, 1);
        build.op(op_of(Class::branch));
        build.branch({1.0, lanes});
        work(build, count);
        const mk::Id there = meet(build);
        build.end();
        after(build, Class::exit, lanes < 32.0 ? meet(build, there) : there);
    });
}

constexpr std::array families{
    Family{"microbench_divergence", "divergence", divergence},
    Family{"microbench_divergence", "predicated", predicated},
};

}  // namespace

std::span<const Family> divergence_families() {
    return families;
}

}  // namespace warptime::validate::microbench
