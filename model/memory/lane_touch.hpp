// What the 32 lanes of one memory instruction touch: sectors, lines and passes over the banks of the L1.
// Ignores: the value of terms that move the whole warp, which are taken as multiples of a line. Source:
// KERNEL, Access; memory/coalescing and memory/bank_conflicts. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"
#include "model/memory/bank_conflicts.hpp"
#include "model/memory/tag_banks.hpp"

namespace warptime::model::memory {

/// What a GPU cuts memory into, in bytes; `granule`: the least piece that DRAM delivers.
struct MemoryPieces {
    double sector = 0.0, granule = 0.0, line = 0.0;
    BankGeometry banks;
    TagBanks tags{};
};
template <class S>
[[nodiscard]] MemoryPieces pieces_of(const hw::Gpu<S>& gpu) {
    return {hw::value_of(gpu.l1.sector),
            hw::value_of(gpu.dram.access_bytes),
            hw::value_of(gpu.l1.line),
            {static_cast<std::int64_t>(hw::value_of(gpu.shared.banks)),
             static_cast<std::int64_t>(hw::value_of(gpu.shared.bank_width))},
            {static_cast<std::uint32_t>(hw::value_of(gpu.l1.tag_bank_low)),
             static_cast<std::uint32_t>(hw::value_of(gpu.l1.tag_bank_high))}};
}

/// Of one instruction by a warp with `active` of its lanes.
struct LaneTouch {
    double sectors = 0.0, granules = 0.0, lines = 0.0;
    double passes = 0.0;  ///< over the banks, as shared memory or as data of the L1
};
/// Of an access of a lane pattern (not a collective one).
[[nodiscard]] LaneTouch touch_of(const kernel::Kernel& kernel, const kernel::Access& access, double active,
                                 const MemoryPieces& pieces);

}  // namespace warptime::model::memory
