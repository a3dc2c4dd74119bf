// Imitates cuDNN's choice of a kernel for a convolution: the candidate with the shortest predicted time.
// Ignores: the library's own heuristic, which is not public, and algorithms other than implicit GEMM.
// Source: kernel names of recorded rows (torch_conv2d, fit and development rows).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/choice/vendor_choice.hpp"
#include "workloads/convolution/problem.hpp"

namespace warptime::workloads::choice {

/// Convolutions that are plain products run the GEMM library's kernel. Throws Error where no family serves
/// this GPU and type.
[[nodiscard]] gemm::Config choose_convolution(const convolution::Problem& problem,
                                              const libraries::Libraries& libraries, const hw::Gpu& gpu,
                                              const Score& score, ChoiceMemory& memory);

}  // namespace warptime::workloads::choice
