// Which instructions read a predicate as one of their operands. All others are guarded by it.
// Ignores: carries of additions, and guards of selections and comparisons, which are rare.
// Source: NVIDIA CUDA Binary Utilities 13, instruction set reference (SEL, FSEL, ISETP, FSETP).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/instruction_class.hpp"

namespace warptime::model::kernel {

/// Whether a reader of class `reader` takes the result of an instruction of class `from` as an operand
/// predicate.
[[nodiscard]] constexpr bool reads_as_operand(hw::InstructionClass from, hw::InstructionClass reader) {
    return from == hw::InstructionClass::set_predicate &&
           (reader == hw::InstructionClass::compare_select || reader == hw::InstructionClass::set_predicate ||
            reader == hw::InstructionClass::vote);
}

}  // namespace warptime::model::kernel
