// Reads and writes finished.txt, the list of suites that have been recorded to their end.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/finished_suites.hpp"

#include "validate/replace_file.hpp"

#include <fmt/format.h>

#include <fstream>

namespace warptime::validate::record {

namespace fs = std::filesystem;

FinishedSuites::FinishedSuites(const fs::path& output, const std::vector<fs::path>& others)
    : file_(output / "finished.txt") {
    for (const fs::path& other : others) learn(other / "finished.txt");
    learn(file_);
}

void FinishedSuites::learn(const fs::path& file) {
    std::ifstream in(file);
    std::string suite;
    std::string fingerprint;
    std::size_t rows = 0;
    while (in >> suite >> fingerprint >> rows) suites_[suite] = {fingerprint, rows};
}

bool FinishedSuites::has(const std::string& suite, const std::string& fingerprint, std::size_t rows) const {
    const auto found = suites_.find(suite);
    return found != suites_.end() && found->second.first == fingerprint && rows >= found->second.second;
}

void FinishedSuites::add(const std::string& suite, const std::string& fingerprint, std::size_t rows) {
    suites_[suite] = {fingerprint, rows};
    std::string text;
    for (const auto& [name, what] : suites_) text += fmt::format("{} {} {}\n", name, what.first, what.second);
    replace_file(file_, text);
}

}  // namespace warptime::validate::record
