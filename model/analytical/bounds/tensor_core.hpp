// Tensor cores: FLOP of the matrix instructions over the dense rate of the SM.
// Ignores: sparsity, and the start-up of a chain of dependent matrix instructions.
// Source: NVIDIA H100 architecture whitepaper (dense rates); mma.sync reaches only a share of the dense rate
// on Hopper (fitted key tensor.mma_sync_fraction; Luo et al. 2025, arXiv:2501.12084, table of mma against
// wgmma). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/tensor_rate.hpp"
#include "model/kernel/matrix_work.hpp"

namespace warptime::model::analytical {

using hw::tensor_rate;
using kernel::matrix_flop;

/// `executions` of the op by `warps` warps; a wgmma is the work of four warps together.
template <class S>
[[nodiscard]] hw::Cycles<S> tensor_core_cycles(const kernel::Op& op, double executions, int warps,
                                               const hw::Gpu<S>& gpu) {
    const bool wgmma = op.cls == hw::InstructionClass::wgmma;
    const double issuers = wgmma ? warps / 4.0 : warps;
    const S flop(executions * issuers * matrix_flop(op));
    const S rate =
        tensor_rate(op.dtype, gpu).value() * (wgmma ? S(1.0) : gpu.tensor.mma_sync_fraction.value());
    return hw::Cycles<S>(flop / rate);
}

}  // namespace warptime::model::analytical
