// Sorting and selecting in rows, histograms, and the loss over classes.
// Source: Sort.cu, SortStable.cu, TensorTopK.cu, SummaryOps.cu and Loss.cu of PyTorch, and CUB's radix sort.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/context.hpp"
#include "workloads/arrays/sizes.hpp"

#include <cstdint>

namespace warptime::workloads::reductions {

void lower_sort(const arrays::Sizes& sizes, const arrays::Context& context);
void lower_topk(const arrays::Sizes& sizes, const arrays::Context& context);
void lower_histogram(const arrays::Sizes& sizes, const arrays::Context& context);
void lower_cross_entropy(const arrays::Sizes& sizes, const arrays::Context& context);

/// Whether several CTAs select in each row.
[[nodiscard]] bool several_ctas_select(std::int64_t rows, std::int64_t cols);
/// How many.
[[nodiscard]] std::int64_t ctas_of_row(std::int64_t rows, std::int64_t cols, std::int64_t sms);

}  // namespace warptime::workloads::reductions
