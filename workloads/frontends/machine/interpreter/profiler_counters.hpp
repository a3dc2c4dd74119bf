// Counts of a launch under the names that Nsight Compute gives them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/run.hpp"

#include <string>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Name and value, in a fixed order; counts of a sample are scaled to the whole launch.
[[nodiscard]] std::vector<std::pair<std::string, double>> profiler_counters(const Code& code,
                                                                            const LaunchCounts& counts);

}  // namespace warptime::workloads::frontends::machine
