// Shared memory: bytes through its banks, in passes of the full width.
// Ignores: bank conflicts where an access gives no lane addresses (layouts of the vendor are conflict-free).
// Source: a wgmma reads A and B from shared memory, (M + N) K elements (Luo et al. 2025, arXiv:2501.12084:
// the small-N issue intervals follow from it); asynchronous copies write every byte that they fetch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/matrix_work.hpp"

namespace warptime::model::analytical {

template <class S>
[[nodiscard]] hw::Cycles<S> shared_cycles(const S& bytes, const hw::Gpu<S>& gpu) {
    return hw::Bytes<S>(bytes) / gpu.shared.bandwidth;
}

using kernel::wgmma_operand_bytes;

}  // namespace warptime::model::analytical
