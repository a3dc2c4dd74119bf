// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/stream_k.hpp"

#include "hw/error.hpp"
#include "model/machine/occupancy/tile_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

constexpr std::int64_t at_once = 4;  // fp32 numbers of a 16-byte access

/// 1 where the item has the tile's first iteration, else 0.
mk::Index owns_tile(mk::Builder& b) {
    const mk::Index begins_later = b.clamp(b.variable(mk::Variable::item_begin), 0, 1);
    return b.sum(mk::Builder::constant(1), b.scaled(begins_later, -1));
}

/// CTA whose share begins `iterations` behind the start of an item's tile.
mk::Index cta_at(const Parts& parts, const mk::Index& iterations, std::int64_t tiles_m,
                 std::int64_t tiles_n) {
    mk::Builder& b = parts.builder;
    mk::Index at = b.begin();
    b.add(at, mk::Variable::tile, parts.k_iterations, 0);
    b.add(at, mk::Variable::tile, parts.k_iterations * tiles_m, 1);
    b.add(at, mk::Variable::tile, parts.k_iterations * tiles_m * tiles_n, 2);
    return b.modulo(b.floordiv(b.sum(at, iterations), parts.shared.share), parts.ctas);
}

mk::Op op_after(InstructionClass cls, std::int64_t count, mk::Id before) {
    mk::Op op;
    op.cls = cls;
    op.count = std::max<std::int64_t>(1, count);
    op.dep_count = before == mk::no_id ? 0 : 1;
    op.deps[0] = {before, 0};
    return op;
}

}  // namespace

SharedTiles shared_tiles(StreamK kind, std::int64_t tiles, std::int64_t k_iterations, std::int64_t ctas) {
    if (kind == StreamK::none) return {};
    // Whole waves of tiles need no sharing; the last one and a part of the one before are shared.
    const std::int64_t waves = tiles / ctas;
    const std::int64_t whole = kind == StreamK::all ? 0
                               : tiles % ctas == 0  ? waves
                                                    : std::max<std::int64_t>(0, waves - 1);
    const std::int64_t shared = tiles - whole * ctas;
    return {shared, std::max<std::int64_t>(1, ceil_div(shared * k_iterations, ctas))};
}

void check_stream_k(const Config& c) {
    if (c.stream_k == StreamK::none) return;
    if (c.split_k > 1) {
        throw Error("gemm split_k", std::to_string(c.split_k), "1 with stream-K, which shares K itself");
    }
    if (c.cluster_m * c.cluster_n > 1) {
        throw Error("gemm cluster", fmt::format("{}x{}", c.cluster_m, c.cluster_n), "1x1 with stream-K");
    }
    if (c.specialization == Specialization::pingpong) {
        throw Error("gemm specialization", "pingpong",
                    "none or cooperative with stream-K: a CTA's groups must share a tile");
    }
}

void list_stream_k(const Config& c, std::int64_t ctas, mk::Kernel& kernel) {
    mk::Schedule& s = kernel.schedule;
    s.kind = mk::ScheduleKind::one_per_cta;
    const model::machine::TileOrder order = model::machine::order_of(s);
    const std::int64_t steps = s.k_iterations, tiles = s.item_count();
    const SharedTiles shared = shared_tiles(c.stream_k, tiles, steps, ctas);
    const auto item_of = [&](std::int64_t tile, std::int64_t begin, std::int64_t end) {
        const model::machine::TileCoordinate at = model::machine::tile_at(order, tile);
        mk::WorkItem item;
        item.tile = {at.m, at.n, at.batch, 0};
        item.begin = begin;
        item.end = end;
        return item;
    };
    // The list goes round the CTAs. Shares that differ by one iteration at most make pieces that differ by
    // one at most. So only the last round is short, and CTAs with more pieces come first.
    const std::int64_t iterations = shared.tiles * steps;
    const std::int64_t sharers = std::min(ctas, iterations);
    std::vector<std::vector<mk::WorkItem>> pieces;
    for (std::int64_t cta = 0; cta < sharers; ++cta) {
        std::vector<mk::WorkItem>& own = pieces.emplace_back();
        const std::int64_t last = (cta + 1) * iterations / sharers;
        for (std::int64_t at = cta * iterations / sharers; at < last;) {
            const std::int64_t tile = at / steps, begin = at - tile * steps;
            const std::int64_t end = std::min(steps, begin + last - at);
            own.push_back(item_of(tile, begin, end));
            at += end - begin;
        }
    }
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    s.kind = mk::ScheduleKind::listed;
    s.items.clear();
    for (std::int64_t tile = shared.tiles; tile < tiles; ++tile) s.items.push_back(item_of(tile, 0, steps));
    const std::size_t rounds = pieces.empty() ? 0 : pieces.front().size();
    for (std::size_t round = 0; round < rounds; ++round) {
        for (const std::vector<mk::WorkItem>& own : pieces) {
            if (round < own.size()) s.items.push_back(own[round]);
        }
    }
    kernel.grid = {std::min(ctas, s.item_count()), 1, 1};
}

