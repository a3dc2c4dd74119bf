// What an access that comes back asks of the L1.
// Ignores: sets and their replacement; model/memory/l1_residence.hpp says what of it is still there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/kernel/index_span.hpp"

namespace warptime::model::analytical {

/// Whether the description says that an access comes back to what it has read: a chase or a gather within a
/// window, or an origin that goes round. An origin that stands still may only be written loosely.
[[nodiscard]] bool comes_back(const kernel::Kernel& kernel, const kernel::Access& access);

/// Distinct bytes that an access that comes back reads within one item, at most.
[[nodiscard]] double span_bytes(const kernel::Kernel& kernel, const kernel::Op& op,
                                const kernel::Access& access, const kernel::Freedom& free, double line_bytes);

/// Who reads, and what of the L1 is theirs.
struct L1Reader {
    const kernel::Freedom& free;  ///< of the loops around
    double warps = 1.0;           ///< of the role
    double lanes = 1.0;           ///< share of them that the branches around leave active
    double room = 0.0;            ///< bytes
    double line_bytes = 0.0;
    double ways = 1.0;  ///< of the L1
};

/// Whether an op is a plain load through the L1 that comes back to what it has read.
[[nodiscard]] bool may_hit_l1(const kernel::Kernel& kernel, const kernel::Op& op);

/// Share of such an op's reads that the L1 serves: what is read again before the item's set has outgrown it.
/// With `lines` the share of warps that find so many lines there, all of them.
[[nodiscard]] double l1_hit_share(const kernel::Kernel& kernel, const kernel::Op& op, const L1Reader& reader,
                                  double lines);

}  // namespace warptime::model::analytical
