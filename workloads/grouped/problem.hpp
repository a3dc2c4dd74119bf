// Matrix products of one launch, one for each expert: the experts share the rows of A evenly.
// Ignores: uneven routing; the first experts take the rows that do not divide.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::grouped {

struct Problem {
    std::int64_t experts = 1, tokens = 1, n = 1, k = 1;
    hw::Dtype dtype = hw::Dtype::bf16;

    [[nodiscard]] std::int64_t rows_of(std::int64_t expert) const {
        return tokens / experts + (expert < tokens % experts ? 1 : 0);
    }
    /// Experts with any rows; the first ones.
    [[nodiscard]] std::int64_t busy_experts() const { return tokens < experts ? tokens : experts; }
    [[nodiscard]] double flop() const {
        return 2.0 * static_cast<double>(tokens) * static_cast<double>(n) * static_cast<double>(k);
    }
    /// Bytes of A, C and the weights of `of` experts.
    [[nodiscard]] double bytes(std::int64_t of) const {
        const double weights = static_cast<double>(of) * static_cast<double>(n) * static_cast<double>(k);
        const double rows = static_cast<double>(tokens) * static_cast<double>(n + k);
        return (weights + rows) * hw::bytes_of(dtype);
    }
    /// The products as a batch of equal ones, as large as the largest.
    [[nodiscard]] gemm::Problem as_batch() const;
};

}  // namespace warptime::workloads::grouped
