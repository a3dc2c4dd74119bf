// Buffers of a GEMM kernel and the boxes that a pipeline stage fetches.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/reduction.hpp"
#include "workloads/gemm/sizes.hpp"
#include "workloads/gemm/triton_resources.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

namespace {

/// The most bytes that one instruction moves for a lane.
constexpr int widest_copy = 16;

std::int64_t leading(std::int64_t given, std::int64_t dense) {
    return given > 0 ? given : dense;
}

// Constants that the compiler lays out once, so that a use need not build the name again.
constexpr mk::Name name_a = "a", name_b = "b", name_c = "c", name_workspace = "workspace",
                   name_stages = "stages", name_group = "stage_group", name_barrier = "cta_barrier",
                   name_scales_a = "scales_a", name_scales_b = "scales_b";

mk::Id add_matrix(mk::Builder& builder, const mk::Name& name, Dtype dtype) {
    mk::Buffer& buffer = builder.buffer();
    buffer.name = name;
    buffer.dtype = dtype;
    buffer.rank = 3;
    buffer.contents = mk::Contents::random;
    return builder.last_buffer();
}

/// A pitch as memory has it, where the given one counts numbers along K.
std::int64_t stored_pitch(const Problem& p, bool is_a, std::int64_t pitch) {
    const bool along_k = (is_a ? p.a_major : p.b_major) == Major::k || (!is_a && p.packed_b);
    return along_k ? p.stored_along_k(pitch, is_a) : pitch;
}

void set_sizes(mk::Kernel& kernel, MatrixBuffer matrix, std::int64_t fast, std::int64_t slow,
               std::int64_t pitch, std::int64_t batch) {
    mk::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(matrix)];
    buffer.extent = {fast, slow, batch, 1, 1};
    buffer.stride = {1, pitch, pitch * slow, 0, 0};
}

bool has_workspace(const Config& c) {
    return c.split_k > 1 && needs_workspace(c.reduction);
}

struct Side {
    mk::Id buffer;
    const mk::Index& tile_origin;
    bool k_contiguous = true;
    std::uint32_t tile_position = 0;
    int tile_extent = 1;
    int sharers = 1;
    bool paired = false;  ///< pairs of sharers hold a half each
    std::int64_t pitch = 1;
    std::int64_t lane_elements = 1;  ///< held by one lane
    int copy_bytes = widest_copy;
    std::int64_t lane_share = 1;  ///< bytes of a stage for each lane of the CTA, in equal parts
    std::int64_t along_k = 1;     ///< stored elements of a stage
    int rank_step = 1;  ///< ranks from one sharer to the next; CTAs of a cluster count along m first
};

/// Each sharer begins `share` rows after the previous sharer.
mk::Index shared_origin(const Parts& parts, const Side& side, std::int64_t share) {
    mk::Builder& b = parts.builder;
    mk::Index origin = b.begin();
    b.add(origin, mk::Variable::tile, side.tile_extent, side.tile_position);
    mk::Term& rank = b.add(origin, mk::Variable::cta_rank, share);
    rank.divisor = side.rank_step;
    rank.modulus = side.sharers;
    return origin;
}

/// Whether splits of K take its steps in turns, as in the library's xmma kernels. In such splits every trip
/// waits for DRAM. In whole products with 32 bytes a row only one trip in four waits. Recorded: 600 to 700
/// cycles a trip against 390 (gemm_fp32, gemm_fp32_second, tiles of 32x32 and 64x64). In CUTLASS's kernels
/// each split takes one contiguous piece of K.
bool splits_in_turns(const Config& c) {
    return c.split_k > 1 && c.mma == MatrixInstruction::simt && c.fragments_ahead &&
           (c.reduction == Reduction::blocks || c.reduction == Reduction::last_cta);
}

