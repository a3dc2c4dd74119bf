// What a matrix instruction asks of one item's SM: the tensor cores, and shared memory for the operands that
// a wgmma reads there. Ignores: operands in registers, which cost nothing here; sparsity's indices. Source:
// PTX ISA, wgmma.mma_async (a warpgroup of four warps issues one); rates of the sheet.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/bounds/shared.hpp"
#include "model/analytical/bounds/tensor_core.hpp"
#include "model/analytical/item_demand.hpp"

namespace warptime::model::analytical {

/// Adds `executions` of an op by each of `warps` to this part of the item.
template <class S>
void add_matrix(const kernel::Op& op, double executions, int warps, const hw::Gpu<S>& gpu, Part<S>& part,
                ItemDemand<S>& item) {
    item.uses_tensor = true;
    item.tensor_dtype = op.dtype;
    part.demand[Server::tensor] += tensor_core_cycles(op, executions, warps, gpu);
    const bool by_warpgroups = op.cls == hw::InstructionClass::wgmma;
    const double issuers = by_warpgroups ? warps / 4.0 : warps;
    const double flop = executions * issuers * kernel::matrix_flop(op);
    part.flop += flop;
    part.tensor_flop += flop;
    if (by_warpgroups) {
        part.demand[Server::shared] +=
            shared_cycles(S(executions * issuers * kernel::wgmma_operand_bytes(op)), gpu);
    }
}

}  // namespace warptime::model::analytical
