// Memory that the 32 lanes of one instruction touch: sectors, lines and passes over the banks of the L1.
// Index terms that move the whole warp put its first lane at any multiple of their common divisor in a line,
// each as often: rows whose pitch is no multiple of a line begin anywhere.
// Ignores: which of these places a short loop leaves out.
// Source: model/kernel/README.md, Access; coalescing.hpp and bank_conflicts.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/l1/tag_banks.hpp"
#include "model/machine/shared/shared.hpp"

namespace warptime::model::machine {

/// Units, in bytes, into which a GPU cuts memory; `granule` is the least piece that DRAM delivers.
struct MemoryPieces {
    double sector = 0.0, granule = 0.0, line = 0.0;
    BankGeometry banks;
    TagBanks tags{};
};
[[nodiscard]] inline MemoryPieces pieces_of(const hw::Gpu& gpu) {
    return {gpu.l1.sector.value(),
            gpu.dram.access_bytes.value(),
            gpu.l1.line.value(),
            banks_of(gpu),
            {static_cast<std::uint32_t>(gpu.l1.tag_bank_low.value()),
             static_cast<std::uint32_t>(gpu.l1.tag_bank_high.value())}};
}

/// Touch of one instruction by a warp with some lanes active.
struct LaneTouch {
    double sectors = 0.0, granules = 0.0, lines = 0.0;
    double passes = 0.0;  ///< passes over the banks, as shared memory or as data of the L1
    double parted = 0.0;  ///< sectors of which the lanes touch a part alone
};
/// Touch of an access with a lane pattern, not a collective one. `active`: share of active lanes, at most 1.
[[nodiscard]] LaneTouch touch_of(const kernel::Kernel& kernel, const kernel::Access& access, double active,
                                 const MemoryPieces& pieces);

}  // namespace warptime::model::machine
