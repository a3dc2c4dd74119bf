// How well the measurement agrees with itself: rows recorded again on another day or in another file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/recorded_rows.hpp"

#include <optional>
#include <span>
#include <vector>

namespace warptime::validate {

struct NoiseFloor {
    std::size_t pairs = 0;
    double median_difference = 0.0;  ///< median |a - b| / ((a + b) / 2)
};

/// Rows of one suite in two parts. The first recording of each measurement (by date, then file and line) is
/// scored. Later recordings only tell the noise.
struct Recordings {
    std::vector<const RecordedRow*> first;  ///< in order of file and line
    std::size_t repeated = 0;               ///< later recordings
    std::optional<NoiseFloor> noise;        ///< nothing when no row was recorded again
};

/// Repeated rows of at least 10 us make the floor, where there are any. A row repeated in the same file on
/// the same day is no second recording.
[[nodiscard]] Recordings part_recordings(std::span<const RecordedRow* const> rows);

}  // namespace warptime::validate