void add_stage_access(const Parts& parts, const Side& side, int ahead) {
    mk::Access& access = parts.builder.access();
    access.buffer = side.buffer;
    access.pattern = mk::PatternKind::collective;
    access.rank = 3;
    access.bounds = mk::Bounds::zero_fill;
    // Where a tile does not divide among the sharers, each sharer brings its share to the nearest row for
    // all. Evidence: kernels of tf32 in clusters of 3 to 13 CTAs. With 32 x 8192 x 8192, tiles of 64x64 and
    // clusters of 12, the L2 serves 1.09 times both operands.
    const int sharers = std::min(side.sharers, side.tile_extent);
    const int share = (side.tile_extent + sharers / 2) / sharers;
    // The CTAs of a pair multiply their halves together, so neither receives the other's.
    access.multicast_ctas = side.paired ? std::max(1, sharers / 2) : sharers;
    // cp.async.cg takes 16 bytes only; narrower copies pass through the L1's data (PTX ISA 8.7, cp.async).
    const bool widest = side.copy_bytes == widest_copy && side.lane_share >= widest_copy;
    access.cache = widest ? mk::CachePolicy::cg : mk::CachePolicy::ca;
    if (!widest && side.copy_bytes == widest_copy) {
        access.bytes = static_cast<int>(std::clamp<std::int64_t>(side.lane_share, 4, widest_copy));
    }
    const std::size_t k_dim = side.k_contiguous ? 0 : 1;
    access.origin[k_dim] = parts.k_element;
    const std::int64_t along_k = side.along_k;
    if (along_k != parts.config.cta_k) {
        access.origin[k_dim] = parts.builder.begin();
        parts.builder.add(access.origin[k_dim], mk::Variable::item_begin, along_k);
        parts.builder.add(access.origin[k_dim], mk::Variable::loop, along_k);
    }
    access.origin[k_dim].constant += along_k * ahead;
    access.origin[1 - k_dim] = side.tile_origin;
    if (sharers > 1) access.origin[1 - k_dim] = shared_origin(parts, side, share);
    access.origin[2] = parts.batch;
    access.box[k_dim] = along_k;
    if (side.k_contiguous && splits_in_turns(parts.config)) {
        access.window = std::int64_t{parts.config.cta_k} * parts.config.split_k;
    }
    access.box[1 - k_dim] = share;
    const Config& c = parts.config;
    if (c.pipeline != Pipeline::tma && side.copy_bytes < widest_copy) {
        access.bytes = side.copy_bytes;
        access.inner = std::max<std::int64_t>(1, side.lane_elements);
        access.inner_extent = std::clamp<std::int64_t>(access.box[0] / access.inner, 1, 32);
        access.outer = side.pitch;
    }
}

}  // namespace

void set_matrices(const Problem& p, const Config& c, mk::Kernel& kernel) {
    const bool a_k = p.a_major == Major::k;
    const bool b_k = p.b_major == Major::k;
    const std::int64_t a_fast = a_k ? p.stored_along_k(p.k, true) : p.m;
    const std::int64_t b_fast = b_k ? p.stored_along_k(p.k, false) : p.n;
    set_sizes(kernel, MatrixBuffer::a, a_fast, a_k ? p.m : p.k, leading(stored_pitch(p, true, p.lda), a_fast),
              p.batch);
    set_sizes(kernel, MatrixBuffer::b, b_fast, b_k ? p.n : p.k,
              leading(stored_pitch(p, false, p.ldb), b_fast), p.batch);
    set_sizes(kernel, MatrixBuffer::c, p.n, p.m, leading(p.ldc, p.n), p.batch);
    if (has_workspace(c)) {
        set_sizes(kernel, MatrixBuffer::workspace, p.n, p.m, p.n, p.batch * c.split_k);
    }
}

void add_buffers(Parts& parts) {
    const Problem& p = parts.problem;
    const Config& c = parts.config;
    mk::Builder& builder = parts.builder;
    parts.a = add_matrix(builder, name_a, p.a);
    parts.b = add_matrix(builder, name_b, p.b);
    parts.c = add_matrix(builder, name_c, p.out);
    if (has_workspace(c)) {
        parts.workspace = add_matrix(builder, name_workspace, type_of_sums(p, c, c.split_k));
    }
    mk::Buffer& stages = builder.buffer();
    stages.name = name_stages;
    stages.space = mk::Space::shared;
    stages.dtype = p.a;
    stages.stages = copies_as_triton(c) ? triton_buffers(c) : c.stages;
    // An operand that its trip loads has only one place in shared memory, and products without stages keep
    // sums there. Each stage counts a part of that place.
    const std::int64_t stage = std::min(stage_bytes(p, c), shared_bytes(p, c) / stages.stages);
    stages.extent[0] = stage / hw::bytes_of(p.a);
    stages.swizzle_bytes = 128;
    parts.stages = builder.last_buffer();
    if (p.scale_block == 0) return;
    // Scales of 128 rows lie side by side (PTX ISA 8.7, scale factor layouts), so a tile's lie in whole
    // lines.
    constexpr std::int64_t rows = 128;
    for (const bool is_a : {true, false}) {
        mk::Buffer& buffer = builder.buffer();
        (is_a ? parts.scales_a : parts.scales_b) = builder.last_buffer();
        buffer.name = is_a ? name_scales_a : name_scales_b;
        buffer.dtype = Dtype::int8;
        buffer.rank = 3;
        buffer.contents = mk::Contents::random;
        const std::int64_t fast = ceil_div(is_a ? p.m : p.n, rows) * rows;
        const std::int64_t slow = ceil_div(p.k, p.elements_of_scale());
        buffer.extent = {fast, slow, p.batch, 1, 1};
        buffer.stride = {1, fast, fast * slow, 0, 0};
    }
}

