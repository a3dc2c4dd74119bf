// Works on lines, because a TOML writer would drop comments and order.
// SPDX-License-Identifier: Apache-2.0
#include "validate/calibration_file.hpp"

#include "hw/error.hpp"
#include "hw/toml_file.hpp"
#include "hw/trimmed.hpp"
#include "hw/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace warptime::validate {
namespace {

using hw::trimmed;

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    std::size_t from = 0;
    while (from < text.size()) {
        const std::size_t to = std::min(text.find('\n', from), text.size());
        lines.emplace_back(text.substr(from, to - from));
        from = to + 1;
    }
    return lines;
}

/// "[group]" gives "group"; other lines nothing.
std::string_view header_of(std::string_view line) {
    line = trimmed(line);
    const std::size_t close = line.find(']');
    if (line.empty() || line.front() != '[' || close == std::string_view::npos) return {};
    return trimmed(line.substr(1, close - 1));
}

/// "field = ..." gives "field"; comments and headers nothing.
std::string_view field_of(std::string_view line) {
    line = trimmed(line);
    const std::size_t equals = line.find('=');
    if (line.empty() || line.front() == '#' || line.front() == '[' || equals == std::string_view::npos)
        return {};
    return trimmed(line.substr(0, equals));
}

/// The text after the closing brace of an inline table: a comment. Throws when the line holds no whole table.
std::string_view after_table(std::string_view line, const std::string& key) {
    bool quoted = false;
    bool opened = false;
    for (std::size_t i = line.find('=') + 1; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '\\' && quoted) {
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && c == '{') {
            opened = true;
        } else if (!quoted && c == '}' && opened) {
            return line.substr(i + 1);
        } else if (!opened && c != ' ' && c != '\t') {
            break;
        }
    }
    throw Error("calibration " + key, std::string(line), "one line of the form field = { value = ..., ... }");
}

/// Six digits, because a fit is no more exact.
double rounded(double value) {
    if (value == 0.0 || !std::isfinite(value)) return value;
    const double unit = std::pow(10.0, 5.0 - std::floor(std::log10(std::abs(value))));
    return std::isfinite(unit) ? std::round(value * unit) / unit : value;
}

std::string quantity_text(double value, std::string_view unit) {
    const std::string text = hw::format_value(rounded(value), unit);
    return unit == "1" ? text : "\"" + text + "\"";
}

const hw::KeyInfo& fitted_key(const std::string& key) {
    const hw::KeyInfo& info = hw::key_info[hw::key_index(key)];
    if (info.kind != hw::KeyKind::fitted || info.list) {
        throw Error("calibration", key, "a fitted key with one value");
    }
    return info;
}

void update_one(std::vector<std::string>& lines, const CalibrationEntry& entry) {
    const std::size_t dot = entry.key.find('.');
    const std::string group = entry.key.substr(0, dot);
    const std::string field = entry.key.substr(dot + 1);
    std::string_view table;
    std::size_t end_of_group = 0;  // one past the group's last line with text; 0: no such group
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (const std::string_view header = header_of(lines[i]); !header.empty()) table = header;
        if (table == entry.key)
            throw Error("calibration", "[" + entry.key + "]", "an inline table in [" + group + "]");
        if (table != group) continue;
        if (field_of(lines[i]) == field) {
            const std::string comment(after_table(lines[i], entry.key));
            lines[i] = entry_line(entry) + comment;
            return;
        }
        if (!trimmed(lines[i]).empty() && trimmed(lines[i]).front() != '#') end_of_group = i + 1;
    }
    if (end_of_group == 0) {
        if (!lines.empty()) lines.emplace_back();
        lines.push_back("[" + group + "]");
        end_of_group = lines.size();
    }
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(end_of_group), entry_line(entry));
}

}  // namespace

std::string entry_line(const CalibrationEntry& entry) {
    const hw::KeyInfo& info = fitted_key(entry.key);
    std::string source;
    for (const char c : entry.source)
        source += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return fmt::format(
        "{} = {{ value = {}, interval = {}, rows = {}, residual = {:.4g}, date = \"{}\", confidence = "
        "\"measured\", "
        "source = \"{}\" }}",
        entry.key.substr(entry.key.find('.') + 1), quantity_text(entry.value, info.unit),
        quantity_text(entry.interval, info.unit), entry.rows, entry.residual, entry.date, source);
}

std::string update_calibration(std::string_view text, std::span<const CalibrationEntry> entries) {
    std::vector<std::string> lines = lines_of(text);
    for (const CalibrationEntry& entry : entries) update_one(lines, entry);
    std::string out;
    for (const std::string& line : lines) out += line + "\n";
    return out;
}

void apply_calibration(std::string_view text, const std::string& name, hw::Gpu& gpu) {
    const toml::table file = hw::parse_toml(text, name);
    for (const auto& [group, node] : file) {
        const toml::table* table = node.as_table();
        if (table == nullptr || group.str() == "calibration" || group.str() == "sources") continue;
        for (const auto& [field, value] : *table) {
            const std::string key = fmt::format("{}.{}", group.str(), field.str());
            // A list is no constant that moves, so the GPU keeps its own list.
            if (hw::key_info[hw::key_index(key)].list) continue;
            const hw::KeyInfo& info = fitted_key(key);
            const toml::table* entry = value.as_table();
            if (entry == nullptr) throw Error(name + " " + key, "no table", "{ value = ... }");
            const auto number = (*entry)["value"].value<double>();
            const auto words = (*entry)["value"].value<std::string>();
            if (!number && !words)
                throw Error(name + " " + key, "no value", "a number, or text with its unit");
            const double base = words ? hw::parse_value(*words, info.unit, name + " " + key) : *number;
            hw::set_key_value(gpu, hw::key_index(key), base);
        }
    }
}

std::string calibrated_gpu(std::string_view text, const std::string& name) {
    const toml::table file = hw::parse_toml(text, name);
    const toml::table* header = file["calibration"].as_table();
    if (header == nullptr) throw Error(name, "nothing", "a table [calibration]");
    return hw::required_text(*header, "gpu", name);
}

}  // namespace warptime::validate
