// Demand of a matrix instruction on an item's SM: tensor cores, and shared memory for a wgmma's operands.
// Ignores: operands in registers, which cost nothing here; metadata of sparse operands.
// Source: PTX ISA, wgmma.mma_async (a warpgroup of four warps issues one); rates of the sheet.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/demand/part.hpp"
#include "model/machine/demand/server.hpp"
#include "model/machine/shared/shared.hpp"
#include "model/machine/tensor/tensor_core.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace warptime::model::machine {

/// Adds `executions` of an op by each of `warps` to this part of the item.
inline void add_matrix(const kernel::Op& op, double executions, int warps, const hw::Gpu& gpu, Part& part) {
    part.demand[Server::tensor] += tensor_core_cycles(op, executions, warps, gpu);
    const bool by_warpgroups = hw::is_group_product(op.cls);
    const double issuers = by_warpgroups ? warps / 4.0 : warps;
    const double flop = executions * issuers * kernel::matrix_flop(op);
    part.flop += flop;
    part.tensor_flop += flop;
    if (by_warpgroups) {
        part.demand[Server::shared] +=
            shared_cycles(executions * issuers * kernel::wgmma_operand_bytes(op), gpu);
    }
}

/// Time until an op of the main loop has added a trip's asynchronous products to its warpgroup's sums. The
/// addition takes `taken`; another warpgroup's products run meanwhile. Nothing for an op that waits for no
/// products.
[[nodiscard]] inline std::optional<hw::Cycles> behind_products(const kernel::Kernel& kernel,
                                                               const kernel::Op& op, const hw::Cycles& taken,
                                                               const hw::Gpu& gpu) {
    std::optional<hw::Cycles> end;
    for (const kernel::Dep& dep : kernel.deps_of(op)) {
        if (dep.distance != 0 || dep.op < 0) continue;
        const kernel::Op& products = kernel.ops[static_cast<std::size_t>(dep.op)];
        if (!hw::is_group_product(products.cls)) continue;
        const hw::Cycles own =
            tensor_core_cycles(products, static_cast<double>(products.count), hw::warps_of_group, gpu);
        end = own + gpu.instructions[products.cls].latency + taken;
    }
    return end;
}

}  // namespace warptime::model::machine
