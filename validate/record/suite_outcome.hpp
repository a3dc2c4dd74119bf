// The request for a recording, and the outcome of each suite.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace warptime::validate::record {

struct RecordOptions {
    std::vector<std::string> suites;  ///< names and groups, as choose_suites takes them
    double budget_s = 480.0;
    std::filesystem::path output;                 ///< keeps <suite>.csv
    std::vector<std::filesystem::path> resume;    ///< further rows that are not to be repeated
    std::string gpu;                              ///< sheet id; empty: found from the board
    std::filesystem::path sources;                ///< root of the source tree
    std::filesystem::path probes;                 ///< keeps compiled probes; empty: a temporary folder
    std::function<void(const std::string&)> say;  ///< one line of progress, without its end
    std::function<bool()> interrupted;  ///< asked often; true ends the run and keeps its rows so far
};

/// complete: every case is recorded. time_over: some cases are left for the next run. missing: something that
/// the suite needs is not here, or the GPU cannot run the suite. failed: the probe did not build, or ended
/// with an error.
enum class SuiteState : std::uint8_t { complete, time_over, missing, failed };
[[nodiscard]] const char* to_string(SuiteState state);

struct SuiteOutcome {
    std::string suite;
    SuiteState state = SuiteState::time_over;
    std::size_t added = 0;    ///< rows recorded now
    std::size_t rows = 0;     ///< all there are
    std::size_t refused = 0;  ///< rows not taken, because the clocks were held down
    std::string message;  ///< why the suite failed, what is missing, or which reasons held the clocks down
};

}  // namespace warptime::validate::record
