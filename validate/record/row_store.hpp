// The rows of a recording: rows already on disk and added rows, written whole or not at all.
// Ignores: how rows are measured.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/recorded_rows.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::validate::record {

/// One row as a recorder printed it.
struct FreshRow {
    RecordedRow row;
    std::string line;  ///< without its end
};

/// Reads one printed line. Throws Error when the line is no row of the schema.
[[nodiscard]] FreshRow parse_row(std::string_view line, const std::string& from);
/// The first line of a file of rows, without its end.
[[nodiscard]] std::string header_line();
/// What the rows of one case share, and a probe asks about: op, parameters, cache, duty and data.
[[nodiscard]] std::string case_of(const RecordedRow& row);

class RowStore {
  public:
    /// Knows the rows of this GPU in `output` and in `others` (folders or files; each may be missing).
    /// Without a GPU name, the store knows no rows. Throws Error for a file that is not understood, because
    /// recording over the file would lose rows.
    RowStore(std::filesystem::path output, const std::vector<std::filesystem::path>& others, std::string gpu);

    /// False when the same measurement is already there.
    bool add(FreshRow row);
    /// Writes every file that has new rows (`output`/<suite>.csv), first to a temporary file. Throws Error
    /// naming the file. Then the old file stays, and so do the rows in memory.
    void write();

    [[nodiscard]] std::size_t rows_of(const std::string& suite) const;
    /// The text of the file that WARPTIME_SKIP names, one case a line.
    [[nodiscard]] std::string cases_of(const std::vector<std::string>& suites) const;
    /// A file of rows, in the form that the Python recorders resume from.
    [[nodiscard]] std::string text_of(const std::vector<std::string>& suites) const;
    [[nodiscard]] const std::filesystem::path& output() const { return output_; }
    /// All known rows, by suite.
    [[nodiscard]] std::vector<FreshRow> rows() const;

  private:
    void learn(const std::filesystem::path& path);
    void learn_file(const std::filesystem::path& path);

    struct Suite {
        std::vector<FreshRow> rows;  ///< all known rows
        std::string added;           ///< lines that are not yet in the suite's file
    };
    std::filesystem::path output_;
    std::string gpu_;
    std::map<std::string, Suite> suites_;
    std::set<std::string> identities_;
};

/// Copies the rows of one GPU in the folder `from` to the folder `to`. For a measurement that `to` knows,
/// `to` keeps its own row. Throws Error as RowStore does.
void add_new_rows(const std::filesystem::path& from, const std::filesystem::path& to, const std::string& gpu);

}  // namespace warptime::validate::record
