// How much sooner operand predicates are there than guards.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/issue/predicate_latency.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {

TEST_CASE("only selections, comparisons and votes have predicates of comparisons as operands") {
    using hw::InstructionClass;
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    kernel::Op from;
    from.cls = InstructionClass::set_predicate;
    // Stalls in machine code for sm_90: four cycles to a selection, thirteen to a guard.
    CHECK(lead_of_operands(gpu).value() == doctest::Approx(9.0));
    for (const InstructionClass reader :
         {InstructionClass::compare_select, InstructionClass::set_predicate, InstructionClass::vote}) {
        CHECK(sooner_for(from, reader, gpu) == lead_of_operands(gpu));
    }
    for (const InstructionClass reader :
         {InstructionClass::branch, InstructionClass::ld_global, InstructionClass::add_s32}) {
        CHECK(sooner_for(from, reader, gpu) == hw::Cycles{});
    }
    from.enabled = 0.25;
    CHECK(sooner_for(from, InstructionClass::compare_select, gpu) == lead_of_operands(gpu) * 0.25);
    from.cls = InstructionClass::compare_select;
    CHECK(sooner_for(from, InstructionClass::compare_select, gpu) == hw::Cycles{});
}

TEST_CASE("a predicate is never later for an operand than for a guard") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    gpu.instructions.costs[static_cast<std::size_t>(hw::InstructionClass::compare_select)].latency =
        hw::Cycles(40.0);
    CHECK(lead_of_operands(gpu) == hw::Cycles{});
}

}  // namespace warptime::model::machine
