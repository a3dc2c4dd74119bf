// PyTorch's reductions by its general kernel: sums, maxima, arguments of maxima.
// Source: aten/src/ATen/native/cuda/Reduce.cuh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/context.hpp"

#include <cstdint>
#include <string_view>

namespace warptime::workloads::reductions {

struct Reduce {
    std::string_view rule;  ///< library data of the operation
    model::kernel::Dtype dtype = model::kernel::Dtype::fp32;
    model::kernel::Dtype result = model::kernel::Dtype::fp32;
    std::int64_t outputs = 1;
    std::int64_t inputs = 1;
    bool along_rows = true;
};

/// The kernel, and a memset of its counters where several CTAs share a result.
void lower_reduce(const Reduce& reduce, const arrays::Context& context);

}  // namespace warptime::workloads::reductions
