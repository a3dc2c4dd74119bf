// The commands of the program: the arguments of each, and the function that runs it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"

#include <vector>

namespace warptime::cli {

/// A command. `run` writes to stdout and returns the exit code. Throws UsageError or Error.
struct Command {
    CommandSpec spec;
    int (*run)(const Arguments&) = nullptr;
};

[[nodiscard]] Command gpus_command();
[[nodiscard]] Command systems_command();
[[nodiscard]] Command operators_command();
[[nodiscard]] Command predict_command();
[[nodiscard]] Command explain_command();
[[nodiscard]] Command what_if_command();
[[nodiscard]] Command advise_command();
[[nodiscard]] Command tiles_command();
[[nodiscard]] Command occupancy_command();
[[nodiscard]] Command batch_command();
[[nodiscard]] Command sweep_command();
[[nodiscard]] Command check_command();
[[nodiscard]] Command run_command();
[[nodiscard]] Command import_command();
[[nodiscard]] Command step_command();
[[nodiscard]] Command report_command();
[[nodiscard]] Command validate_command();
[[nodiscard]] Command record_command();
[[nodiscard]] Command calibrate_command();

/// Runs the program with the arguments `given`, without its own name. An error becomes one line on stderr and
/// the exit code; with --json it is also an object on stdout.
[[nodiscard]] int run_program(const std::vector<std::string>& given);

}  // namespace warptime::cli
