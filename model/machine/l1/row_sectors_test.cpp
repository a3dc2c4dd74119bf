// Sectors and lines of a box's rows, against a count row by row.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/row_sectors.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

namespace warptime::model::machine {
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

TEST_CASE("rows off sectors are as many rows on sectors as pairs of lanes find sectors of their own") {
    for (const std::int64_t row : {32, 64, 128}) {
        for (const std::int64_t pitch : {752, 768, 784, 800, 1040, 8208, 8256}) {
            // Sectors of each pair of lanes, row by row over one period of the pitch.
            double sectors = 0.0;
            constexpr std::int64_t rows = 32;
            for (std::int64_t r = 0; r < rows; ++r) {
                for (std::int64_t lane = 0; lane < row / 16; lane += 2) {
                    const std::int64_t first = r * pitch + 16 * lane;
                    sectors += first / 32 == (first + 16) / 32 ? 1.0 : 2.0;
                }
            }
            CAPTURE(row);
            CAPTURE(pitch);
            const auto bytes = static_cast<double>(row);
            CHECK(rows_on_sectors(bytes, pitch, 32.0) * bytes / 32.0 == doctest::Approx(sectors / rows));
        }
    }
    CHECK(rows_on_sectors(16.0, 752, 32.0) == 1.0);  // a lane alone
}

TEST_CASE("sectors that spans of bulk stores write in part count twice, byte by byte") {
    constexpr std::int64_t sector = 32, span = 128;
    for (const std::int64_t pitch : {16, 32, 48, 128, 144, 416, 22768}) {
        for (const std::int64_t row : {64, 128, 384}) {
            double taken = 0.0;
            for (std::int64_t r = 0; r < sector; ++r) {
                for (std::int64_t begin = r * pitch; begin < r * pitch + row; begin += span) {
                    const std::int64_t end = std::min(begin + span, r * pitch + row);
                    for (std::int64_t s = begin / sector; s * sector < end; ++s) {
                        const bool whole = begin <= s * sector && (s + 1) * sector <= end;
                        taken += whole ? 1.0 : 2.0;
                    }
                }
            }
            const double said = stored_per_byte(static_cast<double>(row), pitch, sector, span);
            CAPTURE(pitch);
            CAPTURE(row);
            CHECK(said == doctest::Approx(taken * sector / static_cast<double>(sector * row)));
        }
    }
    // Rows that leave at once touch each sector once.
    CHECK(stored_per_byte(128.0, 144, 32.0, 0.0) == doctest::Approx(144.0 / 128.0));
}

}  // namespace warptime::model::machine
