// The bulk copy engine: it walks a box row by row, so short rows cost as much as long ones.
// Source: recorded bulk-tensor copies of boxes with different rows (fitted key tma.row_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::analytical {

template <class S>
[[nodiscard]] hw::Cycles<S> tma_cycles(const S& rows, const hw::Gpu<S>& gpu) {
    return gpu.tma.row_interval * rows;
}

}  // namespace warptime::model::analytical
