// Copies into shared memory: bulk_copy, cp_async_rows, bandwidth_in_flight, cold_load.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/loads.hpp"
#include "validate/microbench/programs/streams.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

// Dependent integer instructions that make the place of the next copy. `tensor_addressing` makes a row's
// number. `bulk_addressing` makes a slot's 64-bit address that goes round. `walk_addressing` makes an address
// that steps and goes round.
constexpr int tensor_addressing = 1;
constexpr int bulk_addressing = 4;
constexpr int walk_addressing = 7;

/// A ring of stages. A stage is refilled as soon as its copy has arrived.
struct Ring {
    bool tensor = false;  ///< boxes of 128-byte rows, else one row
    std::int64_t ctas = 1, bytes = 1024, stages = 1, copies = 1, footprint = 16 << 20, shared = 0,
                 cluster = 1;
    std::int64_t first = 0, step = 0;  ///< bytes between CTAs, and between copies; 0: contiguous, far apart
    int addressing = 1;                ///< integer instructions in series from a passed wait to the next copy
    double jump = 0.0;                 ///< cycles to fetch the code of a copy before the copy
    bool reads = false;                ///< reads a word that the L2 has, before the first copy
    bool meets = false;                ///< all lanes meet once the only copy is there
    bool folds = false;                ///< the thread adds up what the last copies brought, word by word
};

/// The copying thread sums the words of all stages. A turn has four vectors, then eight additions of two
/// words in series. The turns stand within a loop of one trip. So the copies' loop stays the longest loop of
/// the role.
void add_fold(mk::Builder& build, std::int64_t bytes) {
    constexpr int vectors = 4;
    mk::Buffer stages;
    stages.name = "stages";
    stages.space = mk::Space::shared;
    stages.dtype = mk::Dtype::int32;
    stages.extent[0] = bytes / 4;
    const mk::Id words = build.buffer(stages);
    build.loop(1);
    build.loop(std::max<std::int64_t>(1, bytes / (16 * vectors)));
    std::array<mk::Id, vectors> loaded{};
    for (mk::Id& one : loaded) {
        mk::Op load;
        load.cls = mk::InstructionClass::ld_shared;
        mk::Access a;
        a.buffer = words;
        a.pattern = mk::PatternKind::broadcast;
        a.bytes = 16;
        one = build.op(load, {a});
    }
    mk::Id sum = loaded.front();
    for (std::size_t i = 0; i < std::size_t{2} * vectors; ++i) {
        mk::Op add;
        // Additions of three words in one pipe take four cycles a link, as fp32 additions do. The class of
        // integer additions would not fit: it alternates between two pipes and takes five.
        add.cls = mk::InstructionClass::add_f32;
        add.dep_count = 2;
        add.deps[0] = {sum, 0};
        add.deps[1] = {loaded[i / 2], 0};
        sum = build.op(add);
    }
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    build.op(jump);
    build.end();
    build.end();
}

/// A word that the L2 holds, read before the clock is read. So the kernels with and without touches both
/// read.
void add_warm_word(mk::Builder& build) {
    mk::Buffer before = words_of("before", 128);
    before.before = mk::Before::warm;
    mk::Op fetch;
    fetch.cls = mk::InstructionClass::ld_global;
    mk::Access word;
    word.buffer = build.buffer(before);
    word.pattern = mk::PatternKind::broadcast;
    word.bytes = 4;
    add_integer(build, 1, 1, {{build.op(fetch, {word}), 0}});
}

