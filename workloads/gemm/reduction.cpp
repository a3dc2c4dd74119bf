// The kernel that adds up splits of K element by element, and pieces that every sum of splits uses.
// Ignores: the cost of a second operand (beta).
// Source: grids of 260 splitKreduce_kernel in recorded rows, and their times against the number of splits.
// Types of partial sums: argument types of 109 such kernels for rows of 2 and 4 bytes (fit and development
// rows). Of 39 for 4 bytes, 34 keep 16 bits. Of 8 for 2 bytes whose sums in fp32 take more than 16 MiB, 7
// keep 16 bits. Of the 62 others for 2 bytes, 12 do.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/reduction.hpp"

#include "workloads/gemm/fused.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

namespace {

/// How many of `splits` splits a lane fetches together when `left` splits remain. The compiler unrolls the
/// loop over four splits to 16 and to 8 splits. The loop ends with one split and up to two more (SASS of
/// splitKreduce_kernel). So 4, 8 and 16 splits wait once, 6 and 10 splits three times.
std::int64_t fetched_together(std::int64_t splits, std::int64_t left) {
    constexpr std::int64_t four = 4, eight = 8, sixteen = 16;
    if (left >= sixteen) return sixteen;
    if (left >= eight) return eight;
    if (left >= four) return four;
    return left == splits % four ? 1 : left;
}

}  // namespace

mk::Buffer result_matrix(const Problem& p) {
    const std::int64_t pitch = p.ldc > 0 ? p.ldc : p.n;
    mk::Buffer buffer;
    buffer.name = "c";
    buffer.dtype = p.out;
    buffer.rank = 3;
    buffer.extent = {p.n, p.m, p.batch, 1, 1};
    buffer.stride = {1, pitch, pitch * p.m, 0, 0};
    return buffer;
}

mk::Index slices_of(mk::Builder& b, int split_k) {
    return b.index(0, {mk::Term{.coefficient = split_k, .position = 2}});
}

Dtype type_of_sums(const Problem& p, const Config& c, int split_k) {
    constexpr std::int64_t workspace_bytes = std::int64_t{16} << 20;
    constexpr int by_pairs = 4, by_elements = 2;
    if (hw::bits_of(p.out) != 16 || c.copy_bytes > by_pairs) return Dtype::fp32;
    const std::int64_t whole = p.m * p.n * p.batch * split_k * hw::bytes_of(Dtype::fp32);
    const bool narrow = c.copy_bytes == by_pairs || (c.copy_bytes == by_elements && whole > workspace_bytes);
    return narrow ? p.out : Dtype::fp32;
}

mk::Buffer partial_sums(const Problem& p, int split_k, Dtype type) {
    mk::Buffer buffer;
    buffer.name = "partial_sums";
    buffer.dtype = type;
    buffer.rank = 3;
    buffer.extent = {p.n, p.m, p.batch * split_k, 1, 1};
    buffer.stride = {1, p.n, p.n * p.m, 0, 0};
    buffer.before = mk::Before::warm;
    buffer.contents = mk::Contents::written_by;
    buffer.written_by_step = 0;
    return buffer;
}

mk::Access box_of_sums(mk::Id buffer, const mk::Index& row, const mk::Index& column, const mk::Index& slice,
                       const std::array<std::int64_t, 3>& box, mk::Direction direction) {
    mk::Access access;
    access.buffer = buffer;
    access.direction = direction;
    access.pattern = mk::PatternKind::collective;
    access.rank = 3;
    for (std::size_t d = 0; d < box.size(); ++d) access.box[d] = box[d];
    access.origin[0] = column;
    access.origin[1] = row;
    access.origin[2] = slice;
    return access;
}

