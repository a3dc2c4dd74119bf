// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/loads.hpp"

#include "model/kernel/builder.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::validate::microbench {

namespace mk = model::kernel;

namespace {

constexpr int batch = 8;
constexpr std::int64_t words_per_access = 4;

mk::Kernel& add_kernel(mk::Program& program, const char* name, std::int64_t ctas, std::int64_t threads) {
    mk::Kernel& k = program.add_kernel();
    k.name = name;
    k.grid = {ctas, 1, 1};
    k.cta = {threads, 1, 1};
    k.schedule.tiles = {ctas, 1, 1, 1};
    return k;
}

mk::Buffer words(const char* name, std::int64_t bytes) {
    mk::Buffer buffer;
    buffer.name = name;
    buffer.dtype = mk::Dtype::int32;
    buffer.extent[0] = std::max<std::int64_t>(1, bytes / 4);
    buffer.contents = mk::Contents::random;
    return buffer;
}

/// Counter, comparison and jump of a loop.
void add_control(mk::Builder& build) {
    mk::Op control;
    control.cls = mk::InstructionClass::add_s32;
    control.count = 2;
    build.op(control);
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    build.op(jump);
}

/// One round of `unroll` accesses of 16 bytes a lane in flight together; `depth` is the loop that steps.
struct Round {
    mk::Id from = mk::no_id, to = mk::no_id;
    std::int64_t unroll = 4;
    std::int64_t per_cta = 0;  ///< words between two CTAs
    std::int64_t step = 0;     ///< words between two accesses of a lane
    std::uint16_t depth = 0;
    bool in_turn = false;  ///< each load waits for the one before
};

void add_round(mk::Builder& build, const Round& round) {
    const auto access = [&](mk::Id buffer, mk::Direction direction, std::int64_t part) {
        mk::Access a;
        a.buffer = buffer;
        a.direction = direction;
        a.bytes = 16;
        a.cache = mk::CachePolicy::cg;
        a.origin[0] = build.index(
            part * round.step,
            {mk::Term{.coefficient = round.per_cta}, mk::term(mk::Variable::warp, 32 * words_per_access),
             mk::term(mk::Variable::loop, round.unroll * round.step, round.depth)});
        return a;
    };
    mk::Id first = mk::no_id;
    mk::Id last = mk::no_id;
    for (std::int64_t part = 0; part < round.unroll && round.from != mk::no_id; ++part) {
        mk::Op load;
        load.cls = mk::InstructionClass::ld_global;
        if (round.in_turn && last != mk::no_id) {
            load.dep_count = 1;
            load.deps[0] = {last, 0};
        }
        last = build.op(load, {access(round.from, mk::Direction::read, part)});
        if (first == mk::no_id) first = last;
    }
    mk::Op use;
    use.cls = mk::InstructionClass::logic;
    use.count = 2 * round.unroll;
    if (last != mk::no_id) {
        use.dep_count = 2;
        use.deps[0] = {first, 0};
        use.deps[1] = {last, 0};
    }
    const mk::Id used = build.op(use);
    for (std::int64_t part = 0; part < round.unroll && round.to != mk::no_id; ++part) {
        mk::Op store;
        store.cls = mk::InstructionClass::st_global;
        store.returns = false;
        store.dep_count = 1;
        store.deps[0] = {used, 0};
        build.op(store, {access(round.to, mk::Direction::write, part)});
    }
    add_control(build);
}

}  // namespace

mk::Op idle_for(double cycles, const hw::Gpu& gpu) {
    mk::Op op;
    op.cls = mk::InstructionClass::mufu;
    const auto& cost = gpu.instructions[op.cls];
    const double link = std::max(1.0, cost.interval.value()) + cost.latency.value();
    op.count = std::max<std::int64_t>(1, std::llround(cycles / link));
    op.chain = op.count;
    return op;
}

