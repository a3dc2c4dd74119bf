// FlashAttention 2: forward kernels of mma.sync and cp.async, the split over keys with its reduction, and
// backward. Source: Dao 2023, arXiv:2307.08691; launch rules and order of the work in
// Dao-AILab/flash-attention, csrc/flash_attn/src; counts of instructions from SASS
// (workloads/libraries/flash-attention.toml).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/attention/problem.hpp"
#include "workloads/libraries/attention_family.hpp"

#include <cstdint>

namespace warptime::workloads::attention {

/// In how many pieces the keys are split, where blocks of queries fill less than 0.8 of the slots. The least
/// number within 0.85 of the best use of the last wave (num_splits_heuristic of
/// csrc/flash_attn/flash_api.cpp).
[[nodiscard]] int splits_of_keys(std::int64_t blocks, std::int64_t slots, std::int64_t key_blocks, int most);

/// The problem as the library runs it: with one query, the heads that share keys become its queries.
[[nodiscard]] Problem as_grouped(const Problem& problem);

/// One CTA for each block of queries of a head, all keys.
void lower_flash2_forward(const Problem& problem, const libraries::AttentionTile& tile,
                          model::kernel::Kernel& kernel);
/// The same for each of `splits` pieces of the keys; results and log-sum-exp go to memory in fp32.
void lower_flash2_split(const Problem& problem, const libraries::AttentionTile& tile, int splits,
                        model::kernel::Kernel& kernel);
/// Adds up the pieces.
void lower_flash2_combine(const Problem& problem, const libraries::AttentionTile& tile, int splits,
                          model::kernel::Kernel& kernel);
/// The products of dO and O, which also clears the sums of dQ; dK, dV and dQ; dQ from fp32.
void lower_flash2_backward(const Problem& problem, const libraries::AttentionTile& tile,
                           model::kernel::Program& program);

}  // namespace warptime::workloads::attention
