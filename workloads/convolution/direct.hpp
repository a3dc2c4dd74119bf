// Convolutions of few channels by cuDNN's common kernel: a product of 32 pixels x 32 channels by 64 threads,
// eight steps of K at a time, whose operands are gathered without padding or turning anything before.
// Source: launches of recorded rows (convolve_common_engine_float_NHWC<.., 1024, 5, 5, 3, 3, 3, ..>, 64
// threads, 2304 bytes of shared memory) and the counted instructions of one (6144 a warp for 19 turns).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "workloads/convolution/problem.hpp"

namespace warptime::workloads::convolution {

/// Whether cuDNN takes this kernel. Recorded: in fp32 3, 4 and 17 channels, not 64; in 16 bits 3 channels
/// with 118 million multiply-adds, not with 185 million or more.
[[nodiscard]] bool is_direct(const Problem& problem);

void lower_direct(const Problem& problem, model::kernel::Kernel& kernel);

}  // namespace warptime::workloads::convolution
