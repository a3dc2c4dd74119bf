// Tensor cores: how long the matrix instructions hold them.
// Ignores: the start-up of a chain of dependent matrix instructions.
// Source: model/kernel/matrix_work.hpp (dense rates of the sheet; on Hopper mma.sync reaches only a share of
// them, Luo et al. 2025, arXiv:2501.12084, table of mma against wgmma). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/tensor_rate.hpp"
#include "model/kernel/matrix_work.hpp"

namespace warptime::model::analytical {

using hw::tensor_rate;
using kernel::matrix_flop;

/// Of all four sub-partitions together, by `executions` of the op by `warps` warps; a wgmma is the work of
/// four warps.
template <class S>
[[nodiscard]] hw::Cycles<S> tensor_core_cycles(const kernel::Op& op, double executions, int warps,
                                               const hw::Gpu<S>& gpu) {
    const bool wgmma = op.cls == hw::InstructionClass::wgmma;
    const S issuers = wgmma ? S(warps / 4.0) : S(static_cast<double>(warps)) / gpu.sm.sub_partitions.value();
    return kernel::matrix_interval(op, gpu) * (S(executions) * issuers);
}

}  // namespace warptime::model::analytical
