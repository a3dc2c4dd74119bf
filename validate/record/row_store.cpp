// Keeps recorded rows in files. Files are small (a suite has thousands of rows at most).
// So each file with new rows is written anew.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/row_store.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "validate/replace_file.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace warptime::validate::record {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string header_line() {
    return fmt::format("{}", fmt::join(recorded_columns, ","));
}

FreshRow parse_row(std::string_view line, const std::string& from) {
    std::istringstream in(fmt::format("{}\n{}\n", header_line(), line));
    RecordedRows rows;
    read_rows(in, from, rows);
    if (rows.rows.size() != 1) throw Error(from, std::string(line), "one row");
    return {std::move(rows.rows.front()), std::string(line)};
}

std::string case_of(const RecordedRow& row) {
    return fmt::format("{},{},{},{},{}", row.op, row.params, row.cache, row.duty, row.data);
}

RowStore::RowStore(fs::path output, const std::vector<fs::path>& others, std::string gpu)
    : output_(std::move(output)), gpu_(std::move(gpu)) {
    learn(output_);
    for (const fs::path& other : others) {
        if (!fs::exists(other)) throw Error("--resume", other.string(), "a folder with recorded rows");
        std::error_code ignored;
        if (!fs::equivalent(other, output_, ignored)) learn(other);
    }
}

void RowStore::learn(const fs::path& path) {
    if (fs::is_regular_file(path)) learn_file(path);
    if (!fs::is_directory(path)) return;
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
        if (entry.path().extension() == ".csv") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) learn_file(file);
    if (!gpu_.empty() && fs::is_directory(path / gpu_)) learn(path / gpu_);
}

void RowStore::learn_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error("recorded rows", path.string(), "a file that can be read");
    RecordedRows found;
    read_rows(in, path.string(), found);
    // Recorders that resume from text need the lines. The lines are written anew from the records.
    in.clear();
    in.seekg(0);
    workloads::CsvTable table(in, path.string());
    workloads::CsvRecord record;
    for (RecordedRow& row : found.rows) {
        static_cast<void>(table.next(record));
        if (row.gpu != gpu_ || !identities_.insert(identity_of(row)).second) continue;
        std::string line;
        workloads::CsvRecord ordered;
        for (const std::string_view column : recorded_columns)
            ordered.push_back(record[table.require(column)]);
        workloads::append_csv_record(line, ordered);
        line.pop_back();
        std::vector<FreshRow>& rows = suites_[row.suite].rows;
        rows.push_back({std::move(row), std::move(line)});
    }
}

bool RowStore::add(FreshRow row) {
    if (!identities_.insert(identity_of(row.row)).second) return false;
    Suite& suite = suites_[row.row.suite];
    suite.added += row.line + "\r\n";
    suite.rows.push_back(std::move(row));
    return true;
}

void RowStore::write() {
    std::error_code failure;
    fs::create_directories(output_, failure);
    if (failure) throw Error("--output", output_.string(), "a folder that can be written");
    for (auto& [name, suite] : suites_) {
        if (suite.added.empty()) continue;
        const fs::path path = output_ / (name + ".csv");
        std::string text = fs::exists(path) ? hw::read_text_file(path.string(), "--output") : std::string();
        if (text.empty()) text = header_line() + "\r\n";
        if (text.compare(0, header_line().size(), header_line()) != 0)
            throw Error("--output", path.string(), "the columns in this order: " + header_line());
        if (text.back() != '\n') text += "\r\n";
        replace_file(path, text + suite.added);
        suite.added.clear();
    }
}

std::size_t RowStore::rows_of(const std::string& suite) const {
    const auto found = suites_.find(suite);
    return found == suites_.end() ? 0 : found->second.rows.size();
}

std::string RowStore::cases_of(const std::vector<std::string>& suites) const {
    std::set<std::string> cases;
    for (const std::string& suite : suites) {
        const auto found = suites_.find(suite);
        if (found == suites_.end()) continue;
        for (const FreshRow& row : found->second.rows) cases.insert(case_of(row.row));
    }
    return fmt::format("{}{}", fmt::join(cases, "\n"), cases.empty() ? "" : "\n");
}

std::string RowStore::text_of(const std::vector<std::string>& suites) const {
    std::string text = header_line() + "\r\n";
    for (const std::string& suite : suites) {
        const auto found = suites_.find(suite);
        if (found == suites_.end()) continue;
        for (const FreshRow& row : found->second.rows) text += row.line + "\r\n";
    }
    return text;
}

std::vector<FreshRow> RowStore::rows() const {
    std::vector<FreshRow> rows;
    for (const auto& [name, suite] : suites_) rows.insert(rows.end(), suite.rows.begin(), suite.rows.end());
    return rows;
}

void add_new_rows(const fs::path& from, const fs::path& to, const std::string& gpu) {
    RowStore store(to, {}, gpu);
    for (FreshRow& row : RowStore(from, {}, gpu).rows()) store.add(std::move(row));
    store.write();
}

}  // namespace warptime::validate::record
