// Requests that become one on their way to the L2: request_merging.
// The programs are bursts of CTAs of one cluster that read the same lines, and copy loops of tiled products.
// Ignores: CTAs of a burst that only meet the others, because all CTAs wait for the last reader.
// Source: machine code of the probe (sm_90).
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/chains.hpp"
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/loads.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t most_shared = 227 * 1024;
constexpr std::int64_t burst_bytes = 512;
constexpr std::int64_t bursts = 128;

/// Cycles from a passed meeting to a read, and from the read's result to the next arrival. The code has its
/// own stalls, a parameter, two reads of the clock and seven jumps.
constexpr double burst_code = 150.0;

struct Burst {
    std::int64_t rounds = 0, readers = 1, shared_by = 1, delay = 0;
    std::string way;  ///< load, async or bulk
};

/// Cycles for which a request takes along later requests for the same lines
/// (model/machine/l2/request_merging.hpp).
constexpr std::int64_t together = 50;

/// Each round the cluster meets. Then the CTAs wait for their turn, look at the clock once, and read.
void add_bursts(mk::Program& program, const Burst& b, const hw::Gpu& gpu) {
    const std::int64_t ctas = b.readers * b.shared_by;
    mk::Kernel& k = add_kernel(program, "bursts", ctas, 32, most_shared - 1024);
    k.cluster = {ctas, 1, 1};
    mk::Builder build(k);
    // Readers farther apart in time meet no other reader's request. Such readers read as if the lines were
    // others.
    const bool meet = b.delay < together;
    mk::Buffer data = words_of("data", bursts * burst_bytes * (meet ? 1 : b.readers));
    data.before = mk::Before::warm;
    const mk::Id from = build.buffer(data);
    mk::Id arrived = mk::no_id;
    if (b.way != "load") {
        mk::Token token;
        token.name = "arrived";
        token.kind = b.way == "bulk" ? mk::TokenKind::mbarrier : mk::TokenKind::async_group;
        token.scope = b.way == "bulk" ? mk::Scope::cta : mk::Scope::warp;
        arrived = build.token(token);
    }
    build.role("warp", 1);
    build.loop(b.rounds);
    mk::Id last = build.op(op_of(mk::InstructionClass::cluster_barrier));
    const auto after = [&](mk::Op op) {
        op.dep_count = 1;
        op.deps[0] = {last, 0};
        last = build.op(op);
    };
    if (b.delay > 0) after(idle_for(static_cast<double>(b.delay * (b.readers - 1)), gpu));
    // After the warp's read, a releasing fence goes to the L2 and back.
    after(idle_for(gpu.latency.l2_near.value(), gpu));
    after(idle_for(burst_code, gpu));
    mk::Access a;
    a.buffer = from;
    a.cache = mk::CachePolicy::cg;
    a.bounds = mk::Bounds::wrap;
    const mk::Index burst_at = build.variable(mk::Variable::loop, burst_bytes / 4);
    a.origin[0] =
        meet ? burst_at : build.sum(burst_at, build.variable(mk::Variable::tile, bursts * burst_bytes / 4));
    if (b.way == "bulk") {
        a.pattern = mk::PatternKind::collective;
        a.rank = 1;
        // Each CTA that shares a burst fetches its part for all CTAs of the group.
        a.box = {burst_bytes / 4 / b.shared_by, 1, 1, 1, 1};
        a.multicast_ctas = static_cast<std::int32_t>(b.shared_by);
    } else {
        a.bytes = 16;
    }
    mk::Op read;
    read.cls = b.way == "load"    ? mk::InstructionClass::ld_global
               : b.way == "async" ? mk::InstructionClass::cp_async
                                  : mk::InstructionClass::cp_async_bulk;
    read.dep_count = 1;
    read.deps[0] = {last, 0};
    read.completes = arrived;
    last = build.op(read, {a});
    if (arrived != mk::no_id) {
        if (b.way == "async") build.op(op_of(mk::InstructionClass::cp_async_commit));
        build.wait(arrived);
        last = build.op(op_of(mk::InstructionClass::ld_shared));
    }
    last = add_integer(build, 4, 4, {{last, 0}});
    after(op_of(mk::InstructionClass::set_predicate));
    after(op_of(mk::InstructionClass::branch));
    build.end();
    build.finish();
}

