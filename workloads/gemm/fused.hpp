// What is applied to C before it is stored: a bias, an activation, a second addend, or a scale.
// Ignores: combinations, and results that an activation keeps for a backward pass.
// Source: epilogues of cuBLASLt and CUTLASS (cutlass/epilogue/thread/activation.h); PTX ISA 8.7 for tanh and
// ex2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>
#include <string_view>

namespace warptime::workloads::gemm {

/// Throws Error for an unknown word.
[[nodiscard]] Epilogue parse_epilogue(std::string_view word);

/// A tile of C whose sums a role holds. `columns` and `rows` are those of the tile.
struct FusedTile {
    model::kernel::Index row{}, column{}, slice{};
    std::int64_t columns = 0, rows = 0;
};

/// Adds the reads and the arithmetic of the epilogue for `sums` of a lane, which wait for `last`. Returns the
/// op that produces the results; `last` where nothing is applied.
model::kernel::Id add_fused(model::kernel::Builder& builder, const Problem& problem, const FusedTile& tile,
                            std::int64_t sums, int warps, model::kernel::Id last);

}  // namespace warptime::workloads::gemm
