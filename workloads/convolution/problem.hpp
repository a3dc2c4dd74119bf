// A convolution over square images with channels last, padded by kernel / 2 on each side or not at all, and
// its matrix product. Ignores: dilation, other padding, images that are not square. Source: implicit GEMM,
// Chetlur et al. 2014, arXiv:1410.0759.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::convolution {

struct Problem {
    std::int64_t batch = 1, channels = 1, out_channels = 1, size = 1, kernel = 1, stride = 1, groups = 1;
    hw::Dtype dtype = hw::Dtype::bf16;
    bool padded = true;

    [[nodiscard]] std::int64_t padding() const { return padded ? kernel / 2 : 0; }
    /// Side of the result.
    [[nodiscard]] std::int64_t out_size() const { return (size + 2 * padding() - kernel) / stride + 1; }
    [[nodiscard]] std::int64_t out_pixels() const { return batch * out_size() * out_size(); }
    [[nodiscard]] std::int64_t taps() const { return kernel * kernel; }
    [[nodiscard]] bool depthwise() const { return groups > 1 && groups == channels; }
    /// Whether every output is a product of one pixel's channels.
    [[nodiscard]] bool plain() const { return kernel == 1 && stride == 1 && groups == 1; }

    /// Whether its kernels take channels first, so that images are turned before and behind.
    [[nodiscard]] bool turned() const { return dtype == hw::Dtype::fp32; }

    /// A multiply-add counts as two; taps in the padding count.
    [[nodiscard]] double flop() const;
    [[nodiscard]] double input_bytes() const;
    [[nodiscard]] double weight_bytes() const;
    [[nodiscard]] double output_bytes() const;
};

/// Groups whose channels one product takes together, where a group has few: the product of zeros is done too.
[[nodiscard]] std::int64_t packed_groups(const Problem& problem);

/// The product that a kernel of implicit GEMM computes: a row for each output pixel, a column for each output
/// channel, and K over taps and channels. `channels` are those of a pixel, with padding to whole words.
[[nodiscard]] gemm::Problem as_product(const Problem& problem);

/// The same as a tile with `tile_k` along K computes it: a step along K holds channels of one tap, so that
/// the last step of each tap may be partly empty.
[[nodiscard]] gemm::Problem as_tiled_product(const Problem& problem, std::int64_t tile_k);

/// Channels up to whole 16-byte words, which the kernels of implicit GEMM need.
[[nodiscard]] std::int64_t whole_words(std::int64_t channels, hw::Dtype dtype);

}  // namespace warptime::workloads::convolution
