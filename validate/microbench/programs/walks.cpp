// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>

namespace warptime::validate::microbench {

namespace mk = model::kernel;

mk::Kernel& add_kernel(mk::Program& program, const char* name, std::int64_t ctas, std::int64_t threads,
                       std::int64_t shared) {
    mk::Kernel& k = program.add_kernel();
    k.name = name;
    k.grid = {ctas, 1, 1};
    k.cta = {threads, 1, 1};
    k.dynamic_shared = shared;
    k.schedule.tiles = {ctas, 1, 1, 1};
    return k;
}

mk::Buffer words_of(const char* name, std::int64_t bytes) {
    mk::Buffer buffer;
    buffer.name = name;
    buffer.dtype = mk::Dtype::int32;
    buffer.extent[0] = std::max<std::int64_t>(1, bytes / 4);
    buffer.contents = mk::Contents::random;
    return buffer;
}

mk::Id add_integer(mk::Builder& build, std::int64_t count, std::int64_t chain,
                   std::initializer_list<mk::Dep> after) {
    mk::Op op;
    op.cls = mk::InstructionClass::mad_s32;
    op.count = std::max<std::int64_t>(1, count);
    op.chain = std::clamp<std::int64_t>(chain, 1, op.count);
    for (const mk::Dep& dep : after) op.deps[op.dep_count++] = dep;
    return build.op(op);
}

mk::Id add_jump(mk::Builder& build, mk::Id after) {
    mk::Op compare;
    compare.cls = mk::InstructionClass::set_predicate;
    compare.dep_count = 1;
    compare.deps[0] = {after, 0};
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    jump.dep_count = 1;
    jump.deps[0] = {build.op(compare), 0};
    return build.op(jump);
}

mk::Id add_slot(mk::Builder& build, std::initializer_list<mk::Dep> after) {
    return add_integer(build, 6, 5, after);
}

mk::Access access_at(mk::Builder& build, const Walk& walk, const Turn& turn, mk::Direction direction,
                     int part) {
    const std::int64_t lane_words = walk.width / 4;
    mk::Index at = build.index(
        0, {mk::Term{.coefficient = walk.first}, mk::term(mk::Variable::loop, walk.step, walk.depth)});
    if (walk.wrap > 0) at = build.modulo(at, walk.wrap);
    const mk::Index within =
        build.index(part * turn.warps * 32 * lane_words,
                    {mk::Term{.coefficient = walk.own}, mk::term(mk::Variable::warp, 32 * lane_words)});
    mk::Access a;
    a.buffer = direction == mk::Direction::read ? turn.from : turn.to;
    a.direction = direction;
    a.bytes = walk.width;
    a.cache = walk.cache;
    a.origin[0] = build.sum(at, within);
    return a;
}

void add_turn(mk::Builder& build, const Walk& walk, const Turn& turn) {
    mk::Id ready = add_integer(build, turn.addressing, turn.addressing);
    const int accesses = std::max(turn.loads, turn.stores);
    mk::Id first = mk::no_id;
    mk::Id last = mk::no_id;
    for (int i = 0; i < accesses; ++i) {
        if (i < turn.constants) {
            mk::Op constant;
            constant.cls = mk::InstructionClass::ld_constant;
            constant.dep_count = 1;
            constant.deps[0] = {ready, 0};
            const mk::Id read = build.op(constant);
            ready = add_integer(build, 2, 2, {{read, 0}});
        }
        if (i >= turn.loads) continue;
        if (turn.slots && i > 0) ready = add_slot(build, {{ready, 0}});
        mk::Op load;
        load.cls = mk::InstructionClass::ld_global;
        load.dep_count = 1;
        load.deps[0] = {ready, 0};
        last = build.op(load, {access_at(build, walk, turn, mk::Direction::read, i)});
        if (first == mk::no_id) first = last;
    }
    mk::Id made = ready;
    if (last != mk::no_id) {
        // One sum in series. The sum begins with the first word while other words are in flight.
        const int folds = std::max(1, turn.folding);
        mk::Dep before{first, 0};
        if (first != last) {
            const int early = folds * (turn.loads - 1);
            before = {add_integer(build, early, early, {before}), 0};
        }
        made = add_integer(build, folds, folds, {before, {last, 0}});
    }
    for (int i = 0; i < turn.stores; ++i) {
        mk::Op store;
        store.cls = mk::InstructionClass::st_global;
        store.returns = false;
        store.dep_count = 1;
        store.deps[0] = {made, 0};
        build.op(store, {access_at(build, walk, turn, mk::Direction::write, i)});
    }
    add_integer(build, turn.control, turn.control);
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    build.op(jump);
}

}  // namespace warptime::validate::microbench
