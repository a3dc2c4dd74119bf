// Small kernels for tests: a pointer chase, a softmax in registers, a histogram with skewed atomics, and a
// traced kernel. Trips and addresses of the traced kernel come from an interpreted trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/examples/parts.hpp"

namespace warptime::model::kernel::examples {

/// One lane follows pointers 128 B apart in a window, `steps` times, between two marks.
inline void pointer_chase(Kernel& kernel, std::int64_t window_bytes, std::int64_t steps) {
    kernel.clear();
    kernel.name = "pointer_chase";
    kernel.cta = {32, 1, 1};
    Builder build(kernel);
    const Id list = build.buffer(vector_of("list", Dtype::int64, window_bytes / 8));
    build.role("lane", 1);
    const auto chase = [&](std::int64_t trips) {
        build.loop(trips);
        Draft op = make_op(InstructionClass::ld_global, 1, {{static_cast<Id>(kernel.ops.size()), 1}});
        op.active = 1.0 / 32.0;
        Access access = lanes(list, Direction::read, Builder::constant(0), 8, 16);
        access.pattern = PatternKind::chase;
        access.window = window_bytes / 8;
        add_access(op, access);
        add_op(build, op);
        build.end();
    };
    chase(window_bytes / 128);  // warms the window
    build.mark("begin");
    chase(steps);
    build.mark("end");
    build.finish();
}

/// One CTA of 256 threads per row; a thread holds columns / 256 elements in registers.
inline void softmax(Kernel& kernel, std::int64_t rows, std::int64_t columns) {
    kernel.clear();
    kernel.name = "softmax";
    kernel.grid = {rows, 1, 1};
    kernel.cta = {256, 1, 1};
    kernel.static_shared = 64;
    kernel.schedule.tiles = {rows, 1, 1, 1};
    Builder build(kernel);
    const Id x = build.buffer(matrix("x", Dtype::bf16, columns, rows));
    const Id y = build.buffer(matrix("y", Dtype::bf16, columns, rows));
    Buffer partial = vector_of("partial", Dtype::fp32, 16);
    partial.space = Space::shared;
    const Id scratch = build.buffer(partial);
    const Id meet = build.token(token("meet", TokenKind::named_barrier, Scope::cta, 8));
    const std::int64_t loads = (columns + 2047) / 2048;  // 16 B per lane, 2048 elements per CTA instruction
    const std::int64_t each = 8 * loads;
    build.role("warps", 8);
    const auto row_access = [&](Id buffer, Direction direction) {
        Access access = lanes(buffer, direction, build.variable(Variable::warp, 256), 16, 2048);
        access.rank = 2;
        access.origin[1] = build.variable(Variable::tile);
        return access;
    };
    Draft load = make_op(InstructionClass::ld_global, loads);
    add_access(load, row_access(x, Direction::read));
    Id value = add_op(build, load);
    for (const InstructionClass cls : {InstructionClass::compare_select, InstructionClass::add_f32}) {
        if (cls == InstructionClass::add_f32) {
            value = add_op(build, make_op(InstructionClass::mufu, each, {{value, 0}}));
        }
        Draft reduce = make_op(cls, each, {{value, 0}});
        reduce.chain = each;
        value = add_op(build, reduce);
        Draft exchange = make_op(InstructionClass::shfl, 5, {{value, 0}});
        exchange.chain = 5;
        value = add_op(build, exchange);
        Draft put = make_op(InstructionClass::st_shared, 1, {{value, 0}});
        add_access(put, lanes(scratch, Direction::write, build.variable(Variable::warp), 4));
        put.accesses[0].pattern = PatternKind::broadcast;
        add_op(build, put);
        add_op(build, make_op(InstructionClass::bar_sync));
        build.signal(meet);
        build.wait(meet);
        Draft get = make_op(InstructionClass::ld_shared);
        Access all = lanes(scratch, Direction::read, Builder::constant(0), 4);
        all.pattern = PatternKind::stride;
        all.inner_extent = 8;
        add_access(get, all);
        value = add_op(build, get);
    }
    value = add_op(build, make_op(InstructionClass::mul_f32, each, {{value, 0}}));
    Draft store = make_op(InstructionClass::st_global, loads, {{value, 0}});
    add_access(store, row_access(y, Direction::write));
    add_op(build, store);
    build.finish();
}

/// 256 bins in shared memory, filled by atomics on skewed data, then added to the bins in global memory.
inline void histogram(Kernel& kernel, std::int64_t elements, std::int64_t per_cta) {
    kernel.clear();
    kernel.name = "histogram";
    const std::int64_t ctas = (elements + per_cta - 1) / per_cta;
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {256, 1, 1};
    kernel.static_shared = 1024;
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    Builder build(kernel);
    const Id data = build.buffer(vector_of("data", Dtype::int32, elements));
    const Id bins = build.buffer(vector_of("bins", Dtype::int32, 256));
    Buffer local = vector_of("local_bins", Dtype::int32, 256);
    local.space = Space::shared;
    const Id shared_bins = build.buffer(local);
    const Id meet = build.token(token("meet", TokenKind::named_barrier, Scope::cta, 8));
    build.role("warps", 8);
    build.loop(per_cta / 256);
    Draft load = make_op(InstructionClass::ld_global);
    add_access(load, lanes(data, Direction::read,
                           build.index(0, {term(Variable::tile, per_cta), term(Variable::loop, 256),
                                           term(Variable::thread_x)}),
                           4));
    const Id value = add_op(build, load);
    Draft count = make_op(InstructionClass::atom_shared, 1, {{value, 0}});
    count.returns = false;
    Access random = lanes(shared_bins, Direction::atomic, Builder::constant(0), 4);
    random.pattern = PatternKind::random;
    random.distinct = 256;
    random.distribution = Distribution::zipf;
    random.seed = 1;
    add_access(count, random);
    add_op(build, count);
    build.end();
    add_op(build, make_op(InstructionClass::bar_sync));
    build.signal(meet);
    build.wait(meet);
    Draft flush = make_op(InstructionClass::red_global);
    flush.returns = false;
    add_access(flush, lanes(shared_bins, Direction::read, build.variable(Variable::thread_x), 4));
    add_access(flush, lanes(bins, Direction::atomic, build.variable(Variable::thread_x), 4));
    add_op(build, flush);
    build.finish();
}

/// A sparse row sum as an interpreter saw it: mean trips known, addresses as affine runs.
inline void traced_kernel(Kernel& kernel) {
    kernel.clear();
    kernel.name = "traced \"spmv\"";
    kernel.grid = {64, 1, 1};
    kernel.cta = {64, 1, 1};
    kernel.schedule.tiles = {64, 1, 1, 1};
    kernel.coverage = {0.5, 0.375, 0.125};
    kernel.cta_classes.push_back({0, 16, 1.0, CtaPhase::first_wave});
    kernel.cta_classes.push_back({16, 64, 3.0, CtaPhase::any});
    kernel.address_pool.push_back({0, 32, 4, 0xffffffffU});
    kernel.address_pool.push_back({4096, -8, 2, 0x0000ffffU});
    for (std::int64_t lane = 0; lane < 32; ++lane) {
        kernel.address_list.push_back(lane < 24 ? lane * 7 : -1);
    }
    Builder build(kernel);
    const Id values = build.buffer(vector_of("values", Dtype::fp32, 1 << 20));
    const Id x = build.buffer(vector_of("x", Dtype::fp32, 1 << 16));
    build.role("warps", 2);
    Trips trips;
    trips.expected = true;
    trips.mean = 12.4;
    trips.max_over_lanes = 31.0;
    trips.max_over_warps = 18.5;
    build.loop(trips, 2, 2);
    Draft load = make_op(InstructionClass::ld_global);
    Access stream = lanes(values, Direction::read, build.variable(Variable::tile, 8192), 4);
    stream.pattern = PatternKind::stream;
    stream.pool_length = 2;
    add_access(load, stream);
    const Id value = add_op(build, load);
    Draft gather = make_op(InstructionClass::ld_global);
    Access listed = lanes(x, Direction::read, Builder::constant(0), 4);
    listed.pattern = PatternKind::listed;
    listed.pool_length = 32;
    add_access(gather, listed);
    const Id factor = add_op(build, gather);
    Draft sum = make_op(InstructionClass::fma_f32, 1, {{value, 0}, {factor, 0}, {2, 1}});
    sum.active = 0.75;
    add_op(build, sum);
    Draft turn = make_op(InstructionClass::branch);
    turn.once_per_unroll = true;
    add_op(build, turn);
    build.end();
    build.branch({0.5, 16.0});
    add_op(build, make_op(InstructionClass::add_f32, 2));
    build.end();
    build.finish();
}

}  // namespace warptime::model::kernel::examples
