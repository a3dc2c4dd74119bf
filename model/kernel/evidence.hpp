// What the error of a kernel's prediction is known from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warptime::model::kernel {

/// From the least known to the best. any: recorded kernels of every kind (the textbook programs), since none
/// of this one's own are recorded. pooled: recorded kernels of many workloads together, its own among these,
/// on one GPU. own: recorded kernels of the workload that wrote the description.
enum class Evidence : std::uint8_t { any, pooled, own };

}  // namespace warptime::model::kernel
