// From a convolution to its kernels: an implicit product.
// Source: kernel names and launches of cuDNN as recorded (torch_conv2d, fit and development rows).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/convolution/problem.hpp"
#include "workloads/gemm/problem.hpp"

namespace warptime::workloads::convolution {

/// The product with this tiling. Channels that are no whole words are padded before, and removed behind it.
/// The rows of A are the channels of pixels, read once for each tap.
void lower_implicit(const Problem& problem, const gemm::Config& config, const hw::Gpu& gpu,
                    model::kernel::Program& program);

/// The kernels of a product with this tiling: those above, or in fp32 those of turned images.
void lower_convolution(const Problem& problem, const gemm::Config& config, const hw::Gpu& gpu,
                       model::kernel::Program& program);

}  // namespace warptime::workloads::convolution
