// What `run` found out, for commands that show it in another form.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"

#include <string>

namespace warptime::cli {

struct RunAnswer {
    std::string json;   ///< as `run --json` prints it
    int exit_code = 0;  ///< of `run`
};

/// Runs the program that the arguments of `run` name and predicts its launches; messages go to stderr. Throws
/// as `run`.
[[nodiscard]] RunAnswer answer_run(const Arguments& arguments);

}  // namespace warptime::cli
