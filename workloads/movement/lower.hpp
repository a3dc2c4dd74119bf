// What the operators that only move data launch: copies, strided maps, concatenations.
// Ignores: bank conflicts and instruction caches; lanes that wrap from one row to the next touch the next
// element of memory instead.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/body.hpp"
#include "workloads/arrays/context.hpp"
#include "workloads/arrays/sizes.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace warptime::workloads::movement {

namespace mk = model::kernel;

/// A contiguous copy within a type, which PyTorch hands to the driver.
void add_copy(const arrays::Context& context, std::int64_t bytes);

/// Result element L = ((L2 x n1) + L1) x n0 + L0 reads the source at L0 x s0 + L1 x s1 + L2 x s2.
struct StridedMap {
    std::string_view name;
    std::int64_t elements = 1;  ///< of the result
    std::int64_t source = 1;    ///< elements of the source
    std::array<std::int64_t, 2> n{1, 1};
    std::array<std::int64_t, 3> s{1, 0, 0};
    int dims = 2;               ///< that remain after dimensions without gaps are joined
    std::int64_t inputs = 1;    ///< arrays that are read
    std::int64_t repeated = 0;  ///< of these, the ones of which every row reads the same
    std::int64_t flops = 0;     ///< for each element
};

/// PyTorch's kernel for operands that are not contiguous: a thread computes the offsets of its elements by
/// divisions, one for each dimension and all arrays, and loads and stores one element after the other.
void lower_strided(const StridedMap& map, mk::Dtype dtype, const arrays::Context& context);

/// Two matrices side by side.
struct Concatenation {
    mk::Dtype dtype = mk::Dtype::bf16;
    std::int64_t rows = 1;
    std::int64_t cols = 1;  ///< of each matrix
    bool contiguous = true;
    std::int64_t dims = 2;  ///< where a matrix has gaps, of the tensors that it stands for
};
void lower_cat(const Concatenation& cat, const arrays::Context& context);

}  // namespace warptime::workloads::movement
