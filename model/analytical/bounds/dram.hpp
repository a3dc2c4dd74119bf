// DRAM: bytes read and written back over the rate that each direction reaches, and the turns of the bus
// between them. Ignores: channel imbalance, refresh and page misses one by one (they are inside the fitted
// fractions), and how many bytes go between two turns. Source: recorded streams and matrix reads (fitted keys
// dram.*_efficiency): the times of a mix add, since the bus carries one direction at a time; of eight
// accesses one that loads is enough to make the others' stores dearer, by as much for each byte as in an even
// mix (microbench_read_write_mix; key dram.turnaround). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::analytical {

/// Of `written` bytes alone, without turns of the bus.
template <class S>
[[nodiscard]] hw::Seconds<S> written_seconds(const hw::Bytes<S>& written, const hw::Gpu<S>& gpu) {
    return written / (gpu.dram.bandwidth * gpu.dram.write_efficiency);
}

/// `streamed`: bytes read in order; `in_rows`: bytes read in short rows far apart, which open more DRAM
/// pages.
template <class S>
[[nodiscard]] hw::Seconds<S> dram_seconds(const hw::Bytes<S>& streamed, const hw::Bytes<S>& in_rows,
                                          const hw::Bytes<S>& written, const hw::Gpu<S>& gpu) {
    const hw::Seconds<S> moved = streamed / (gpu.dram.bandwidth * gpu.dram.read_efficiency) +
                                 in_rows / (gpu.dram.bandwidth * gpu.dram.row_efficiency) +
                                 written_seconds(written, gpu);
    if (!(S(0.0) < (streamed + in_rows).value())) return moved;
    return moved + written / gpu.dram.bandwidth * gpu.dram.turnaround;
}

}  // namespace warptime::model::analytical
