// The parameters of an operator as options of a command, and the operation that the options give.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"
#include "hw/setting.hpp"
#include "workloads/registry/registry.hpp"

#include <vector>

namespace warptime::cli {

/// The parameters to offer. `problem`: only those that name the product, not its implementation.
enum class Parameters { all, problem };

[[nodiscard]] std::vector<OptionSpec> operation_options(const workloads::OperatorInfo& info,
                                                        Parameters which);

/// Reads the operation; its operator is the second word of the command. Throws UsageError.
[[nodiscard]] workloads::Operation read_operation(const Arguments& arguments,
                                                  const std::vector<hw::Setting>& settings);

}  // namespace warptime::cli
