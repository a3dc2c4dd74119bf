// The tiles to choose from: those that Triton tutorials tune over, those that CUTLASS builds, or a list.
// Ignores: whether tiles fit the GPU (rank.hpp drops those that do not), and split K, which is a separate
// choice.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/choice/tiles/candidate.hpp"

#include <string_view>
#include <vector>

namespace warptime::workloads::choice::tiles {

/// Tiles for Triton: BLOCK_M, BLOCK_N 16 to 256; BLOCK_K 64 to 256 bytes; 2 to 5 stages; 4 and 8 warps;
/// GROUP_M 1 and 8. Only 2 stages are listed where the GPU lacks asynchronous copies, or where Triton copies
/// nothing ahead. Triton does so for rows that 16 elements do not divide; all numbers of stages then give one
/// kernel. Source of the ranges: configurations of Triton's matrix multiplication tutorial
/// (python/tutorials/03-matrix-multiplication.py) and of PyTorch Inductor's templates
/// (torch/_inductor/template_heuristics), filled up to a grid.
[[nodiscard]] std::vector<Candidate> triton_space(const gemm::Problem& problem, const hw::Gpu& gpu);

/// Tiles for CUTLASS. With wgmma: warp-specialised persistent kernels, cooperative and ping-pong, clusters of
/// 1 and 2, as many stages as fit (StageCountAuto). Others: multistage kernels of 4 and 8 warps with 2 to 5
/// stages. Source: the tiles of CUTLASS's kernel generator (python/cutlass_library/generator.py).
[[nodiscard]] std::vector<Candidate> cutlass_space(const gemm::Problem& problem, const hw::Gpu& gpu);

/// Reads a file with a JSON list of objects, each as `candidate_of` reads it; numbers and strings are
/// accepted. Throws Error naming the file, the number of the object and the parameter.
[[nodiscard]] std::vector<Candidate> space_from_file(std::string_view path, const Operation& problem);

/// The space of a name: "triton", "cutlass", or the path of a JSON list (it ends in .json or has a '/').
[[nodiscard]] std::vector<Candidate> space_named(std::string_view name, const Operation& problem,
                                                 const hw::Gpu& gpu);

}  // namespace warptime::workloads::choice::tiles
