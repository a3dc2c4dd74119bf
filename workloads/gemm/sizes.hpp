// The parts of a lowered kernel that depend on a problem's sizes: schedule, grid, extents and strides.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// The first buffers of a lowered kernel; the workspace exists only where a configuration needs it.
enum class MatrixBuffer : std::uint8_t { a, b, c, workspace };

/// Sets the schedule. `config` must be complete, with no more splits than there are k-iterations.
void set_schedule(const Problem& problem, const Config& config, model::kernel::Kernel& kernel);

/// The most CTAs of a persistent grid, which starts fewer if there are fewer items. 0 for a grid with a CTA
/// for each item. Needs the kernel's resources. Throws Error when an SM cannot hold a CTA.
[[nodiscard]] std::int64_t most_ctas(const Config& config, const hw::Gpu& gpu,
                                     const model::kernel::Kernel& kernel);
/// Sets the grid; the schedule must be set.
void set_grid(const Config& config, std::int64_t most_ctas, model::kernel::Kernel& kernel);

/// Sets extents and strides of the matrices; their buffers must exist.
void set_matrices(const Problem& problem, const Config& config, model::kernel::Kernel& kernel);

/// Appends the kernel that adds up splits, if the configuration has such a kernel.
void add_reduction(const Problem& problem, const Config& config, model::kernel::Program& program);

/// Lowers a configuration as `lower` does. It must be complete, with no more splits than there are
/// k-iterations.
void lower_completed(const Problem& problem, const Config& config, const hw::Gpu& gpu,
                     model::kernel::Program& program);

/// Fills in a configuration, as `lower` does first. Throws Error as `lower` does.
[[nodiscard]] Config completed(const Problem& problem, const Config& config, const hw::Gpu& gpu);

}  // namespace warptime::workloads::gemm
