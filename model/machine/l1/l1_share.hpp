// Share of an access's repeated reads that the L1 serves.
// Ignores: sets and their replacement, except by l1_residence.hpp.
// Source: model/kernel/README.md, Access; l1_residence.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/kernel/index_span.hpp"

#include <array>

namespace warptime::model::machine {

/// True if the access returns to bytes that it has read: a chase or gather within a window, or an origin that
/// goes round. Warps that stand in columns of a tile do
/// not. An origin that stands still may only be described loosely.
[[nodiscard]] bool comes_back(const kernel::Kernel& kernel, const kernel::Access& access);

/// Upper bound of the distinct bytes that such an access reads within one item.
[[nodiscard]] double span_bytes(const kernel::Kernel& kernel, const kernel::Op& op,
                                const kernel::Access& access, const kernel::Freedom& free, double line_bytes);

/// Reader of the L1, and its part of the L1.
struct L1Reader {
    const kernel::Freedom& free;  ///< of the loops around
    double warps = 1.0;           ///< of the role
    double lanes = 1.0;           ///< share of its lanes that the branches around leave active
    double room = 0.0;            ///< bytes
    double line_bytes = 0.0;
    double ways = 1.0;  ///< of the L1
};

/// Share of a reuse whose distance fits into the room, between two distances by the logarithm.
[[nodiscard]] double kept_by(const std::array<double, kernel::Reuse::distances>& shares, double room);

/// The same where victims are replaced at random (kept_at_random): a line at distance d stays where the room
/// holds so much, and with the chance exp(-d (1 - h) / room) beyond, where h is the share that stays.
/// Distances lie in the middle of their range.
[[nodiscard]] double kept_by_random(const std::array<double, kernel::Reuse::distances>& shares, double room);

/// True if an op is a plain load through the L1 that returns to bytes that it has read.
[[nodiscard]] bool may_hit_l1(const kernel::Kernel& kernel, const kernel::Op& op);

/// Share of such an op's reads that hit: bytes read again before the item's set has outgrown the L1. `lines`:
/// lines of a warp's load; the result is the share of warps whose lines all hit.
[[nodiscard]] double l1_hit_share(const kernel::Kernel& kernel, const kernel::Op& op, const L1Reader& reader,
                                  double lines);

}  // namespace warptime::model::machine