void add_indices(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    parts.trips = b.begin();
    b.add(parts.trips, mk::Variable::item_end);
    b.add(parts.trips, mk::Variable::item_begin, -1);
    parts.k_element = b.begin();
    b.add(parts.k_element, mk::Variable::item_begin, c.cta_k);
    b.add(parts.k_element, mk::Variable::loop, c.cta_k);
    parts.tile_m = b.begin();
    b.add(parts.tile_m, mk::Variable::tile, c.cta_m, 0);
    parts.tile_n = b.begin();
    b.add(parts.tile_n, mk::Variable::tile, c.cta_n, 1);
    parts.batch = b.begin();
    b.add(parts.batch, mk::Variable::tile, 1, 2);
}

void add_stage_access(const Parts& parts, Matrix matrix, int ahead) {
    const Config& c = parts.config;
    const Problem& p = parts.problem;
    const bool is_a = matrix == Matrix::a;
    const bool k_contiguous = (is_a ? p.a_major : p.b_major) == Major::k;
    const std::int64_t dense = k_contiguous ? p.k : is_a ? p.m : p.n;
    Side side{is_a ? parts.a : parts.b, is_a ? parts.tile_m : parts.tile_n};
    side.k_contiguous = k_contiguous;
    side.along_k = p.stored_along_k(c.cta_k, is_a);
    side.tile_position = is_a ? 0 : 1;
    side.tile_extent = is_a ? c.cta_m : c.cta_n;
    side.sharers = is_a ? c.cluster_n : c.cluster_m;
    side.paired = is_a && c.pair;
    side.pitch = stored_pitch(p, is_a, leading(is_a ? p.lda : p.ldb, dense));
    side.lane_elements = (is_a ? c.lane_bytes_a : c.lane_bytes_b) / hw::bytes_of(is_a ? p.a : p.b);
    side.copy_bytes = copy_bytes_of(c, is_a);
    side.lane_share = widest_copy;
    if (copies_as_triton(c)) {
        side.lane_share = tile_bytes(p, c, is_a) / (std::int64_t{32} * c.warps);
    }
    side.rank_step = is_a ? c.cluster_m : 1;
    add_stage_access(parts, side, ahead);
}

void add_scale_access(const Parts& parts, Matrix matrix, int ahead) {
    const Config& c = parts.config;
    const bool is_a = matrix == Matrix::a;
    Side side{is_a ? parts.scales_a : parts.scales_b, is_a ? parts.tile_m : parts.tile_n};
    side.k_contiguous = false;
    side.along_k = c.cta_k / parts.problem.elements_of_scale();
    side.tile_position = is_a ? 0 : 1;
    side.tile_extent = is_a ? c.cta_m : c.cta_n;
    side.sharers = is_a ? c.cluster_n : c.cluster_m;
    side.lane_share = widest_copy;
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
        mk::Index& slice = access.origin[2];
        slice = parts.builder.begin();
        parts.builder.add(slice, mk::Variable::tile, parts.config.split_k, 2);
        parts.builder.add(slice, mk::Variable::item_begin).divisor = per_split;
    } else {
        access.origin[2] = parts.batch;
    }
    access.box[0] = parts.config.cta_n;
    access.box[1] = parts.config.cta_m;
    if (parts.config.store_bytes < widest_copy) {
        const int elements = std::max(1, parts.config.store_bytes / hw::bytes_of(parts.problem.out));
        access.inner = elements;
        access.bytes = elements * hw::bytes_of(to_workspace ? type_of_sums(parts.problem, parts.config,
                                                                           parts.config.split_k)
                                                            : parts.problem.out);
        access.inner_extent = std::clamp<std::int64_t>(access.box[0] / elements, 1, 32);
        access.outer = to_workspace || parts.problem.ldc == 0 ? parts.problem.n : parts.problem.ldc;
    }
}

StageTokens add_stage_tokens(Parts& parts) {
    mk::Token& group = parts.builder.token();
    group.name = name_group;
    group.kind = mk::TokenKind::async_group;
    group.scope = mk::Scope::warp;
    group.depth = parts.config.stages;
    const mk::Id group_id = parts.builder.last_token();
    mk::Token& barrier = parts.builder.token();
    barrier.name = name_barrier;
    barrier.kind = mk::TokenKind::named_barrier;
    barrier.arrivals = parts.config.warps;
    return {group_id, parts.builder.last_token()};
}

void guard_fetch(const Parts& parts, mk::Op& copy, int ahead) {
    // begin + i + ahead < end
    copy.when.active = true;
    copy.when.value = parts.builder.begin(ahead);
    parts.builder.add(copy.when.value, mk::Variable::item_begin);
    parts.builder.add(copy.when.value, mk::Variable::item_end, -1);
    parts.builder.add(copy.when.value, mk::Variable::loop);
    copy.when.low = -(std::int64_t{1} << 40);
    copy.when.high = 0;
}

}  // namespace warptime::workloads::gemm