Probe burst(const Parameters& p, const hw::Gpu& gpu) {
    Burst b;
    b.way = text(p, "way");
    b.rounds = integer(p, "bytes") / burst_bytes;
    b.readers = integer(p, "readers");
    b.delay = integer(p, "delay");
    b.shared_by = integer(p, "shared_by");
    Probe probe;
    add_bursts(probe.program, b, gpu);
    return probe;
}

struct TileLoop {
    std::int64_t bm = 64, bn = 64, bk = 32, stages = 3, threads = 128, tiles_m = 1, tiles_n = 1, group = 1,
                 k = 64, fma = 0, resident = 1;
};

/// Machine code that makes addresses. `cycles` are the code's own stall counts; the sources of copies are
/// made one behind the other. `constants` counts loads of parameters and special registers. `jumps` counts
/// jumps over code that is not needed. The four places are: to the first copy, of one copy, from the first
/// matrix to the second, and behind the last copy.
struct Code {
    double cycles = 0.0;
    int constants = 0, jumps = 0;
};
constexpr Code to_copies{25.0, 3, 1};
constexpr Code of_copy{36.0, 0, 0};
constexpr Code between_matrices{40.0, 1, 1};
constexpr Code behind_copies{40.0, 1, 3};

mk::Id add_code(mk::Builder& build, const Code& code, const hw::Gpu& gpu) {
    for (int i = 0; i < code.jumps; ++i) build.op(op_of(mk::InstructionClass::branch));
    mk::Id last = mk::no_id;
    for (int i = 0; i < code.constants; ++i) {
        mk::Op load = op_of(mk::InstructionClass::ld_constant);
        if (last != mk::no_id) {
            load.dep_count = 1;
            load.deps[0] = {last, 0};
        }
        last = build.op(load);
    }
    const auto link = gpu.instructions[mk::InstructionClass::add_s32].latency.value();
    const auto chain = std::max<std::int64_t>(1, std::llround(code.cycles / link));
    // Half as many further instructions fill the gaps of the chain.
    return last == mk::no_id ? add_integer(build, chain * 3 / 2, chain)
                             : add_integer(build, chain * 3 / 2, chain, {{last, 0}});
}

/// Copies of a tile of `columns` x `rows` by all lanes, 16 bytes each.
void add_tile_copies(mk::Builder& build, mk::Id buffer, std::int64_t columns, std::int64_t rows,
                     std::int64_t threads, const mk::Index& column, const mk::Index& row, mk::Id token,
                     const hw::Gpu& gpu) {
    const std::int64_t passes = std::max<std::int64_t>(1, rows * columns * 2 / 16 / threads);
    build.loop(passes);
    const mk::Id place = add_code(build, of_copy, gpu);
    mk::Op copy;
    copy.cls = mk::InstructionClass::cp_async;
    copy.completes = token;
    copy.dep_count = 1;
    copy.deps[0] = {place, 0};
    mk::Access a;
    a.buffer = buffer;
    a.cache = mk::CachePolicy::cg;
    a.bounds = mk::Bounds::wrap;
    a.pattern = mk::PatternKind::collective;
    a.rank = 2;
    a.box = {columns, rows / passes, 1, 1, 1};
    a.origin[0] = column;
    a.origin[1] = build.sum(row, build.variable(mk::Variable::loop, rows / passes, 1));
    build.op(copy, {a});
    build.end();
}

