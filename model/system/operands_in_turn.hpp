// Whether the operands that are said to take turns are operands of a program.
// Ignores: operands of copies and memory sets, which have no names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::system {

/// Throws Error for a name among the operands in turn that no kernel of the program has for a buffer of
/// global memory. Buffers that the program itself fills, or whose content before the launch its description
/// says, are none: launches between two runs do not touch them.
void require_operands_in_turn(const kernel::Program& program, const prediction::Conditions& conditions);

}  // namespace warptime::model::system
