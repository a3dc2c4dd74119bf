// A GEMM as numbers rather than text, so that a row of a batch only sets what differs from the row before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"
#include "workloads/lower.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace warptime::workloads {

struct GemmRequest {
    gemm::Problem problem;
    std::optional<gemm::Config> config;  ///< none: the library chooses
    bool heuristic_raster = false;       ///< the order of tiles follows from the problem
};

/// Throws Error as gemm_problem_of and gemm_config_of do, but leaves leading dimensions to lower_gemm.
[[nodiscard]] GemmRequest read_gemm(const Operation& operation);

/// Sets one parameter that holds a number; false when the lowering refuses it. A tile's parameters do nothing
/// where the library chooses.
using GemmNumber = bool (*)(GemmRequest&, std::int64_t);
/// Null when the parameter holds no number.
[[nodiscard]] GemmNumber find_gemm_number(std::string_view parameter);

/// Throws Error for sizes that `lower` refuses; `lower` words it.
void check_sizes(const GemmRequest& request, const hw::Gpu<double>& gpu);
/// The configuration of a request that has one, with the order of its tiles.
[[nodiscard]] gemm::Config ordered_config(const GemmRequest& request);

/// As `lower` for the operation with these numbers, bit for bit. Throws Error for what `lower` refuses;
/// `lower` words it.
void lower_gemm(const GemmRequest& request, const libraries::Libraries& libraries, const hw::Gpu<double>& gpu,
                const Score& score, model::kernel::Program& program);

}  // namespace warptime::workloads
