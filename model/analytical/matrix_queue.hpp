// How long a warp that issues asynchronous products waits for room among those that are under way.
// Ignores: products of other CTAs. Source: loops of Triton kernels over a warm L2 (triton_tma_loop): with two
// stages, 8 products an iteration of one warpgroup or 2 x 4 of two do not delay the copies that are issued
// behind them, 16 delay them by half of the time that they take, 32 by three quarters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"
#include "model/analytical/bounds/shared.hpp"
#include "model/analytical/bounds/tensor_core.hpp"
#include "model/kernel/matrix_work.hpp"

namespace warptime::model::analytical {

/// Products that an SM takes before it has done the first of them.
constexpr double products_queued = 8.0;

/// Of one execution of the op by `warps` warps.
template <class S>
[[nodiscard]] hw::Cycles<S> wait_for_products(const kernel::Op& op, int warps, const hw::Gpu<S>& gpu) {
    const double products = static_cast<double>(op.count) * warps / 4.0;
    if (products <= products_queued) return {};
    const auto count = static_cast<double>(op.count);
    const hw::Cycles<S> operands = shared_cycles(S(products * kernel::wgmma_operand_bytes(op)), gpu);
    const hw::Cycles<S> all = hw::max(tensor_core_cycles(op, count, warps, gpu), operands);
    return all * S(1.0 - products_queued / products);
}

}  // namespace warptime::model::analytical
