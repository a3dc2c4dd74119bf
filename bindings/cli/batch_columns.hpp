// What the columns of a batch mean: operator, its parameters, conditions, or nothing to the prediction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/csv.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace warptime::cli {

/// passed: a name that begins with `_`.
enum class ColumnRole : std::uint8_t { op, gpu, engine, condition, parameter, passed };

/// One role a column, in their order. Throws UsageError naming the file for a column that is none of them
/// (with the nearest name), and when there is no column `op`.
[[nodiscard]] std::vector<ColumnRole> roles_of(const workloads::CsvTable& table);

}  // namespace warptime::cli
