// How many events a run of a kernel takes, before it begins: a kernel that would never end is refused.
// Ignores: trips and branches that differ between items.
// Source: model/kernel/README.md, Roles and their bodies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::model::simulation {

/// Ops, waits and signals that all warps of a kernel run, by the trips of a typical item. `most_trips`: of
/// each loop that are run; 0: all.
[[nodiscard]] double events_of(const kernel::Kernel& kernel, std::int64_t most_trips = 0);

/// Throws Error for a run of more events than a day of simulation takes.
void require_feasible(const kernel::Kernel& kernel, double events);

}  // namespace warptime::model::simulation
