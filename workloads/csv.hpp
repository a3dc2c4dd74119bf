// Reads and writes comma-separated text (RFC 4180) one record at a time, in constant memory.
// Ignores: separators other than the comma, and character sets other than UTF-8.
// Source: RFC 4180; RFC 3629.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads {

/// One record; the reader refills it, so its strings keep their memory.
using CsvRecord = std::vector<std::string>;

/// Limits on a reader's memory: an unclosed quote must not read a whole file.
struct CsvLimits {
    std::size_t field_bytes = std::size_t{1} << 16;
    std::size_t record_bytes = std::size_t{1} << 20;
    std::size_t fields = 4096;
};

/// Reads records with quotes, doubled quotes, line breaks inside quotes, LF or CRLF. Skips empty lines and a
/// byte-order mark at the start. Throws Error naming `name` and the line for broken quotes and a stray
/// carriage return. It does the same for text that is not UTF-8 or holds NUL. Fields and records beyond the
/// limits are errors, too.
class CsvReader {
  public:
    /// `name` is the owner in errors: a file's name as the user gave it. The stream must outlive the reader.
    CsvReader(std::istream& in, std::string name, CsvLimits limits = {});

    /// False at the end of the text.
    [[nodiscard]] bool next(CsvRecord& record);
    /// Line, from 1, at which the last record begins.
    [[nodiscard]] std::int64_t line() const { return record_line_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// The owner of an error in the last record, as "cases.csv line 12".
    [[nodiscard]] std::string where() const;

  private:
    static constexpr int end_of_text = -1;

    [[nodiscard]] int peek();
    int take();
    void read_quoted(std::string& field);
    void read_plain(std::string& field);
    void append(std::string& field, char c);
    void check_utf8(std::string_view field, std::int64_t first_line) const;
    [[noreturn]] void fail(std::int64_t line, std::string value, std::string expected) const;

    std::istream* in_;
    std::string name_;
    CsvLimits limits_;
    std::vector<char> buffer_;
    std::size_t position_ = 0;
    std::size_t filled_ = 0;
    std::size_t record_bytes_ = 0;
    std::int64_t line_ = 1;
    std::int64_t record_line_ = 0;
};

/// A text whose first record names the columns. Throws Error when the text is empty, a name is empty or a
/// name comes twice. The caller must refuse a record with another number of fields (`record.size()`).
class CsvTable {
  public:
    CsvTable(std::istream& in, std::string name, CsvLimits limits = {});

    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    [[nodiscard]] const CsvRecord& columns() const { return columns_; }
    /// Index of a column; npos when there is none.
    [[nodiscard]] std::size_t find(std::string_view column) const;
    /// Index of a column. Throws Error naming the file and the column when it is missing.
    [[nodiscard]] std::size_t require(std::string_view column) const;
    [[nodiscard]] bool next(CsvRecord& record) { return reader_.next(record); }
    [[nodiscard]] const CsvReader& reader() const { return reader_; }

  private:
    CsvReader reader_;
    CsvRecord columns_;
};

/// Appends one field, with quotes only where RFC 4180 needs them (comma, quote, line break, or blank at an
/// edge).
void append_csv_field(std::string& out, std::string_view field);
/// Appends the fields of a record and a line feed.
void append_csv_record(std::string& out, const CsvRecord& record);

/// Offset of the first byte that is not well-formed UTF-8 or is NUL; npos when there is none.
[[nodiscard]] std::size_t find_invalid_utf8(std::string_view text);

}  // namespace warptime::workloads
