// Code longer than the instruction caches: straight lines of multiply-adds run again and again.
// Also kernels that run such lines a few times.
// Ignores: leftovers of the launch before, of code that no cache can hold.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/chains.hpp"
#include "validate/microbench/programs/families.hpp"

#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;
using Class = mk::InstructionClass;

struct Text {
    std::int64_t passes = 1;
    std::int64_t fma = 0;
    std::int64_t checks = 0;  ///< how often the line asks whether it goes on
    std::int64_t ctas = 1, warps = 1;
    bool stores = false;
};

/// `count` instructions that wait for nothing, because there are at least as many chains as a latency has
/// cycles.
mk::Op run_of(Class cls, std::int64_t count) {
    mk::Op op = op_of(cls);
    op.count = count;
    return op;
}

/// `cls` once `before` is complete.
mk::Id after(mk::Builder& build, Class cls, mk::Id before) {
    mk::Op op = op_of(cls);
    op.dep_count = 1;
    op.deps[0] = {before, 0};
    return build.op(op);
}

void add_pass(mk::Builder& build, const Text& text) {
    // Without checks, the pass begins with the question whether to read the clock. All later instructions
    // wait for the answer.
    if (text.checks == 0) after(build, Class::move, build.op(op_of(Class::set_predicate)));
    const mk::Id counted = build.op(op_of(Class::add_s32));
    build.op(run_of(Class::fma_f32, text.fma));
    if (text.checks > 0) {
        // A comparison and a jump. The jump is not taken, but keeps its warp for a few cycles.
        build.op(run_of(Class::set_predicate, text.checks));
        mk::Op jump = run_of(Class::move, text.checks);
        jump.chain = text.checks;
        build.op(jump);
        // The jump out of the line leads to the question whether to read the clock in this pass.
        build.op(op_of(Class::branch));
        after(build, Class::branch, build.op(op_of(Class::set_predicate)));
    }
    after(build, Class::branch, after(build, Class::set_predicate, counted));
}

void add_text(mk::Program& program, const Text& text) {
    mk::Kernel& k = program.add_kernel();
    k.name = "straight_line";
    k.grid = {text.ctas, 1, 1};
    k.cta = {32 * text.warps, 1, 1};
    k.registers_per_thread = 32;
    k.schedule.tiles = {text.ctas, 1, 1, 1};
    mk::Builder build(k);
    mk::Buffer out;
    out.name = "out";
    out.extent[0] = text.ctas * text.warps * 32;
    const mk::Id buffer = text.stores ? build.buffer(out) : mk::no_id;
    build.role("warps", static_cast<int>(text.warps));
    build.loop(text.passes);
    if (text.fma == 0) {
        build.op(op_of(Class::move));
    } else {
        add_pass(build, text);
    }
    build.end();
    if (text.stores) {
        mk::Op store = op_of(Class::st_global);
        store.returns = false;
        mk::Access access;
        access.buffer = buffer;
        access.direction = mk::Direction::write;
        access.origin[0] =
            build.index(0, {mk::Term{.coefficient = 32 * text.warps}, mk::term(mk::Variable::warp, 32)});
        build.op(store, {access});
    }
    build.finish();
}

/// The time of further passes. `units` counts the units of one pass.
Probe further_passes(Text text, double units) {
    constexpr std::int64_t passes = 4;
    Probe probe;
    text.passes = passes;
    add_text(probe.without, text);
    text.passes = 2 * passes;
    add_text(probe.program, text);
    probe.units = units * static_cast<double>(passes);
    return probe;
}

Text line_of(const Parameters& parameters, const hw::Gpu& gpu) {
    constexpr std::int64_t instruction_bytes = 16;
    constexpr std::int64_t block = 128;
    const std::int64_t warps = integer(parameters, "warps_per_subpartition");
    Text text;
    text.checks = integer(parameters, "code_bytes") / ((block + 2) * instruction_bytes);
    text.fma = text.checks * block;
    text.warps = warps * static_cast<std::int64_t>(gpu.sm.sub_partitions.value());
    return text;
}

/// Instructions of a sub-partition in one pass.
double instructions_of(const Text& text, const hw::Gpu& gpu) {
    return static_cast<double>((text.fma + 2 * text.checks) * text.warps) / gpu.sm.sub_partitions.value();
}

Probe straight_line(const Parameters& parameters, const hw::Gpu& gpu) {
    const Text text = line_of(parameters, gpu);
    return further_passes(text, instructions_of(text, gpu));
}

/// The only pass of a launch, less a launch whose pass is empty.
Probe straight_line_first(const Parameters& parameters, const hw::Gpu& gpu) {
    Text text = line_of(parameters, gpu);
    Probe probe;
    probe.units = instructions_of(text, gpu);
    add_text(probe.program, text);
    text.fma = text.checks = 0;
    add_text(probe.without, text);
    return probe;
}

Probe code_loop(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Text text;
    text.fma = integer(parameters, "instructions");
    text.warps = integer(parameters, "warps");
    return further_passes(text, static_cast<double>(text.fma));
}

Probe cold_code(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Text text;
    text.fma = integer(parameters, "instructions");
    text.passes = integer(parameters, "passes");
    text.ctas = integer(parameters, "ctas");
    text.warps = integer(parameters, "threads") / 32;
    text.stores = true;
    Probe probe;
    add_text(probe.program, text);
    return probe;
}

constexpr std::array families{
    Family{"microbench_straight_line", "straight_line", straight_line},
    Family{"microbench_straight_line", "straight_line_first", straight_line_first},
    Family{"microbench_cold_code", "code_loop", code_loop},
    Family{"microbench_cold_code", "cold_code", cold_code},
};

}  // namespace

std::span<const Family> code_families() {
    return families;
}

}  // namespace warptime::validate::microbench
