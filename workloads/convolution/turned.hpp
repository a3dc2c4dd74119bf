// Convolutions in fp32 as cuDNN runs them: images and filters are turned to channels first, multiplied by
// ordinary multiply-adds, and the result is turned back.
// Ignores: bank conflicts of the turned tiles, whose rows are padded by one word.
// Source: kernel names and launches of cuDNN as recorded (torch_conv2d, fit and development rows).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/convolution/problem.hpp"
#include "workloads/gemm/problem.hpp"

namespace warptime::workloads::convolution {

/// Turns `images` matrices of `rows` x `columns` elements of fp32, the columns contiguous.
void lower_turn(const model::kernel::Name& name, std::int64_t images, std::int64_t rows, std::int64_t columns,
                model::kernel::Kernel& kernel);

/// The product with this tiling between the kernels that turn its operands and its result.
void lower_turned(const Problem& problem, const gemm::Config& config, const hw::Gpu& gpu,
                  model::kernel::Program& program);

}  // namespace warptime::workloads::convolution
