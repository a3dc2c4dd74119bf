// Attention of queries over keys and values: its sizes, the scores that a causal mask leaves, and its work.
// The mask is aligned at the bottom right: the last query sees all keys.
// Ignores: dropout, sliding windows, biases, and heads of V of another size.
// Source: Dao 2023, arXiv:2307.08691, for the alignment of the mask (flash-attention 2.1 and later).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::workloads::attention {

using hw::Dtype;

struct Problem {
    std::int64_t batch = 1, heads = 1, kv_heads = 1;
    std::int64_t sq = 1, sk = 1;  ///< queries and keys of a sequence
    std::int64_t head_dim = 64;
    bool causal = false;
    std::int64_t page_size = 0;  ///< keys of a page; 0: keys of a sequence lie together
    Dtype dtype = Dtype::bf16;

    /// Heads of all sequences together.
    [[nodiscard]] std::int64_t q_heads() const { return batch * heads; }
    [[nodiscard]] std::int64_t group() const { return heads / kv_heads; }

    /// Keys that the query number `row` sees.
    [[nodiscard]] std::int64_t keys_of(std::int64_t row) const {
        return causal ? std::clamp<std::int64_t>(row + 1 + sk - sq, 0, sk) : sk;
    }
    /// Scores of one head that the mask leaves.
    [[nodiscard]] double scores_of_head() const;
    /// A multiply-add counts as two operations: scores, and their product with V.
    [[nodiscard]] double forward_flop() const;
    /// Five products instead of two: scores, dP, dV, dK and dQ.
    [[nodiscard]] double backward_flop() const;
    /// Bytes of Q and of K (or V).
    [[nodiscard]] double q_bytes() const;
    [[nodiscard]] double k_bytes() const;
    /// Bytes of one number in fp32 for each query: log-sum-exp, or the product of dO and O.
    [[nodiscard]] double row_bytes() const;
};

/// How many pieces of a size cover a number.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t number, std::int64_t size) {
    return (number + size - 1) / size;
}

/// Blocks of `n` keys that the queries [first, first + rows) need; none where the mask hides all keys.
[[nodiscard]] inline std::int64_t key_blocks(const Problem& p, std::int64_t first, std::int64_t rows,
                                             std::int64_t n) {
    return ceil_div(p.keys_of(std::min(first + rows, p.sq) - 1), n);
}

/// First block of `m` queries that sees the keys from `first` on.
[[nodiscard]] inline std::int64_t first_query_block(const Problem& p, std::int64_t first, std::int64_t m) {
    return p.causal ? std::max<std::int64_t>(0, first + p.sq - p.sk) / m : 0;
}

}  // namespace warptime::workloads::attention
