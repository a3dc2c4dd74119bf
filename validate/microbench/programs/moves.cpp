// The part of bandwidth_in_flight whose bytes go through registers, turn for turn as in the machine code.
// Uniform registers hold the place of a turn, one instruction at a time for the whole warp.
// The place becomes 64-bit addresses. While loads are in flight, the walk steps on and goes round.
// Ignores: which registers hold which values. Source: machine code of the probe (sm_90).
// A uniform instruction takes 1.76 slots of its sub-partition, and the two of a 64-bit product take 7.3.
// Evidence: rows of level=l1 with 512 and 1024 threads; nine loops of 15 to 33 instructions fit within 2 %.
// An integer multiply-add with three registers takes 1.5 slots.
// So nine integer multiply-adds stand for eight uniform instructions, and five for a product.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/streams.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <string>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

/// Additions and moves, which alternate between two pipes.
mk::Id add_plain(mk::Builder& build, std::int64_t count, std::int64_t chain, mk::Id after) {
    mk::Op op;
    op.cls = mk::InstructionClass::add_s32;
    op.count = count;
    op.chain = chain;
    if (after != mk::no_id) op.deps[op.dep_count++] = {after, 0};
    return build.op(op);
}

/// Instructions of a turn, by their place in the turn.
struct Code {
    int uniform_before = 0;  ///< two in series, for the place
    int before = 0;          ///< for the first address, and what the compiler has put beside it
    int before_chain = 0;    ///< how many of `before` are in series
    int among = 0;           ///< for the address of each further load
    int uniform_step = 9;    ///< of the walk and its counter, four in series
    int between = 1;         ///< the test that ends the loop, and addresses of stores that follow loads
};

Code code_of(bool reads, bool writes, int unroll, int width) {
    const bool single = unroll == 1;
    Code code;
    if (!single) code.uniform_before = writes ? 3 : 5;
    if (!writes) {
        code.before = single ? 2 : 6 + unroll / 2;
        code.before_chain = 2;
        code.among = single ? 0 : (4 + 2 * unroll - code.before) / (unroll - 1);
        code.uniform_step = 9;
        code.between = 2;  // the counter
    } else if (reads) {
        if (!single) code.uniform_before += 2;
        code.before = single ? 4 : 5 + unroll;
        code.before_chain = single ? 4 : 3 + unroll;
        code.between = unroll + 2;
    } else {
        // The stored values are products of their places. A vector holds the same value in each word.
        if (!single) code.uniform_before += 2;
        code.before = (single ? 8 : 5 + 2 * unroll) + unroll * (width / 4 - 1);
        code.before_chain = single ? 5 : 3 + unroll;
    }
    return code;
}

struct Move {
    Walk walk;
    Turn turn;
    int unroll = 1;
    bool reads = false, writes = false;
};

void add_moves(mk::Builder& build, const Move& move) {
    const Code code = code_of(move.reads, move.writes, move.unroll, move.walk.width);
    mk::Id ready = mk::no_id;
    if (code.uniform_before > 0) ready = add_integer(build, code.uniform_before, 2);
    ready = add_plain(build, code.before, code.before_chain, ready);
    const auto access = [&](mk::Direction direction, int part, mk::Id after) {
        mk::Op op;
        const bool read = direction == mk::Direction::read;
        op.cls = read ? mk::InstructionClass::ld_global : mk::InstructionClass::st_global;
        op.returns = read;
        op.dep_count = 1;
        op.deps[0] = {after, 0};
        return build.op(op, {access_at(build, move.walk, move.turn, direction, part)});
    };
    mk::Id first = mk::no_id;
    mk::Id last = mk::no_id;
    for (int i = 0; i < move.unroll && move.reads; ++i) {
        if (i > 0 && code.among > 0) add_plain(build, code.among, 1, mk::no_id);
        last = access(mk::Direction::read, i, ready);
        if (i == 0) first = last;
    }
    add_integer(build, code.uniform_step, 4);
    add_plain(build, code.between, 1, mk::no_id);
    for (int i = 0; i < move.unroll && move.writes; ++i) {
        access(mk::Direction::write, i, move.reads ? last : ready);
    }
    if (!move.writes) {
        // An addition takes two words. The sums of the earlier loads are made while the last load is in
        // flight.
        const int words = move.unroll * move.walk.width / 4;
        const int late = (move.walk.width / 4 + 1) / 2;
        const int early = (words + 1) / 2 - late;
        if (early > 0) first = add_plain(build, early, early, first);
        for (int i = 0; i < late; ++i) {
            mk::Op sum;
            sum.cls = mk::InstructionClass::add_s32;
            sum.dep_count = 2;
            sum.deps[0] = {first, 0};
            sum.deps[1] = {last, 0};
            first = build.op(sum);
        }
    }
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    build.op(jump);
}

}  // namespace

Probe plain_move(const Parameters& p) {
    const std::string& way = text(p, "way");
    const bool l1 = text(p, "level") == "l1";
    const std::int64_t ctas = integer(p, "ctas");
    const std::int64_t threads = integer(p, "threads");
    const std::int64_t footprint = integer(p, "footprint") / 4;
    Move move;
    move.reads = way != "store";
    move.writes = way != "load";
    move.unroll = static_cast<int>(integer(p, "unroll"));
    move.walk.width = static_cast<int>(integer(p, "width"));
    const std::int64_t piece = threads * move.walk.width * move.unroll / 4;
    move.walk.own = l1 ? footprint / ctas : 0;
    move.walk.first = l1 ? 0 : piece;
    move.walk.step = l1 ? piece : piece * ctas;
    move.walk.wrap = l1 ? move.walk.own : footprint;
    move.walk.cache = l1 ? mk::CachePolicy::ca : mk::CachePolicy::cg;
    Probe probe;
    mk::Kernel& k = add_kernel(probe.program, "move", ctas, threads, integer(p, "shared"));
    k.cluster = {integer(p, "cluster"), 1, 1};
    k.registers_per_thread = 64;
    mk::Builder build(k);
    if (move.reads) move.turn.from = build.buffer(words_of("from", footprint * 4));
    if (move.writes) move.turn.to = build.buffer(words_of("to", footprint * 4));
    move.turn.warps = static_cast<int>(threads / 32);
    build.role("warps", move.turn.warps);
    build.loop(integer(p, "turns"));
    add_moves(build, move);
    build.end();
    build.finish();
    probe.units = static_cast<double>(integer(p, "bytes")) * (move.reads && move.writes ? 2.0 : 1.0);
    return probe;
}

}  // namespace warptime::validate::microbench
