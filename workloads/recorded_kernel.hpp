// Lowers a recorded case to the kernels that really ran, where their names say which.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/lower.hpp"

#include <string_view>

namespace warptime::workloads {

/// Refills `program` and returns true if `steps` (recorded activities) name a kernel of a known family; false
/// leaves the choice to `lower`. Throws Error like `lower`.
[[nodiscard]] bool lower_recorded(const Operation& operation, std::string_view steps,
                                  const libraries::Libraries& libraries, const hw::Gpu<double>& gpu,
                                  model::kernel::Program& program);

}  // namespace warptime::workloads
