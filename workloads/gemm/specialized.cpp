// A main loop with specialised warps: a producer issues bulk tensor copies, consumer warpgroups run wgmma, or
// tcgen05 where the GPU has it.
// Source: CUTLASS 3 warp-specialised designs (Hopper), with full and empty mbarriers per stage. Cooperative:
// all consumers share a tile. Ping-pong: each consumer warpgroup owns a tile, and the warpgroups take turns.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/parts.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

/// Whether products are added to other sums in registers after each 128 elements of K (CUTLASS's promotion).
/// Tensor cores add products of 8-bit floats with few bits. A user may turn the promotion off; cuBLAS
/// promotes where fast accumulation is off, as PyTorch requests. Sums of tcgen05 need no promotion. For each
/// sum of a lane, a trip has 1.3 instructions more than with 16-bit types. Nsight Compute counts them in
/// counters_gemm_fp8, fit and development rows.
bool adds_in_registers(const Problem& problem, const Config& config) {
    return problem.multiplied() == Dtype::fp8 && config.mma == MatrixInstruction::wgmma;
}

/// Sums that each lane of a warpgroup holds.
std::int64_t sums_of_lane(const Config& c, int warpgroups_per_tile) {
    constexpr int lanes_of_warpgroup = 128;
    return std::int64_t{c.cta_m} * c.cta_n / (std::int64_t{warpgroups_per_tile} * lanes_of_warpgroup);
}

/// Loads the scales of both operands when a tile's last sums are complete. Kernels for fp8 have two LDG after
/// the main loop, kernels of 16-bit types none. The SASS is that of eleven and three kernels in cuBLASLt
/// 13.1. All tiles but the first find the scales in the L2.
mk::Id add_scales(Parts& parts) {
    mk::Buffer& scales = parts.builder.buffer();
    scales.name = "scales";
    scales.dtype = Dtype::fp32;
    scales.extent[0] = 32;
    scales.before = mk::Before::warm;
    mk::Op load;
    load.cls = InstructionClass::ld_global;
    load.count = 2;
    mk::Access access;
    access.buffer = parts.builder.last_buffer();
    access.bytes = 4;
    return parts.builder.op(load, {access});
}

/// A list of problems, which the kernel before has written.
mk::Id add_problems(Parts& parts) {
    constexpr std::int64_t words = 8;
    mk::Buffer& problems = parts.builder.buffer();
    problems.name = "problems";
    problems.dtype = Dtype::int64;
    problems.extent[0] = words * parts.problem.batch;
    problems.before = mk::Before::warm;
    return parts.builder.last_buffer();
}

/// Reads numbers of a problem, each where the one before says.
mk::Id read_in_series(Parts& parts, mk::Id problems, std::int64_t count, mk::Id before) {
    mk::Op load;
    load.cls = InstructionClass::ld_global;
    load.count = load.chain = count;
    load.dep_count = before == mk::no_id ? 0 : 1;
    load.deps[0] = {before, 0};
    mk::Access access;
    access.buffer = problems;
    access.pattern = mk::PatternKind::broadcast;
    access.bytes = 8;
    return parts.builder.op(load, {access});
}

mk::Id add_fences(Parts& parts, std::int64_t count, mk::Id before) {
    mk::Op fence;
    fence.cls = InstructionClass::fence;
    fence.count = fence.chain = count;
    fence.dep_count = before == mk::no_id ? 0 : 1;
    fence.deps[0] = {before, 0};
    return parts.builder.op(fence);
}

/// Every warp looks for its tile among the problems: their sizes, and sums over the lanes. A CTA of 8 trips
/// has 640 instructions a warp (counters_torch_grouped), most of them before its tile.
mk::Id find_problem(Parts& parts, mk::Id problems) {
    constexpr std::int64_t of_search = 400, in_series = 150;
    const mk::Id sizes = read_in_series(parts, problems, 1, mk::no_id);
    mk::Op search;
    search.cls = InstructionClass::add_s32;
    search.count = of_search;
    search.chain = in_series;
    search.dep_count = 1;
    search.deps[0] = {sizes, 0};
    return parts.builder.op(search);
}

/// Finds the problem, reads its addresses and writes `maps` tensor maps for it. Each map is released by a
/// fence, and by one acquired. Source: CUTLASS 3.8, include/cutlass/gemm/collective/
/// sm90_mma_array_tma_gmma_ss_warpspecialized.hpp (tensormaps_*), sm90_tile_scheduler_group.hpp and
/// kernel/sm90_gemm_array_tma_warpspecialized_pingpong.hpp.
void add_map_updates(Parts& parts, mk::Id problems, std::int64_t fences) {
    constexpr std::int64_t reads_in_series = 4;
    const mk::Id found = find_problem(parts, problems);
    add_fences(parts, fences, read_in_series(parts, problems, reads_in_series, found));
}

}  // namespace