void add_ring(mk::Program& program, const Ring& r, const hw::Gpu& gpu) {
    mk::Kernel& k = add_kernel(program, "ring", r.ctas, 32,
                               std::max(r.shared, std::max<std::int64_t>(16, r.bytes * r.stages)));
    k.cluster = {r.cluster, 1, 1};
    mk::Builder build(k);
    mk::Buffer data = words_of("data", r.footprint);
    const std::int64_t row = r.tensor ? 32 : r.bytes / 4;
    const std::int64_t rows = r.tensor ? std::max<std::int64_t>(1, r.bytes / 128) : 1;
    data.rank = 2;
    data.extent = {row, std::max<std::int64_t>(rows, r.footprint / 4 / row), 1, 1, 1};
    data.stride = {1, row, 0, 0, 0};
    const mk::Id global = build.buffer(data);
    mk::Token full;
    full.name = "full";
    full.kind = mk::TokenKind::mbarrier;
    full.key = mk::TokenKey::stage;
    full.depth = static_cast<std::int32_t>(r.stages);
    full.arrivals = 1;
    const mk::Id token = build.token(full);
    build.role("copier", 1);
    if (r.reads) add_warm_word(build);
    if (r.copies == 0) return build.finish();
    const std::int64_t slots = std::max<std::int64_t>(1, r.footprint / r.bytes);
    const std::int64_t apart = r.step > 0 ? r.step / r.bytes : 1;
    const std::int64_t start = r.step > 0 ? r.first / r.bytes : std::max<std::int64_t>(1, slots / r.ctas);
    const auto issue = [&] {
        if (r.jump > 0.0) build.op(idle_for(r.jump, gpu));
        mk::Op expect;
        expect.cls = mk::InstructionClass::mbarrier_arrive;
        expect.active = 1.0 / 32.0;
        build.op(expect);
        const mk::Id at = add_integer(build, r.addressing, r.addressing);
        mk::Op copy;
        copy.dep_count = 1;
        copy.deps[0] = {at, 0};
        copy.cls =
            r.tensor ? mk::InstructionClass::cp_async_bulk_tensor : mk::InstructionClass::cp_async_bulk;
        copy.completes = token;
        mk::Access a;
        a.buffer = global;
        a.pattern = mk::PatternKind::collective;
        a.rank = 2;
        a.box = {row, rows, 1, 1, 1};
        a.origin[1] = build.index(
            0, {mk::Term{.coefficient = start * rows}, mk::term(mk::Variable::loop, apart * rows)});
        a.bounds = mk::Bounds::wrap;
        build.op(copy, {a});
    };
    const std::int64_t ahead = std::min(r.stages, r.copies);
    build.loop(ahead);
    issue();
    if (r.copies == 1) {
        build.wait(token);
        if (r.meets) {
            mk::Op sync;
            sync.cls = mk::InstructionClass::bar_sync;
            build.op(sync);
        }
        build.end();
        return build.finish();
    }
    build.end();
    if (r.copies > ahead) {
        build.loop(r.copies - ahead);
        build.wait(token);
        issue();
        build.end();
    }
    build.loop(ahead);
    build.wait(token);
    add_integer(build, 1, 1);
    build.end();
    if (r.folds) add_fold(build, r.bytes * r.stages);
    build.finish();
}

/// Lanes copy 16 bytes each in groups. `groups` groups are in flight.
struct Groups {
    std::int64_t ctas = 1, threads = 32, groups = 1, rounds = 64, footprint = 16 << 20, shared = 0;
    std::int64_t tile_bytes = 0, row_bytes = 0;  ///< of boxes with a pitch; 0: side by side
    std::int64_t pitch = 8192;
    std::int64_t walk = 8192;  ///< bytes of each row; then the walk begins again
    bool registers = false;    ///< plain loads instead
};

