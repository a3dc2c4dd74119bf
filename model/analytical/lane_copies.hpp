// What copies of whole rows by single lanes (cp.async) take of the L1 and of its array, which is also the
// shared memory. Ignores: lines that two CTAs of an SM ask for. Source: bounds/l1.hpp; ldmatrix reads through
// the same unit that writes what is copied, wgmma does not, so that its reads and the copies' writes do not
// add (loops of 128x128x64 in triton_loop take what the tensor cores take). SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include "model/analytical/bounds/l1.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/memory/row_sectors.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

/// Whether the next trip of the loop copies what follows in the same rows: operands that lie along K.
[[nodiscard]] inline bool goes_along_rows(const kernel::Kernel& kernel, const kernel::Access& access) {
    const kernel::Index& along = access.origin[0];
    for (std::size_t t = along.first; t < along.first + std::size_t{along.count}; ++t) {
        if (kernel.terms[t].variable == kernel::Variable::loop) return true;
    }
    return false;
}

/// Counts the copies that a warp issues with an op of the main loop.
template <class S>
void count_copies(const kernel::Kernel& kernel, const kernel::Op& op, ItemDemand<S>& item) {
    const auto copies = static_cast<double>(op.count);
    item.copies += copies;
    if (op.access_count > 0 && goes_along_rows(kernel, kernel.accesses[op.first_access]))
        item.copies_along_k += copies;
}

/// Adds `rows` rows of `row_bytes` to the demand of a part, as executed once; `trips`: of that part.
/// `tensor_cores_read`: operands go from shared memory to the tensor cores without the load and store unit.
template <class S>
void add_lane_copies(const kernel::Kernel& kernel, const kernel::Access& access, double rows,
                     double row_bytes, std::int64_t pitch_bytes, double trips, bool tensor_cores_read,
                     const hw::Gpu<S>& gpu, Part<S>& part, BufferTraffic& traffic) {
    const double line = hw::value_of(gpu.l1.line);
    const double whole_lines = std::max(1.0, row_bytes / line);
    // Eight lanes are served at a time, in two pieces where their line's worth begins inside of a line.
    const double split = memory::lines_per_row(std::min(row_bytes, line), pitch_bytes, line);
    traffic.copied_lines += trips * rows * whole_lines;
    traffic.line_bytes = std::min(line, row_bytes);
    // A sector of a line whose others come in the next trips takes what the line does: 1.5 cycles for 32
    // bytes along K in all saturated loops of triton_fp8, where those of lines of their own take 0.7 to 1.1;
    // but not where the line has been put into the L1 (8 bytes a lane: the same tiles with eight warps).
    const bool past_the_l1 = access.cache == kernel::CachePolicy::cg;
    const double sectors =
        past_the_l1 && goes_along_rows(kernel, access) ? 2.0 * hw::value_of(gpu.l1.sector) : 0.0;
    const hw::Cycles<S> lines = l1_line_cycles(rows * split, std::max(row_bytes, sectors), gpu);
    part.copied += lines;
    part.demand[Server::l1] += lines;
    hw::Cycles<S> array = short_row_cycles(rows, row_bytes, whole_lines * split, gpu);
    if (!past_the_l1) {
        const hw::Cycles<S> into_l1 = narrow_line_cycles<S>(rows, row_bytes, gpu);
        part.demand[Server::l1] += into_l1;
        array += into_l1;
        // Unlike what passes the L1 by, lines that are put into it take its array, from which the tensor
        // cores read, a pass each and their sectors (64x16x64 with eight warps: 316 cycles a trip, of which
        // wgmma reads for 201).
        if (tensor_cores_read)
            part.demand[Server::shared] += into_l1 + hw::Cycles<S>(S(rows * whole_lines * split));
    }
    if (!tensor_cores_read) part.demand[Server::shared] += array;
}

}  // namespace warptime::model::analytical
