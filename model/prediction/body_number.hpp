// The number of a kernel's body, by which known results serve other problems.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warptime::model::prediction {

/// Two kernels with one number, given to the same stages, may differ only in problem sizes. These are the
/// grid, the schedule's sizes, order and group, and extents and strides of buffers.
using BodyNumber = std::uint64_t;
inline constexpr BodyNumber unknown_body = 0;

}  // namespace warptime::model::prediction
