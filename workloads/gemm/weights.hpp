// Weights of 8 or 4 bits in products of 16-bit types: what a trip takes to convert B before it is multiplied.
// Ignores: scales of groups along K; each column has one scale, by which its sums are multiplied.
// Source: SASS of validate/recorders/product_kernels.py for sm_90 (workloads/compilers/triton-3.6.toml,
// weights).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Whether B's elements have fewer bits than A's 16 and a compiled kernel converts them.
[[nodiscard]] bool converts_weights(const Problem& problem, const Config& config);

/// Bytes of a CTA's converted B, which wgmma reads from shared memory; 0 where registers hold it.
[[nodiscard]] std::int64_t converted_bytes(const Problem& problem, const Config& config);

/// Throws Error naming dtype_b for 4-bit weights that no kernel is known for.
void check_weights(const Problem& problem, const Config& config);

/// The products of a stage after its weights are converted. Pairs of 4 bits take two turns, one for each half
/// of the stage. Returns the last product.
[[nodiscard]] model::kernel::Id add_converted_products(Parts& parts);

}  // namespace warptime::workloads::gemm
