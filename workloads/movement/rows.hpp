// Rows of a matrix that are taken, or added to, in the order of a list of indices.
// Source: IndexKernelUtils.cu, ScatterGatherKernel.cu, Indexing.cu and Embedding*.cu of PyTorch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/context.hpp"
#include "workloads/arrays/sizes.hpp"

#include <cstdint>
#include <string_view>

namespace warptime::workloads::movement {

/// `taken` rows of a table of `rows` rows, at random.
struct RowsTaken {
    std::string_view name;
    model::kernel::Dtype dtype = model::kernel::Dtype::bf16;
    std::int64_t rows = 1;
    std::int64_t cols = 1;
    std::int64_t taken = 1;
};

void lower_gather(const RowsTaken& rows, const arrays::Context& context);
void lower_ideal_gather(const RowsTaken& rows, bool adds, const arrays::Context& context);
/// Adds `taken` rows to rows of the table.
void lower_index_add(const RowsTaken& rows, const arrays::Context& context);
/// The gradient of a table of which `taken` rows were taken.
void lower_embedding_backward(const RowsTaken& rows, const arrays::Context& context);

}  // namespace warptime::workloads::movement
