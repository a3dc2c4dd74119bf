// What one matrix instruction multiplies, what it reads from shared memory, and how long it holds a tensor
// core. Ignores: the number type where shape and bytes are the same, and power. Source: PTX ISA 8.7,
// wgmma.mma_async (B, and A unless it is in registers) and mma; recorded rows of microbench_mma_shapes and
// microbench_wgmma_shapes: every type, width and depth follows the dense rate but for what is said at each
// function. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "hw/tensor_rate.hpp"
#include "model/kernel/description.hpp"

namespace warptime::model::kernel {

/// FLOP of one instruction as one warp (mma.sync) or one warpgroup (wgmma) issues it; with sparse operands
/// the zeros count, as vendors count them.
[[nodiscard]] inline double matrix_flop(const Op& op) {
    return 2.0 * op.shape[0] * op.shape[1] * op.shape[2];
}

/// Operand bytes that one warpgroup's wgmma reads; A comes from registers when `shared_operand` is false.
[[nodiscard]] inline double wgmma_operand_bytes(const Op& op) {
    const double stored = op.sparse ? 0.5 : 1.0;
    const double rows = op.shape[1] + (op.shared_operand ? stored * op.shape[0] : 0.0);
    return rows * op.shape[2] * hw::bytes_of(op.dtype);
}

/// Cycles that one instruction holds the tensor core of a sub-partition (of a wgmma: of all four): its time
/// at the dense rate, of an mma.sync tensor.mma_sync_overhead beyond that, twice where it also reads which
/// elements are there; and at least the interval of its class. Ignores that fp64 m8n8k4 takes half as long
/// again on Hopper.
template <class S>
[[nodiscard]] hw::Cycles<S> matrix_interval(const Op& op, const hw::Gpu<S>& gpu) {
    const S rate = hw::tensor_rate(op.dtype, gpu).value() / gpu.sm.sub_partitions.value();
    const double work = matrix_flop(op) * (op.sparse ? 0.5 : 1.0);
    const hw::Cycles<S> least = gpu.instructions[op.cls].interval;
    if (op.cls == hw::InstructionClass::wgmma) {
        return hw::max(hw::Cycles<S>(S(work / 4.0) / rate), least);
    }
    return hw::max(hw::Cycles<S>(S(work) / (rate * gpu.tensor.mma_sync_fraction.value())) +
                       gpu.tensor.mma_sync_overhead * S(op.sparse ? 2.0 : 1.0),
                   least);
}

/// Cycles from the issue of an mma.sync until its result is there: that of its class is an m16n8 product of
/// 32 bytes a row (k = 16 in 16-bit types); shallower ones take it in proportion to the cycles they hold the
/// tensor core for, without the reading of what is there.
template <class S>
[[nodiscard]] hw::Cycles<S> mma_sync_latency(const Op& op, const hw::Gpu<S>& gpu) {
    Op dense = op;
    dense.sparse = false;
    dense.shape[2] /= op.sparse ? 2 : 1;
    Op full = dense;
    full.dtype = hw::Dtype::bf16;
    full.shape = {16, 8, 16};
    const S share = matrix_interval(dense, gpu).value() / matrix_interval(full, gpu).value();
    return gpu.instructions[op.cls].latency * hw::min(share, S(1.0));
}

}  // namespace warptime::model::kernel
