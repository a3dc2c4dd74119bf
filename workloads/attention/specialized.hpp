// Attention forward with specialised warps: a producer brings K and V by bulk copies, consumer warpgroups
// multiply 64 queries each by wgmma and keep their scores in registers. Source: Shah et al. 2024,
// arXiv:2407.08608; hopper/tile_size.h and tile_scheduler.hpp of Dao-AILab/flash-attention; kernel names,
// grids and resources of cuDNN as recorded (workloads/libraries/cudnn-attention.toml).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/attention/problem.hpp"
#include "workloads/libraries/attention_family.hpp"

namespace warptime::workloads::attention {

void lower_specialized(const Problem& problem, const libraries::AttentionFamily& family,
                       const libraries::AttentionTile& tile, const hw::Gpu& gpu,
                       model::kernel::Program& program);

}  // namespace warptime::workloads::attention
