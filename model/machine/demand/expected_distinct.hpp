// Distinct cells of memory that random addresses hit.
// Ignores: addresses that depend on each other.
// Source: independent uniform draws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace warptime::model::machine {

/// Expected number of distinct cells that `draws` independent uniform draws hit among `cells`: cells (1 - (1
/// - 1/cells)^draws). It serves sectors of a random gather, rows of an embedding and bins of a histogram.
[[nodiscard]] double expected_distinct(double draws, double cells) noexcept;

}  // namespace warptime::model::machine
