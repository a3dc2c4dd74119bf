// Atomics of many warps and loads across a cluster: both engines agree with closed forms to rounding.
// The forms count passes of slices and banks, and bytes of port and cluster.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/atomics/atomics.hpp"

#include "model/agreement/both_engines_test.hpp"
#include "model/machine/l2/l2_partitions.hpp"

#include <map>
#include <string>

namespace {

using namespace warptime::model::agreement;
using warptime::hw::BytesPerCycle;
using warptime::hw::Cycles;
using warptime::hw::Dtype;
using warptime::model::prediction::Cache;

/// Each of `ctas` x `warps` warps adds to `distinct` words, `trips` times; `waits`: for the old value.
mk::Kernel additions(std::int64_t ctas, int warps, std::int64_t trips, std::int64_t distinct, bool waits) {
    mk::Kernel kernel = grid_of(ctas, warps);
    mk::Builder build(kernel);
    mk::Buffer words = mk::examples::vector_of("words", Dtype::int32, distinct);
    words.before = mk::Before::warm;
    const mk::Id table = build.buffer(words);
    build.role("warps", warps);
    build.loop(trips);
    Draft op = make_op(waits ? InstructionClass::atom_global : InstructionClass::red_global);
    op.dtype = Dtype::int32;
    op.returns = waits;
    if (waits) {
        op.dep_count = 1;
        op.deps[0] = {0, 1};
    }
    mk::Access access = mk::examples::lanes(table, mk::Direction::atomic, mk::Builder::constant(0), 4);
    access.pattern = mk::PatternKind::stride;
    access.inner = 1;
    access.bounds = mk::Bounds::wrap;
    add_access(op, access);
    add_op(build, op);
    build.end();
    build.finish();
    return kernel;
}

/// Each warp reads or adds to shared memory, its own or another CTA's, `trips` times.
mk::Kernel shared_turns(InstructionClass cls, int warps, std::int64_t trips, mk::Direction direction,
                        double skew = 1.0) {
    const bool remote = cls == InstructionClass::ld_shared_cluster;
    mk::Kernel kernel = grid_of(remote ? 2 : 1, warps);
    kernel.cluster = {remote ? 2 : 1, 1, 1};
    kernel.dynamic_shared = 64 << 10;
    mk::Builder build(kernel);
    mk::Buffer words = mk::examples::vector_of("words", Dtype::int32, 8192);
    words.space = remote ? mk::Space::cluster_shared : mk::Space::shared;
    const mk::Id table = build.buffer(words);
    build.role("warps", warps);
    build.loop(trips);
    Draft op = make_op(cls);
    op.dtype = Dtype::int32;
    mk::Access access = mk::examples::lanes(table, direction, mk::Builder::constant(0), 4);
    if (!remote) access.pattern = mk::PatternKind::broadcast;
    access.skew = skew;
    add_access(op, access);
    add_op(build, op);
    build.end();
    build.finish();
    return kernel;
}

}  // namespace

TEST_CASE("both engines: old values of one word in shared memory come lane by lane") {
    const auto make = [](std::int64_t trips) {
        return shared_turns(InstructionClass::atom_shared, 16, trips, mk::Direction::atomic);
    };
    check_period(make, 64, 16.0 * 32.0);
}

TEST_CASE("both engines: loads from another CTA take the way across the cluster") {
    auto gpu = teaching_gpu();
    gpu.shared.cluster_bandwidth = BytesPerCycle(8.0);
    const auto make = [](std::int64_t trips) {
        return shared_turns(InstructionClass::ld_shared_cluster, 32, trips, mk::Direction::read);
    };
    check_period(make, 64, 32.0 * 128.0 / 8.0, gpu);
    const auto from_one = [](std::int64_t trips) {
        return shared_turns(InstructionClass::ld_shared_cluster, 32, trips, mk::Direction::read, 2.0);
    };
    // Who serves for two and asks nobody sends four packets where five had been.
    check_period(from_one, 64, 2.0 * 32.0 * 128.0 / 8.0 * 4.0 / 5.0, gpu);
}

TEST_CASE("both engines: quads of constants take their path word by word") {
    auto gpu = teaching_gpu();
    gpu.l1.constant_interval = Cycles(3.0);
    const auto make = [](std::int64_t trips) {
        mk::Kernel kernel = grid_of(1, 32);
        mk::Builder build(kernel);
        mk::Buffer words = mk::examples::vector_of("constants", Dtype::int32, 16384);
        words.space = mk::Space::constant;
        const mk::Id table = build.buffer(words);
        build.role("warps", 32);
        build.loop(trips);
        Draft op = make_op(InstructionClass::ld_constant);
        mk::Access access = mk::examples::lanes(table, mk::Direction::read, mk::Builder::constant(0), 16);
        access.pattern = mk::PatternKind::broadcast;
        add_access(op, access);
        add_op(build, op);
        build.end();
        build.finish();
        return kernel;
    };
    check_period(make, 64, 32.0 * 4.0 * 3.0, gpu);
}

TEST_CASE("both engines: warps that add to one word follow its turns") {
    const auto gpu = teaching_gpu();
    const double turns = warptime::model::machine::slice_cycles(0.0, 32.0, gpu).value();
    const auto make = [](std::int64_t trips) { return additions(132, 8, trips, 1, false); };
    check_period(make, 64, 132.0 * 8.0 * turns, gpu, Cache::warm);
}

TEST_CASE("both engines: one SM sends its operands with a sector ahead of each line") {
    auto gpu = teaching_gpu();
    gpu.l2.write_bandwidth = BytesPerCycle(4.0);
    const auto make = [](std::int64_t trips) { return additions(1, 4, trips, 1024, false); };
    check_period(make, 64, 4.0 * (128.0 + 32.0) / 4.0, gpu, Cache::warm);
}

TEST_CASE("both engines: lanes that add to one word count a sector each, lanes of one line four together") {
    const auto gpu = teaching_gpu();
    const double visits = warptime::model::machine::slice_visits(gpu);
    for (const bool waits : {false, true}) {
        for (const std::int64_t distinct : {std::int64_t{1}, std::int64_t{1024}}) {
            mk::Program program;
            program.add_kernel() = additions(132, 8, 16, distinct, waits);
            const double passes = distinct == 1 ? 32.0 : 4.0;
            for (const auto& engine :
                 {warptime::model::analytical::make_engine(), warptime::model::simulation::make_engine()}) {
                const auto list =
                    engine->explain(program, program.steps[0], gpu, at_fixed_clock(Cache::warm)).counters;
                const std::map<std::string, double> counters(list.begin(), list.end());
                const double sectors = 132.0 * 8.0 * 16.0 * passes * visits;
                check_near(
                    counters.at("lts__t_sectors_op_red.sum") + counters.at("lts__t_sectors_op_atom.sum"),
                    sectors);
                check_near(counters.at(waits ? "lts__t_sectors_op_atom.sum" : "lts__t_sectors_op_red.sum"),
                           sectors);
                CHECK(counters.at("lts__t_sectors_op_write.sum") == doctest::Approx(0.0));
                CHECK(counters.at("lts__t_sectors.sum") >= sectors * (1.0 - rounding));
            }
        }
    }
}
