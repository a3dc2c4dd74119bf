// Barriers of a CTA and of a cluster as programs.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/chains.hpp"
#include "validate/microbench/programs/families.hpp"

#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t rounds = 64;

/// A barrier blocks only the instructions that need it (DEFER_BLOCKING in machine code). The loop counts and
/// compares meanwhile, or compares only behind the barrier.
enum class Comparison { meanwhile, behind };

/// `body` again and again on `ctas` CTAs of `warps` warps each.
Probe repeated(const std::vector<mk::Op>& body, std::int64_t warps, std::int64_t ctas,
               Comparison comparison) {
    Probe probe;
    const auto add = [&](mk::Program& program, std::int64_t trips) {
        mk::Kernel& k = program.add_kernel();
        k.name = "barriers";
        k.grid = {ctas, 1, 1};
        k.cta = {32 * warps, 1, 1};
        k.schedule.tiles = {ctas, 1, 1, 1};
        mk::Builder build(k);
        build.role("warps", static_cast<int>(warps));
        build.loop(trips);
        const auto after = [&](mk::Op op, mk::Id before) {
            if (before != mk::no_id) {
                op.dep_count = 1;
                op.deps[0] = {before, 0};
            }
            return build.op(op);
        };
        mk::Id last = mk::no_id;
        for (const mk::Op& op : body) last = after(op, last);
        const mk::Id counted = after(op_of(mk::InstructionClass::add_s32), mk::no_id);
        const mk::Id condition = after(op_of(mk::InstructionClass::set_predicate),
                                       comparison == Comparison::behind ? last : counted);
        mk::Op branch = op_of(mk::InstructionClass::branch);
        branch.dep_count = 2;
        branch.deps[0] = {condition, 0};
        branch.deps[1] = {last, 0};
        build.op(branch);
        build.end();
        build.finish();
    };
    add(probe.program, 2 * rounds);
    add(probe.without, rounds);
    probe.units = static_cast<double>(rounds);
    return probe;
}

std::int64_t everywhere(const Parameters& parameters, const hw::Gpu& gpu) {
    return integer(parameters, "ctas_per_sm") * static_cast<std::int64_t>(gpu.sm.count.value());
}

Probe bar_sync(const Parameters& parameters, const hw::Gpu& gpu) {
    return repeated({op_of(mk::InstructionClass::bar_sync)}, integer(parameters, "warps"),
                    everywhere(parameters, gpu), Comparison::meanwhile);
}

/// With the number of threads in a register, the warp goes on only after the barrier has been passed.
Probe named_barrier(const Parameters& parameters, const hw::Gpu& gpu) {
    return repeated({op_of(mk::InstructionClass::bar_sync)}, integer(parameters, "warps"),
                    everywhere(parameters, gpu), Comparison::behind);
}

Probe mbarrier(const Parameters& parameters, const hw::Gpu& gpu) {
    // After each look, a branch decides whether to look again.
    return repeated({op_of(mk::InstructionClass::mbarrier_arrive),
                     op_of(mk::InstructionClass::mbarrier_try_wait), op_of(mk::InstructionClass::branch)},
                    integer(parameters, "warps"), everywhere(parameters, gpu), Comparison::behind);
}

/// Two warps. Each warp waits for the other warp's arrival before its own arrival.
Probe ping(const Parameters& parameters, const hw::Gpu& gpu) {
    const std::vector<mk::Op> way{op_of(mk::InstructionClass::mbarrier_arrive),
                                  op_of(mk::InstructionClass::mbarrier_try_wait),
                                  op_of(mk::InstructionClass::branch)};
    std::vector<mk::Op> body = way;
    body.insert(body.end(), way.begin(), way.end());
    return repeated(body, integer(parameters, "warps"), everywhere(parameters, gpu), Comparison::behind);
}

Probe cluster_sync(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    return repeated({op_of(mk::InstructionClass::cluster_barrier)}, integer(parameters, "warps"), 1,
                    Comparison::meanwhile);
}

constexpr std::array families{
    Family{"microbench_barrier", "bar_sync", bar_sync},
    Family{"microbench_barrier", "named_barrier", named_barrier},
    Family{"microbench_barrier", "mbarrier_round", mbarrier},
    Family{"microbench_barrier", "mbarrier_ping", ping},
    Family{"microbench_cluster_barrier", "cluster_sync", cluster_sync},
};

}  // namespace

std::span<const Family> barrier_families() {
    return families;
}

}  // namespace warptime::validate::microbench
