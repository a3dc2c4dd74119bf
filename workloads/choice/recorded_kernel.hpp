// Reads the configuration of a vendor's GEMM kernel from its recorded name and grid.
// Constants can then be fitted to the kernel that really ran.
// Source: names of cuBLAS 13.1 kernels, with sizes along n first, because the library computes the transposed
// product:
// nvjet_sm90_<types>_<N>x<M>_<K>x<stages>_<cluster N>x<cluster M>_<h|v>_bz[_coopA|_coopB][_splitK]_<layouts>
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/library.hpp"
#include "workloads/operator/operation.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace warptime::workloads::choice {

/// The configuration that `steps` name. `steps` are the recorded activities, "name grid=2x66x1 block=... |
/// ...". Empty for names of other families.
[[nodiscard]] std::optional<gemm::Config> config_of_recorded(
    std::string_view steps, const gemm::Problem& problem, const std::vector<libraries::GemmFamily>& families,
    const hw::Gpu& gpu);

/// Refills `program` and returns true if `steps` name a kernel of a known family. Returns false if
/// workloads/choice must choose. Throws Error as the lowering does.
[[nodiscard]] bool lower_recorded(const Operation& operation, std::string_view steps,
                                  const libraries::Libraries& libraries, const hw::Gpu& gpu,
                                  model::kernel::Program& program);

}  // namespace warptime::workloads::choice
