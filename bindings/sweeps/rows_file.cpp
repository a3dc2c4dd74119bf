// Compares the rows of a file with the points of the grid, since a file of another sweep must not be
// continued.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/sweeps/rows_file.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace warptime::sweeps {

namespace {

namespace fs = std::filesystem;

/// Records of a CSV file with their line feeds; a line feed in quotes belongs to its record.
class RecordReader {
  public:
    explicit RecordReader(std::FILE* file) : file_(file), buffer_(std::size_t{1} << 18) {}

    /// False at the end of the file. A last record without line feed is not given.
    bool next(std::string& record) {
        record.clear();
        bool quoted = false;
        for (;;) {
            if (at_ == filled_) {
                filled_ = std::fread(buffer_.data(), 1, buffer_.size(), file_);
                at_ = 0;
                if (filled_ == 0) return false;
            }
            const char c = buffer_[at_++];
            record += c;
            quoted = (c == '"') != quoted;
            if (c == '\n' && !quoted) {
                end_ += record.size();
                return true;
            }
        }
    }
    /// Bytes of the records given so far.
    [[nodiscard]] std::uint64_t end() const { return end_; }

  private:
    std::FILE* file_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
    std::uint64_t end_ = 0;
};

}  // namespace

RowsFile::RowsFile(std::string path, const Grid& grid, bool resume) : path_(std::move(path)) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path_, ignored);
    if (path_ == "-" || (fs::exists(status) && !fs::is_regular_file(status))) {
        if (fs::is_directory(status)) fail("a file, not a folder");
        if (resume) fail("a file that can hold the rows of an earlier run, to resume");
        file_.reset(path_ == "-" ? stdout : std::fopen(path_.c_str(), "wb"));
        if (file_ == nullptr) fail("a device or pipe that can be written");
        append(grid.header() + "\n");
        return;
    }
    open_regular(grid, resume);
}

void RowsFile::open_regular(const Grid& grid, bool resume) {
    const int descriptor = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    file_.reset(descriptor < 0 ? nullptr : ::fdopen(descriptor, "r+b"));
    if (file_ == nullptr) {
        if (descriptor >= 0) ::close(descriptor);
        fail("a file in a folder that can be written");
    }
    // Freed with the file, or when the program is killed.
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) fail("a file that no other sweep is writing");
    const bool is_empty = std::fgetc(file_.get()) == EOF;
    if (!is_empty && !resume) fail("a file that does not exist yet, or --resume to go on with it");
    std::rewind(file_.get());
    const std::uint64_t end = is_empty ? 0 : scan(grid);
    if (::ftruncate(descriptor, static_cast<off_t>(end)) != 0 ||
        std::fseek(file_.get(), static_cast<long>(end), SEEK_SET) != 0) {
        fail("a file that can be cut to its whole rows");
    }
    if (end == 0) append(grid.header() + "\n");
}

std::uint64_t RowsFile::scan(const Grid& grid) {
    RecordReader reader(file_.get());
    std::string record;
    if (!reader.next(record)) {
        // A header that was cut off.
        if (!(grid.header() + "\n").starts_with(record)) fail("rows of this sweep");
        return 0;
    }
    const std::string header = grid.header() + "\n";
    if (record != header) {
        fail(fmt::format("rows of this sweep, whose columns are {}", grid.header()));
    }
    std::string cells;
    while (reader.next(record)) {
        if (done_ == grid.points()) {
            fail(fmt::format("at most the {} rows of this sweep", grid.points()));
        }
        cells.clear();
        grid.append_cells(cells, done_);
        if (!record.starts_with(cells)) {
            fail(fmt::format("rows of this sweep, whose row {} begins with {}", done_ + 1, cells));
        }
        ++done_;
        failed_ += record.ends_with(",\n") ? 0U : 1U;
        last_ = record;
    }
    return reader.end();
}

void RowsFile::Close::operator()(std::FILE* file) const {
    if (file != stdout) std::fclose(file);
}

void RowsFile::fail(std::string expected) const {
    throw Error("output", path_, std::move(expected));
}

void RowsFile::append(std::string_view rows) {
    if (std::fwrite(rows.data(), 1, rows.size(), file_.get()) != rows.size() ||
        std::fflush(file_.get()) != 0) {
        fail("a file with room to write");
    }
}

}  // namespace warptime::sweeps
