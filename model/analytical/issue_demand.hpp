// What the instructions of an op take of their sub-partitions' issue slots, and of the ports of their
// register files. Ignores: units, which bounds/arithmetic.hpp counts. Source: an mma.sync of
// Hopper keeps its sub-partition from issuing for as long as it holds the tensor core, and reads its operands
// in that time (recorded rows of microbench_instruction_mix: times add up with those of fp32 and integer
// instructions, whose units are free); before Hopper others issue beside it (key tensor.mma_sync_issue);
// memory/operand_turns.hpp for the ports. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/bounds/issue.hpp"
#include "model/analytical/bounds/tensor_core.hpp"
#include "model/analytical/server.hpp"
#include "model/kernel/description.hpp"
#include "model/memory/operand_turns.hpp"

namespace warptime::model::analytical {

/// Of `executions` by each of so many `warps`.
template <class S>
void add_issue(const kernel::Op& op, double executions, int warps, const hw::Gpu<S>& gpu, Demand<S>& demand) {
    if (op.cls == hw::InstructionClass::mma_sync) {
        demand[Server::issue] +=
            tensor_core_cycles(op, executions, warps, gpu) * gpu.tensor.mma_sync_issue.value();
        demand[Server::sfu] += memory::kept_from_special_functions(gpu) *
                               (S(executions * warps) / gpu.sm.sub_partitions.value());
        return;
    }
    const S instructions = S(executions * warps) * gpu.instructions[op.cls].machine.value();
    demand[Server::issue] += issue_cycles(instructions, gpu);
    demand[Server::registers] += issue_cycles(instructions * memory::port_turns(op.cls, gpu), gpu);
}

}  // namespace warptime::model::analytical