void add_groups(mk::Program& program, const Groups& g) {
    const int warps = static_cast<int>(g.threads / 32);
    const std::int64_t group_bytes = g.tile_bytes > 0 ? g.tile_bytes : g.threads * 16;
    mk::Kernel& k = add_kernel(program, "groups", g.ctas, g.threads,
                               std::max(g.shared, g.registers ? 0 : g.groups * group_bytes));
    k.registers_per_thread = 64;
    mk::Builder build(k);
    mk::Buffer data = words_of("data", g.footprint);
    if (g.tile_bytes > 0) {
        data.rank = 2;
        data.extent = {g.pitch / 4, g.footprint / g.pitch, 1, 1, 1};
        data.stride = {1, g.pitch / 4, 0, 0, 0};
    }
    const mk::Id global = build.buffer(data);
    mk::Token loads;
    loads.name = "groups";
    loads.kind = mk::TokenKind::async_group;
    loads.scope = mk::Scope::warp;
    loads.arrivals = 1;
    loads.depth = static_cast<std::int32_t>(g.groups + 1);
    const mk::Id token = build.token(loads);
    mk::Token meet;
    meet.name = "meet";
    meet.kind = mk::TokenKind::named_barrier;
    meet.arrivals = warps;
    const mk::Id barrier = g.tile_bytes > 0 ? build.token(meet) : mk::no_id;
    build.role("warps", warps);
    const auto issue = [&] {
        mk::Op copy;
        copy.cls = mk::InstructionClass::cp_async;
        copy.completes = token;
        mk::Access a;
        a.buffer = global;
        a.cache = mk::CachePolicy::cg;
        a.bounds = mk::Bounds::wrap;
        if (g.tile_bytes > 0) {
            // All warps together copy the rows in passes. The compiler has left a loop over the rows. The
            // row's number makes two addresses and the test that ends the loop.
            const std::int64_t passes = std::max<std::int64_t>(1, g.tile_bytes / 512 / warps);
            const std::int64_t rows = g.tile_bytes / g.row_bytes;
            const std::int64_t blocks = g.footprint / g.pitch / rows;
            add_integer(build, 12, 6);
            build.loop(passes);
            const mk::Id place = add_integer(build, 5, 3);
            mk::Op test;
            test.cls = mk::InstructionClass::set_predicate;
            build.op(test);
            a.pattern = mk::PatternKind::collective;
            a.rank = 2;
            a.box = {g.row_bytes / 4, rows / passes, 1, 1, 1};
            a.origin[0] = build.modulo(build.variable(mk::Variable::loop, g.row_bytes / 4), g.walk / 4);
            // CTAs share blocks of rows, so that the rows of all CTAs together stay within the footprint.
            a.origin[1] =
                build.sum(build.scaled(build.modulo(build.variable(mk::Variable::tile), blocks), rows),
                          build.variable(mk::Variable::loop, rows / passes, 1));
            copy.dep_count = 1;
            copy.deps[0] = {place, 0};
            build.op(copy, {a});
            mk::Op jump;
            jump.cls = mk::InstructionClass::branch;
            build.op(jump);
            build.end();
        } else {
            // While this slot number becomes an address, the next slot number is made.
            add_slot(build);
            const mk::Id place = add_integer(build, 5, 5);
            copy.dep_count = 1;
            copy.deps[0] = {place, 0};
            a.bytes = 16;
            a.origin[0] = build.index(
                0, {mk::Term{.coefficient = g.footprint / 4 / g.ctas}, mk::term(mk::Variable::warp, 128),
                    mk::term(mk::Variable::loop, g.threads * 4)});
            build.op(copy, {a});
        }
        mk::Op commit;
        commit.cls = mk::InstructionClass::cp_async_commit;
        build.op(commit);
    };
    build.loop(g.groups);
    issue();
    build.end();
    build.loop(std::max<std::int64_t>(1, g.rounds - g.groups));
    build.wait(token, static_cast<int>(g.groups - 1));
    if (barrier != mk::no_id) {
        mk::Op sync;
        sync.cls = mk::InstructionClass::bar_sync;
        build.op(sync);
        build.signal(barrier);
        build.wait(barrier);
    }
    issue();
    build.end();
    build.wait(token);
    build.finish();
}

/// bulk_copy, kind=load: rounds of `stages` independent loads.
void add_load_rounds(mk::Program& program, std::int64_t ctas, std::int64_t threads, int stages,
                     std::int64_t rounds) {
    mk::Kernel& k = add_kernel(program, "load_ring", ctas, threads);
    k.registers_per_thread = 64;
    mk::Builder build(k);
    Turn turn;
    turn.warps = static_cast<int>(threads / 32);
    turn.loads = stages;
    // The number of a slot goes round in 64 bits and becomes an address. The number for the first load went
    // round while earlier loads were in flight.
    turn.addressing = 5;
    turn.slots = true;
    turn.folding = 2;
    turn.from = build.buffer(words_of("data", 16 << 20));
    Walk walk;
    walk.first = (std::int64_t{16} << 18) / ctas;
    walk.step = threads * 4 * stages;
    walk.wrap = std::int64_t{16} << 18;
    build.role("warps", turn.warps);
    build.loop(rounds / stages);
    add_turn(build, walk, turn);
    build.end();
    build.finish();
}

Probe copy_latency(const Parameters& p, const hw::Gpu& gpu) {
    Ring r;
    r.tensor = text(p, "kind") == "tensor";
    r.bytes = integer(p, "bytes");
    r.addressing = r.tensor ? tensor_addressing : bulk_addressing;
    r.jump = gpu.latency.constant.value();
    r.reads = true;
    // Without a tensor map the difference is the only copy. Both kernels would have to fetch a tensor map. So
    // with tensor maps the difference is one more in a row of copies that wait for each other.
    Probe probe;
    r.copies = r.tensor ? 17 : 1;
    add_ring(probe.program, r, gpu);
    r.copies -= 1;
    add_ring(probe.without, r, gpu);
    return probe;
}

