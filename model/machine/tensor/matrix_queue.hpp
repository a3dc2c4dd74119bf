// Wait of a warp that issues asynchronous products for room among the products under way.
// Ignores: products of other CTAs.
// Source: loops over a warm L2 (key tensor.queue; docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/matrix_work.hpp"
#include "model/machine/shared/shared.hpp"
#include "model/machine/tensor/tensor_core.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// True if each product waits for the previous one, so that none is queued.
[[nodiscard]] inline bool in_series(const kernel::Op& op) {
    return op.count > 1 && op.chain >= op.count;
}

/// Wait of one execution of the op by `warps` warps.
[[nodiscard]] inline hw::Cycles wait_for_products(const kernel::Op& op, int warps, const hw::Gpu& gpu) {
    if (in_series(op)) return {};
    const double products = static_cast<double>(op.count) * warps / 4.0;
    const double queued = gpu.tensor.queue.value();
    if (products <= queued) return {};
    const auto count = static_cast<double>(op.count);
    const hw::Cycles operands = shared_cycles(products * kernel::wgmma_operand_bytes(op), gpu);
    const hw::Cycles all = std::max(tensor_core_cycles(op, count, warps, gpu), operands);
    return all * (1.0 - queued / products);
}

/// Delays the warp's later instructions by that wait; `queued` sums the waits up.
inline void queue_products(const kernel::Op& op, int warps, const hw::Gpu& gpu, hw::Cycles& issued,
                           hw::Cycles& queued) {
    const hw::Cycles wait = wait_for_products(op, warps, gpu);
    issued += wait;
    queued += wait;
}

}  // namespace warptime::model::machine
