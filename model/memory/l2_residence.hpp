// What the L2 still holds of a set that was read through once before it is visited again in another order.
// Ignores: which partition holds it, and what the visits themselves replace. Source: a cache whose victims do
// not follow the order of use keeps a fixed number of lines of a set that outgrows it; recorded chases
// through 8 kB to 1 GB (key l2.retained). SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace warptime::model::memory {

/// Share of visits to a set of `footprint` bytes that miss: none up to the share `retained` of `capacity`,
/// then all that does not fit into it.
[[nodiscard]] inline double missed_after_sweep(double footprint, double capacity, double retained) {
    const double kept = capacity * retained;
    return footprint > kept ? 1.0 - kept / footprint : 0.0;
}

}  // namespace warptime::model::memory
