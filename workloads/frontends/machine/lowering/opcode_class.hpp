// The instruction class of a machine instruction, as both engines know it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "hw/instruction_class.hpp"
#include "workloads/frontends/machine/assembly/assembly.hpp"

#include <array>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

struct OpcodeClass {
    hw::InstructionClass cls = hw::InstructionClass::move;
    hw::Dtype dtype = hw::Dtype::fp32;
    std::array<std::int32_t, 3> shape{};  ///< of matrix instructions
    bool known = true;                    ///< false: an opcode that no class was given to
};

[[nodiscard]] OpcodeClass class_of(const AssemblyLine& line);

}  // namespace warptime::workloads::frontends::machine
