// The commands of the program: what each accepts, and the function that runs it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"

#include <vector>

namespace warptime::cli {

/// `run` writes to stdout and gives the exit code; it throws UsageError or Error.
struct Command {
    CommandSpec spec;
    int (*run)(const Arguments&) = nullptr;
};

[[nodiscard]] Command gpus_command();
[[nodiscard]] Command operators_command();
[[nodiscard]] Command predict_command();
[[nodiscard]] Command explain_command();
[[nodiscard]] Command tiles_command();
[[nodiscard]] Command occupancy_command();
[[nodiscard]] Command batch_command();
[[nodiscard]] Command validate_command();
[[nodiscard]] Command record_command();
[[nodiscard]] Command calibrate_command();

/// Runs the program: `given` without its own name. Errors become one line on stderr, with --json also an
/// object on stdout, and the exit code.
[[nodiscard]] int run_program(const std::vector<std::string>& given);

}  // namespace warptime::cli
