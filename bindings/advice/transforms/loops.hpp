// Loops of a description: which stand around an op, and fewer trips of one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::advice {

/// Loops around each op, outermost first, as numbers of loops.
[[nodiscard]] std::vector<std::vector<std::size_t>> loops_around(const model::kernel::Kernel& kernel);

/// Trips of a loop where these are one number, else 0.
[[nodiscard]] double trips_of(const model::kernel::Loop& loop);

/// Fewer trips, rounded up. False where the trips are an expression.
bool divide_trips(model::kernel::Loop& loop, std::int64_t times);

/// Whether an op waits for itself of a trip before, as a sum does.
[[nodiscard]] bool depends_on_itself(const model::kernel::Kernel& kernel, std::size_t op);

}  // namespace warptime::advice
