// What the columns of a batch mean: operator, its parameters, conditions, or nothing to the prediction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/csv.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::cli {

/// The columns that a prediction adds, in their order; of a failed row only the last is not empty.
inline constexpr std::array<std::string_view, 6> result_columns{"time_us", "low_us", "high_us",
                                                                "limiter", "status", "error"};

/// passed: a name that begins with `_`. result: a prediction from before, which the new one replaces.
enum class ColumnRole : std::uint8_t { op, gpu, engine, condition, parameter, passed, result };

struct BatchColumnRole {
    ColumnRole role;
    std::string name;  ///< as the registry spells it
};

/// One role a column, in their order; names count in any case, aliases too. Throws UsageError naming the file
/// for a column that is none of them (with the nearest name), for two columns of one name, and when there is
/// no column `op`.
[[nodiscard]] std::vector<BatchColumnRole> roles_of(const workloads::CsvTable& table);

}  // namespace warptime::cli
