// How long a warp that issues asynchronous products waits for room among those that are under way.
// Ignores: products of other CTAs. Source: loops of Triton kernels over a warm L2 (triton_loop, triton_tma;
// key tensor.queue): with two and three stages, 8 products an iteration of one warpgroup or 2 x 4 of two do
// not delay the copies that are issued behind them, 16 delay them by a third to half of the time that they
// take, 32 by two thirds to three quarters. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"
#include "model/analytical/bounds/shared.hpp"
#include "model/analytical/bounds/tensor_core.hpp"
#include "model/kernel/matrix_work.hpp"

namespace warptime::model::analytical {

/// Whether each product waits for the one before, so that none is queued.
[[nodiscard]] inline bool in_series(const kernel::Op& op) {
    return op.count > 1 && op.chain >= op.count;
}

/// Of one execution of the op by `warps` warps.
template <class S>
[[nodiscard]] hw::Cycles<S> wait_for_products(const kernel::Op& op, int warps, const hw::Gpu<S>& gpu) {
    if (in_series(op)) return {};
    const double products = static_cast<double>(op.count) * warps / 4.0;
    const double queued = hw::value_of(gpu.tensor.queue);
    if (products <= queued) return {};
    const auto count = static_cast<double>(op.count);
    const hw::Cycles<S> operands = shared_cycles(S(products * kernel::wgmma_operand_bytes(op)), gpu);
    const hw::Cycles<S> all = hw::max(tensor_core_cycles(op, count, warps, gpu), operands);
    return all * S(1.0 - queued / products);
}

/// What a warp issues behind them waits; `queued` sums that up.
template <class S>
void queue_products(const kernel::Op& op, int warps, const hw::Gpu<S>& gpu, hw::Cycles<S>& issued,
                    hw::Cycles<S>& queued) {
    const hw::Cycles<S> wait = wait_for_products(op, warps, gpu);
    issued += wait;
    queued += wait;
}

}  // namespace warptime::model::analytical
