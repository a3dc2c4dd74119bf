// Bulk copy engine: cycles to walk a box row by row, with a request for each line that a row touches.
// Short rows therefore cost as much as a line, and rows that begin inside a line almost two.
// Source: recorded bulk-tensor copies of boxes with different rows (key tma.row_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::machine {

[[nodiscard]] inline hw::Cycles tma_cycles(double lines, const hw::Gpu& gpu) {
    return gpu.tma.row_interval * lines;
}

}  // namespace warptime::model::machine
