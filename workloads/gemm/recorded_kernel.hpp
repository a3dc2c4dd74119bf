// Reads the configuration of a vendor's GEMM kernel from its recorded name and grid, so that constants can be
// fitted to the kernel that really ran. Source: names of cuBLAS 13.1 kernels
// (nvjet_sm90_<types>_<N>x<M>_<K>x<stages>_<cluster N>x<cluster M>_<h|v>_bz[_coopA|
// _coopB][_splitK]_<layouts>): sizes along n first, since the library computes the transposed product.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/library.hpp"

#include <optional>
#include <string_view>

namespace warptime::workloads::gemm {

/// `steps`: the recorded activities, "name grid=2x66x1 block=... | ...". Empty for names of other families.
[[nodiscard]] std::optional<Config> config_of_recorded(std::string_view steps, const Problem& problem,
                                                       const std::vector<libraries::GemmFamily>& families,
                                                       const hw::Gpu<double>& gpu);

}  // namespace warptime::workloads::gemm
