// Additions to words that many threads share, in global and in shared memory: atomics.cu.
// Ignores: the CTA that the losers of a compare-and-swap belong to. One lane wins a word per round trip.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/shared_swaps.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

struct Additions {
    std::string kind, type;
    std::int64_t distinct = 1, pitch = 4, ctas = 1, threads = 32, rounds = 1;
    bool by_warp = false;
    [[nodiscard]] int bytes() const { return type == "u64" ? 8 : 4; }
    [[nodiscard]] mk::Dtype dtype() const {
        return type == "f32" ? mk::Dtype::fp32 : type == "f16x2" ? mk::Dtype::fp16 : mk::Dtype::int32;
    }
};

Additions additions(const Parameters& p) {
    Additions a;
    a.kind = text(p, "kind");
    a.type = text(p, "type");
    a.distinct = integer(p, "distinct");
    a.pitch = integer(p, "pitch");
    a.ctas = integer(p, "ctas");
    a.threads = integer(p, "threads");
    a.rounds = integer(p, "rounds");
    a.by_warp = text(p, "spread") == "warp";
    return a;
}

constexpr std::int64_t unroll = 4;

/// The access of part `part` of a turn. A loop outside this one does not move the access.
mk::Access access_of(mk::Builder& build, const Additions& a, mk::Id table, std::int64_t part,
                     std::int64_t parts, std::uint16_t depth) {
    const std::int64_t words = a.pitch / 4;
    const std::int64_t lanes = a.by_warp ? 1 : 32;
    const std::int64_t cta = a.threads / 32 * lanes;
    const std::int64_t all = a.ctas * cta;
    mk::Access access;
    access.buffer = table;
    access.direction = mk::Direction::atomic;
    access.bytes = a.bytes();
    access.pattern = a.by_warp ? mk::PatternKind::broadcast : mk::PatternKind::stride;
    access.inner = words;
    access.bounds = mk::Bounds::wrap;
    const mk::Index element =
        build.index(part * all, {mk::Term{.coefficient = cta}, mk::term(mk::Variable::warp, lanes),
                                 mk::term(mk::Variable::loop, parts * all, depth)});
    access.origin[0] = build.scaled(build.modulo(element, a.distinct), words);
    return access;
}

mk::Op addition(const Additions& a, bool global) {
    mk::Op op;
    op.returns = a.kind != "red";
    op.dtype = a.dtype();
    op.cls = !global      ? mk::InstructionClass::atom_shared
             : op.returns ? mk::InstructionClass::atom_global
                          : mk::InstructionClass::red_global;
    return op;
}

/// Additions of integers, which alternate between two pipes.
void add_addresses(mk::Builder& build, std::int64_t count) {
    mk::Op op;
    op.cls = mk::InstructionClass::add_s32;
    op.count = count;
    build.op(op);
}

/// Rounds of a loop, four to a turn. The sum of the old values follows the rounds.
void add_rounds(mk::Builder& build, const Additions& a, mk::Id table, bool global) {
    build.loop(a.rounds / unroll);
    mk::Id last = mk::no_id;
    for (std::int64_t part = 0; part < unroll; ++part) {
        last = build.op(addition(a, global), {access_of(build, a, table, part, unroll, 0)});
    }
    // Meanwhile the warp works out the next addresses.
    add_addresses(build, 4 * unroll + 2);
    if (a.kind != "red") add_integer(build, unroll, 1, {{last, 0}});
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    build.op(jump);
    build.end();
}

/// The code around the loop of tries of one round: the address, and the meeting of the lanes.
void add_meeting(mk::Builder& build) {
    add_addresses(build, 8);
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    build.op(jump);
}

/// One try. In shared memory, one pass reads the word and another pass writes the word.
mk::Id add_swap(mk::Builder& build, const Additions& a, mk::Id table, std::int64_t lanes, bool global,
                mk::Id after) {
    mk::Op swap = addition(a, global);
    swap.active = 1.0 / static_cast<double>(lanes);
    swap.count = swap.chain = global ? 1 : 2;
    swap.dep_count = 1;
    swap.deps[0] = {after, 0};
    const mk::Id found = build.op(swap, {access_of(build, a, table, 0, 1, 0)});
    return add_jump(build, found);
}

/// The average number of threads at a word, beside the lane's own thread.
double contenders(const Additions& a) {
    return static_cast<double>(a.ctas * a.threads) / static_cast<double>(a.distinct);
}