void add_tile_loop(mk::Program& program, const TileLoop& t, const hw::Gpu& gpu) {
    const std::int64_t shared = (most_shared / t.resident - 1024) / 1024 * 1024;
    const int warps = static_cast<int>(t.threads / 32);
    mk::Kernel& k = add_kernel(program, "tile_loop", t.tiles_m * t.tiles_n, t.threads, shared);
    k.registers_per_thread = 48;
    k.schedule.tiles = {t.tiles_m, t.tiles_n, 1, 1};
    k.schedule.group = t.group;
    mk::Builder build(k);
    const auto matrix = [&](const char* name, std::int64_t across, std::int64_t rows) {
        mk::Buffer buffer;
        buffer.name = name;
        buffer.dtype = mk::Dtype::bf16;
        buffer.contents = mk::Contents::random;
        buffer.rank = 2;
        buffer.extent = {across, rows, 1, 1, 1};
        buffer.stride = {1, across, 0, 0, 0};
        return build.buffer(buffer);
    };
    const mk::Id a = matrix("a", t.k, t.tiles_m * t.bm);
    const mk::Id b = matrix("b", t.tiles_n * t.bn, t.k);
    mk::Token copies;
    copies.name = "stages";
    copies.kind = mk::TokenKind::async_group;
    copies.scope = mk::Scope::warp;
    copies.arrivals = 1;
    copies.depth = static_cast<std::int32_t>(t.stages);
    const mk::Id token = build.token(copies);
    mk::Token meet;
    meet.name = "meet";
    meet.kind = mk::TokenKind::named_barrier;
    meet.arrivals = warps;
    const mk::Id barrier = build.token(meet);
    build.role("warps", warps);
    const std::int64_t ahead = t.stages - 1;
    const auto fetch = [&](std::int64_t first) {
        const mk::Index step = build.index(first * t.bk, {mk::term(mk::Variable::loop, t.bk)});
        add_code(build, to_copies, gpu);
        add_tile_copies(build, a, t.bk, t.bm, t.threads, step, build.variable(mk::Variable::tile, t.bm, 0),
                        token, gpu);
        add_code(build, between_matrices, gpu);
        add_tile_copies(build, b, t.bn, t.bk, t.threads, build.variable(mk::Variable::tile, t.bn, 1), step,
                        token, gpu);
        add_code(build, behind_copies, gpu);
        build.op(op_of(mk::InstructionClass::cp_async_commit));
    };
    build.loop(ahead);
    fetch(0);
    build.end();
    build.loop(std::max<std::int64_t>(1, t.k / t.bk - ahead));
    build.wait(token, static_cast<int>(ahead - 1));
    build.op(op_of(mk::InstructionClass::bar_sync));
    build.signal(barrier);
    build.wait(barrier);
    fetch(ahead);
    if (t.fma > 0) {
        build.loop(t.fma / 4);
        mk::Op multiply = op_of(mk::InstructionClass::fma_f32);
        multiply.count = 4;
        multiply.chain = 2;
        // Every second multiply-add finds a multiplicand at the ports.
        multiply.shape = {2, 2, 2};
        build.op(multiply);
        const mk::Id counted = build.op(op_of(mk::InstructionClass::add_s32));
        add_jump(build, counted);
        build.end();
    }
    build.end();
    build.wait(token);
    build.finish();
}

Probe tile_loop(const Parameters& p, const hw::Gpu& gpu) {
    const TileLoop t{integer(p, "bm"),      integer(p, "bn"),      integer(p, "bk"),
                     integer(p, "stages"),  integer(p, "threads"), integer(p, "tiles_m"),
                     integer(p, "tiles_n"), integer(p, "group"),   integer(p, "k"),
                     integer(p, "fma"),     integer(p, "resident")};
    Probe probe;
    add_tile_loop(probe.program, t, gpu);
    return probe;
}

constexpr std::array families{
    Family{"microbench_request_merging", "burst", burst},
    Family{"microbench_request_merging", "tile_loop", tile_loop},
};

}  // namespace

std::span<const Family> request_merging_families() {
    return families;
}

}  // namespace warptime::validate::microbench
