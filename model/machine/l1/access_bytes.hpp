// Bytes that one access moves, averaged over the work items, and its rows in sectors and lines.
// Ignores: inactive lanes.
// Source: model/kernel/README.md, Access.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/access_origin.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/l1/row_sectors.hpp"

#include <cstdint>

namespace warptime::model::machine {

/// Bytes of one access by one execution of its op, averaged over the items: `full` with padding, `inside`
/// without.
struct AccessBytes {
    double full = 0.0;
    double inside = 0.0;
    double rows = 1.0;  ///< contiguous rows of a collective box
    double row_bytes = 0.0;
    std::int64_t pitch_bytes = 0;
    bool continued = false;  ///< rows continue in the next trip of a loop

    /// Equivalent rows on sector boundaries for lanes' copies of 16 bytes past the L1.
    [[nodiscard]] AccessBytes on_sectors(double sector) const;
};
[[nodiscard]] AccessBytes access_bytes(const kernel::Kernel& kernel, const kernel::Access& access);
/// Bytes where `origin`, that of the access, is known.
[[nodiscard]] AccessBytes access_bytes(const kernel::Kernel& kernel, const kernel::Access& access,
                                       const kernel::AccessOrigin& origin);

/// Bytes sent for each byte of rows that `op` stores; bulk stores leave shared memory line by line.
[[nodiscard]] inline double sent_per_byte(const kernel::Op& op, const AccessBytes& bytes,
                                          const hw::Gpu& gpu) {
    if (!(bytes.rows > 0.0)) return 1.0;
    const bool in_bulk = op.cls == hw::InstructionClass::cp_async_bulk_store;
    return stored_per_byte(bytes.row_bytes, bytes.pitch_bytes, gpu.l1.sector.value(),
                           in_bulk ? gpu.l1.line.value() : 0.0);
}

}  // namespace warptime::model::machine
