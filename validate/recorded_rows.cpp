// Strict reading of recorded rows, because a row that is half understood would be a wrong figure later.
// SPDX-License-Identifier: Apache-2.0
#include "validate/recorded_rows.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "validate/recorded_params.hpp"
#include "workloads/operator/parameter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

namespace warptime::validate {
namespace {

namespace fs = std::filesystem;

enum class Empty { refused, is_nan };

/// One record with the means to name what is wrong in it.
class Fields {
  public:
    Fields(const workloads::CsvTable& table, const std::array<std::size_t, recorded_columns.size()>& at,
           const workloads::CsvRecord& record)
        : table_(&table), at_(&at), record_(&record) {}

    [[nodiscard]] const std::string& text(std::string_view column) const {
        const auto found = std::find(recorded_columns.begin(), recorded_columns.end(), column);
        return (*record_)[(*at_)[static_cast<std::size_t>(found - recorded_columns.begin())]];
    }

    /// Of an optional column; empty where the file does not have it.
    [[nodiscard]] std::string text_if_there(std::string_view column) const {
        const auto& columns = table_->columns();
        const auto found = std::find(columns.begin(), columns.end(), column);
        return found == columns.end() ? std::string()
                                      : (*record_)[static_cast<std::size_t>(found - columns.begin())];
    }

    [[nodiscard]] const std::string& required(std::string_view column) const {
        const std::string& value = text(column);
        if (value.empty()) fail(column, "text");
        return value;
    }

    [[nodiscard]] double number(std::string_view column, Empty empty = Empty::refused) const {
        const std::string& value = text(column);
        if (value.empty() && empty == Empty::is_nan) return std::numeric_limits<double>::quiet_NaN();
        double parsed = 0.0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
        if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(parsed) ||
            parsed < 0.0) {
            fail(column, "a number of at least 0");
        }
        return parsed;
    }

    [[noreturn]] void fail(std::string_view column, std::string expected) const {
        throw Error(where(column), text(column), std::move(expected));
    }

    [[nodiscard]] std::string where(std::string_view column) const {
        return fmt::format("{} column {}", table_->reader().where(), column);
    }

  private:
    const workloads::CsvTable* table_;
    const std::array<std::size_t, recorded_columns.size()>* at_;
    const workloads::CsvRecord* record_;
};

bool is_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    for (const std::size_t i : {0U, 1U, 2U, 3U, 5U, 6U, 8U, 9U}) {
        if (text[i] < '0' || text[i] > '9') return false;
    }
    const std::string_view month = text.substr(5, 2);
    const std::string_view day = text.substr(8, 2);
    return month >= "01" && month <= "12" && day >= "01" && day <= "31";
}

RecordedRow row_of(const Fields& fields) {
    RecordedRow row;
    row.suite = fields.required("suite");
    row.op = fields.required("op");
    row.params = fields.text("params");
    row.implementation = fields.text("implementation");
    row.gpu = fields.required("gpu");
    row.cache = fields.text("cache");
    row.duty = fields.text("duty");
    row.data = fields.text("data");
    row.quantity = fields.required("quantity");
    row.value = fields.number("value");
    row.unit = fields.required("unit");
    const double samples = fields.number("samples");
    if (samples < 1.0 || samples > 1e9 || samples != std::floor(samples)) {
        fields.fail("samples", "a whole number of at least 1");
    }
    row.samples = static_cast<int>(samples);
    row.minimum = fields.number("minimum", Empty::is_nan);
    row.spread = fields.number("spread", Empty::is_nan);
    row.method = fields.text("method");
    row.steps = fields.text("steps");
    row.sm_clock_mhz = fields.number("sm_clock_mhz", Empty::is_nan);
    row.mem_clock_mhz = fields.number("mem_clock_mhz", Empty::is_nan);
    row.kernel_clock_mhz = fields.number("kernel_clock_mhz", Empty::is_nan);
    row.driver = fields.text("driver");
    row.cuda = fields.text("cuda");
    row.library = fields.text("library");
    row.board = fields.text("board");
    row.between = fields.text_if_there("between");
    if (!row.between.empty() && row.cache != "warm") {
        throw Error(fields.where("between"), row.between, "nothing, unless cache is warm");
    }
    row.in_turn = fields.text_if_there("in_turn");
    if (!row.in_turn.empty() && row.between.empty()) {
        throw Error(fields.where("in_turn"), row.in_turn, "nothing, unless between says what comes between");
    }
    if (const std::string nodes = fields.text_if_there("graph_nodes"); !nodes.empty()) {
        if (row.quantity != "interval_us") {
            throw Error(fields.where("graph_nodes"), nodes, "nothing, unless the quantity is interval_us");
        }
        row.graph_nodes = workloads::parse_size(nodes, fields.where("graph_nodes"));
    }
    row.date = fields.required("date");
    if (!is_date(row.date)) fields.fail("date", "a date as 2026-01-31");
    try {
        static_cast<void>(parse_params(row.params));
    } catch (const Error& error) {
        fields.fail("params", error.expected());
    }
    if (row.quantity == "kernel_us" || row.quantity == "interval_us") {
        if (row.unit != "us") fields.fail("unit", "us for quantity " + row.quantity);
        if (row.value <= 0.0) fields.fail("value", "a duration above 0");
    }
    return row;
}

