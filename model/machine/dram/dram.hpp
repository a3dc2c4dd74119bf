// DRAM time: bytes read and written back over each direction's rate, plus turns of the bus between
// directions. Times of a mix add, since the bus carries one direction at a time.
// Ignores: channel imbalance, single refreshes and page misses (the fitted fractions include them), and bytes
// between two turns.
// Source: recorded streams and matrix reads (keys dram.*_efficiency); microbench_read_write_mix (key
// dram.turnaround).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::machine {

/// Rate of the pins that is left for data. Error correction in the same memory takes the rest (key
/// dram.ecc_share).
[[nodiscard]] inline hw::BytesPerSecond data_rate(const hw::Gpu& gpu) {
    return gpu.dram.bandwidth * gpu.dram.ecc_share;
}

/// Seconds for `written` bytes alone, without turns of the bus.
[[nodiscard]] inline hw::Seconds written_seconds(const hw::Bytes& written, const hw::Gpu& gpu) {
    return written / (data_rate(gpu) * gpu.dram.write_efficiency);
}

/// Seconds for all bytes. `streamed`: read in order. `in_rows`: read in short rows far apart, which open more
/// DRAM pages.
[[nodiscard]] inline hw::Seconds dram_seconds(const hw::Bytes& streamed, const hw::Bytes& in_rows,
                                              const hw::Bytes& written, const hw::Gpu& gpu) {
    const hw::Seconds moved = streamed / (data_rate(gpu) * gpu.dram.read_efficiency) +
                              in_rows / (data_rate(gpu) * gpu.dram.row_efficiency) +
                              written_seconds(written, gpu);
    if (!(0.0 < (streamed + in_rows).value())) return moved;
    return moved + written / data_rate(gpu) * gpu.dram.turnaround;
}

}  // namespace warptime::model::machine
