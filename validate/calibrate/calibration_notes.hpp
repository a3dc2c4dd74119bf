// Notes of a calibration beside its numbers: the rows behind ROWS, and the keys that rows leave open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/calibration_file.hpp"
#include "validate/recorded_rows.hpp"

#include <span>
#include <string>
#include <vector>

namespace warptime::validate::calibrate {

/// A key that stays as it was.
struct Undetermined {
    std::string key;
    std::string why;
    std::string kept;  ///< "inherited h200-sxm"
};

/// `text` with ROWS in its [sources] replaced by board, driver, CUDA and days of these rows.
[[nodiscard]] std::string with_rows_source(const std::string& text, const std::string& gpu,
                                           std::span<const RecordedRow* const> rows);

/// `text` with one comment a key at its end, "# undetermined KEY: why; kept ...". Old comments go away for
/// keys that are now determined or named again.
[[nodiscard]] std::string mark_undetermined(const std::string& text,
                                            std::span<const CalibrationEntry> determined,
                                            std::span<const Undetermined> undetermined);

}  // namespace warptime::validate::calibrate
