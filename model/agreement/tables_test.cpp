// Closed forms of every arithmetic instruction, one case a row: chains wait for each latency, and units work
// at their rate. Both engines agree with them to rounding.
// SPDX-License-Identifier: Apache-2.0
#include "model/agreement/both_engines_test.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace warptime::model::agreement;
using warptime::hw::InstructionCost;

const std::vector<InstructionClass>& arithmetic() {
    static const std::vector<InstructionClass> all{
        InstructionClass::fma_f32,      InstructionClass::add_f32,        InstructionClass::mul_f32,
        InstructionClass::fma_f16x2,    InstructionClass::fma_f64,        InstructionClass::mad_s32,
        InstructionClass::mad_wide_s32, InstructionClass::add_s32,        InstructionClass::logic,
        InstructionClass::shift,        InstructionClass::compare_select, InstructionClass::set_predicate,
        InstructionClass::move,         InstructionClass::convert,        InstructionClass::mufu,
        InstructionClass::convert_pack, InstructionClass::shfl,           InstructionClass::vote,
        InstructionClass::redux,        InstructionClass::ld_constant};
    return all;
}

/// Cycles of its unit, or of the issue slot, for an op of one instruction of the description.
double held(const InstructionCost& cost) {
    const double interval = cost.unit == warptime::hw::Unit::none ? 0.0 : cost.interval.value();
    return std::max(1.0, interval) * cost.machine.value();
}

}  // namespace

TEST_CASE("an instruction that needs the one before: ready after its latency, and not a cycle earlier") {
    const auto gpu = teaching_gpu();
    for (const InstructionClass cls : arithmetic()) {
        const InstructionCost& cost = gpu.instructions[cls];
        CAPTURE(to_string(cls));
        const double last =
            std::max(1.0, cost.unit == warptime::hw::Unit::none ? 0.0 : cost.interval.value());
        // A comparison takes the result of another as an operand, which is there as soon as a selection's.
        // The result as such is there later, so that trips have to overlap.
        const InstructionClass from =
            cls == InstructionClass::set_predicate ? InstructionClass::compare_select : cls;
        const double period = held(cost) - last + gpu.instructions[from].latency.value();
        check_period(
            [&](std::int64_t trips) {
                mk::Kernel kernel = repeated(make_op(cls, 1, {{0, 1}}), trips, 1);
                kernel.loops.front().overlap = from != cls;
                return kernel;
            },
            400, period, gpu);
    }
}

TEST_CASE("instructions that need nothing: two warps a sub-partition keep their unit at work") {
    const auto gpu = teaching_gpu();
    for (const InstructionClass cls : arithmetic()) {
        // Its operands take turns at the register file, and a constant its own path.
        if (cls == InstructionClass::fma_f16x2 || cls == InstructionClass::ld_constant) continue;
        CAPTURE(to_string(cls));
        const double period = 2.0 * 64.0 * held(gpu.instructions[cls]);
        check_period([&](std::int64_t trips) { return repeated(make_op(cls, 64), trips, 8); }, 200, period,
                     gpu);
    }
}

TEST_CASE("warps that only meet: the barrier's latency and an arrival of each") {
    const auto gpu = teaching_gpu();
    const double arrival = gpu.instructions[InstructionClass::bar_sync].interval.value();
    for (const int warps : {1, 2, 3, 4}) {
        CAPTURE(warps);
        check_period(
            [&](std::int64_t trips) {
                mk::Kernel kernel = grid_of(1, warps);
                mk::Builder build(kernel);
                const mk::Id meet = build.token(
                    mk::examples::token("meet", mk::TokenKind::named_barrier, mk::Scope::cta, warps));
                build.role("warps", warps);
                build.loop(trips);
                add_op(build, make_op(InstructionClass::bar_sync));
                build.signal(meet);
                build.wait(meet);
                build.end();
                build.finish();
                return kernel;
            },
            400, gpu.latency.bar_sync.value() + arrival * warps, gpu);
    }
}
