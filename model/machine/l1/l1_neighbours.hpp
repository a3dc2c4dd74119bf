// Share of an item's plain loads whose lines other items of the same SM have brought into its L1.
// Items share lines where their loads' places do not depend on the tile, depend on a coordinate that several
// of them have in common, or are scattered over the same bytes.
// Ignores: places of a first wave on its SMs, lines that overlapping boxes share, stores, and requests of
// items in step, which count as found.
// Source: expected numbers of distinct cells (demand/expected_distinct.hpp); stack distances of a least
// recently used cache (Mattson et al., IBM Systems Journal 9(2), 1970) with the characteristic time of Che et
// al. (IEEE JSAC 20(7), 2002): a line stays for as many items as bring a cache full of distinct lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/small_vector.hpp"
#include "model/kernel/description.hpp"

#include <cstddef>

namespace warptime::model::machine {

/// Distinct slices among `window` items of one SM. `sms` SMs deal out `sms` x `window` items at random, which
/// read `cells` slices, as many items each.
[[nodiscard]] double distinct_slices(double window, double cells, double sms);

/// Share of the slices of `items` items of an SM that none of the `window` items before has read.
[[nodiscard]] double new_slices(double items, double window, double cells, double sms);

/// Share of the visits to scattered sectors that miss. An item makes `draws` visits to lines among `lines`;
/// the last `window` items are remembered. `parts`: visits of its own kind that fill a line, which a visit
/// that misses brings one of.
[[nodiscard]] double new_parts(double items, double window, double draws, double lines, double parts);

/// By access of the kernel: share of the sectors that no earlier load of the item has touched, which the L1
/// holds all the same. Empty where no item can find what others have brought.
class Neighbours {
  public:
    Neighbours(const kernel::Kernel& kernel, const hw::Gpu& gpu);
    [[nodiscard]] double found(std::size_t access) const { return found_.size() > 0 ? found_[access] : 0.0; }
    /// The part of it that is there at once. Items that begin together ask for the same lines together, and
    /// all of them wait.
    [[nodiscard]] double found_at_once(std::size_t access) const { return found(access) * later_; }

  private:
    double later_ = 0.0;  ///< share of the items that begin when others have ended
    hw::SmallVector<double, 64> found_;
};

}  // namespace warptime::model::machine
