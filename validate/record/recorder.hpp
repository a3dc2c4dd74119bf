// Records suites on the GPU of this machine within a budget: compiles, runs, checks and keeps.
// A later recording goes on where the earlier one stopped. Ignores: the purpose of the rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/record/board.hpp"
#include "validate/record/suite_outcome.hpp"

#include <string>
#include <vector>

namespace warptime::validate::record {

struct RecordResult {
    std::string gpu;
    Board board;
    std::vector<SuiteOutcome> suites;
    bool interrupted = false;
};

/// Rows are on disk at the latest two seconds after they were printed. Refused rows go, with the reason, to
/// <suite>.refused. Throws Error in these cases:
/// - a machine without a GPU, or a board without a sheet;
/// - an unknown suite, or a named suite whose needs are missing (a group leaves such suites out);
/// - nothing at all can be recorded;
/// - a folder that cannot be written. Rows written before stay.
[[nodiscard]] RecordResult record(const RecordOptions& options);

}  // namespace warptime::validate::record
