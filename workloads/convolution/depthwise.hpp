// Convolutions with one channel a group by cuDNN's direct kernels: threads that compute a few pixels of some
// channels each by multiply-adds.
// Source: kernel names, grids, blocks and registers of recorded rows (torch_conv2d and torch_conv2d_types,
// fit and development rows). Instructions for borders and addresses are guessed: two a load.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "workloads/convolution/problem.hpp"

namespace warptime::workloads::convolution {

/// Pixels and channels of a thread, and threads of a CTA.
struct DepthwiseTile {
    std::int64_t rows = 1, columns = 1, channels = 1, threads = 1;

    /// In 16 bits two rows of three pixels, of two with a stride, and eight channels, a word of 16 bytes. In
    /// fp32 four pixels of a channel, whose taps and pixels the recorded registers hold.
    [[nodiscard]] static DepthwiseTile of(const Problem& problem);
    [[nodiscard]] std::int64_t ctas(const Problem& problem) const;
};

void lower_depthwise(const Problem& problem, model::kernel::Kernel& kernel);

}  // namespace warptime::workloads::convolution
