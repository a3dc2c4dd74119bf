// The steps that bring a lane's block of outputs to memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Scales `elements` of a lane after the op `before` (or none). Shared memory takes the elements in `passes`;
/// each element is then stored by itself. The op written last is this store; the caller adds its access.
void add_element_stores(model::kernel::Builder& builder, std::int64_t elements, int passes,
                        model::kernel::Id before);

/// Fetches `elements` of a lane from each split in turn and adds them up, after the op `before` (or none).
/// Returns the op of the sum.
model::kernel::Id add_sum_of_splits(model::kernel::Builder& builder, std::int64_t elements,
                                    const Config& config, const model::kernel::Access& partial_sums,
                                    model::kernel::Id before);

}  // namespace warptime::workloads::gemm
