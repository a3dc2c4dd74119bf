// Which suites have been recorded to their end, so that a resumed run need not start them to find out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace warptime::validate::record {

/// Kept in `output`/finished.txt, one line a suite: its name, the fingerprint of what measured it, its rows.
class FinishedSuites {
  public:
    /// Also believes the files of `others`, where those are folders that have one.
    FinishedSuites(const std::filesystem::path& output, const std::vector<std::filesystem::path>& others);

    /// Not when what measures it has changed, nor when rows have been lost since.
    [[nodiscard]] bool has(const std::string& suite, const std::string& fingerprint, std::size_t rows) const;
    /// Writes the file anew; throws Error when it cannot.
    void add(const std::string& suite, const std::string& fingerprint, std::size_t rows);

  private:
    void learn(const std::filesystem::path& file);

    std::filesystem::path file_;
    std::map<std::string, std::pair<std::string, std::size_t>> suites_;
};

}  // namespace warptime::validate::record
