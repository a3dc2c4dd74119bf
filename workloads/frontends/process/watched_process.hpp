// Runs a program under watch: its lines as they come, a time limit, and the end of its children.
// Ignores: shells, and standard input, which is empty. Source: POSIX.1-2017, process groups.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/process/process.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace warptime::workloads::frontends::process {

using Clock = std::chrono::steady_clock;

/// Receives lines without their end. `go_on` is asked every fifth of a second, and with each line, whether to
/// go on.
struct Listener {
    std::function<void(std::string_view)> output;
    std::function<void(std::string_view)> errors;
    std::function<bool()> go_on;
};

struct Outcome {
    int exit_code = 0;  ///< 128 + signal where one ended the program
    bool timed_out = false;
    bool stopped = false;  ///< because `go_on` said no

    [[nodiscard]] bool fine() const { return exit_code == 0 && !timed_out && !stopped; }
};

/// Runs until the program ends or until `deadline`. At the deadline the program is asked to end, and killed
/// two seconds later. The program's children end with it. Throws Error when the program cannot be started.
Outcome watch(const Command& command, const Listener& listener, Clock::time_point deadline);

/// The whole lines that a program writes.
struct Captured {
    Outcome outcome;
    std::string output;
    std::string errors;
};
[[nodiscard]] Captured capture(const Command& command, std::chrono::milliseconds limit);

}  // namespace warptime::workloads::frontends::process
