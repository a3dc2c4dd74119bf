// Reader of one sheet or calibration file. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet_file.hpp"

#include "hw/error.hpp"
#include "hw/gpu_keys.hpp"
#include "hw/key_rule.hpp"
#include "hw/nearest_name.hpp"
#include "hw/toml_file.hpp"
#include "hw/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace warptime::hw {
namespace {

constexpr std::array<std::string_view, 7> text_fields{
    "name", "board", "architecture", "compute_capability", "memory_type", "isa", "inherits"};

double read_number(const toml::node& node, const KeyInfo& info, const std::string& owner) {
    double value = 0;
    if (const auto text = node.value_exact<std::string>()) {
        value = parse_value(*text, info.unit, owner);
    } else if (const auto number = node.value<double>()) {
        if (info.unit != "1") {
            throw Error(owner, fmt::format("{}", *number), fmt::format("text with the unit {}", info.unit));
        }
        if (!std::isfinite(*number) || *number < 0) {
            throw Error(owner, fmt::format("{}", *number), "a value of at least 0");
        }
        value = *number;
    } else {
        throw Error(owner, "neither a number nor text", fmt::format("a value in {}", info.unit));
    }
    return value;
}

double read_allowed(const toml::node& node, std::size_t key, const std::string& owner) {
    const KeyInfo& info = key_info[key];
    const double value = read_number(node, info, owner);
    check_value(key, value, owner, format_value(value, info.unit));
    return value;
}

std::vector<double> read_values(const toml::table& row, std::size_t key, const std::string& owner) {
    const KeyInfo& info = key_info[key];
    const toml::node* node = row.get("value");
    if (node == nullptr) {
        throw Error(owner, "nothing", "a field 'value'");
    }
    if (!info.list) {
        return {read_allowed(*node, key, owner)};
    }
    const toml::array* list = node->as_array();
    if (list == nullptr || list->empty()) {
        throw Error(owner, "no list", "a list of values that is not empty");
    }
    std::vector<double> values;
    for (const toml::node& element : *list) {
        values.push_back(read_allowed(element, key, owner));
    }
    if (!std::is_sorted(values.begin(), values.end())) {
        throw Error(owner, "an unsorted list", "ascending values");
    }
    return values;
}

void read_fit(const toml::table& row, const KeyInfo& info, const std::string& owner, bool required,
              Provenance& provenance) {
    for (const char* field : {"interval", "rows", "residual", "date"}) {
        if (required && !row.contains(field)) {
            throw Error(owner, fmt::format("no field '{}'", field),
                        "interval, rows, residual and date of the fit");
        }
    }
    if (const toml::node* interval = row.get("interval")) {
        provenance.interval = read_number(*interval, info, owner + " interval");
    }
    const auto rows = row["rows"].value_or(std::int64_t{0});
    provenance.residual = row["residual"].value_or(0.0);
    provenance.date = row["date"].value_or(std::string());
    if (rows < 0 || rows > 100000000 || !(provenance.residual >= 0)) {
        throw Error(owner, fmt::format("rows {}, residual {}", rows, provenance.residual),
                    "values of at least 0");
    }
    provenance.rows = static_cast<int>(rows);
}

SheetValue read_row(const toml::table& file, const toml::table& row, std::size_t key, const std::string& id,
                    SheetKind kind) {
    const KeyInfo& info = key_info[key];
    const std::string owner = fmt::format("{} {}", id, info.name);
    constexpr std::array<std::string_view, 7> fields{"value", "source",   "confidence", "interval",
                                                     "rows",  "residual", "date"};
    const bool fitted = info.kind == KeyKind::fitted;
    refuse_unknown_fields(row, std::span(fields).first(fitted ? 7 : 3), owner);
    if (kind != SheetKind::user && fitted != (kind == SheetKind::calibration)) {
        throw Error(owner, fmt::format("a {} key", to_string(info.kind)),
                    fitted ? "vendor keys in a sheet; fitted ones belong in its calibration"
                           : "fitted keys in a calibration; vendor ones belong in the sheet");
    }
    SheetValue value;
    value.key = key;
    value.values = read_values(row, key, owner);
    value.provenance.origin = fitted ? Origin::fitted : Origin::vendor;
    value.provenance.sheet = id;
    value.provenance.source = full_citation(file, required_text(row, "source", owner));
    value.provenance.confidence =
        parse_confidence(required_text(row, "confidence", owner), owner + " confidence");
    if (fitted) {
        read_fit(row, info, owner, kind == SheetKind::calibration, value.provenance);
    }
    return value;
}

void read_header(const toml::table& root, SheetKind kind, SheetFile& file) {
    const bool calibration = kind == SheetKind::calibration;
    const char* name = calibration ? "calibration" : "sheet";
    const toml::table* header = root[name].as_table();
    if (header == nullptr) {
        throw Error(file.id, "nothing", fmt::format("a table [{}]", name));
    }
    constexpr std::array<std::string_view, 2> calibration_fields{"gpu", "inherits"};
    refuse_unknown_fields(*header,
                          calibration ? std::span<const std::string_view>(calibration_fields) : text_fields,
                          fmt::format("{} [{}]", file.id, name));
    if (calibration && required_text(*header, "gpu", file.id) != file.id) {
        throw Error(file.id + " gpu", required_text(*header, "gpu", file.id), "the name of the file");
    }
    for (const auto& [field, node] : *header) {
        file.text[std::string(field.str())] = required_text(*header, field.str(), file.id);
    }
    file.inherits = file.text["inherits"];
    file.text.erase("inherits");
}

}  // namespace

SheetFile parse_sheet_file(std::string_view text, const std::string& id, SheetKind kind) {
    const toml::table root = parse_toml(text, id);
    SheetFile file;
    file.id = id;
    read_header(root, kind, file);
    for (const auto& [group, node] : root) {
        if (group == "sheet" || group == "calibration" || group == "sources") {
            continue;
        }
        if (!node.is_table()) {
            throw Error(id, std::string(group.str()), "tables of keys, as [dram]");
        }
        for (const auto& [field, row] : *node.as_table()) {
            const std::string name = fmt::format("{}.{}", group.str(), field.str());
            std::size_t key = 0;
            try {
                key = key_index(name);
            } catch (const Error& error) {
                throw Error(id + " key", name, error.expected());
            }
            if (!row.is_table()) {
                throw Error(fmt::format("{} {}", id, name), "a plain value", "{ value, confidence, source }");
            }
            file.values.push_back(read_row(root, *row.as_table(), key, id, kind));
            // Bands state a GPU's prediction error, which may be known even where no constant was fitted to
            // the GPU.
            if (group.str() != "band") file.rows = std::max(file.rows, file.values.back().provenance.rows);
        }
    }
    return file;
}

}  // namespace warptime::hw
