// What stores and atomics to one buffer leave dirty in the L2: sectors, the lines that hold them, and the
// pieces by which DRAM's bus moves them. Lines leave whole.
// Ignores: which lines leave first.
// Source: docs/mechanisms/dram.md; lines_dirtied.hpp, filled_sectors.hpp and lone_pieces.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/dram/filled_sectors.hpp"
#include "model/machine/dram/lines_dirtied.hpp"
#include "model/machine/dram/lone_pieces.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// What stores and atomics leave dirty in the L2, in bytes.
struct Dirtied {
    double sectors = 0.0;  ///< of the dirty sectors that can leave
    double lines = 0.0;    ///< of the lines that hold them
    double pieces = 0.0;   ///< of the sectors, as DRAM's bus moves them
    double apart = 0.0;    ///< part of the pieces that lies alone at places without an order

    void add(const Dirtied& other) {
        sectors += other.sectors;
        lines += other.lines;
        pieces += other.pieces;
        apart += other.apart;
    }
};

/// What all items leave dirty of a buffer of which `whole` bytes are in use. Lines leave whole, however few
/// of their sectors are dirty, and a piece of DRAM's for each. Sectors that have been filled are written at
/// once.
[[nodiscard]] inline Dirtied dirtied_by(const BufferTraffic& use, double items, double whole,
                                        const FilledSectors& parts, const hw::Gpu& gpu) {
    const double line = gpu.l1.line.value();
    const double piece = gpu.dram.access_bytes.value();
    const ScatteredTraffic& scattered = use.scattered;
    const double stays =
        use.again_lost * items +
        lines_dirtied(std::max(0.0, use.written_bytes - use.again_bytes) * items, whole, gpu);
    Dirtied result;
    result.sectors = std::max(stays, parts.touched) - parts.filled;
    result.lines = result.pieces = result.sectors;
    const double visited = std::max(scattered.written_lines, use.strided_written_lines);
    if (visited > use.written_bytes) {
        const double unfilled = result.sectors / std::max(1.0, result.sectors + parts.filled);
        const double lines = lines_dirtied(visited * items, whole, gpu, scattered.written_apart);
        result.lines = std::max(result.sectors, lines * unfilled);
        result.pieces = std::max(result.sectors, result.lines * piece / line);
    }
    if (scattered.written_lines > 0.0) {
        const double of_line = line * scattered.written_sectors / scattered.written_lines;
        result.apart = result.pieces * lone_share(of_line, piece, line);
    }
    const double again = use.again_apart * items;
    result.apart += again;
    result.pieces += again * std::max(0.0, 1.0 - gpu.l1.sector.value() / piece);
    return result;
}

}  // namespace warptime::model::machine
