// SPDX-License-Identifier: Apache-2.0
#include "bindings/steps/step_file.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "workloads/csv.hpp"
#include "workloads/frontends/traces/gunzip.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

namespace warptime::steps {

namespace {

using nlohmann::json;

constexpr std::string_view schema = "warptime-step-1";

/// "16777216@0": bytes, and those touched since.
Near near_of(const std::string& word, const std::string& owner) {
    const std::size_t at = word.find('@');
    const auto number = [&](std::size_t from, std::size_t to, double& value) {
        const char* end = word.data() + to;
        const auto read = std::from_chars(word.data() + from, end, value);
        return read.ec == std::errc{} && read.ptr == end && value >= 0.0 && value <= 1e16;
    };
    Near near;
    if (at == std::string::npos || !number(0, at, near.bytes) || !number(at + 1, word.size(), near.since)) {
        throw Error(owner + " near", word, "BYTES@SINCE, each a number from 0 to 1e16");
    }
    return near;
}

/// A cell or value of a row. Labels go to their fields, all others are the operator's.
void take(FileRow& row, const std::string& column, std::string text, const std::string& name) {
    if (text.empty()) return;
    const auto own = [&](std::string_view field) { return column == field; };
    if (own("id")) {
        row.id = std::move(text);
    } else if (own("op")) {
        row.op = std::move(text);
    } else if (own("stream")) {
        row.stream = std::move(text);
    } else if (own("module")) {
        row.module = std::move(text);
    } else if (own("phase")) {
        row.phase = std::move(text);
    } else if (own("after")) {
        std::istringstream words(text);
        for (std::string id; words >> id;) row.after.push_back(id);
    } else if (own("near")) {
        std::istringstream words(text);
        for (std::string word; words >> word;) row.near.push_back(near_of(word, owner_of(row, name)));
    } else if (own("repeat")) {
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, row.repeat);
        constexpr std::int64_t most = 1'000'000'000;
        if (read.ec != std::errc{} || read.ptr != end || row.repeat < 1 || row.repeat > most) {
            throw Error(owner_of(row, name) + " repeat", text,
                        fmt::format("a whole number from 1 to {}", most));
        }
    } else if (column.front() != '_') {  // such columns pass through a batch, too
        row.parameters.emplace(column, std::move(text));
    }
}

std::string text_of(const json& value, const std::string& owner) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
    if (value.is_number_float()) {
        const double number = value.get<double>();
        constexpr double exact = 9007199254740992.0;  // 2^53
        const bool whole = std::abs(number) < exact && number == std::floor(number);
        return whole ? fmt::format("{:.0f}", number) : fmt::format("{}", number);
    }
    if (value.is_number()) return value.dump();
    if (value.is_null()) return "";
    throw Error(owner, value.dump(), "a text, a number or null");
}

/// Ids that a JSON row waits for may be a list, too.
std::string ids_of(const json& value, const std::string& owner) {
    if (!value.is_array()) return text_of(value, owner);
    std::string ids;
    for (const json& id : value) ids += text_of(id, owner) + " ";
    return ids;
}

/// A field of the file itself; `expected` names its form in errors.
template <class Value>
Value field_of(const json& document, const char* key, Value otherwise, const std::string& name,
               const char* expected) {
    if (!document.contains(key)) return otherwise;
    try {
        return document[key].get<Value>();
    } catch (const json::type_error&) {
        throw Error(fmt::format("{} {}", name, key), document[key].dump(), expected);
    }
}

StepFile from_json(std::string_view text, const std::string& name) {
    const json document = [&] {
        try {
            return json::parse(text);
        } catch (const json::parse_error& error) {
            throw Error(name, fmt::format("broken JSON at byte {}", error.byte),
                        "a step file in JSON or CSV");
        }
    }();
    StepFile file;
    const json* rows = &document;
    if (document.is_object()) {
        const auto given = field_of(document, "schema", std::string(), name, "warptime-step-1");
        if (given != schema) throw Error(name + " schema", given, std::string(schema));
        if (!document.contains("rows")) throw Error(name + " rows", "", "the rows of the step");
        rows = &document["rows"];
        file.name = field_of(document, "name", std::string(), name, "a text");
        const auto about = field_of(document, "about", json::object(), name, "an object");
        if (about.is_object() && about.contains("torch")) file.host = "torch";
        file.memory_bytes = field_of(document, "memory_bytes", std::int64_t{0}, name, "a whole number");
    }
    if (!rows->is_array()) throw Error(name + " rows", rows->type_name(), "a list of rows");
    for (const json& given : *rows) {
        FileRow row;
        row.id = fmt::format("{}", file.rows.size() + 1);
        const std::string owner = owner_of(row, name);
        if (!given.is_object()) throw Error(owner, given.dump(), "an object");
        for (const auto& [column, value] : given.items()) {
            if (column.empty()) throw Error(owner, "a value without a name", "the name of a parameter");
            const std::string of_value = fmt::format("{} {}", owner, column);
            take(row, column, column == "after" ? ids_of(value, of_value) : text_of(value, of_value), name);
        }
        file.rows.push_back(std::move(row));
    }
    return file;
}

StepFile from_csv(std::string_view text, const std::string& name) {
    std::istringstream stream{std::string(text)};
    workloads::CsvReader reader(stream, name);
    workloads::CsvRecord header, record;
    StepFile file;
    if (!reader.next(header)) return file;
    for (std::size_t i = 0; i < header.size(); ++i) {
        if (header[i].empty())
            throw Error(reader.where(), "a column without a name", "a name for each column");
        if (std::count(header.begin(), header.end(), header[i]) > 1) {
            throw Error(reader.where(), header[i], "each column once");
        }
    }
    if (std::find(header.begin(), header.end(), "op") == header.end()) {
        throw Error(reader.where(), "no column op", "a column op, which names the operator of a row");
    }
    while (reader.next(record)) {
        if (record.size() != header.size()) {
            throw Error(reader.where(), fmt::format("{} fields", record.size()),
                        fmt::format("{}, as the header has", header.size()));
        }
        FileRow row;
        row.id = fmt::format("{}", file.rows.size() + 1);
        for (std::size_t i = 0; i < header.size(); ++i) take(row, header[i], record[i], name);
        file.rows.push_back(std::move(row));
    }
    return file;
}

void check(const StepFile& file, const std::string& name) {
    if (file.rows.empty()) throw Error(name, "no rows", "a step of one row or more");
    std::set<std::string_view> ids;
    for (const FileRow& row : file.rows) {
        if (row.op.empty()) throw Error(owner_of(row, name) + " op", "", "an operator, or unknown");
        if (!ids.insert(row.id).second) throw Error(name + " id", row.id, "each id once");
    }
    for (const FileRow& row : file.rows) {
        for (const std::string& id : row.after) {
            if (ids.find(id) != ids.end()) continue;
            const std::vector<std::string_view> known(ids.begin(), ids.end());
            throw Error(owner_of(row, name) + " after", id, hw::expected_names(id, known));
        }
    }
}

}  // namespace

std::string owner_of(const FileRow& row, const std::string& name) {
    return fmt::format("{} row {}", name, row.id);
}

StepFile read_step(std::string_view bytes, const std::string& name) {
    std::string unpacked;
    if (workloads::traces::is_gzip(bytes)) {
        unpacked = workloads::traces::gunzip(bytes, name);
        bytes = unpacked;
    }
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[');
    StepFile file = is_json ? from_json(bytes, name) : from_csv(bytes, name);
    check(file, name);
    return file;
}

}  // namespace warptime::steps
