// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/fixed_work.hpp"

#include "model/kernel/builder.hpp"

namespace warptime::validate::microbench {

namespace mk = model::kernel;

namespace {

constexpr std::int64_t chain_length = 16;

/// `before` is the op that stands before the loop. As in the compiler's code, counter and comparison stand
/// among the first links. Both issue while the chain waits. The jump ends the loop.
void add_chain(mk::Builder& build, std::int64_t fma, mk::Id before) {
    build.loop(fma / chain_length);
    const auto first = static_cast<mk::Id>(before + 1);
    const auto id_of = [first](std::int64_t link) {
        return static_cast<mk::Id>(first + link + (link > 0 ? 1 : 0) + (link > 1 ? 1 : 0));
    };
    mk::Id counted = mk::no_id;
    mk::Id compared = mk::no_id;
    for (std::int64_t link = 0; link < chain_length; ++link) {
        mk::Op step;
        step.cls = mk::InstructionClass::fma_f32;
        step.dep_count = 1;
        step.deps[0] = {id_of(link == 0 ? chain_length - 1 : link - 1),
                        static_cast<std::int16_t>(link == 0 ? 1 : 0)};
        build.op(step);
        mk::Op control;
        if (link == 0) {
            control.cls = mk::InstructionClass::add_s32;
            counted = build.op(control);
        } else if (link == 1) {
            control.cls = mk::InstructionClass::set_predicate;
            control.dep_count = 1;
            control.deps[0] = {counted, 0};
            compared = build.op(control);
        }
    }
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    jump.dep_count = 1;
    jump.deps[0] = {compared, 0};
    build.op(jump);
    build.end();
}

}  // namespace

void add_fixed_work(mk::Program& program, const FixedWork& work) {
    mk::Kernel& k = program.add_kernel();
    k.name = "fixed_work";
    k.grid = {work.ctas, 1, 1};
    k.cluster = {work.cluster, 1, 1};
    k.cta = {work.threads, 1, 1};
    k.registers_per_thread = 16;
    k.dynamic_shared = work.shared;
    k.schedule.tiles = {work.ctas, 1, 1, 1};
    mk::Builder build(k);
    mk::Buffer out;
    out.name = "out";
    out.extent[0] = work.ctas * work.threads;
    const mk::Id buffer = work.fma > 0 && work.stores ? build.buffer(out) : mk::no_id;
    build.role("warps", static_cast<int>((work.threads + 31) / 32));
    mk::Op start;
    start.cls = mk::InstructionClass::move;
    start.count = 4;
    const mk::Id started = build.op(start);
    if (work.fma > 0) add_chain(build, work.fma, started);
    if (buffer != mk::no_id) {
        mk::Op store;
        store.cls = mk::InstructionClass::st_global;
        store.returns = false;
        mk::Access access;
        access.buffer = buffer;
        access.direction = mk::Direction::write;
        access.origin[0] =
            build.index(0, {mk::Term{.coefficient = work.threads}, mk::term(mk::Variable::warp, 32)});
        build.op(store, {access});
    }
    mk::Op exit;
    exit.cls = mk::InstructionClass::exit;
    build.op(exit);
    build.finish();
}

FixedWork fixed_work_of(const Parameters& parameters) {
    FixedWork work;
    work.ctas = integer(parameters, "ctas");
    work.threads = integer(parameters, "threads");
    work.shared = integer(parameters, "shared");
    work.fma = integer(parameters, "fma");
    return work;
}

}  // namespace warptime::validate::microbench
