// Decoding over keys and values that lie in pages, as Triton compiles it: a CTA for some keys of a sequence
// and a head of keys, with its group of queries in 16 rows, and a kernel that adds the pieces up. Page
// numbers are copied one trip before the keys that they name. Ignores: where the pages lie; rows of a head
// are taken to stand side by side, as the bytes are the same. Source: validate/recorders/product_kernels.py
// (paged_decode_kernel), its SASS for sm_90.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/attention/problem.hpp"

#include <cstdint>

namespace warptime::workloads::attention {

/// Pieces of the keys of a sequence and head: about two CTAs an SM, none of them without keys.
[[nodiscard]] std::int64_t paged_splits(const Problem& problem, std::int64_t sms);

void lower_paged(const Problem& problem, const hw::Gpu& gpu, model::kernel::Program& program);

}  // namespace warptime::workloads::attention
