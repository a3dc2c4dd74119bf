// Buffers of a GEMM kernel and the boxes that a pipeline stage fetches.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/triton_resources.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

namespace {

/// Bytes of a lane that one instruction moves at most.
constexpr int widest_copy = 16;

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

/// The same expression, `by` further.
mk::Index moved(mk::Index index, std::int64_t by) {
    index.constant += by;
    return index;
}

struct Side {
    mk::Id buffer;
    mk::Index tile_origin;
    bool k_contiguous;
    std::uint16_t tile_position;
    int tile_extent;
    int sharers;
    std::int64_t pitch;
    std::int64_t lane_elements;  ///< that one lane holds
    std::int64_t lane_share;     ///< bytes of a stage, if all lanes of the CTA copy as much
    int rank_step;               ///< ranks from one sharer to the next: CTAs of a cluster count along m first
};

/// Each sharer begins `share` rows after the one before.
mk::Index shared_origin(const Parts& parts, const Side& side, std::int64_t share) {
    return parts.builder.index(0, {mk::Term{.coefficient = side.tile_extent, .position = side.tile_position},
                                   mk::Term{.coefficient = share,
                                            .variable = mk::Variable::cta_rank,
                                            .divisor = side.rank_step,
                                            .modulus = side.sharers}});
}

void add_stage_access(const Parts& parts, const Side& side, int ahead) {
    mk::Access& access = parts.builder.access();
    access.buffer = side.buffer;
    access.pattern = mk::PatternKind::collective;
    access.rank = 3;
    access.bounds = mk::Bounds::zero_fill;
    // A tile that does not divide among the sharers is fetched whole by each: the library never builds such a
    // one.
    const int sharers = side.tile_extent % side.sharers == 0 ? side.sharers : 1;
    const int share = side.tile_extent / sharers;
    access.multicast_ctas = sharers;
    // cp.async.cg takes 16 bytes only; narrower copies go through the L1's data (PTX ISA 8.7, cp.async).
    const bool widest = parts.config.copy_bytes == widest_copy && side.lane_share >= widest_copy;
    access.cache = widest ? mk::CachePolicy::cg : mk::CachePolicy::ca;
    if (!widest && parts.config.copy_bytes == widest_copy) {
        access.bytes = static_cast<int>(std::clamp<std::int64_t>(side.lane_share, 4, widest_copy));
    }
    const mk::Index along_k = moved(parts.k_element, std::int64_t{parts.config.cta_k} * ahead);
    const mk::Index along_tile = sharers > 1 ? shared_origin(parts, side, share) : side.tile_origin;
    const std::size_t k_dim = side.k_contiguous ? 0 : 1;
    access.origin[k_dim] = along_k;
    access.origin[1 - k_dim] = along_tile;
    access.origin[2] = parts.batch;
    access.box[k_dim] = parts.config.cta_k;
    access.box[1 - k_dim] = share;
    const Config& c = parts.config;
    if (c.pipeline != Pipeline::tma && c.copy_bytes < widest_copy) {
        access.bytes = c.copy_bytes;
        access.inner = std::max<std::int64_t>(1, side.lane_elements);
        access.inner_extent = std::clamp<std::int64_t>(access.box[0] / access.inner, 1, 32);
        access.outer = side.pitch;
    }
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
    stages.stages = copies_as_triton(c) ? triton_buffers(c) : c.stages;
    stages.swizzle_bytes = 128;
    parts.stages = parts.builder.buffer(stages);
}

void add_indices(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    parts.trips = b.index(0, {mk::Term{.coefficient = 1, .variable = mk::Variable::item_end},
                              mk::Term{.coefficient = -1, .variable = mk::Variable::item_begin}});
    parts.k_element = b.index(0, {mk::Term{.coefficient = c.cta_k, .variable = mk::Variable::item_begin},
                                  mk::Term{.coefficient = c.cta_k, .variable = mk::Variable::loop}});
    parts.tile_m = b.index(0, {mk::Term{.coefficient = c.cta_m, .position = 0}});
    parts.tile_n = b.index(0, {mk::Term{.coefficient = c.cta_n, .position = 1}});
    parts.batch = b.index(0, {mk::Term{.position = 2}});
}

void add_stage_access(const Parts& parts, Matrix matrix, int ahead) {
    const Config& c = parts.config;
    const Problem& p = parts.problem;
    const bool is_a = matrix == Matrix::a;
    const bool k_contiguous = (is_a ? p.a_major : p.b_major) == Major::k;
    const std::int64_t dense = k_contiguous ? p.k : is_a ? p.m : p.n;
    Side side{};
    side.buffer = is_a ? parts.a : parts.b;
    side.tile_origin = is_a ? parts.tile_m : parts.tile_n;
    side.k_contiguous = k_contiguous;
    side.tile_position = is_a ? 0 : 1;
    side.tile_extent = is_a ? c.cta_m : c.cta_n;
    side.sharers = is_a ? c.cluster_n : c.cluster_m;
    side.pitch = leading(is_a ? p.lda : p.ldb, dense);
    side.lane_elements = (is_a ? c.lane_bytes_a : c.lane_bytes_b) / hw::bytes_of(is_a ? p.a : p.b);
    side.lane_share = widest_copy;
    if (copies_as_triton(c)) {
        const int size = hw::bytes_of(is_a ? p.a : p.b);
        side.lane_share = std::int64_t{side.tile_extent} * c.cta_k * size / (std::int64_t{32} * c.warps);
    }
    side.rank_step = is_a ? c.cluster_m : 1;
    add_stage_access(parts, side, ahead);
}

bool adds_atomically(const Config& config) {
    return config.split_k > 1 && config.reduction == Reduction::atomic;
}

void add_store_access(const Parts& parts) {
    mk::Access& access = parts.builder.access();
    const bool to_workspace = parts.workspace != mk::no_id;
    access.buffer = to_workspace ? parts.workspace : parts.c;
    access.direction = adds_atomically(parts.config) ? mk::Direction::atomic : mk::Direction::write;
    access.pattern = mk::PatternKind::collective;
    access.rank = 3;
    access.origin[0] = parts.tile_n;
    access.origin[1] = parts.tile_m;
    if (to_workspace) {
        // Slice of the split: batch * split_k + item_begin / iterations per split.
        const std::int64_t per_split =
            std::max<std::int64_t>(1, (parts.k_iterations + parts.config.split_k - 1) / parts.config.split_k);
        access.origin[2] = parts.builder.index(
            0, {mk::Term{.coefficient = parts.config.split_k, .position = 2},
                mk::Term{.coefficient = 1, .variable = mk::Variable::item_begin, .divisor = per_split}});
    } else {
        access.origin[2] = parts.batch;
    }
    access.box[0] = parts.config.cta_n;
    access.box[1] = parts.config.cta_m;
    if (parts.config.store_bytes < widest_copy) {
        const int elements = std::max(1, parts.config.store_bytes / hw::bytes_of(parts.problem.out));
        access.inner = elements;
        access.bytes = elements * (to_workspace ? 4 : hw::bytes_of(parts.problem.out));
        access.inner_extent = std::clamp<std::int64_t>(access.box[0] / elements, 1, 32);
        access.outer = to_workspace || parts.problem.ldc == 0 ? parts.problem.n : parts.problem.ldc;
    }
}

StageTokens add_stage_tokens(Parts& parts) {
    mk::Token group;
    group.name = "stage_group";
    group.kind = mk::TokenKind::async_group;
    group.scope = mk::Scope::warp;
    group.depth = parts.config.stages;
    mk::Token barrier;
    barrier.name = "cta_barrier";
    barrier.kind = mk::TokenKind::named_barrier;
    barrier.arrivals = parts.config.warps;
    const mk::Id group_id = parts.builder.token(group);
    return {group_id, parts.builder.token(barrier)};
}

void guard_fetch(const Parts& parts, mk::Op& copy, int ahead) {
    // begin + i + ahead < end
    copy.when.active = true;
    copy.when.value =
        parts.builder.index(ahead, {mk::Term{.coefficient = 1, .variable = mk::Variable::item_begin},
                                    mk::Term{.coefficient = -1, .variable = mk::Variable::item_end},
                                    mk::Term{.coefficient = 1, .variable = mk::Variable::loop}});
    copy.when.low = -(std::int64_t{1} << 40);
    copy.when.high = 0;
}

}  // namespace warptime::workloads::gemm