mk::Op& add_wgmma_of_stage(Parts& parts, int warpgroups_per_tile) {
    const Config& c = parts.config;
    const int along_m = c.transposed ? c.cta_n : c.cta_m;
    const int along_n = c.transposed ? c.cta_m : c.cta_n;
    // Warpgroups divide the instruction's M if whole pieces of 64 rows result, else its N.
    const bool split_m = along_m % (64 * warpgroups_per_tile) == 0;
    const int rows = split_m ? along_m / warpgroups_per_tile : along_m;
    const int columns = split_m ? along_n : along_n / warpgroups_per_tile;
    const int n_pieces = (columns + 255) / 256;
    const int mma_k = 32 / hw::bytes_of(parts.problem.multiplied());
    const bool tcgen05 = c.mma == MatrixInstruction::tcgen05;
    const int instruction_rows = tcgen05 && rows % 128 == 0 ? 128 : 64;
    mk::Op& op = parts.builder.op(tcgen05 ? InstructionClass::tcgen05_mma : InstructionClass::wgmma);
    op.dtype = parts.problem.multiplied();
    op.shape = {c.pair ? 2 * instruction_rows : instruction_rows, std::max(8, columns / n_pieces), mma_k};
    op.count = std::int64_t{rows / instruction_rows} * n_pieces * std::max(1, c.cta_k / mma_k);
    op.shared_operand = true;
    return op;
}

void add_specialized_roles(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    mk::Token full;
    full.name = "full";
    full.key = mk::TokenKey::stage;
    full.depth = c.stages;
    full.scope = c.cluster_m * c.cluster_n > 1 ? mk::Scope::cluster : mk::Scope::cta;
    // Arrivals count over all CTAs of the cluster, as scope cluster requires.
    const int ctas = c.cluster_m * c.cluster_n;
    const bool scaled = parts.problem.scale_block > 0;
    full.arrivals = (scaled ? 4 : 2) * ctas;  // one for each operand's bytes, and for those of its scales
    const mk::Id full_id = b.token(full);
    const bool pingpong = c.specialization == Specialization::pingpong;
    const int warpgroups = std::max(1, c.warps / 4);
    const int warpgroups_per_tile = pingpong ? 1 : warpgroups;
    mk::Token empty;
    empty.name = "empty";
    empty.key = mk::TokenKey::stage;
    empty.depth = c.stages;
    empty.initial = c.stages;
    empty.scope = full.scope;
    empty.arrivals = warpgroups_per_tile * 4 * ctas;
    const mk::Id empty_id = b.token(empty);

    // The maps of A and B are released and acquired; that of C is released now and acquired behind the loop.
    constexpr std::int64_t fences_of_operands = 4, fences_of_result = 1;
    const mk::Id problems = c.rewrites_maps ? add_problems(parts) : mk::no_id;
    b.role("producer", 1);
    if (c.rewrites_maps) add_map_updates(parts, problems, fences_of_operands);
    b.loop(parts.trips);
    b.wait(empty_id);
    for (const bool is_a : {true, false}) {
        mk::Op& copy = b.op(InstructionClass::cp_async_bulk_tensor);
        copy.dtype = is_a ? parts.problem.a : parts.problem.b;
        copy.completes = full_id;
        add_stage_access(parts, is_a ? Matrix::a : Matrix::b, 0);
        if (!scaled) continue;
        mk::Op& scales = b.op(InstructionClass::cp_async_bulk_tensor);
        scales.completes = full_id;
        add_scale_access(parts, is_a ? Matrix::a : Matrix::b, 0);
    }
    b.end();
    b.role("idle", 3);

    b.role("consumer", warpgroups_per_tile * 4, pingpong ? warpgroups : 1);
    if (pingpong) {
        b.alternate();
    }
    if (c.rewrites_maps) add_map_updates(parts, problems, fences_of_result);
    b.loop(parts.trips);
    b.wait(full_id);
    add_wgmma_of_stage(parts, warpgroups_per_tile);
    const mk::Id mma = b.last_op();
    if (adds_in_registers(parts.problem, c)) {
        mk::Op& add = b.op(InstructionClass::add_f32);
        add.count = sums_of_lane(c, warpgroups_per_tile);
        add.dep_count = 1;
        add.deps[0] = {mma, 0};
    }
    mk::Op& release = b.op(InstructionClass::mbarrier_arrive);
    release.dep_count = 1;
    release.deps[0] = {mma, 0};
    b.signal(empty_id, mk::SignalOn::completion);
    b.end();
    if (adds_in_registers(parts.problem, c)) {
        // The scales cost four instructions a sum. A tile of one trip has this many more than with 16-bit
        // types (the same counters).
        constexpr std::int64_t of_sum = 4;
        const mk::Id scales = add_scales(parts);
        mk::Op& multiply = b.op(InstructionClass::mul_f32);
        multiply.count = of_sum * sums_of_lane(c, warpgroups_per_tile);
        multiply.dep_count = 1;
        multiply.deps[0] = {scales, 0};
    }
    if (c.rewrites_maps) add_fences(parts, fences_of_result, mk::no_id);
    add_epilogue(parts, warpgroups_per_tile * 4, true);
    b.finish();
}

}  // namespace warptime::workloads::gemm