Probe copy_stream(const Parameters& p, const hw::Gpu& gpu) {
    const std::string& kind = text(p, "kind");
    const std::int64_t ctas = integer(p, "ctas");
    const std::int64_t copies = integer(p, "copies");
    const auto stages = static_cast<int>(integer(p, "stages"));
    Probe probe;
    for (const std::int64_t count : {copies, 2 * copies}) {
        mk::Program& program = count == copies ? probe.without : probe.program;
        if (kind == "load") {
            add_load_rounds(program, ctas, integer(p, "threads"), stages, count);
        } else if (kind == "async") {
            Groups g;
            g.ctas = ctas;
            g.threads = integer(p, "threads");
            g.groups = stages;
            g.rounds = count;
            add_groups(program, g);
        } else {
            Ring r;
            r.tensor = kind == "tensor";
            r.ctas = ctas;
            r.bytes = integer(p, "bytes");
            r.stages = stages;
            r.copies = count;
            r.addressing = r.tensor ? tensor_addressing : bulk_addressing;
            add_ring(program, r, gpu);
        }
    }
    probe.units = static_cast<double>(copies);
    return probe;
}

Probe cp_async_rows(const Parameters& p, const hw::Gpu& gpu) {
    Groups g;
    g.row_bytes = integer(p, "row_bytes");
    g.tile_bytes = integer(p, "tile_bytes");
    if (p.find("pitch_bytes") != p.end()) g.pitch = integer(p, "pitch_bytes");
    g.groups = integer(p, "stages") - 1;
    g.threads = 32 * integer(p, "warps");
    g.ctas = integer(p, "ctas_per_sm") * static_cast<std::int64_t>(gpu.sm.count.value());
    g.rounds = (std::int64_t{4} << 20) / g.tile_bytes + g.groups;
    g.shared = integer(p, "stages") * g.tile_bytes;
    Probe probe;
    add_groups(probe.program, g);
    probe.units = static_cast<double>(integer(p, "bytes"));
    return probe;
}

/// bandwidth_in_flight.
Probe move(const Parameters& p, const hw::Gpu& gpu) {
    const std::string& way = text(p, "way");
    if (way != "async" && way != "bulk") return plain_move(p);
    Probe probe;
    probe.units = static_cast<double>(integer(p, "bytes"));
    if (way == "bulk") {
        Ring r;
        r.ctas = integer(p, "ctas");
        r.cluster = integer(p, "cluster");
        r.bytes = integer(p, "width");
        r.stages = integer(p, "unroll");
        r.copies = integer(p, "turns");
        r.shared = integer(p, "shared");
        r.footprint = integer(p, "footprint");
        r.first = r.bytes;
        r.step = r.bytes * r.ctas;
        r.addressing = walk_addressing;
        r.folds = true;
        add_ring(probe.program, r, gpu);
    } else {
        Groups g;
        g.ctas = integer(p, "ctas");
        g.threads = integer(p, "threads");
        g.groups = integer(p, "unroll");
        g.rounds = integer(p, "turns");
        g.shared = integer(p, "shared");
        g.footprint = integer(p, "footprint");
        add_groups(probe.program, g);
    }
    return probe;
}

/// The sum of what has been loaded. Then all warps meet.
void end_touch(mk::Builder& build, mk::Id loaded) {
    if (loaded != mk::no_id) add_integer(build, 4, 4, {{loaded, 0}});
    mk::Op sync;
    sync.cls = mk::InstructionClass::bar_sync;
    build.op(sync);
}

/// Jumps of a touch to code that has not run yet. A single load jumps around its test. The compiler has
/// written the loop of copies in two halves, four at a time and one at a time. A touch jumps to each half
/// that it needs.
int jumps_of(bool plain, std::int64_t loads) {
    if (plain) return loads == 1 ? 1 : 0;
    return loads >= 4 ? 2 : 1;
}

/// All warps of a CTA wait for the fetched code together, as long as for constants of the cache that holds
/// both. So the wait keeps no unit busy.
mk::Op fetch_of(int jumps, const hw::Gpu& gpu) {
    mk::Op op;
    op.cls = mk::InstructionClass::ld_constant;
    const auto& cost = gpu.instructions[op.cls];
    const double link = std::max(1.0, cost.interval.value()) + cost.latency.value();
    op.count = op.chain = std::llround(jumps * gpu.latency.constant.value() / link);
    return op;
}

