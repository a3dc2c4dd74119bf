// The kernels that add up the partial sums of splits of K, and how they lie in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"
#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"

#include <array>
#include <cstdint>

namespace warptime::workloads::gemm {

/// In which type kernels keep the partial sums of `split_k` splits: fp32, but that of C (of two bytes) where
/// rows are moved by 4 bytes, or by 2 and the sums would not fit into a workspace of 16 MiB.
[[nodiscard]] Dtype type_of_sums(const Problem& problem, const Config& config, int split_k);

/// C, to which the sums go.
[[nodiscard]] model::kernel::Buffer result_matrix(const Problem& problem);

/// The first of a tile's slices, with so many of them a batch.
[[nodiscard]] model::kernel::Index slices_of(model::kernel::Builder& builder, int split_k);

/// A slice of C for each split, as those that wrote them have left them in the L2.
[[nodiscard]] model::kernel::Buffer partial_sums(const Problem& problem, int split_k,
                                                 Dtype type = Dtype::fp32);

/// Rows and columns of some slices, by the CTA together. `box`: columns, rows and slices.
[[nodiscard]] model::kernel::Access box_of_sums(model::kernel::Id buffer, const model::kernel::Index& row,
                                                const model::kernel::Index& column,
                                                const model::kernel::Index& slice,
                                                const std::array<std::int64_t, 3>& box,
                                                model::kernel::Direction direction);

/// The kernel that sums `split_k` partial results of the problem, element by element in fp32, and writes C.
void lower_reduction(const Problem& problem, int split_k, model::kernel::Kernel& kernel,
                     Dtype type = Dtype::fp32);

}  // namespace warptime::workloads::gemm
