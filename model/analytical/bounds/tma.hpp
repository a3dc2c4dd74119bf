// The bulk copy engine: it walks a box row by row and asks for each line that a row touches, so that short
// rows cost as much as a line, and rows that do not begin with one cost almost two. Source: recorded
// bulk-tensor copies of boxes with different rows (fitted key tma.row_interval). SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::analytical {

template <class S>
[[nodiscard]] hw::Cycles<S> tma_cycles(const S& lines, const hw::Gpu<S>& gpu) {
    return gpu.tma.row_interval * lines;
}

}  // namespace warptime::model::analytical