void add_tensor_load(mk::Program& program, const TensorLoad& load, const hw::Gpu& gpu) {
    mk::Kernel& k =
        add_kernel(program, "tensor_load", load.ctas, 128 * (load.warpgroups + load.stream_warpgroups));
    k.registers_per_thread = static_cast<std::int32_t>(std::min<std::int64_t>(168, load.n / 2 + 32));
    k.dynamic_shared = 16384 + load.n * 128;
    mk::Builder build(k);
    const mk::Id stream =
        load.stream_bytes > 0 ? build.buffer(words("stream", load.stream_bytes)) : mk::no_id;
    mk::Token group;
    group.name = "wgmma_group";
    group.kind = mk::TokenKind::async_group;
    group.scope = mk::Scope::warp;
    group.depth = 2;
    const mk::Id token = build.token(group);
    build.role("multiply", static_cast<int>(4 * load.warpgroups));
    build.loop(load.batches);
    mk::Op mma;
    mma.cls = mk::InstructionClass::wgmma;
    mma.dtype = load.dtype;
    const int k_extent = 32 / hw::bytes_of(load.dtype);
    mma.shape = {64, static_cast<std::int32_t>(load.n), k_extent};
    mma.count = batch;
    mma.shared_operand = true;
    mma.completes = token;
    const mk::Id product = build.op(mma);
    build.wait(token, load.period > 0 ? 0 : 1);
    const std::int64_t busy_cycles = batch * load.n / 2 * load.warpgroups;
    const auto busy = static_cast<double>(busy_cycles);
    if (load.period > 0) {
        // The next batch begins when the period is over, or when this batch is complete.
        const double wait =
            static_cast<double>(load.period) - busy - gpu.instructions[mma.cls].latency.value();
        mk::Op idle = idle_for(wait, gpu);
        idle.dep_count = 1;
        idle.deps[0] = {product, 0};
        build.op(idle);
    }
    build.end();
    if (stream != mk::no_id) {
        // The compiler issues each load of the unrolled loop behind the test that ends the loop. So one load
        // is in flight. Each batch of the other warpgroup gets an equal share of the loads. So both
        // warpgroups go round as often.
        build.role("stream", static_cast<int>(4 * load.stream_warpgroups));
        const std::int64_t turn = load.ctas * load.stream_warpgroups * 128 * words_per_access;
        const std::int64_t words = load.stream_bytes / 4;
        const double loads = static_cast<double>(words) / static_cast<double>(turn);
        const std::int64_t unroll =
            std::max<std::int64_t>(1, std::llround(loads / static_cast<double>(load.batches)));
        build.loop(load.batches);
        add_round(build, {.from = stream,
                          .unroll = unroll,
                          .per_cta = load.stream_warpgroups * 128 * words_per_access,
                          .step = turn,
                          .in_turn = true});
        build.end();
    }
    build.finish();
}

void add_stream_load(mk::Program& program, const StreamLoad& load) {
    mk::Kernel& k = add_kernel(program, "stream_load", load.ctas, load.threads);
    k.dynamic_shared = load.shared;
    mk::Builder build(k);
    const std::int64_t footprint = load.footprint > 0 ? load.footprint : load.ctas * load.bytes;
    Round round;
    round.unroll = load.unroll;
    if (load.reads) round.from = build.buffer(words("from", footprint));
    if (load.writes) round.to = build.buffer(words("to", footprint));
    round.per_cta = load.threads * words_per_access;
    round.step = load.ctas * load.threads * words_per_access;
    const double rounds =
        static_cast<double>(load.bytes) / static_cast<double>(16 * load.threads * load.unroll);
    build.role("warps", static_cast<int>(load.threads / 32));
    if (load.turns > 1) {
        build.loop(load.turns);
        round.depth = 1;
    }
    build.loop(std::max<std::int64_t>(1, std::llround(rounds)));
    add_round(build, round);
    build.end();
    if (load.turns > 1) build.end();
    build.finish();
}

void add_arithmetic_load(mk::Program& program, const ArithmeticLoad& load) {
    constexpr int chains = 8;
    constexpr int steps = 4;
    mk::Kernel& k = add_kernel(program, "arithmetic_load", load.ctas, load.threads);
    mk::Builder build(k);
    build.role("warps", static_cast<int>(load.threads / 32));
    build.loop(load.rounds);
    mk::Id before = mk::no_id;
    for (int step = 0; step < steps; ++step) {
        mk::Op op;
        op.cls = load.cls;
        op.count = chains;
        op.dep_count = 1;
        op.deps[0] = step == 0 ? mk::Dep{static_cast<mk::Id>(steps - 1), 1} : mk::Dep{before, 0};
        before = build.op(op);
    }
    add_control(build);
    build.end();
    build.finish();
}

}  // namespace warptime::validate::microbench
