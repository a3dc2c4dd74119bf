// Tiles that every CTA stores, in bulk, in rows or in pairs of values: epilogue.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

/// A tile of 128 x 256 bf16 from every CTA.
struct TileStores {
    std::string way;                                                ///< tensor, rows or pairs
    std::int64_t ctas = 1, threads = 128, pitch = 2048, turns = 1;  ///< pitch in words
    bool each = false;  ///< every tile is waited for, not only the last
};

/// The wait for stored data. Bulk stores wait for their group; other stores wait at a fence over the GPU.
void add_store_wait(mk::Builder& build, mk::Id group) {
    if (group != mk::no_id) {
        build.wait(group);
    } else {
        mk::Op fence;
        fence.cls = mk::InstructionClass::fence;
        build.op(fence);
    }
}

void add_tile_stores(mk::Program& program, const TileStores& t) {
    constexpr std::int64_t rows = 128;
    constexpr std::int64_t row_words = 128;
    const bool tensor = t.way == "tensor";
    mk::Kernel& k = add_kernel(program, "tile_store", t.ctas, t.threads, tensor ? rows * row_words * 4 : 0);
    mk::Builder build(k);
    const std::int64_t words = t.ctas * std::max<std::int64_t>(1, t.turns) * rows * row_words;
    mk::Buffer out = words_of("out", words * 4);
    out.rank = 2;
    // One column of tiles, because tiles that stand side by side make no difference.
    out.extent = {row_words, words / row_words, 1, 1, 1};
    out.stride = {1, t.pitch, 0, 0, 0};
    const mk::Id to = build.buffer(out);
    mk::Id group = mk::no_id;
    if (tensor) {
        mk::Token stored;
        stored.name = "stored";
        stored.kind = mk::TokenKind::async_group;
        stored.scope = mk::Scope::warp;
        group = build.token(stored);
    }
    const int warps = static_cast<int>(t.threads / 32);
    mk::Token meet;
    meet.name = "meet";
    meet.kind = mk::TokenKind::named_barrier;
    meet.arrivals = warps;
    const mk::Id meeting = t.each && t.turns > 0 ? build.token(meet) : mk::no_id;
    build.role("warps", warps);
    add_integer(build, 4, 4);
    if (!tensor) {
        // One word is stored before the clock is read, with and without tiles. So both kernels write and
        // never read.
        mk::Op word;
        word.cls = mk::InstructionClass::st_global;
        word.returns = false;
        mk::Access a;
        a.buffer = to;
        a.direction = mk::Direction::write;
        a.pattern = mk::PatternKind::broadcast;
        a.bytes = 4;
        build.op(word, {a});
    }
    if (tensor) {
        // The launch has left the tensor map in the L2. The map is read once before the clock is read, with
        // and without tiles. So both kernels read. After that the engine reads the map.
        mk::Buffer map = words_of("map", 128);
        map.before = mk::Before::warm;
        mk::Op fetch;
        fetch.cls = mk::InstructionClass::ld_global;
        mk::Access word;
        word.buffer = build.buffer(map);
        word.pattern = mk::PatternKind::broadcast;
        word.bytes = 4;
        const mk::Id before = build.op(fetch, {word});
        if (t.turns > 0) {
            fetch.dep_count = 1;
            fetch.deps[0] = {before, 0};
            build.op(fetch, {word});
        }
    }
    if (t.turns == 0) {
        build.finish();
        return;
    }
    build.loop(t.turns);
    mk::Op store;
    mk::Access a;
    a.buffer = to;
    a.direction = mk::Direction::write;
    a.bounds = mk::Bounds::wrap;
    const mk::Id made = add_integer(build, 16, 4);
    store.dep_count = 1;
    store.deps[0] = {made, 0};
    store.returns = false;
    if (tensor) {
        store.cls = mk::InstructionClass::cp_async_bulk_store;
        store.completes = group;
        a.pattern = mk::PatternKind::collective;
        a.rank = 2;
        a.box = {row_words, rows, 1, 1, 1};
        a.origin[1] =
            build.index(0, {mk::Term{.coefficient = rows}, mk::term(mk::Variable::loop, rows * t.ctas)});
    } else {
        store.cls = mk::InstructionClass::st_global;
        const bool pairs = t.way == "pairs";
        store.count = rows * row_words / (32 * (pairs ? 1 : 4)) / warps;
        a.bytes = pairs ? 4 : 16;
        a.pattern = pairs ? mk::PatternKind::stride : mk::PatternKind::contiguous;
        a.inner_extent = 4;
        a.inner = 1;
        a.outer = t.pitch;
        a.origin[0] =
            build.index(0, {mk::Term{.coefficient = rows * row_words}, mk::term(mk::Variable::warp, 128)});
    }
    build.op(store, {a});
    if (t.each) {
        add_store_wait(build, group);
        mk::Op sync;
        sync.cls = mk::InstructionClass::bar_sync;
        build.op(sync);
        build.signal(meeting);
        build.wait(meeting);
    }
    build.end();
    // In all ways, one more wait stands before the clock is read.
    add_store_wait(build, group);
    build.finish();
}

Probe tile_store(const Parameters& p, const hw::Gpu& /*gpu*/) {
    TileStores t;
    t.way = text(p, "way");
    t.ctas = integer(p, "ctas");
    t.threads = integer(p, "threads");
    t.pitch = integer(p, "columns") / 2;
    t.each = text(p, "wait") == "each";
    t.turns = 0;
    Probe probe;
    add_tile_stores(probe.without, t);
    t.turns = integer(p, "tiles");
    add_tile_stores(probe.program, t);
    probe.units = static_cast<double>(t.turns);
    return probe;
}

constexpr std::array families{
    Family{"microbench_epilogue", "tile_store", tile_store},
};

}  // namespace

std::span<const Family> tile_store_families() {
    return families;
}

}  // namespace warptime::validate::microbench
