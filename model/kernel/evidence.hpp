// What the error of a kernel's prediction is known from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warptime::model::kernel {

/// own: recorded kernels of the workload that wrote the description. any: recorded kernels of every kind (the
/// textbook programs), since none of this one's own are recorded.
enum class Evidence : std::uint8_t { any, own };

}  // namespace warptime::model::kernel
