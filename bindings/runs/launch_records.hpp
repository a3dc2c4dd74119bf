// What a program did under the stand-in runtime, read back: launches, copies, memsets and messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::runs {

enum class RecordKind { kernel, memcpy, memset, message };
[[nodiscard]] std::string_view to_string(RecordKind kind);

/// Counts of one line of source, for the whole grid.
struct LineRecord {
    std::string file;
    int line = 0;
    double instructions = 0.0;  ///< of warps
    double requests = 0.0;      ///< to global, local or shared memory
    double sectors = 0.0;       ///< of 32 bytes
    double passes = 0.0;        ///< over the banks of shared memory
};

struct LaunchRecord {
    RecordKind kind = RecordKind::kernel;
    std::string kernel;  ///< its name as in the source; the text of a message
    std::string grid, block;
    std::int64_t dynamic_shared = 0;
    std::int64_t bytes = 0;   ///< of a copy or memset
    std::string link;         ///< of a copy: "device", "host_to_device" or "device_to_host"
    double coverage = 1.0;    ///< share of the grid that was run
    std::string description;  ///< text of the kernel for the engines; empty where there is none
    std::string error;        ///< why the launch was refused or failed, or could not be described
    std::vector<std::pair<std::string, double>> counters;  ///< by Nsight Compute's names
    std::vector<LineRecord> lines;
};

/// Reads the lines that the stand-in wrote. A last line that was cut off, as a crash leaves it, is dropped.
/// Throws Error naming the line for any other text that is none.
[[nodiscard]] std::vector<LaunchRecord> read_launch_records(std::string_view text);

}  // namespace warptime::runs
