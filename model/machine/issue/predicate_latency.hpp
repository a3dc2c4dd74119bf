// When a predicate is there. The unit that compares also selects: a selection or another comparison takes a
// predicate as an operand, as soon as any result of that unit. A guard is read where instructions are issued,
// which takes longer.
// Ignores: predicates that memory instructions or votes make.
// Source: stalls that the compiler writes into machine code for sm_90 (docs/mechanisms/issue-and-pipes.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/kernel/predicate_operands.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Cycles by which an operand predicate is there before a guard.
[[nodiscard]] inline hw::Cycles lead_of_operands(const hw::Gpu& gpu) {
    return std::max(hw::Cycles{}, gpu.instructions[hw::InstructionClass::set_predicate].latency -
                                      gpu.instructions[hw::InstructionClass::compare_select].latency);
}

/// The same for a reader of class `reader`, if it takes the result of `from` as an operand.
[[nodiscard]] inline hw::Cycles sooner_for(const kernel::Op& from, hw::InstructionClass reader,
                                           const hw::Gpu& gpu) {
    return kernel::reads_as_operand(from.cls, reader) ? lead_of_operands(gpu) * from.enabled : hw::Cycles{};
}

}  // namespace warptime::model::machine