/// A loop that compares and swaps until success. Of all threads at a word, one wins at a time. The winner's
/// next round loads and swaps before another thread does. Evidence: in recorded rows of four warps on one
/// word, a success takes as long as a round without contention. In global memory, the lanes of a warp may all
/// be at words of their own. Then the average number of other threads wants each word, and the warp's lane
/// wins last. One pass tells all lanes of a warp that lost to another lane of the warp.
void add_swaps(mk::Builder& build, const Additions& a, mk::Id table, bool global) {
    const std::int64_t lanes = a.by_warp ? 32 : std::max<std::int64_t>(1, 32 / a.distinct);
    const double tries = lanes == 1 && global
                             ? 1.0 + contenders(a)
                             : std::max(static_cast<double>(lanes), std::floor(contenders(a)));
    build.loop(std::llround(static_cast<double>(a.rounds) * tries));
    add_addresses(build, 4);
    mk::Op load;
    load.cls = global ? mk::InstructionClass::ld_global : mk::InstructionClass::ld_shared;
    mk::Access read = access_of(build, a, table, 0, 1, 0);
    read.direction = mk::Direction::read;
    read.cache = mk::CachePolicy::cg;
    const mk::Id seen = build.op(load, {read});
    mk::Id before = add_swap(build, a, table, lanes, global, seen);
    // In shared memory, lanes that have won and go on take turns with lanes that try again.
    if (!global && lanes > 1) before = add_swap(build, a, table, lanes, global, before);
    if (!global) add_meeting(build);
    add_integer(build, 3, 2, {{before, 0}});
    build.end();
}

/// A loop that compares and swaps, where each lane of a warp is at a line of its own. The turn of a lane at
/// its line comes after a time of its own. The warp goes round until the last of 32 lanes has won. With
/// exponential times, the last lane waits the harmonic number of 32 times as long as one lane. Counted: 15,
/// 23 and 36 tries for 2, 4 and 8 contenders. Half of the other threads that come to a word fail before the
/// word is won.
void add_swaps_of_lanes(mk::Builder& build, const Additions& a, mk::Id table) {
    double harmonic = 0.0;
    for (int lane = 1; lane <= 32; ++lane) harmonic += 1.0 / lane;
    const double others = contenders(a);
    const double tries = 1.0 + harmonic * others;
    build.loop(a.rounds);
    add_addresses(build, 8);
    mk::Op load;
    load.cls = mk::InstructionClass::ld_global;
    mk::Access read = access_of(build, a, table, 0, 1, 0);
    read.direction = mk::Direction::read;
    read.cache = mk::CachePolicy::cg;
    build.op(load, {read});
    build.loop(std::max<std::int64_t>(1, std::llround(tries)));
    mk::Op swap = addition(a, true);
    swap.active = std::min(1.0, (1.0 + 0.5 * others) / tries);
    const mk::Id found = build.op(swap, {access_of(build, a, table, 0, 1, 1)});
    add_jump(build, found);
    build.end();
    build.end();
}

/// A loop that compares and swaps, where all lanes of a warp are at one word. Few other warps want the word.
/// One lane wins a try. The lanes that are left, half on average, have been told the current value. In
/// recorded rows each try takes an access to the L2 (270 to 280 cycles). Where warps come back to words, the
/// warps at one sector win in turn. Evidence, as multiples of the time of one warp: 4 warps on 2 sectors take
/// 2.4. 132 warps take 4.6 on 32 sectors and 1.9 on 128 sectors.
void add_swaps_of_warp(mk::Builder& build, const Additions& a, mk::Id table, const hw::Gpu& gpu) {
    constexpr std::int64_t lanes = 32;
    const std::int64_t warp_count = a.ctas * a.threads / lanes;
    const auto warps = static_cast<double>(warp_count);
    const double sectors = std::max(1.0, static_cast<double>(a.distinct * a.pitch) / gpu.l1.sector.value());
    const bool come_back = warps * static_cast<double>(a.rounds) > 2.0 * static_cast<double>(a.distinct);
    const double others = come_back ? (warps - 1.0) / sectors : 0.0;
    build.loop(a.rounds);
    add_addresses(build, 4);
    build.loop(std::llround(static_cast<double>(lanes) * (1.0 + others)));
    mk::Op swap = addition(a, true);
    swap.cls = mk::InstructionClass::red_global;
    swap.returns = false;
    // One lane wins, and one pass tells all other lanes of the new value (counted: 1.8 passes).
    swap.active = 2.0 / static_cast<double>(lanes);
    // Warps drift apart, so a warp may be anywhere in the table.
    mk::Access words = access_of(build, a, table, 0, 1, 0);
    words.pattern = mk::PatternKind::random;
    words.distinct = a.distinct;
    build.op(swap, {words});
    mk::Op told;
    told.cls = mk::InstructionClass::ld_global;
    told.active = 1.0 / static_cast<double>(lanes);
    mk::Access read = access_of(build, a, table, 0, 1, 0);
    read.direction = mk::Direction::read;
    read.cache = mk::CachePolicy::cg;
    build.op(told, {read});
    build.end();
    build.end();
}

