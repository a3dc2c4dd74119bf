// One way to cut a GEMM into tiles, as a configuration and as parameters of predict.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"
#include "workloads/registry/registry.hpp"

#include <map>
#include <string>
#include <string_view>

namespace warptime::workloads::choice::tiles {

enum class Implementation : std::uint8_t { cublas, triton, inductor, cutlass };

struct Candidate {
    gemm::Config config;
    Implementation implementation = Implementation::triton;

    friend bool operator==(const Candidate&, const Candidate&) = default;
};

using Parameters = std::map<std::string, std::string, std::less<>>;

/// The record of an operator whose kernels are tiled. Throws Error for an operator without tiles.
[[nodiscard]] const OperatorInfo& require_tiled(std::string_view op);

/// Throws Error for a parameter of the kernel, because each tile of a space has its own kernel.
void require_problem(const Operation& operation);

/// The parameters of gemm that choose this configuration: `warptime predict gemm` with them predicts the same
/// kernel. Values that the lowering works out (0, automatic) are absent.
[[nodiscard]] Parameters parameters_of(const Candidate& candidate);

/// The candidate that `chosen` describes for this problem. Names are gemm's (cta_tile, stages, ...) or
/// Triton's. Triton's names are BLOCK_M, BLOCK_N, BLOCK_K (also BLOCK_SIZE_*), GROUP_M (GROUP_SIZE_M),
/// SPLIT_K, num_warps, num_stages and num_ctas; any of these means implementation triton. Throws Error for an
/// unknown name, naming the nearest one. Throws Error for a problem parameter (m, dtype, ...) and for a
/// missing tile.
[[nodiscard]] Candidate candidate_of(const Operation& problem, const Parameters& chosen);

}  // namespace warptime::workloads::choice::tiles
