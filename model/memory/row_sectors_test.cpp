// SPDX-License-Identifier: Apache-2.0
#include "model/memory/row_sectors.hpp"

#include <doctest/doctest.h>

namespace warptime::model::memory {
namespace {

/// Units of `unit` bytes that rows of `row` bytes touch, counted row by row over one period of the pitch.
double counted(std::int64_t row, std::int64_t pitch, std::int64_t unit) {
    double touched = 0.0;
    const std::int64_t rows = unit;  // after so many rows every pitch is back on a boundary
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t first = r * pitch / unit;
        const std::int64_t last = (r * pitch + row - 1) / unit;
        touched += static_cast<double>(last - first + 1);
    }
    return touched / static_cast<double>(rows);
}

}  // namespace

TEST_CASE("rows touch as many lines as counting them one by one finds") {
    for (const std::int64_t pitch : {16, 32, 48, 64, 128, 144, 8192, 10000, 3008}) {
        CAPTURE(pitch);
        CHECK(lines_per_row(128.0, pitch, 128.0) == doctest::Approx(counted(128, pitch, 128)));
        CHECK(sector_bytes_per_row(128.0, pitch, 32.0) / 32.0 == doctest::Approx(counted(128, pitch, 32)));
    }
    CHECK(lines_per_row(16.0, 128, 128.0) == 1.0);  // never less than one
}

}  // namespace warptime::model::memory