void add_kernel_of(mk::Program& program, const Additions& a, const hw::Gpu& gpu) {
    mk::Kernel& k = add_kernel(program, "count", a.ctas, a.threads);
    mk::Builder build(k);
    mk::Buffer words = words_of("table", a.distinct * a.pitch);
    const mk::Id table = build.buffer(words);
    build.role("warps", static_cast<int>(a.threads / 32));
    if (a.kind == "cas" && a.by_warp && a.distinct > 4) {
        add_swaps_of_warp(build, a, table, gpu);
    } else if (a.kind == "cas" && a.pitch >= 128 && a.distinct >= 32) {
        add_swaps_of_lanes(build, a, table);
    } else if (a.kind == "cas") {
        add_swaps(build, a, table, true);
    } else {
        add_rounds(build, a, table, true);
    }
    build.finish();
}

/// The work of a warp in shared memory.
struct Turns {
    std::int64_t warps = 1;  ///< that work on words of their own
    std::int64_t tries = 1;  ///< of each warp for every round
    std::int64_t lanes = 32;
    bool in_one_bank = false;  ///< the lanes' words; `lanes` words are left on average
    bool queue = false;        ///< others are at the word: the next try begins when this try has been written
    std::int64_t others = 1;   ///< warps at a word
};

/// Parts of a warp; each part has one lane that swaps.
int groups_of(const Additions& a) {
    return a.bytes() == 8 ? 2 : 1;
}

/// Passes of a swap: the word is read, compared and written. A word of eight bytes is written in two passes.
std::int64_t swap_passes(const Additions& a) {
    return a.bytes() == 8 ? 4 : 3;
}

/// The cycles of the sum in registers. With eight bytes a carry follows.
std::int64_t links_of_sum(const Additions& a) {
    return a.type == "f32" ? 1 : 3;
}

double sum_cycles(const Additions& a, const hw::Gpu& gpu) {
    const auto cls = a.type == "f32" ? mk::InstructionClass::add_f32 : mk::InstructionClass::add_s32;
    return static_cast<double>(links_of_sum(a)) * gpu.instructions[cls].latency.value();
}

/// A try without other threads: load, sum, swap, test and the way back.
double round_cycles(const Additions& a, const hw::Gpu& gpu) {
    const auto latency = [&](mk::InstructionClass cls) { return gpu.instructions[cls].latency.value(); };
    return 2.0 * gpu.latency.shared.value() + latency(mk::InstructionClass::atom_shared) +
           sum_cycles(a, gpu) + latency(mk::InstructionClass::set_predicate) +
           latency(mk::InstructionClass::branch);
}

/// Additions that are loops of load, add and compare-and-swap. Lanes of one bank win one after another, and
/// lanes of other warps win in between. A word that several warps add to counts as a warp of its own. That
/// warp makes all additions to the word in turn.
Turns turns_of(const Additions& a, const hw::Gpu& gpu) {
    const std::int64_t warps = a.threads / 32;
    Turns turns;
    if (a.pitch > a.bytes() && (warps == 1 || a.distinct > 1)) {
        turns.warps = warps;
        const SwapLoop alone = swaps_alone(a.distinct, groups_of(a));
        const double path = gpu.shared.pass_interval.value() * (alone.passes - 1.0);
        const SwapTimes times{round_cycles(a, gpu) + path, alone.passes + static_cast<double>(swap_passes(a)),
                              gpu.latency.shared.value() + sum_cycles(a, gpu)};
        turns.tries = std::llround(alone.tries * tries_among(warps, a.distinct, groups_of(a), alone, times));
        turns.lanes = std::clamp<std::int64_t>(std::llround(alone.passes), 1, 32);
        turns.in_one_bank = true;
        return turns;
    }
    turns.warps = std::clamp<std::int64_t>(a.distinct / 32, 1, warps);
    turns.lanes = std::min<std::int64_t>(a.distinct, 32);
    turns.tries = a.threads / (turns.warps * turns.lanes);
    turns.others = warps / turns.warps;
    turns.queue = turns.others > 1;
    return turns;
}

