// Tensor cores: cycles for which matrix instructions hold them.
// Ignores: the start-up of a chain of dependent matrix instructions.
// Source: model/kernel/matrix_work.hpp (dense rates of the sheet). On Hopper mma.sync reaches only a share of
// these rates (Luo et al. 2025, arXiv:2501.12084, table of mma against wgmma).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/tensor_rate.hpp"
#include "model/kernel/matrix_work.hpp"

namespace warptime::model::machine {

using hw::tensor_rate;
using kernel::matrix_flop;

/// Latency of the products of a group of warps that the GPU has.
[[nodiscard]] inline hw::Cycles group_product_latency(const hw::Gpu& gpu) {
    const hw::InstructionCost& wgmma = gpu.instructions[hw::InstructionClass::wgmma];
    return wgmma.supported ? wgmma.latency : gpu.instructions[hw::InstructionClass::tcgen05_mma].latency;
}

/// Cycles of all four sub-partitions together for `executions` of the op by `warps` warps. A wgmma is the
/// work of four warps.
[[nodiscard]] inline hw::Cycles tensor_core_cycles(const kernel::Op& op, double executions, int warps,
                                                   const hw::Gpu& gpu) {
    const bool wgmma = hw::is_group_product(op.cls);
    const double issuers = wgmma ? warps / 4.0 : static_cast<double>(warps) / gpu.sm.sub_partitions.value();
    return kernel::matrix_interval(op, gpu) * (executions * issuers);
}

}  // namespace warptime::model::machine
