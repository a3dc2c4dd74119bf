// Lets the lanes of a warp touch neighbouring bytes: lanes and what walks along a row change places.
// A lane that walks along its own row of `s` bytes gives up its row: the warp takes the same block of rows,
// element after element, so that each byte is touched as often as before and by the same warp. Ignores:
// gathers at places that other loads gave, which no order of lanes makes neighbours of, and what sorting
// costs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

namespace warptime::advice {

/// Number of accesses to global memory that were changed.
[[nodiscard]] int coalesce(model::kernel::Kernel& kernel);

/// Accesses at listed places that the lanes computed, or that ascend from lane to lane, take the places in
/// order: by sorting, or by rows padded and laid side by side. Number of accesses that were changed.
[[nodiscard]] int sort_places(model::kernel::Kernel& kernel);

/// A warp for each row where a thread walked along one: 32 times as many CTAs, and a 32nd of the trips. What
/// a thread keeps of its row is added up by shuffles. False where loops do not walk along rows.
[[nodiscard]] bool give_rows_to_warps(model::kernel::Kernel& kernel);

}  // namespace warptime::advice
