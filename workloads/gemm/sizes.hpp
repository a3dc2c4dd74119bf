// What the sizes of a problem are to its lowered kernel, apart from the body: schedule, grid, and extents and
// strides of the matrices. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// The first buffers of a lowered kernel; the workspace where a configuration needs one.
enum class MatrixBuffer : std::uint8_t { a, b, c, workspace };

/// Splits of a completed configuration as the schedule has them: no more than there are k-iterations.
void set_schedule(const Problem& problem, const Config& config, model::kernel::Kernel& kernel);

/// CTAs of a persistent grid, if there are items enough; 0 of one that has a CTA for each. Needs the
/// resources. Throws Error when an SM cannot hold a CTA.
[[nodiscard]] std::int64_t most_ctas(const Config& config, const hw::Gpu& gpu,
                                     const model::kernel::Kernel& kernel);
/// Needs the schedule.
void set_grid(const Config& config, std::int64_t most_ctas, model::kernel::Kernel& kernel);

/// Extents and strides of the matrices, which are there.
void set_matrices(const Problem& problem, const Config& config, model::kernel::Kernel& kernel);

/// Appends the kernel that adds up splits, if one does.
void add_reduction(const Problem& problem, const Config& config, model::kernel::Program& program);

/// As `lower`, of a configuration that is complete and has no more splits than there are k-iterations.
void lower_completed(const Problem& problem, const Config& config, const hw::Gpu& gpu,
                     model::kernel::Program& program);

/// What `lower` makes of a configuration first. Throws Error as it does.
[[nodiscard]] Config completed(const Problem& problem, const Config& config, const hw::Gpu& gpu);

}  // namespace warptime::workloads::gemm