/// Integer instructions in series that stand for the time from a success until another warp loads the word.
/// Each of `others` warps comes round at a time of its own.
std::int64_t wait_for_load(const Additions& a, std::int64_t others, const hw::Gpu& gpu) {
    const double round = round_cycles(a, gpu);
    const auto& cost = gpu.instructions[mk::InstructionClass::mad_s32];
    return std::llround(round / static_cast<double>(others + 1) / (cost.latency + cost.interval).value());
}

void add_emulated(mk::Builder& build, const Additions& a, mk::Id table, const Turns& turns,
                  const hw::Gpu& gpu) {
    build.loop(a.rounds);
    add_meeting(build);
    build.loop(turns.tries);
    mk::Op load;
    load.cls = mk::InstructionClass::ld_shared;
    const std::int64_t wait = turns.queue ? wait_for_load(a, turns.others, gpu) : 0;
    if (wait > 0) {
        load.dep_count = 1;
        load.deps[0] = {add_integer(build, wait, wait), 0};
    }
    load.active = static_cast<double>(turns.lanes) / 32.0;
    mk::Access read = access_of(build, a, table, 0, 1, 0);
    if (turns.in_one_bank) read.inner = 32;
    read.direction = mk::Direction::read;
    const mk::Id seen = build.op(load, {read});
    mk::Op sum;
    sum.cls = a.type == "f32" ? mk::InstructionClass::add_f32 : mk::InstructionClass::add_s32;
    sum.count = sum.chain = links_of_sum(a);
    sum.dep_count = 1;
    sum.deps[0] = {seen, 0};
    const mk::Id added = build.op(sum);
    // The swap's passes are written as lanes of one bank. Lanes that try again wait only for the last pass.
    mk::Op swap = addition(a, false);
    swap.active = (turns.queue ? 1.0 : static_cast<double>(swap_passes(a))) / 32.0;
    swap.returns = !turns.queue;
    swap.dep_count = 1;
    swap.deps[0] = {added, 0};
    mk::Access word = access_of(build, a, table, 0, 1, 0);
    word.inner = 32;
    const mk::Id swapped = build.op(swap, {word});
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    jump.dep_count = 1;
    jump.deps[0] = {swapped, 0};
    if (!turns.queue) {
        mk::Op compare;
        compare.cls = mk::InstructionClass::set_predicate;
        compare.dep_count = 1;
        compare.deps[0] = {swapped, 0};
        jump.deps[0] = {build.op(compare), 0};
    }
    build.op(jump);
    build.end();
    build.end();
}

Probe atomic_shared(const Parameters& p, const hw::Gpu& gpu) {
    const Additions once = additions(p);
    const bool emulated = once.kind != "cas" && once.type != "s32";
    Probe probe;
    for (const int times : {1, 2}) {
        Additions a = once;
        a.rounds *= times;
        const Turns turns = turns_of(a, gpu);
        mk::Kernel& k = add_kernel(times == 1 ? probe.without : probe.program, "count", 1,
                                   emulated ? 32 * turns.warps : a.threads, a.distinct * a.pitch);
        mk::Builder build(k);
        mk::Buffer words = words_of(
            "table",
            (emulated && turns.in_one_bank ? std::max<std::int64_t>(a.distinct, 32) : a.distinct) * a.pitch);
        words.space = mk::Space::shared;
        const mk::Id table = build.buffer(words);
        build.role("warps", static_cast<int>(k.cta.x / 32));
        if (emulated) {
            add_emulated(build, a, table, turns, gpu);
        } else if (a.kind == "cas") {
            add_swaps(build, a, table, false);
        } else {
            add_rounds(build, a, table, false);
        }
        build.finish();
    }
    probe.units = static_cast<double>(once.rounds);
    return probe;
}

Probe atomic_global(const Parameters& p, const hw::Gpu& gpu) {
    Probe probe;
    add_kernel_of(probe.program, additions(p), gpu);
    return probe;
}

constexpr std::array families{
    Family{"microbench_atomics", "atomic_global", atomic_global},
    Family{"microbench_atomics", "atomic_shared", atomic_shared},
};

}  // namespace

std::span<const Family> atomic_families() {
    return families;
}

}  // namespace warptime::validate::microbench
