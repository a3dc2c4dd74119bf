// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/block_reduction.hpp"

#include "model/kernel/builder.hpp"
#include "workloads/gemm/block_epilogue.hpp"
#include "workloads/gemm/fused.hpp"
#include "workloads/gemm/lane_block.hpp"
#include "workloads/gemm/reduction.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

void lower_block_reduction(const Problem& p, const Config& c, mk::Kernel& kernel) {
    constexpr int of_addresses = 8, padding = 4;
    const int passes = store_passes(c);
    const LaneBlock block = lane_block(c);
    const std::int64_t elements = std::int64_t{block.rows} * block.columns / passes;
    const std::int64_t rows = c.cta_m / passes;
    kernel.name = "splitk_reduce_blocks";
    kernel.evidence = mk::Evidence::own;
    kernel.cta = {std::int64_t{c.warps} * 32, 1, 1};
    kernel.registers_per_thread = std::min(c.registers, static_cast<int>(of_addresses + 4 * elements));
    kernel.static_shared = rows * (c.cta_n + padding) * hw::bytes_of(Dtype::fp32);
    kernel.schedule.tiles = {ceil_div(p.m, c.cta_m), ceil_div(p.n, c.cta_n), p.batch, passes};
    kernel.grid = {kernel.schedule.item_count(), 1, 1};
    mk::Builder b(kernel);
    const mk::Id source = b.buffer(partial_sums(p, c.split_k));
    const mk::Id target = b.buffer(result_matrix(p));
    const mk::Index row = b.index(
        0, {mk::Term{.coefficient = c.cta_m, .position = 0}, mk::Term{.coefficient = rows, .position = 3}});
    const mk::Index column = b.index(0, {mk::Term{.coefficient = c.cta_n, .position = 1}});
    b.role("warps", c.warps);
    // Pointers and bounds before the first load (SASS of ten tiles). The instructions run one after another.
    // They use uniform registers, and their constants lie in ten lines that no cache holds at launch.
    constexpr std::int64_t before_first = 130;
    mk::Op address;
    address.cls = mk::InstructionClass::add_s32;
    address.count = before_first + 2 * elements;
    address.chain = address.count;
    const mk::Id placed = b.op(address);
    const mk::Id sum = add_sum_of_splits(b, elements, c,
                                         box_of_sums(source, row, column, slices_of(b, c.split_k),
                                                     {c.cta_n, rows, c.split_k}, mk::Direction::read),
                                         placed);
    const FusedTile tile{row, column, slices_of(b, 1), c.cta_n, rows};
    add_element_stores(b, elements, 1, add_fused(b, p, tile, elements, c.warps, sum));
    b.access(box_of_sums(target, row, column, slices_of(b, 1), {c.cta_n, rows, 1}, mk::Direction::write));
    b.finish();
}

}  // namespace warptime::workloads::gemm
