// Work items of attention kernels: blocks of queries or of keys, with as many trips as a causal mask leaves.
// Without a mask all items are alike and need no list.
// Source: model/kernel/README.md, Schedule.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "workloads/attention/problem.hpp"

#include <cstdint>

namespace warptime::workloads::attention {

/// Blocks of `m` queries of every head, over blocks of `n` keys. Tile 0 is the block, tile 2 the head.
void set_query_blocks(const Problem& problem, std::int64_t m, std::int64_t n,
                      model::kernel::Schedule& schedule);

/// The same with the keys of each block in `splits` pieces; tile 1 is the piece.
void set_split_blocks(const Problem& problem, std::int64_t m, std::int64_t n, int splits,
                      model::kernel::Schedule& schedule);

/// Blocks of `n` keys of every head, over blocks of `m` queries. Tile 0 is the block of keys.
void set_key_blocks(const Problem& problem, std::int64_t m, std::int64_t n,
                    model::kernel::Schedule& schedule);

}  // namespace warptime::workloads::attention
