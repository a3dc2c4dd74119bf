// Runs an unmodified CUDA program under the stand-in runtime and gives what it did.
// SPDX-License-Identifier: Apache-2.0
//
// The program itself runs on this machine, with the rights of the user: whatever its host code does, happens.
#pragma once

#include "bindings/runs/launch_records.hpp"
#include "hw/gpu.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warptime::runs {

struct ProgramOptions {
    std::vector<std::string> command;     ///< program and arguments
    std::string kernel;                   ///< regular expression: only launches of these are reported
    std::optional<std::size_t> launches;  ///< at most so many launches are reported
    std::string sheet;                    ///< of the GPU that the program sees: its id, or the path
    bool whole = false;                   ///< interpret every CTA, however long it takes
    bool lines = false;                   ///< count by line of source
};

struct ProgramRun {
    std::vector<LaunchRecord> records;
    int exit_code = 0;
    std::string ending;  ///< how it ended where it did not exit: "signal 11 (Segmentation fault)"
};

/// The stand-in runtime: what WARPTIME_STANDIN names, or the library beside this program or in
/// ../lib/warptime. Throws Error when there is none.
[[nodiscard]] std::filesystem::path find_stand_in();

/// The program's standard output goes to standard error. Throws Error when the program cannot be started or
/// the regular expression is none.
[[nodiscard]] ProgramRun run_program(const ProgramOptions& options, const hw::Gpu& gpu);

}  // namespace warptime::runs
