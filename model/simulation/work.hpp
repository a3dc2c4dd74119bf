// How many events a run of a kernel takes, before it begins: a kernel that would never end is refused.
// Ignores: trips and branches that differ between items.
// Source: model/kernel/README.md, Roles and their bodies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

namespace warptime::model::simulation {

/// Ops, waits and signals that all warps of a kernel run, by the trips of a typical item.
[[nodiscard]] double events_of(const kernel::Kernel& kernel);

/// Throws Error for a kernel of more events than a day of simulation takes.
void require_feasible(const kernel::Kernel& kernel);

}  // namespace warptime::model::simulation
