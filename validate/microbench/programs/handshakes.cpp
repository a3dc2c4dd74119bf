// CTAs that wait for each other through memory, as programs.
// The handshakes are a flag handed to and fro, and the barrier of a whole grid.
// Ignores: that there are two sides. One warp's way stands for both sides.
// A poll may come too early, which costs half of the poll's own way on average.
// Source: machine code of cluster_barrier.cu (sm_90).
// A release is a fence of the GPU in either scope, then a store. An acquire is a load again and again.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/chains.hpp"
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/loads.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;
using Class = mk::InstructionClass;

constexpr std::int64_t rounds = 64;

/// Waits this many cycles.
mk::Id wait_for(mk::Builder& build, double cycles, const hw::Gpu& gpu, mk::Id after) {
    mk::Op op = idle_for(cycles, gpu);
    op.dep_count = 1;
    op.deps[0] = {after, 0};
    return build.op(op);
}

/// One op of one lane that follows another op.
mk::Id follow(mk::Builder& build, Class cls, mk::Id after, const mk::Access* access = nullptr) {
    mk::Op op = op_of(cls);
    op.active = 1.0 / 32.0;
    if (after != mk::no_id) {
        op.dep_count = 1;
        op.deps[0] = {after, 0};
    }
    return access != nullptr ? build.op(op, {*access}) : build.op(op);
}

/// A load that looks, a comparison, and the branch that asks whether to look again.
mk::Id poll(mk::Builder& build, Class cls, mk::Id after, const mk::Access* access) {
    const mk::Id seen = follow(build, cls, after, access);
    return follow(build, Class::branch, follow(build, Class::set_predicate, seen));
}

/// Cycles from one look to the next look.
double period_of_poll(double load, const hw::Gpu& gpu) {
    return load + gpu.instructions[Class::set_predicate].latency.value() +
           gpu.instructions[Class::branch].latency.value();
}

mk::Access word_of(mk::Builder& build, mk::Direction direction) {
    mk::Access access;
    access.buffer = build.buffer(words_of("flag", 128));
    access.direction = direction;
    access.pattern = mk::PatternKind::broadcast;
    access.cache = mk::CachePolicy::cg;
    return access;
}

/// `body` writes the repeated work of a CTA's first warp. The other warps, if any, do `beside`.
template <class Body, class Beside>
Probe repeated(std::int64_t ctas, std::int64_t threads, Body&& body, Beside&& beside) {
    Probe probe;
    for (const std::int64_t times : {rounds, 2 * rounds}) {
        mk::Kernel& k =
            add_kernel(times == rounds ? probe.without : probe.program, "handshake", ctas, threads);
        mk::Builder build(k);
        build.role("first", 1);
        build.loop(times);
        body(build);
        build.end();
        if (threads > 32) {
            build.role("others", static_cast<int>(threads / 32) - 1);
            build.loop(times);
            beside(build);
            build.end();
        }
        build.finish();
    }
    probe.units = static_cast<double>(rounds);
    return probe;
}

void nothing(mk::Builder& /*build*/) {}

/// One way. First the earlier writes are made visible. Then the number goes to the L2, and the load of the
/// other side that finds the number comes back. Both together take the time of one load. The load left half a
/// polling period late.
Probe flag(const Parameters& p, const hw::Gpu& gpu) {
    const auto way = [&](mk::Builder& build) {
        const mk::Access read = word_of(build, mk::Direction::read);
        const mk::Id fence = follow(build, Class::fence, mk::no_id);
        const double load = 0.5 * (gpu.latency.l2_near + gpu.latency.l2_far).value();
        const mk::Id late = wait_for(build, 0.5 * period_of_poll(load, gpu), gpu, fence);
        poll(build, Class::ld_global, late, &read);
    };
    return repeated(2 * integer(p, "pairs"), 32, way, nothing);
}

/// The same to the shared memory of the other SM. That SM polls its own shared memory.
Probe dsmem_flag(const Parameters& p, const hw::Gpu& gpu) {
    const auto way = [&](mk::Builder& build) {
        const mk::Id fence = follow(build, Class::fence, mk::no_id);
        const double there = 0.5 * gpu.instructions[Class::ld_shared_cluster].latency.value();
        const double late = 0.5 * period_of_poll(gpu.latency.shared.value(), gpu);
        poll(build, Class::ld_shared, wait_for(build, there + late, gpu, fence), nullptr);
    };
    return repeated(2 * integer(p, "pairs"), 32, way, nothing);
}

