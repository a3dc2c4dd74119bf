// DRAM time: bytes read and written back over each direction's rate, plus turns of the bus between
// directions. Times of a mix add, since the bus carries one direction at a time.
// Ignores: channel imbalance, single refreshes and page misses (the fitted fractions include them), bytes
// between two turns, and check bits of pieces that lie alone.
// Source: recorded streams and matrix reads (keys dram.*_efficiency); microbench_read_write_mix (key
// dram.turnaround); docs/mechanisms/dram.md for check bits, a sector for fifteen of data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::machine {

/// Rate of the pins that is left for data. Error correction in the same memory takes the rest where it is on
/// (keys dram.ecc and dram.ecc_share).
[[nodiscard]] inline hw::BytesPerSecond data_rate(const hw::Gpu& gpu) {
    return gpu.dram.ecc.value() > 0.0 ? gpu.dram.bandwidth * gpu.dram.ecc_share : gpu.dram.bandwidth;
}

/// The same for bytes that are written. Check bits of several sectors share a sector, which a write first has
/// to read: what moves beside the data is then twice as much.
[[nodiscard]] inline hw::BytesPerSecond written_rate(const hw::Gpu& gpu) {
    if (!(gpu.dram.ecc.value() > 0.0)) return gpu.dram.bandwidth;
    const double share = gpu.dram.ecc_share.value();
    return gpu.dram.bandwidth * (share / (2.0 - share));
}

/// Bytes of check bits that come beside a byte of data that is read, where both lie in the same memory.
[[nodiscard]] inline double check_bits_beside(const hw::Gpu& gpu) {
    return gpu.dram.ecc.value() > 0.0 ? 1.0 / gpu.dram.ecc_share.value() - 1.0 : 0.0;
}

/// Seconds for `written` bytes alone, without turns of the bus.
[[nodiscard]] inline hw::Seconds written_seconds(const hw::Bytes& written, const hw::Gpu& gpu) {
    return written / (written_rate(gpu) * gpu.dram.write_efficiency);
}

/// Bytes that are read: in all, and of these in short rows far apart, which open more DRAM pages, and in
/// pieces that lie alone at places without an order.
struct ReadFromDram {
    hw::Bytes all{}, in_rows{}, scattered{};
};

/// Bytes that are written: in all, and of these in pieces that lie alone.
struct WrittenToDram {
    hw::Bytes all{}, scattered{};
};

/// Seconds for all bytes.
[[nodiscard]] inline hw::Seconds dram_seconds(const ReadFromDram& read, const WrittenToDram& written,
                                              const hw::Gpu& gpu) {
    const hw::Bytes streamed = read.all - read.in_rows - read.scattered;
    const hw::Seconds moved = streamed / (data_rate(gpu) * gpu.dram.read_efficiency) +
                              read.in_rows / (data_rate(gpu) * gpu.dram.row_efficiency) +
                              read.scattered / (data_rate(gpu) * gpu.dram.scattered_efficiency) +
                              written_seconds(written.all - written.scattered, gpu) +
                              written.scattered / (data_rate(gpu) * gpu.dram.scattered_efficiency);
    if (!(0.0 < read.all.value())) return moved;
    // A turn holds up as much as the pieces around it take (ladders/scattered_memory.csv).
    const hw::Bytes turned =
        written.all - written.scattered + written.scattered / gpu.dram.scattered_efficiency.value();
    return moved + turned / data_rate(gpu) * gpu.dram.turnaround;
}

}  // namespace warptime::model::machine
