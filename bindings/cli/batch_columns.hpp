// The meaning of a batch's columns: operator, its parameters, conditions, or nothing for the prediction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/csv.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::cli {

/// The columns that a prediction adds, in their order. In a failed row only the last one is not empty.
inline constexpr std::array<std::string_view, 6> result_columns{"time_us", "low_us", "high_us",
                                                                "limiter", "status", "error"};

/// The role of a column. passed: a name that begins with `_`. result: an earlier prediction, which the new
/// one replaces.
enum class ColumnRole : std::uint8_t { op, gpu, engine, condition, parameter, passed, result };

struct BatchColumnRole {
    ColumnRole role;
    std::string name;  ///< in the registry's spelling
};

/// The role of each column, in their order; names and aliases count in any case. Throws UsageError naming the
/// file for a column without a role (with the nearest name). It does the same for two columns of one name and
/// a missing column `op`. Columns named in `own` are those that the caller reads, and pass.
[[nodiscard]] std::vector<BatchColumnRole> roles_of(const workloads::CsvTable& table,
                                                    std::span<const std::string_view> own = {});

}  // namespace warptime::cli
