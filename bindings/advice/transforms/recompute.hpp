// Computes a value again where a kernel stores it and reads it back: no store, no load, the same work twice.
// The ops that made the value, its loads among them, take the place of the load. The store goes where a later
// one covers it. Ignores: registers for the work, and values that other threads made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

namespace warptime::advice {

/// Number of loads that became computations.
[[nodiscard]] int recompute(model::kernel::Kernel& kernel);

}  // namespace warptime::advice
