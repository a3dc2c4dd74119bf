// PyTorch's fused AdamW: launches over lists of chunks of the tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/context.hpp"
#include "workloads/arrays/sizes.hpp"

#include <cstdint>
#include <vector>

namespace warptime::workloads::elementwise {

/// CTAs of each launch over `tensors` tensors of `length` elements. A launch ends when it has `most_ctas`
/// chunks, or the last chunk of its tensor number `most_tensors`.
[[nodiscard]] std::vector<std::int64_t> chunk_launches(std::int64_t tensors, std::int64_t length,
                                                       std::int64_t chunk, std::int64_t most_ctas,
                                                       std::int64_t most_tensors);

void lower_adamw(const arrays::Sizes& sizes, const arrays::Context& context);

}  // namespace warptime::workloads::elementwise
