// DRAM: bytes read and written back over the rate that each direction reaches.
// Ignores: channel imbalance, refresh and page misses one by one (they are inside the fitted fractions).
// Source: recorded streams and matrix reads (fitted keys dram.*_efficiency): the times of a mix add, since
// the bus carries one direction at a time. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::analytical {

/// `streamed`: bytes read in order; `in_rows`: bytes read in short rows far apart, which open more DRAM
/// pages.
template <class S>
[[nodiscard]] hw::Seconds<S> dram_seconds(const hw::Bytes<S>& streamed, const hw::Bytes<S>& in_rows,
                                          const hw::Bytes<S>& written, const hw::Gpu<S>& gpu) {
    return streamed / (gpu.dram.bandwidth * gpu.dram.read_efficiency) +
           in_rows / (gpu.dram.bandwidth * gpu.dram.row_efficiency) +
           written / (gpu.dram.bandwidth * gpu.dram.write_efficiency);
}

}  // namespace warptime::model::analytical