void lower_reduction(const Problem& p, int split_k, mk::Kernel& kernel, Dtype type) {
    // A CTA of 16 warps takes 32 columns and 16 rows, one element a lane. If more than 512 CTAs were needed,
    // a CTA takes a multiple of 16 rows instead. The factor is the needed number over 512, rounded down (all
    // recorded grids of more than one row).
    constexpr std::int64_t rows_of_cta = 16, columns = 32, enough_ctas = 512;
    constexpr std::int64_t before_first = 140, of_row = 40, of_turn = 5;
    const std::int64_t across = ceil_div(p.n, columns);
    const std::int64_t single = across * ceil_div(p.m, rows_of_cta) * p.batch;
    const std::int64_t rounds = std::max<std::int64_t>(1, single / enough_ctas);
    const std::int64_t rows = rows_of_cta * rounds;
    kernel.name = "splitk_reduce";
    kernel.evidence = mk::Evidence::own;
    kernel.schedule.tiles = {ceil_div(p.m, rows), across, p.batch, 1};
    kernel.grid = {kernel.schedule.item_count(), 1, 1};
    kernel.cta = {columns * rows_of_cta, 1, 1};
    kernel.registers_per_thread = 32;
    mk::Builder b(kernel);
    mk::Buffer sums = partial_sums(p, split_k, type);
    sums.rank = 1;
    sums.extent = {p.m * p.n * p.batch * split_k, 1, 1, 1, 1};
    sums.stride = {1, 0, 0, 0, 0};
    const mk::Id source = b.buffer(sums);
    const mk::Id target = b.buffer(result_matrix(p));
    mk::Access partial;
    partial.buffer = source;
    partial.bytes = hw::bytes_of(type);
    partial.step = p.m * p.n;
    b.role("warps", rows_of_cta);
    mk::Op address;
    address.cls = mk::InstructionClass::add_s32;
    address.count = before_first;
    address.chain = before_first / 2;
    b.op(address);
    b.loop(rounds);
    address.count = of_row;
    address.chain = 1;
    b.op(address);
    mk::Id last = mk::no_id;
    for (std::int64_t added = 0; added < split_k;) {
        const std::int64_t together = fetched_together(split_k, split_k - added);
        mk::Op load;
        load.cls = mk::InstructionClass::ld_global;
        load.count = together;
        if (last != mk::no_id) {
            load.dep_count = 1;
            load.deps[0] = {last, 0};
        }
        partial.origin[0] =
            b.index(added * p.m * p.n, {mk::Term{.coefficient = rows * p.n, .position = 0},
                                        mk::Term{.coefficient = columns, .position = 1},
                                        mk::Term{.coefficient = p.m * p.n * split_k, .position = 2},
                                        mk::Term{.coefficient = p.n, .variable = mk::Variable::warp}});
        const mk::Id loaded = b.op(load, {partial});
        address.count = of_turn + 2 * together;
        b.op(address);
        mk::Op add;
        add.cls = mk::InstructionClass::add_f32;
        add.count = together;
        add.chain = together;
        add.dep_count = 1;
        add.deps[0] = {loaded, 0};
        last = b.op(add);
        added += together;
    }
    b.end();
    const FusedTile tile{b.index(0, {mk::Term{.coefficient = rows, .position = 0}}),
                         b.index(0, {mk::Term{.coefficient = columns, .position = 1}}), slices_of(b, 1),
                         columns, rows};
    last = add_fused(b, p, tile, rounds, static_cast<int>(rows_of_cta), last);
    mk::Op store;
    store.cls = mk::InstructionClass::st_global;
    store.dtype = p.out;
    store.count = rounds;
    store.returns = false;
    store.dep_count = 1;
    store.deps[0] = {last, 0};
    b.op(store, {box_of_sums(target, b.index(0, {mk::Term{.coefficient = rows, .position = 0}}),
                             b.index(0, {mk::Term{.coefficient = columns, .position = 1}}), slices_of(b, 1),
                             {columns, rows, 1}, mk::Direction::write)});
    b.finish();
}

}  // namespace warptime::workloads::gemm
