// Runs a program of this machine: its lines as they come, a time limit, and the end of its children.
// Ignores: shells, and standard input, which is empty. Source: POSIX.1-2017, posix_spawn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::validate::record {

using Clock = std::chrono::steady_clock;

struct Command {
    std::vector<std::string> words;                  ///< the program, sought on PATH, and its arguments
    std::map<std::string, std::string> environment;  ///< added to that of this process
    std::string directory;                           ///< where it runs; empty: here
};

/// Receives lines without their end. `go_on` is asked every fifth of a second, and with each line, whether to
/// go on.
struct Listener {
    std::function<void(std::string_view)> output;
    std::function<void(std::string_view)> message;
    std::function<bool()> go_on;
};

struct Outcome {
    int status = 0;  ///< its exit status; 128 + signal when one ended it
    bool timed_out = false;
    bool stopped = false;  ///< because `go_on` said no

    [[nodiscard]] bool fine() const { return status == 0 && !timed_out && !stopped; }
};

/// Runs until the program ends or until `deadline`. At the deadline the program is asked to end, and killed
/// two seconds later. The program's children end with it. Throws Error when the program cannot be started.
Outcome run(const Command& command, const Listener& listener, Clock::time_point deadline);

/// Runs a program and gathers its output. `text` is its standard output, `messages` its standard error.
struct Captured {
    Outcome outcome;
    std::string text;
    std::string messages;
};
[[nodiscard]] Captured capture(const Command& command, std::chrono::milliseconds limit);

/// Path of a program on PATH, or the name itself when it holds a slash. Empty when the program cannot be run.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace warptime::validate::record