void add_touches(mk::Program& program, const Parameters& p, std::int64_t ctas, bool touches,
                 const hw::Gpu& gpu) {
    const std::string& way = text(p, "way");
    const std::int64_t threads = integer(p, "threads");
    const std::int64_t bytes = integer(p, "bytes");
    mk::Kernel& k = add_kernel(program, "first_touch", ctas, threads, std::max<std::int64_t>(bytes, 1024));
    mk::Builder build(k);
    const mk::Id data = build.buffer(words_of("data", ctas * bytes));
    mk::Token arrived;
    arrived.name = "arrived";
    arrived.kind = mk::TokenKind::async_group;
    arrived.scope = mk::Scope::warp;
    const mk::Id token = build.token(arrived);
    build.role("warps", static_cast<int>(threads / 32));
    add_warm_word(build);
    if (!touches) return build.finish();
    const bool plain = way == "load";
    const std::int64_t each = std::max<std::int64_t>(1, bytes / (threads * 16));
    // Nothing is in flight while the code is fetched.
    const int jumps = jumps_of(plain, each);
    const mk::Id fetched = jumps > 0 ? build.op(fetch_of(jumps, gpu)) : mk::no_id;
    if (!plain) build.loop(1);
    mk::Id last = mk::no_id;
    for (std::int64_t i = 0; i < each; ++i) {
        mk::Op op;
        op.cls = plain ? mk::InstructionClass::ld_global : mk::InstructionClass::cp_async;
        op.active = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(threads * 16));
        if (!plain) op.completes = token;
        if (plain && i == 0 && jumps > 0) op.deps[op.dep_count++] = {fetched, 0};
        mk::Access a;
        a.buffer = data;
        a.bytes = 16;
        a.cache = mk::CachePolicy::cg;
        a.origin[0] = build.index(i * threads * 4,
                                  {mk::Term{.coefficient = bytes / 4}, mk::term(mk::Variable::warp, 128)});
        last = build.op(op, {a});
    }
    if (!plain) build.wait(token);
    end_touch(build, plain ? last : mk::no_id);
    if (!plain) build.end();
    build.finish();
}

/// cold_load: the first touch of memory. Two CTAs of up to 512 threads begin on an SM within 20 cycles of
/// each other and end together. Of larger CTAs, the second begins 140 to 210 cycles later. Its requests stand
/// behind those of the first CTA, which ends as if alone. Source: a probe that noted begin and end of every
/// CTA of such grids. The median of all CTAs then lies between the two.
Probe first_touch(const Parameters& p, const hw::Gpu& gpu) {
    Probe probe;
    const std::int64_t ctas = integer(p, "ctas");
    const auto sms = static_cast<std::int64_t>(gpu.sm.count.value());
    const auto at_once = static_cast<std::int64_t>(32.0 * gpu.launch.cta_warps.value());
    const bool behind = text(p, "way") != "bulk" && integer(p, "threads") > at_once && ctas > sms;
    for (const std::int64_t turns : {0, 1}) {
        mk::Program& program = turns == 0 ? probe.without : probe.program;
        if (text(p, "way") == "bulk") {
            Ring r;
            r.ctas = integer(p, "ctas");
            r.bytes = integer(p, "bytes");
            r.copies = turns;
            r.reads = r.meets = true;
            r.footprint = std::max<std::int64_t>(1, turns) * r.ctas * r.bytes;
            add_ring(program, r, gpu);
        } else {
            add_touches(program, p, ctas, turns > 0, gpu);
            // Without touches, the later CTAs of an SM begin when all CTAs have been handed out.
            if (behind) add_touches(program, p, turns > 0 ? sms : ctas, turns > 0, gpu);
        }
    }
    if (behind) probe.units = 2.0;
    return probe;
}

constexpr std::array families{
    Family{"microbench_bulk_copy", "copy_latency", copy_latency},
    Family{"microbench_bulk_copy", "copy_stream", copy_stream},
    Family{"microbench_cp_async_rows", "cp_async_rows", cp_async_rows},
    Family{"microbench_bandwidth_in_flight", "move", move},
    Family{"microbench_cold_load", "first_touch", first_touch},
};

}  // namespace

std::span<const Family> copy_families() {
    return families;
}

}  // namespace warptime::validate::microbench
