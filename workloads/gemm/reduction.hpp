// The kernels that add up the partial sums of splits of K, and the layout of these sums in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"
#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"

#include <array>
#include <cstdint>

namespace warptime::workloads::gemm {

/// The type in which kernels keep the partial sums of `split_k` splits. It is fp32, except for a C of two
/// bytes in two cases. Where rows are moved by 4 bytes, sums have C's type. Where rows are moved by 2 bytes,
/// sums have C's type if fp32 would exceed a workspace of 16 MiB.
[[nodiscard]] Dtype type_of_sums(const Problem& problem, const Config& config, int split_k);

/// The buffer of C, to which the sums go.
[[nodiscard]] model::kernel::Buffer result_matrix(const Problem& problem);

/// Index of the first slice of a tile, with `split_k` slices a batch.
[[nodiscard]] model::kernel::Index slices_of(model::kernel::Builder& builder, int split_k);

/// One slice of C for each split. The kernel before has left the slices in the L2.
[[nodiscard]] model::kernel::Buffer partial_sums(const Problem& problem, int split_k,
                                                 Dtype type = Dtype::fp32);

/// A box of sums that the CTA moves together. `box` gives columns, rows and slices.
[[nodiscard]] model::kernel::Access box_of_sums(model::kernel::Id buffer, const model::kernel::Index& row,
                                                const model::kernel::Index& column,
                                                const model::kernel::Index& slice,
                                                const std::array<std::int64_t, 3>& box,
                                                model::kernel::Direction direction);

/// Writes the kernel that sums `split_k` partial results of the problem. It adds element by element in fp32
/// and stores C.
void lower_reduction(const Problem& problem, int split_k, model::kernel::Kernel& kernel,
                     Dtype type = Dtype::fp32);

}  // namespace warptime::workloads::gemm