void begin_owned_tile(Parts& parts, int warps) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const std::int64_t tiles_m = ceil_div(parts.problem.m, c.cta_m);
    const std::int64_t tiles_n = ceil_div(parts.problem.n, c.cta_n);
    mk::Buffer& sums = b.buffer();
    sums.name = "parts";
    sums.dtype = Dtype::fp32;
    sums.rank = 3;
    sums.extent = {c.cta_n, c.cta_m, parts.ctas, 1, 1};
    sums.stride = {1, c.cta_n, std::int64_t{c.cta_n} * c.cta_m, 0, 0};
    sums.before = mk::Before::warm;  // what is read of it, CTAs of this kernel have just written
    const mk::Id workspace = b.last_buffer();
    const std::int64_t of_lane = std::int64_t{c.cta_m} * c.cta_n / (std::int64_t{warps} * 32);
    const std::int64_t words = of_lane / at_once;
    const auto part_of = [&](mk::Direction direction, const mk::Index& cta) {
        mk::Access access;
        access.buffer = workspace;
        access.direction = direction;
        access.pattern = mk::PatternKind::collective;
        access.rank = 3;
        access.origin[2] = cta;
        access.box = {c.cta_n, c.cta_m, 1, 1, 1};
        access.cache = mk::CachePolicy::cg;
        return access;
    };

    mk::Buffer& words_of_flags = b.buffer();
    words_of_flags.name = "flags";
    words_of_flags.dtype = Dtype::int32;
    words_of_flags.extent[0] = parts.ctas;
    const mk::Id flags = b.last_buffer();
    // One lane sets or asks for a flag atomically; as plain accesses of that lane they go to the L2, too.
    const auto flag_of = [&](mk::Direction direction, const mk::Index& cta) {
        mk::Access access;
        access.buffer = flags;
        access.direction = direction;
        access.cache = mk::CachePolicy::cg;
        access.pattern = mk::PatternKind::broadcast;
        access.bytes = 4;
        access.origin[0] = cta;
        return access;
    };

    // A part passes through shared memory, so that lanes store 16 bytes; then a flag is set.
    const mk::Index begin = b.variable(mk::Variable::item_begin);
    b.loop(b.clamp(begin, 0, 1));
    const mk::Id staged = b.op(op_after(InstructionClass::st_shared, words, mk::no_id));
    const mk::Id met = b.op(op_after(InstructionClass::bar_sync, 1, staged));
    const mk::Id read = b.op(op_after(InstructionClass::ld_shared, words, met));
    mk::Op store = op_after(InstructionClass::st_global, words, read);
    store.dtype = Dtype::fp32;
    store.returns = false;
    const mk::Id stored =
        b.op(store, {part_of(mk::Direction::write, cta_at(parts, begin, tiles_m, tiles_n))});
    b.op(op_after(InstructionClass::fence, 1, b.op(op_after(InstructionClass::bar_sync, 1, stored))));
    b.end();

    // The parts that cover the rest of the tile, each behind its flag.
    mk::Index rest = b.begin(parts.k_iterations + parts.shared.share - 1);
    b.add(rest, mk::Variable::item_end, -1);
    b.loop(b.product(owns_tile(b), b.floordiv(rest, parts.shared.share)));
    const mk::Index end =
        b.sum(b.variable(mk::Variable::item_end), b.variable(mk::Variable::loop, parts.shared.share));
    const mk::Index peer = cta_at(parts, end, tiles_m, tiles_n);
    const mk::Id seen =
        b.op(op_after(InstructionClass::ld_global, 1, mk::no_id), {flag_of(mk::Direction::read, peer)});
    const mk::Id passed = b.op(op_after(InstructionClass::bar_sync, 2, seen));
    // A lane takes eight numbers side by side by two loads, which pass the L1 by. So each half of the loads
    // asks for all sectors of the part and takes half of each.
    const mk::Index part = b.sum(b.scaled(peer, std::int64_t{c.cta_m} * c.cta_n),
                                 b.variable(mk::Variable::warp, 32 * 2 * at_once));
    mk::Id loaded = passed;
    for (const std::int64_t half : {0, 1}) {
        mk::Op load = op_after(InstructionClass::ld_global, words / 2, passed);
        load.dtype = Dtype::fp32;
        mk::Access access;
        access.buffer = workspace;
        access.pattern = mk::PatternKind::stride;
        access.bytes = 4 * at_once;
        access.inner = 2 * at_once;
        access.origin[0] = b.sum(part, mk::Builder::constant(half * at_once));
        access.step = std::int64_t{warps} * 32 * 2 * at_once;
        access.cache = mk::CachePolicy::cg;
        loaded = b.op(load, {access});
    }
    const mk::Id turned = b.op(op_after(InstructionClass::st_shared, words, loaded));
    const mk::Id again = b.op(op_after(InstructionClass::bar_sync, 2, turned));
    const mk::Id own = b.op(op_after(InstructionClass::ld_shared, words, again));
    const mk::Id added = b.op(op_after(InstructionClass::add_f32, of_lane, own));
    b.op(op_after(InstructionClass::bar_sync, 1, added));
    b.end();

    b.loop(owns_tile(b));
}

}  // namespace warptime::workloads::gemm
