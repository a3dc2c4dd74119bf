// Buffers of a GEMM kernel and the boxes that a pipeline stage fetches.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/parts.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

namespace {

std::int64_t leading(std::int64_t given, std::int64_t dense) {
    return given > 0 ? given : dense;
}

mk::Buffer global_matrix(mk::Name name, Dtype dtype, std::int64_t fast, std::int64_t slow, std::int64_t pitch,
                         std::int64_t batch) {
    mk::Buffer buffer;
    buffer.name = name;
    buffer.dtype = dtype;
    buffer.rank = 3;
    buffer.extent = {fast, slow, batch, 1, 1};
    buffer.stride = {1, pitch, pitch * slow, 0, 0};
    buffer.contents = mk::Contents::random;
    return buffer;
}

/// coefficient * (item_begin + loop[0] + ahead)
mk::Index k_origin(const Parts& parts, int ahead) {
    const std::int64_t step = parts.config.cta_k;
    return parts.builder.index(
        step * ahead, {mk::Term{.coefficient = step, .variable = mk::Variable::item_begin},
                       mk::Term{.coefficient = step, .variable = mk::Variable::loop, .position = 0}});
}

struct Side {
    mk::Id buffer;
    bool k_contiguous;
    std::uint16_t tile_position;
    int tile_extent;
    int sharers;
    int rank_step;  ///< ranks from one sharer to the next: CTAs of a cluster count along m first
};

/// `share`: rows of each sharer's part; 0 when the tile is fetched whole.
mk::Index tile_origin(const Parts& parts, const Side& side, std::int64_t share) {
    const mk::Term tile{.coefficient = side.tile_extent, .position = side.tile_position};
    if (share == 0) {
        return parts.builder.index(0, {tile});
    }
    return parts.builder.index(0, {tile, mk::Term{.coefficient = share,
                                                  .variable = mk::Variable::cta_rank,
                                                  .divisor = side.rank_step,
                                                  .modulus = side.sharers}});
}

mk::Access stage_access(const Parts& parts, const Side& side, int ahead) {
    mk::Access access;
    access.buffer = side.buffer;
    access.pattern = mk::PatternKind::collective;
    access.rank = 3;
    access.bounds = mk::Bounds::zero_fill;
    // A tile that does not divide among the sharers is fetched whole by each: the library never builds such a
    // one.
    const int sharers = side.tile_extent % side.sharers == 0 ? side.sharers : 1;
    const int share = side.tile_extent / sharers;
    access.multicast_ctas = sharers;
    const mk::Index along_k = k_origin(parts, ahead);
    const mk::Index along_tile = tile_origin(parts, side, sharers > 1 ? share : 0);
    const mk::Index batch = parts.builder.index(0, {mk::Term{.position = 2}});
    const std::size_t k_dim = side.k_contiguous ? 0 : 1;
    access.origin[k_dim] = along_k;
    access.origin[1 - k_dim] = along_tile;
    access.origin[2] = batch;
    access.box[k_dim] = parts.config.cta_k;
    access.box[1 - k_dim] = share;
    return access;
}

}  // namespace

void add_buffers(Parts& parts) {
    const Problem& p = parts.problem;
    const Config& c = parts.config;
    const bool a_k = p.a_major == Major::k;
    const bool b_k = p.b_major == Major::k;
    parts.a = parts.builder.buffer(a_k ? global_matrix("a", p.a, p.k, p.m, leading(p.lda, p.k), p.batch)
                                       : global_matrix("a", p.a, p.m, p.k, leading(p.lda, p.m), p.batch));
    parts.b = parts.builder.buffer(b_k ? global_matrix("b", p.b, p.k, p.n, leading(p.ldb, p.k), p.batch)
                                       : global_matrix("b", p.b, p.n, p.k, leading(p.ldb, p.n), p.batch));
    parts.c = parts.builder.buffer(global_matrix("c", p.out, p.n, p.m, leading(p.ldc, p.n), p.batch));
    if (c.split_k > 1 && c.reduction == Reduction::workspace) {
        parts.workspace =
            parts.builder.buffer(global_matrix("workspace", Dtype::fp32, p.n, p.m, p.n, p.batch * c.split_k));
    }
    mk::Buffer stages;
    stages.name = "stages";
    stages.space = mk::Space::shared;
    stages.dtype = p.a;
    stages.extent[0] = stage_bytes(p, c) / hw::bytes_of(p.a);
    stages.stages = c.stages;
    stages.swizzle_bytes = 128;
    parts.stages = parts.builder.buffer(stages);
}

mk::Index main_loop_trips(const Parts& parts) {
    return parts.builder.index(0, {mk::Term{.coefficient = 1, .variable = mk::Variable::item_end},
                                   mk::Term{.coefficient = -1, .variable = mk::Variable::item_begin}});
}

mk::Access stage_access_a(const Parts& parts, int ahead) {
    const Config& c = parts.config;
    return stage_access(
        parts, {parts.a, parts.problem.a_major == Major::k, 0, c.cta_m, c.cluster_n, c.cluster_m}, ahead);
}

mk::Access stage_access_b(const Parts& parts, int ahead) {
    const Config& c = parts.config;
    return stage_access(parts, {parts.b, parts.problem.b_major == Major::k, 1, c.cta_n, c.cluster_m, 1},
                        ahead);
}

mk::Access store_access(const Parts& parts) {
    mk::Access access;
    const bool to_workspace = parts.workspace != mk::no_id;
    access.buffer = to_workspace ? parts.workspace : parts.c;
    access.direction = parts.config.split_k > 1 && parts.config.reduction == Reduction::atomic
                           ? mk::Direction::atomic
                           : mk::Direction::write;
    access.pattern = mk::PatternKind::collective;
    access.rank = 3;
    access.origin[0] = parts.builder.index(0, {mk::Term{.coefficient = parts.config.cta_n, .position = 1}});
    access.origin[1] = parts.builder.index(0, {mk::Term{.coefficient = parts.config.cta_m, .position = 0}});
    if (to_workspace) {
        // Slice of the split: batch * split_k + item_begin / iterations per split.
        const std::int64_t per_split =
            std::max<std::int64_t>(1, (parts.k_iterations + parts.config.split_k - 1) / parts.config.split_k);
        access.origin[2] = parts.builder.index(
            0, {mk::Term{.coefficient = parts.config.split_k, .position = 2},
                mk::Term{.coefficient = 1, .variable = mk::Variable::item_begin, .divisor = per_split}});
    } else {
        access.origin[2] = parts.builder.index(0, {mk::Term{.position = 2}});
    }
    access.box[0] = parts.config.cta_n;
    access.box[1] = parts.config.cta_m;
    return access;
}

}  // namespace warptime::workloads::gemm
