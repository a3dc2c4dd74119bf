// Shared memory: bytes through its banks, in passes of the full width.
// Ignores: bank conflicts where an access gives no lane addresses (layouts of the vendor are conflict-free).
// Source: a wgmma reads A and B from shared memory, (M + N) K elements (Luo et al. 2025, arXiv:2501.12084:
// the small-N issue intervals follow from it); asynchronous copies write every byte that they fetch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

namespace warptime::model::analytical {

template <class S>
[[nodiscard]] hw::Cycles<S> shared_cycles(const S& bytes, const hw::Gpu<S>& gpu) {
    return hw::Bytes<S>(bytes) / gpu.shared.bandwidth;
}

/// Operand bytes that one warpgroup's wgmma reads; A comes from registers when `shared_operand` is false.
[[nodiscard]] inline double wgmma_operand_bytes(const kernel::Op& op) {
    const int rows = op.shape[1] + (op.shared_operand ? op.shape[0] : 0);
    return static_cast<double>(rows) * op.shape[2] * hw::bytes_of(op.dtype);
}

}  // namespace warptime::model::analytical
