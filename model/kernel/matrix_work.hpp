// Work of one matrix instruction: its FLOP, its reads of shared memory, and its cycles in the tensor core.
// Ignores: the number type where shape and bytes are the same, and power.
// Source: PTX ISA 8.7, wgmma.mma_async (B, and A unless in registers) and mma; microbench_mma_shapes and
// microbench_wgmma_shapes. Every type, width and depth follows the dense rate, with the exceptions named at
// each function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/tensor_rate.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>

namespace warptime::model::kernel {

/// Whether a tcgen05 product is that of two CTAs (cta_group::2). Only such products have 256 rows; each CTA
/// then holds half of the sums, and half of either operand.
[[nodiscard]] inline bool of_pair(const Op& op) {
    constexpr int rows_of_cta = 128;
    return op.cls == hw::InstructionClass::tcgen05_mma && op.shape[0] > rows_of_cta;
}

/// FLOP of one instruction as one warp (mma.sync) or one warpgroup (wgmma, tcgen05) issues it; of a pair, one
/// CTA's half. Zeros of sparse operands count, as vendors count them. The depth is in elements of the type,
/// so a pair of 4-bit numbers is one.
[[nodiscard]] inline double matrix_flop(const Op& op) {
    return 2.0 * op.shape[0] * op.shape[1] * op.shape[2] * hw::numbers_in(op.dtype) /
           (of_pair(op) ? 2.0 : 1.0);
}

/// Operand bytes that one warpgroup's wgmma or tcgen05 reads from the shared memory of its own SM; A comes
/// from registers or tensor memory when `shared_operand` is false.
[[nodiscard]] inline double wgmma_operand_bytes(const Op& op) {
    const double stored = op.sparse ? 0.5 : 1.0;
    const double all = op.shape[1] + (op.shared_operand ? stored * op.shape[0] : 0.0);
    const double rows = of_pair(op) ? all / 2.0 : all;
    return rows * op.shape[2] * hw::bytes_of(op.dtype);
}

/// Cycles for which one instruction holds the tensor core of a sub-partition (for a wgmma or tcgen05: of all
/// four). At least the interval of its class, and its time at the dense rate. An mma.sync takes
/// tensor.mma_sync_overhead more, twice where it also reads sparse metadata. Ignores that fp64 m8n8k4 takes
/// half as long again on Hopper.
[[nodiscard]] inline hw::Cycles matrix_interval(const Op& op, const hw::Gpu& gpu) {
    const double rate = hw::tensor_rate(op.dtype, gpu).value() / gpu.sm.sub_partitions.value();
    const double work = matrix_flop(op) * (op.sparse ? 0.5 : 1.0);
    const hw::Cycles least = gpu.instructions[op.cls].interval;
    if (hw::is_group_product(op.cls)) {
        // A tcgen05 of 64 rows leaves half of the tensor core idle (PTX ISA 8.7, layouts of tensor memory).
        constexpr double full_rows = 128.0;
        const double idle = op.cls == hw::InstructionClass::tcgen05_mma
                                ? std::max(1.0, full_rows / static_cast<double>(op.shape[0]))
                                : 1.0;
        return std::max(hw::Cycles(work * idle / 4.0 / rate), least);
    }
    return std::max(hw::Cycles(work / (rate * gpu.tensor.mma_sync_fraction.value())) +
                        gpu.tensor.mma_sync_overhead * (op.sparse ? 2.0 : 1.0),
                    least);
}

/// Cycles from the issue of an mma.sync until its result is available. The class gives an m16n8 product of 32
/// bytes a row (k = 16 in 16-bit types). Shallower products take their share of tensor-core cycles, without
/// the metadata's part.
[[nodiscard]] inline hw::Cycles mma_sync_latency(const Op& op, const hw::Gpu& gpu) {
    Op dense = op;
    dense.sparse = false;
    dense.shape[2] /= op.sparse ? 2 : 1;
    Op full = dense;
    full.dtype = hw::Dtype::bf16;
    full.shape = {16, 8, 16};
    const double share = matrix_interval(dense, gpu).value() / matrix_interval(full, gpu).value();
    return gpu.instructions[op.cls].latency * std::min(share, 1.0);
}

}  // namespace warptime::model::kernel
