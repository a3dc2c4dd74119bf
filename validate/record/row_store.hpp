// The rows of a recording: what is already on disk, and what is added, written whole or not at all.
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

/// Reads one printed line; throws Error when it is no row of the schema.
[[nodiscard]] FreshRow parse_row(std::string_view line, const std::string& from);
/// The first line of a file of rows, without its end.
[[nodiscard]] std::string header_line();
/// What the rows of one case have in common, and a probe asks about: op, parameters, cache, duty and data.
[[nodiscard]] std::string case_of(const RecordedRow& row);

class RowStore {
  public:
    /// Knows the rows of `output` and of `others` (folders or files; each may be missing) that are of this
    /// GPU; none where it is not said. Throws Error for a file that is not understood: a row must not be lost
    /// by recording over it.
    RowStore(std::filesystem::path output, const std::vector<std::filesystem::path>& others, std::string gpu);

    /// False when the same measurement is there already.
    bool add(FreshRow row);
    /// Writes every file that has new rows (`output`/<suite>.csv), to a temporary file first. Throws Error
    /// naming the file; the old one then stays, and so do the rows in memory.
    void write();

    [[nodiscard]] std::size_t rows_of(const std::string& suite) const;
    /// For the file that WARPTIME_SKIP names, one case a line.
    [[nodiscard]] std::string cases_of(const std::vector<std::string>& suites) const;
    /// A file of rows, as the Python recorders resume from.
    [[nodiscard]] std::string text_of(const std::vector<std::string>& suites) const;
    [[nodiscard]] const std::filesystem::path& output() const { return output_; }
    /// All that are known, by suite.
    [[nodiscard]] std::vector<FreshRow> rows() const;

  private:
    void learn(const std::filesystem::path& path);
    void learn_file(const std::filesystem::path& path);

    struct Suite {
        std::vector<FreshRow> rows;  ///< all that are known
        std::string added;           ///< lines not yet in its file
    };
    std::filesystem::path output_;
    std::string gpu_;
    std::map<std::string, Suite> suites_;
    std::set<std::string> identities_;
};

/// Copies the rows of one GPU in the folder `from` to the folder `to`, which keeps its own row of a
/// measurement that it knows. Throws Error as RowStore does.
void add_new_rows(const std::filesystem::path& from, const std::filesystem::path& to, const std::string& gpu);

}  // namespace warptime::validate::record
