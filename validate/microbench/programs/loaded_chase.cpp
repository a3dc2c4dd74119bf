// chase_loaded: one lane follows a chain of lines through DRAM while all other SMs stream.
// The rows also hold the bytes that the other SMs move meanwhile.
// The two halves are separate kernels, because all CTAs of a kernel are alike.
// Ignores: pages, of which the chase touches more than the L2's tables hold; the SM that chases.
// Source: machine code of latency.cu (sm_90).
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t part_bytes = std::int64_t{8} << 20;  ///< that a CTA streams through

/// One turn. Four instructions lead to the first address, and each load brings a vector. The turn also takes
/// an eighth of the look at a flag in the L2. That eighth is about a constant's latency.
void add_stream_turn(mk::Builder& build, mk::Id data, std::int64_t threads, int loads) {
    const mk::Id place = add_integer(build, loads > 1 ? 4 + loads : 4, 4);
    mk::Id last = mk::no_id;
    for (int i = 0; i < loads; ++i) {
        mk::Op load;
        load.cls = mk::InstructionClass::ld_global;
        load.dep_count = 1;
        load.deps[0] = {place, 0};
        mk::Access a;
        a.buffer = data;
        a.bytes = 16;
        a.cache = mk::CachePolicy::cg;
        a.origin[0] = build.index(i * threads * 4,
                                  {mk::Term{.coefficient = part_bytes / 4}, mk::term(mk::Variable::warp, 128),
                                   mk::term(mk::Variable::loop, threads * 4 * loads)});
        last = build.op(load, {a});
    }
    // The sums of the earlier loads are made while the last load is in flight.
    const mk::Id sum = add_integer(build, 2, 2, {{last, 0}});
    mk::Op flag;
    flag.cls = mk::InstructionClass::ld_constant;
    flag.dep_count = 1;
    flag.deps[0] = {sum, 0};
    const mk::Id seen = build.op(flag);
    add_integer(build, 7, 5, {{seen, 0}});
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    build.op(jump);
}

/// `turns` turns of every CTA.
void add_stream(mk::Program& program, std::int64_t ctas, std::int64_t threads, int loads,
                std::int64_t turns) {
    mk::Kernel& k = add_kernel(program, "stream", ctas, threads, std::int64_t{128} << 10);
    k.registers_per_thread = 64;
    mk::Builder build(k);
    const mk::Id data = build.buffer(words_of("stream", ctas * part_bytes));
    build.role("warps", static_cast<int>(threads / 32));
    build.loop(turns);
    add_stream_turn(build, data, threads, loads);
    build.end();
    build.finish();
}

void add_steps(mk::Program& program, std::int64_t steps) {
    mk::Kernel& k = add_kernel(program, "chase", 1, 32);
    mk::Builder build(k);
    constexpr std::int64_t bytes = std::int64_t{1} << 30;
    const mk::Id table = build.buffer(words_of("table", bytes));
    build.role("lane", 1);
    build.loop(steps);
    mk::Op load;
    load.cls = mk::InstructionClass::ld_global;
    load.active = 1.0 / 32.0;
    load.dep_count = 1;
    load.deps[0] = {0, 1};
    mk::Access access;
    access.buffer = table;
    access.pattern = mk::PatternKind::chase;
    access.window = bytes / 4;
    access.step = 32;
    access.cache = mk::CachePolicy::cg;
    build.op(load, {access});
    build.end();
    build.finish();
}

Probe chase_loaded(const Parameters& p, const hw::Gpu& /*gpu*/) {
    constexpr std::int64_t steps = 400;
    const std::int64_t ctas = integer(p, "streaming_sms");
    const std::int64_t threads = integer(p, "threads");
    const auto loads = static_cast<int>(integer(p, "loads_in_flight"));
    const std::int64_t turns = part_bytes / (threads * 16 * loads);
    Probe probe;
    add_steps(probe.program, 2 * steps);
    add_steps(probe.without, steps);
    probe.units = static_cast<double>(steps);
    add_stream(probe.beside.load, ctas, threads, loads, turns);
    add_stream(probe.beside.alone, 1, 32, loads, turns);
    probe.beside.rounds = static_cast<double>(turns);
    probe.beside.bytes = static_cast<double>(ctas * threads * 16 * loads * turns);
    return probe;
}

constexpr std::array families{
    Family{"microbench_latency", "chase_loaded", chase_loaded},
};

}  // namespace

std::span<const Family> loaded_chase_families() {
    return families;
}

}  // namespace warptime::validate::microbench
