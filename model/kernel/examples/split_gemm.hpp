// GEMMs in which several CTAs do the k-iterations of one tile: stream-K with a fix-up through flags, and
// split-K with a reduction kernel.
// Ignores: pipelining of the main loop (one stage, synchronous).
// Source: Osama et al., Stream-K, PPoPP 2023.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/examples/parts.hpp"

#include <algorithm>

namespace warptime::model::kernel::examples {

/// 64 x 64 x 32 tiles in fp32 arithmetic on 4 warps.
struct SplitGemm {
    std::int64_t m = 128, n = 64, k = 320;
    std::int64_t ctas = 3;     ///< stream-K: shares of equal length
    std::int64_t split_k = 4;  ///< split-K
    std::int64_t k_iterations() const { return k / 32; }
    std::int64_t tiles() const { return (m / 64) * (n / 64); }
};

inline void begin_split_gemm(Kernel& kernel, const SplitGemm& problem, const char* name) {
    kernel.clear();
    kernel.name = name;
    kernel.cta = {128, 1, 1};
    kernel.static_shared = 2 * 64 * 32 * 4;
    kernel.schedule.k_iterations = problem.k_iterations();
}

/// The k-loop over [item.begin, item.end); returns the op with the sums.
inline Id split_gemm_loop(Kernel& kernel, Builder& build, const SplitGemm& problem, Id meet) {
    const Id a = build.buffer(matrix("a", Dtype::fp32, problem.k, problem.m));
    const Id b = build.buffer(matrix("b", Dtype::fp32, problem.k, problem.n));
    const Index k_origin = build.index(0, {term(Variable::item_begin, 32), term(Variable::loop, 32)});
    build.role("warps", 4);
    build.loop(build.index(0, {term(Variable::item_end), term(Variable::item_begin, -1)}));
    Draft load = make_op(InstructionClass::ld_global, 8);
    const auto operand = [&](Id buffer, std::uint16_t position) {
        const Index row = build.index(0, {term(Variable::tile, 64, position), term(Variable::warp, 16)});
        add_access(load, box(buffer, Direction::read, {k_origin, row}, {32, 16}));
    };
    operand(a, 0);
    operand(b, 1);
    const Id loaded = add_op(build, load);
    add_op(build, make_op(InstructionClass::st_shared, 8, {{loaded, 0}}));
    add_op(build, make_op(InstructionClass::bar_sync));
    build.signal(meet);
    build.wait(meet);
    // 64 x 64 sums on 128 threads: 32 each, 32 products deep.
    Draft fma = make_op(InstructionClass::fma_f32, 32 * 32, {{static_cast<Id>(kernel.ops.size()), 1}});
    fma.chain = 32;
    const Id sums = add_op(build, fma);
    add_op(build, make_op(InstructionClass::bar_sync));
    build.signal(meet);
    build.wait(meet);
    build.end();
    return sums;
}

/// Items in the order of their CTAs; a tile's first item owns it and adds the others' sums.
inline void stream_k(Kernel& kernel, const SplitGemm& problem) {
    begin_split_gemm(kernel, problem, "stream_k");
    const std::int64_t steps = problem.k_iterations();
    const std::int64_t share = (problem.tiles() * steps + problem.ctas - 1) / problem.ctas;
    kernel.schedule.kind = ScheduleKind::listed;
    kernel.schedule.tiles = {problem.m / 64, problem.n / 64, 1, 1};
    kernel.schedule.stream_k = true;
    for (std::int64_t cta = 0; cta < problem.ctas; ++cta) {
        const std::int64_t last = std::min((cta + 1) * share, problem.tiles() * steps);
        for (std::int64_t at = cta * share; at < last;) {
            const std::int64_t tile = at / steps;
            const std::int64_t end = std::min(last, (tile + 1) * steps);
            WorkItem item;
            item.tile = {tile % (problem.m / 64), tile / (problem.m / 64), 0, 0};
            item.begin = at - tile * steps;
            item.end = end - tile * steps;
            kernel.schedule.items.push_back(item);
            at = end;
        }
    }
    kernel.grid = {problem.ctas, 1, 1};
    Builder build(kernel);
    const Id meet = build.token(token("meet", TokenKind::named_barrier, Scope::cta, 4));
    const Id partial_ready =
        build.token(token("partial_ready", TokenKind::flag, Scope::grid, 4, 1, 0, TokenKey::tile));
    const Id c = build.buffer(matrix("c", Dtype::fp32, problem.n, problem.m));
    const Id workspace = build.buffer(matrix("workspace", Dtype::fp32, 4096, problem.ctas));
    const Id sums = split_gemm_loop(kernel, build, problem, meet);
    const auto rows = [&](InstructionClass cls, Id buffer, Direction direction) {
        Draft op = make_op(cls, 8, {{sums, 0}});
        if (buffer == workspace) {
            add_access(op, box(buffer, direction,
                               {build.variable(Variable::warp, 1024), Builder::constant(0)}, {1024, 1}));
        } else {
            add_access(op, box(buffer, direction,
                               {build.variable(Variable::tile, 64, 1),
                                build.index(0, {term(Variable::tile, 64), term(Variable::warp, 16)})},
                               {64, 16}));
        }
        return op;
    };
    // Runs once when the item begins after the tile does: it hands its sums over.
    build.loop(build.clamp(build.variable(Variable::item_begin), 0, 1));
    add_op(build, rows(InstructionClass::st_global, workspace, Direction::write));
    add_op(build, make_op(InstructionClass::fence));
    build.signal(partial_ready, SignalOn::completion);
    build.end();
    // Runs once when the item ends before the tile does, and it owns the tile.
    const Index rest = build.index(steps, {term(Variable::item_end, -1), term(Variable::item_begin, -steps)});
    build.loop(build.clamp(rest, 0, 1));
    build.wait(partial_ready);
    add_op(build, rows(InstructionClass::ld_global, workspace, Direction::read));
    add_op(build, make_op(InstructionClass::add_f32, 32));
    build.end();
    Draft store = rows(InstructionClass::st_global, c, Direction::write);
    store.when = {true, build.variable(Variable::item_begin), 0, 1};
    add_op(build, store);
    build.finish();
}

/// A kernel with split_k items for each tile, each writing its own sums, and a kernel that adds these.
inline void split_k(Program& program, const SplitGemm& problem) {
    program.clear();
    Kernel& gemm = program.add_kernel();
    begin_split_gemm(gemm, problem, "split_k");
    gemm.schedule.tiles = {problem.m / 64, problem.n / 64, 1, 1};
    gemm.schedule.split_k = problem.split_k;
    gemm.grid = {problem.m / 64, problem.n / 64, problem.split_k};
    const auto workspace = [&] {
        Buffer buffer = matrix("workspace", Dtype::fp32, problem.n, problem.m);
        buffer.rank = 3;
        buffer.extent[2] = problem.split_k;
        buffer.stride[2] = problem.m * problem.n;
        return buffer;
    };
    {
        Builder build(gemm);
        const Id meet = build.token(token("meet", TokenKind::named_barrier, Scope::cta, 4));
        const Id partial = build.buffer(workspace());
        const Id sums = split_gemm_loop(gemm, build, problem, meet);
        Draft store = make_op(InstructionClass::st_global, 8, {{sums, 0}});
        const std::int64_t steps = (problem.k_iterations() + problem.split_k - 1) / problem.split_k;
        add_access(store, box(partial, Direction::write,
                              {build.variable(Variable::tile, 64, 1),
                               build.index(0, {term(Variable::tile, 64), term(Variable::warp, 16)}),
                               build.floordiv(build.variable(Variable::item_begin), steps)},
                              {64, 16, 1}));
        add_op(build, store);
        build.finish();
    }
    Kernel& reduce = program.add_kernel();
    reduce.name = "split_k_reduce";
    const std::int64_t ctas = (problem.m * problem.n + 1023) / 1024;
    reduce.grid = {ctas, 1, 1};
    reduce.cta = {256, 1, 1};
    reduce.schedule.tiles = {ctas, 1, 1, 1};
    Builder build(reduce);
    Buffer partial = workspace();
    partial.contents = Contents::written_by;
    partial.written_by_step = 0;
    const Id from = build.buffer(partial);
    const Id c = build.buffer(vector_of("c", Dtype::fp32, problem.m * problem.n));
    build.role("warps", 8);
    build.loop(problem.split_k);
    Draft load = make_op(InstructionClass::ld_global);
    add_access(load, lanes(from, Direction::read,
                           build.index(0, {term(Variable::tile, 1024), term(Variable::warp, 128),
                                           term(Variable::loop, problem.m * problem.n)}),
                           16));
    const Id part = add_op(build, load);
    add_op(build, make_op(InstructionClass::add_f32, 4, {{part, 0}, {1, 1}}));
    build.end();
    Draft store = make_op(InstructionClass::st_global, 1, {{1, 0}});
    add_access(store, lanes(c, Direction::write,
                            build.index(0, {term(Variable::tile, 1024), term(Variable::warp, 128)}), 16));
    add_op(build, store);
    build.finish();
}

}  // namespace warptime::model::kernel::examples