/// Cooperative groups: a barrier of the CTA, then a fence, then a counter, then another barrier of the CTA.
/// One lane adds to the counter and then polls the counter. The last CTA to add sets the pace. The single
/// TPCs of one cluster take 8 CTAs. With more CTAs, some lie across from the counter's partition of the L2.
/// Then both ways to the counter are longer.
Probe grid_sync(const Parameters& p, const hw::Gpu& gpu) {
    const std::int64_t ctas = integer(p, "ctas");
    const std::int64_t threads = integer(p, "threads");
    constexpr std::int64_t one_cluster = 8;
    const auto first = [&](mk::Builder& build) {
        mk::Access add = word_of(build, mk::Direction::atomic);
        mk::Access read = add;
        read.direction = mk::Direction::read;
        mk::Id last = follow(build, Class::fence, build.op(op_of(Class::bar_sync)));
        mk::Op atomic = op_of(Class::atom_global);
        atomic.dtype = mk::Dtype::int32;
        atomic.active = 1.0 / 32.0;
        atomic.dep_count = 1;
        atomic.deps[0] = {last, 0};
        last = follow(build, Class::shfl, build.op(atomic, {add}));
        if (ctas > one_cluster) {
            const double across =
                (gpu.latency.l2_other - 0.5 * (gpu.latency.l2_near + gpu.latency.l2_far)).value();
            last = wait_for(build, 2.0 * across, gpu, last);
        }
        last = poll(build, Class::ld_global, last, &read);
        mk::Op meet = op_of(Class::bar_sync);
        meet.dep_count = 1;
        meet.deps[0] = {last, 0};
        build.op(meet);
    };
    const auto others = [](mk::Builder& build) {
        build.op(op_of(Class::bar_sync));
        build.op(op_of(Class::bar_sync));
    };
    return repeated(ctas, threads, first, others);
}

/// Constants in steps of 64 bytes. Each load waits for the load before. The nearest cache has none of the
/// constants. The next cache fetches 256 bytes at a time, from L2 or DRAM. That cache serves the steps within
/// 256 bytes. Recorded rows: 712 cycles for four steps from L2, 1060 to 1180 over a flushed L2, at any size.
/// SMs share that next cache. 132 SMs take no longer than one SM, so a CTA stands for all.
Probe cold_constant(const Parameters& p, const hw::Gpu& gpu) {
    constexpr std::int64_t block = 256;
    const std::int64_t bytes = integer(p, "bytes");
    const std::int64_t stride = integer(p, "stride");
    Probe probe;
    mk::Kernel& k = add_kernel(probe.program, "constants", 1, 32);
    mk::Builder build(k);
    const mk::Id words = build.buffer(words_of("constants", bytes));
    build.role("lane", 1);
    build.loop((bytes + block - 1) / block);
    mk::Op load = op_of(Class::ld_global);
    load.active = 1.0 / 32.0;
    load.dep_count = 1;
    load.deps[0] = {0, 1};
    mk::Access access;
    access.buffer = words;
    access.pattern = mk::PatternKind::chase;
    access.window = bytes / 4;
    access.step = block / 4;
    access.cache = mk::CachePolicy::cg;
    const mk::Id first = build.op(load, {access});
    const std::int64_t further = block / stride - 1;
    wait_for(build, static_cast<double>(further) * gpu.latency.constant.value(), gpu, first);
    build.end();
    build.finish();
    return probe;
}

constexpr std::array families{
    Family{"microbench_cluster_barrier", "flag", flag},
    Family{"microbench_cluster_barrier", "dsmem_flag", dsmem_flag},
    Family{"microbench_cluster_barrier", "grid_sync", grid_sync},
    Family{"microbench_cold_code", "cold_constant", cold_constant},
};

}  // namespace

std::span<const Family> handshake_families() {
    return families;
}

}  // namespace warptime::validate::microbench
