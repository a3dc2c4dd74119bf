// The file of a sweep: rows are appended in order, and a killed sweep goes on behind its last whole row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/sweeps/grid.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace warptime::sweeps {

class RowsFile {
  public:
    /// Opens the file and writes the header, or with `resume` finds what it already holds. A last row that
    /// was cut off is dropped. Throws Error for a file that holds something and is not to be resumed, for
    /// rows of another sweep, and for a file that another sweep is writing. "-" is stdout.
    RowsFile(std::string path, const Grid& grid, bool resume);
    /// Points whose rows the file had when it was opened; they are the first points of the grid.
    [[nodiscard]] std::uint64_t done() const { return done_; }
    /// The last of these rows, with its line feed.
    [[nodiscard]] const std::string& last() const { return last_; }
    /// How many of these rows have an error.
    [[nodiscard]] std::uint64_t failed() const { return failed_; }

    /// Appends whole rows and hands them to the system. Throws Error if that fails.
    void append(std::string_view rows);

  private:
    void open_regular(const Grid& grid, bool resume);
    /// Reads the rows and returns where the last whole one ends.
    std::uint64_t scan(const Grid& grid);
    [[noreturn]] void fail(std::string expected) const;

    std::string path_;
    struct Close {
        void operator()(std::FILE* file) const;
    };
    std::unique_ptr<std::FILE, Close> file_;
    std::uint64_t done_ = 0;
    std::uint64_t failed_ = 0;
    std::string last_;
};

}  // namespace warptime::sweeps
