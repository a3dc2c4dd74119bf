// Starts programs of this machine, waits for their end, and gathers what they write.
// Ignores: shells, and limits of time (see watched_process.hpp). Source: POSIX.1-2017, posix_spawn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace warptime::workloads::frontends::process {

struct Command {
    std::vector<std::string> words;                    ///< the program, sought on PATH, and its arguments
    std::map<std::string, std::string> environment{};  ///< set over that of this process
    std::string directory{};                           ///< where it runs; empty: here
    std::vector<std::string> unset{};                  ///< variables of this process that it does not get
};

/// Where a standard stream leads: to a file, which is made where it is missing, or to a handle of this
/// process.
struct Stream {
    std::filesystem::path file{};
    int handle = -1;  ///< where there is no file; -1: the same stream of this process
};

struct Streams {
    Stream input{"/dev/null"};
    Stream output{};
    Stream errors{};
};

/// The group decides which processes an interrupt from the keyboard reaches.
enum class Group { of_this_process, own };

struct Child {
    pid_t id = 0;
    std::string program;
};

/// Throws Error, with the reason, when the program cannot be started.
[[nodiscard]] Child start(const Command& command, const Streams& streams,
                          Group group = Group::of_this_process);

struct Ending {
    int exit_code = 0;  ///< 128 + signal where one ended the program
    int signal = 0;     ///< that ended the program
};

/// Waits for the end. Throws Error when the system does not report it.
[[nodiscard]] Ending wait_for(const Child& child);

/// The end, if it has come. Throws Error when the system does not report it.
[[nodiscard]] std::optional<Ending> ending_of(const Child& child);

struct Result {
    int exit_code = 0;  ///< 128 + signal where one ended the program
    std::string output;
    std::string errors;
};

/// Runs the program to its end, however long that takes. It reads nothing. What is preloaded into this
/// process is not loaded into the program. Throws Error when the program cannot be started.
[[nodiscard]] Result run(Command command);

}  // namespace warptime::workloads::frontends::process
