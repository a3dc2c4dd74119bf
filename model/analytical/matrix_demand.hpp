// What a matrix instruction asks of one item's SM: the tensor cores, and shared memory for the operands that
// a wgmma reads there. Ignores: operands in registers, which cost nothing here; sparsity's indices. Source:
// PTX ISA, wgmma.mma_async (a warpgroup of four warps issues one); rates of the sheet.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analytical/bounds/shared.hpp"
#include "model/analytical/bounds/tensor_core.hpp"
#include "model/analytical/item_demand.hpp"

#include <cstddef>
#include <cstdint>

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

/// Sums of a trip's asynchronous products that each warpgroup adds to its own for `taken`, by an op of the
/// main loop: it waits for them, while another one's are under way.
template <class S>
void follow_products(const kernel::Kernel& kernel, const kernel::Op& op, const hw::Cycles<S>& taken,
                     const hw::Gpu<S>& gpu, ItemDemand<S>& item) {
    constexpr int warpgroup = 4;
    for (std::uint8_t d = 0; d < op.dep_count; ++d) {
        if (op.deps[d].distance != 0 || op.deps[d].op < 0) continue;
        const kernel::Op& products = kernel.ops[static_cast<std::size_t>(op.deps[d].op)];
        if (products.cls != hw::InstructionClass::wgmma) continue;
        const hw::Cycles<S> own =
            tensor_core_cycles(products, static_cast<double>(products.count), warpgroup, gpu);
        item.multiplied = own + gpu.instructions[products.cls].latency + taken;
    }
}

}  // namespace warptime::model::analytical
