// Makespan of work items of different lengths on equal SMs.
// CTAs that share an SM progress alike; the next item in order goes to the slot that is free first.
// Ignores: that a CTA's first and last part ask other units than its loop.
// Source: list scheduling, Graham 1969, doi.org/10.1137/0117039; processor sharing, Kleinrock 1967,
// doi.org/10.1145/321386.321388.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace warptime::model::machine {

/// Time of one item while it shares its SM: `fixed`, and `trip` for each trip of its loop.
struct ItemPace {
    double fixed = 0.0, trip = 0.0;
};

struct UnevenMakespan {
    double makespan = 0.0;
    double busy = 0.0;  ///< mean over the SMs of the time with any item
};

/// `trips(i)`: trips of item i of `items`. `paces[r - 1]`: pace of each of r items on an SM; its size is the
/// number of items that an SM holds. Throws Error without an SM or a pace.
[[nodiscard]] UnevenMakespan uneven_makespan(std::int64_t items,
                                             const std::function<double(std::int64_t)>& trips,
                                             std::int64_t sms, std::span<const ItemPace> paces);

}  // namespace warptime::model::machine
