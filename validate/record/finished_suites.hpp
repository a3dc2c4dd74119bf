// Which suites have been recorded to their end.
// A resumed run need not start these suites to find out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace warptime::validate::record {

/// The list in `output`/finished.txt, one line a suite: name, fingerprint of the measuring code, rows.
class FinishedSuites {
  public:
    /// Also takes the lists in `others`, where these are folders with such a file.
    FinishedSuites(const std::filesystem::path& output, const std::vector<std::filesystem::path>& others);

    /// False when the measuring code has changed, or when rows have been lost since.
    [[nodiscard]] bool has(const std::string& suite, const std::string& fingerprint, std::size_t rows) const;
    /// Writes the file anew; throws Error when it cannot.
    void add(const std::string& suite, const std::string& fingerprint, std::size_t rows);

  private:
    void learn(const std::filesystem::path& file);

    std::filesystem::path file_;
    std::map<std::string, std::pair<std::string, std::size_t>> suites_;
};

}  // namespace warptime::validate::record