std::array<std::size_t, recorded_columns.size()> find_columns(const workloads::CsvTable& table) {
    for (const std::string& column : table.columns()) {
        const bool known =
            std::find(recorded_columns.begin(), recorded_columns.end(), column) != recorded_columns.end() ||
            std::find(optional_columns.begin(), optional_columns.end(), column) != optional_columns.end();
        if (!known) {
            throw Error(table.reader().where() + " column", column,
                        hw::expected_names(column, recorded_columns));
        }
    }
    std::array<std::size_t, recorded_columns.size()> at{};
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = table.require(recorded_columns[i]);
    return at;
}

std::vector<fs::path> sorted_entries(const fs::path& directory) {
    std::vector<fs::path> entries;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory))
        entries.push_back(entry.path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

void read_file(const fs::path& path, const std::string& name, const std::string& gpu, RecordedRows& rows) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error("recorded rows", path.string(), "a file that can be read");
    const std::size_t before = rows.rows.size();
    read_rows(in, name, rows);
    for (std::size_t i = before; i < rows.rows.size() && !gpu.empty(); ++i) {
        const RecordedRow& row = rows.rows[i];
        if (row.gpu != gpu) {
            throw Error(fmt::format("{} line {} column gpu", row.file, row.line), row.gpu,
                        "the name of its folder, " + gpu);
        }
    }
}

}  // namespace

void read_rows(std::istream& in, const std::string& name, RecordedRows& rows) {
    workloads::CsvTable table(in, name);
    const auto at = find_columns(table);
    workloads::CsvRecord record;
    while (table.next(record)) {
        if (record.size() != table.columns().size()) {
            throw Error(table.reader().where(), fmt::format("{} fields", record.size()),
                        fmt::format("{} as in the first line", table.columns().size()));
        }
        rows.rows.push_back(row_of(Fields(table, at, record)));
        rows.rows.back().file = name;
        rows.rows.back().line = table.reader().line();
    }
    rows.files.push_back(name);
}

RecordedRows read_recorded(const fs::path& directory) {
    if (!fs::is_directory(directory)) {
        throw Error("--data", directory.string(), "a folder with recorded rows");
    }
    RecordedRows rows;
    for (const fs::path& entry : sorted_entries(directory)) {
        if (fs::is_directory(entry)) {
            const std::string gpu = entry.filename().string();
            for (const fs::path& file : sorted_entries(entry)) {
                if (file.extension() != ".csv") continue;
                read_file(file, gpu + "/" + file.filename().string(), gpu, rows);
            }
        } else if (entry.extension() == ".csv") {
            read_file(entry, entry.filename().string(), "", rows);
        }
    }
    return rows;
}

namespace {

/// Where an installation keeps recorded rows: beside bin/warptime, in share/warptime/recorded. Empty where
/// the system does not say which program runs.
fs::path installed_folder() {
    std::error_code failure;
    const fs::path program = fs::read_symlink("/proc/self/exe", failure);
    if (failure) return {};
    return program.parent_path().parent_path() / "share" / "warptime" / "recorded";
}

}  // namespace

fs::path find_recorded(const fs::path& data) {
    if (!data.empty()) return data;
    fs::path here = fs::path("validate") / "recorded";
    if (fs::is_directory(here)) return here;
    fs::path installed = installed_folder();
    if (!installed.empty() && fs::is_directory(installed)) return installed;
    fs::path source = fs::path(WARPTIME_VALIDATE_DIR) / "recorded";
    if (fs::is_directory(source)) return source;
    throw Error("--data", "",
                fmt::format("a folder with recorded rows (none of {}, {} and {} is there)", here.string(),
                            installed.string(), source.string()));
}

std::string identity_of(const RecordedRow& row) {
    return fmt::format("{}\n{} {}\n{}\n{}\n{}\n{}\n{}\n{}{}{}{}{}", row.suite, row.op, row.params,
                       row.implementation, row.gpu, row.cache, row.duty, row.data, row.quantity,
                       row.between.empty() ? "" : "\n", row.between, row.in_turn.empty() ? "" : "\n",
                       row.in_turn);
}

}  // namespace warptime::validate
