// Shared memory: bytes through its banks, in passes of the full width.
// Ignores: bank conflicts where an access gives no lane addresses; such layouts count as conflict-free.
// Source: a wgmma reads A and B from shared memory, (M + N) K elements (Luo et al. 2025, arXiv:2501.12084).
// Asynchronous copies write every byte that they fetch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/matrix_work.hpp"
#include "model/machine/shared/bank_conflicts.hpp"

namespace warptime::model::machine {

[[nodiscard]] inline BankGeometry banks_of(const hw::Gpu& gpu) {
    return {static_cast<std::int64_t>(gpu.shared.banks.value()),
            static_cast<std::int64_t>(gpu.shared.bank_width.value())};
}

/// Bytes of a warp's widest instruction, 16 a lane. Charged where an access gives no lane addresses.
inline constexpr double widest_shared_bytes = 512.0;

[[nodiscard]] inline hw::Cycles shared_cycles(double bytes, const hw::Gpu& gpu) {
    return hw::Bytes(bytes) / gpu.shared.bandwidth;
}

using kernel::wgmma_operand_bytes;

}  // namespace warptime::model::machine
