// Values that a compiler keeps in local memory when registers are scarce: spill.
// A round has one multiply-add on each value, and most values have to be loaded and stored.
// Ignores: that the last words of one round are the first of the next.
// Source: machine code of spill.cu (sm_90a, 32 registers).
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t lanes = 32;

mk::Access words_of_warp(mk::Builder& build, mk::Id buffer, mk::Direction direction) {
    mk::Access access;
    access.buffer = buffer;
    access.direction = direction;
    access.bytes = 4;
    access.origin[0] = build.variable(mk::Variable::warp, lanes);
    return access;
}

mk::Id add_words(mk::Builder& build, mk::Id local, mk::InstructionClass cls, std::int64_t count,
                 mk::Id after = mk::no_id) {
    mk::Op op;
    op.cls = cls;
    op.count = count;
    op.returns = cls == mk::InstructionClass::ld_local;
    if (after != mk::no_id) op.deps[op.dep_count++] = {after, 0};
    return build.op(op,
                    {words_of_warp(build, local, op.returns ? mk::Direction::read : mk::Direction::write)});
}

mk::Id local_words(mk::Builder& build, std::int64_t words, std::int64_t warps) {
    mk::Buffer table = words_of("table", words * lanes * warps * 4);
    table.space = mk::Space::local;
    table.before = mk::Before::warm;
    return build.buffer(table);
}

/// How many of a round's values the compiled code loads and stores (counted). These are all values but ten.
/// Of 32 and 40 values there are fewer, because the compiler leaves more values in registers.
std::int64_t spilled(std::int64_t live, std::int64_t local_bytes) {
    // Eight bytes belong to the loop around this one.
    if (local_bytes <= 8) return 0;
    if (live == 32) return 10;
    if (live == 40) return 26;
    return live - 10;
}

void add_rounds(mk::Program& program, const Parameters& p, std::int64_t rounds, std::int64_t sms) {
    const std::int64_t warps = integer(p, "warps");
    const std::int64_t live = integer(p, "live");
    const std::int64_t out = spilled(live, integer(p, "local_bytes"));
    mk::Kernel& k = add_kernel(program, "narrow", sms, lanes * warps);
    k.registers_per_thread = static_cast<int>(integer(p, "registers"));
    mk::Builder build(k);
    // The rest of the frame belongs to the code around the loop.
    const mk::Id local = out > 0 ? local_words(build, out, warps) : mk::no_id;
    build.role("warps", static_cast<int>(warps));
    build.loop(rounds);
    const auto multiply = [&](std::int64_t count, mk::Id after) {
        mk::Op op;
        op.cls = mk::InstructionClass::fma_f32;
        op.count = count;
        if (after != mk::no_id) op.deps[op.dep_count++] = {after, 0};
        return build.op(op);
    };
    mk::Op compare;
    compare.cls = mk::InstructionClass::set_predicate;
    compare.deps[compare.dep_count++] = {add_integer(build, 1, 1), 0};
    const mk::Id compared = build.op(compare);
    if (live > out) multiply(live - out, mk::no_id);
    // Four words come first; then as many words as the registers hold.
    constexpr std::int64_t first = 4;
    constexpr std::int64_t batch = 16;
    for (std::int64_t done = 0, count = 0; done < out; done += count) {
        count = std::min(done == 0 ? first : batch, out - done);
        const mk::Id loaded = add_words(build, local, mk::InstructionClass::ld_local, count);
        const mk::Id made = multiply(count, loaded);
        add_words(build, local, mk::InstructionClass::st_local, count, made);
    }
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    jump.deps[jump.dep_count++] = {compared, 0};
    build.op(jump);
    build.end();
    build.finish();
}

Probe spill(const Parameters& p, const hw::Gpu& gpu) {
    const auto sms = static_cast<std::int64_t>(gpu.sm.count.value());
    constexpr std::int64_t rounds = 64;
    Probe probe;
    add_rounds(probe.program, p, 2 * rounds, sms);
    add_rounds(probe.without, p, rounds, sms);
    probe.units = static_cast<double>(rounds);
    return probe;
}

constexpr std::array families{Family{"microbench_spill", "spill", spill}};

}  // namespace

std::span<const Family> spill_families() {
    return families;
}

}  // namespace warptime::validate::microbench
