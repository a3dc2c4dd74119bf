// Records suites on the GPU of this machine within a budget: compiles, runs, checks and keeps, and goes on
// later where it stopped. Ignores: what the rows are for.
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

/// Rows are on disk at the latest two seconds after they were printed; refused ones go, with the reason, to
/// <suite>.refused. Throws Error for a machine without a GPU, a board without a sheet, an unknown suite, a
/// named suite whose needs are missing (a group leaves such suites out), when nothing at all can be recorded,
/// and for a folder that cannot be written; rows written before stay.
[[nodiscard]] RecordResult record(const RecordOptions& options);

}  // namespace warptime::validate::record
