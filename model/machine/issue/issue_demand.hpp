// Demand of an op's instructions on issue slots and register ports of their sub-partitions.
// Ignores: units, which arithmetic.hpp counts.
// Source: operand_turns.hpp for the ports; microbench_instruction_mix for mma.sync. On Hopper an mma.sync
// blocks issue while it holds the tensor core, and reads its operands in that time. Before Hopper other
// instructions issue beside it (key tensor.mma_sync_issue).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/demand/server.hpp"
#include "model/machine/issue/issue.hpp"
#include "model/machine/issue/operand_turns.hpp"
#include "model/machine/tensor/tensor_core.hpp"

namespace warptime::model::machine {

/// Adds `executions` of an op by each of `warps` warps.
inline void add_issue(const kernel::Op& op, double executions, int warps, const hw::Gpu& gpu,
                      Demand& demand) {
    if (op.cls == hw::InstructionClass::mma_sync) {
        demand[Server::issue] +=
            tensor_core_cycles(op, executions, warps, gpu) * gpu.tensor.mma_sync_issue.value();
        demand[Server::sfu] +=
            kept_from_special_functions(gpu) * (executions * warps / gpu.sm.sub_partitions.value());
        return;
    }
    const double instructions = executions * warps * gpu.instructions[op.cls].machine.value();
    demand[Server::issue] += issue_cycles(instructions, gpu);
    demand[Server::registers] += issue_cycles(instructions * port_turns(op.cls, gpu), gpu);
}

}  // namespace warptime::model::machine
