// Writes a calibration's notes as lines of text, in the way of calibration_file.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate/calibration_notes.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>

namespace warptime::validate::calibrate {
namespace {

constexpr std::string_view mark = "# undetermined ";

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

std::string list(const std::set<std::string>& words) {
    return fmt::format("{}", fmt::join(words, " and "));
}

}  // namespace

std::string with_rows_source(const std::string& text, const std::string& gpu,
                             std::span<const RecordedRow* const> rows) {
    std::set<std::string> boards;
    std::set<std::string> drivers;
    std::set<std::string> versions;
    std::set<std::string> days;
    for (const RecordedRow* row : rows) {
        if (!row->board.empty()) boards.insert(row->board);
        if (!row->driver.empty()) drivers.insert(row->driver);
        if (!row->cuda.empty()) versions.insert(row->cuda);
        days.insert(row->date);
    }
    if (days.empty()) return text;
    const std::string when =
        *days.begin() == *days.rbegin() ? *days.begin() : *days.begin() + " to " + *days.rbegin();
    const std::string source = fmt::format(
        "ROWS = \"recorded rows of validate/recorded/{} ({}, driver {}, CUDA {}, {}), fit split only:\"", gpu,
        list(boards), list(drivers), list(versions), when);
    std::vector<std::string> lines = lines_of(text);
    std::size_t header = lines.size();
    std::size_t calibration_end = lines.size();
    bool in_calibration = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool is_header = !lines[i].empty() && lines[i].front() == '[';
        if (is_header && in_calibration && calibration_end == lines.size()) calibration_end = i;
        if (is_header) in_calibration = lines[i].rfind("[calibration]", 0) == 0;
        if (lines[i].rfind("[sources]", 0) == 0) header = i;
        if (lines[i].rfind("ROWS =", 0) == 0) {
            lines[i] = source;
            return joined(lines);
        }
    }
    if (header == lines.size()) {
        header = calibration_end;
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(header), {"[sources]", ""});
    }
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(header) + 1, source);
    return joined(lines);
}

std::string mark_undetermined(const std::string& text, std::span<const CalibrationEntry> determined,
                              std::span<const Undetermined> undetermined) {
    std::set<std::string> settled;
    for (const CalibrationEntry& entry : determined) settled.insert(entry.key);
    for (const Undetermined& open : undetermined) settled.insert(open.key);
    std::vector<std::string> kept;
    for (const std::string& line : lines_of(text)) {
        const bool is_mark = line.rfind(mark, 0) == 0;
        const std::string key = is_mark ? line.substr(mark.size(), line.find(':') - mark.size()) : "";
        if (!is_mark || settled.count(key) == 0) kept.push_back(line);
    }
    while (!kept.empty() && kept.back().empty()) kept.pop_back();
    bool first = kept.empty() || kept.back().rfind(mark, 0) != 0;
    for (const Undetermined& open : undetermined) {
        if (first) kept.emplace_back();
        first = false;
        kept.push_back(fmt::format("{}{}: {}; kept: {}", mark, open.key, open.why, open.kept));
    }
    return joined(kept);
}

}  // namespace warptime::validate::calibrate
