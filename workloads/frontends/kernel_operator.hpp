// The operator `kernel`: a kernel that is described in a file, as it would be launched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

namespace warptime::workloads::frontends {

[[nodiscard]] const OperatorInfo& kernel_operator();

/// Throws Error naming the kernel when the architecture of `gpu` lacks an instruction, clusters or a schedule
/// of the kernel, or when its buffers exceed the GPU's memory.
void require_runs_on(const model::kernel::Kernel& kernel, const hw::Gpu& gpu);

}  // namespace warptime::workloads::frontends
