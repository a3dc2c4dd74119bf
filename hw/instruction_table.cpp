// Reader of the instruction tables in hw/isa. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/instruction_table.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "hw/toml_file.hpp"
#include "hw/unit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::hw {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Lanes::count)> lanes_names{
    "none", "fp32", "fp64", "fp16", "integer", "sfu", "shuffle"};

Lanes parse_lanes(const std::string& text, const std::string& owner) {
    for (std::size_t i = 1; i < lanes_names.size(); ++i) {
        if (lanes_names[i] == text) {
            return static_cast<Lanes>(i);
        }
    }
    throw Error(owner + " lanes", text, expected_names(text, std::span(lanes_names).subspan(1)));
}

double required_number(const toml::table& row, std::string_view field, const std::string& owner) {
    const auto number = row[field].value<double>();
    if (!number || !(*number >= 0.0)) {
        throw Error(fmt::format("{} {}", owner, field), "", "a number of at least 0");
    }
    return *number;
}

InstructionCost parse_cost(const toml::table& row, const std::string& owner) {
    constexpr std::array<std::string_view, 8> fields{"supported", "machine", "unit",    "interval",
                                                     "lanes",     "results", "latency", "source"};
    refuse_unknown_fields(row, fields, owner);
    (void)required_text(row, "source", owner);
    InstructionCost cost;
    cost.supported = row["supported"].value_or(true);
    if (!cost.supported) {
        return cost;
    }
    cost.machine = Number(required_number(row, "machine", owner));
    cost.unit = parse_unit(required_text(row, "unit", owner));
    cost.latency = Cycles(parse_value(required_text(row, "latency", owner), "cycle", owner + " latency"));
    if (row.contains("lanes") == row.contains("interval")) {
        throw Error(owner, "both or none", "either 'lanes' or 'interval'");
    }
    if (row.contains("lanes")) {
        cost.lanes = parse_lanes(required_text(row, "lanes", owner), owner);
        cost.results_per_thread = row["results"].value_or(1.0);
    } else {
        cost.interval =
            Cycles(parse_value(required_text(row, "interval", owner), "cycle", owner + " interval"));
    }
    return cost;
}

void parse_classes(const toml::table& classes, const std::string& file, InstructionTable& table) {
    std::array<bool, instruction_class_count> seen{};
    for (const auto& [name, node] : classes) {
        const InstructionClass cls = parse_instruction_class(name.str());
        const std::string owner = fmt::format("{} {}", file, name.str());
        if (!node.is_table()) {
            throw Error(owner, "a plain value",
                        "a table with machine, unit, interval or lanes, latency, source");
        }
        table[cls] = parse_cost(*node.as_table(), owner);
        seen[static_cast<std::size_t>(cls)] = true;
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (!seen[i]) {
            throw Error(fmt::format("{} {}", file, to_string(static_cast<InstructionClass>(i))), "nothing",
                        "a row for this class, with supported = false where it does not exist");
        }
    }
}

void parse_ptx(const toml::table& rows, const std::string& file, std::vector<PtxExpansion>& out) {
    constexpr std::array<std::string_view, 2> fields{"class", "machine"};
    for (const auto& [mnemonic, node] : rows) {
        const std::string owner = fmt::format("{} {}", file, mnemonic.str());
        if (!node.is_table()) {
            throw Error(owner, "a plain value", "a table with class and machine");
        }
        const toml::table& row = *node.as_table();
        refuse_unknown_fields(row, fields, owner);
        out.push_back({std::string(mnemonic.str()),
                       parse_instruction_class(required_text(row, "class", owner)),
                       required_number(row, "machine", owner)});
    }
    std::sort(out.begin(), out.end(),
              [](const PtxExpansion& a, const PtxExpansion& b) { return a.mnemonic < b.mnemonic; });
}

}  // namespace

std::string_view to_string(Lanes lanes) {
    return lanes_names[static_cast<std::size_t>(lanes)];
}

InstructionTable parse_instruction_table(std::string_view text, std::string_view file) {
    const std::string name(file);
    const toml::table root = parse_toml(text, file);
    constexpr std::array<std::string_view, 5> tables{"isa", "sources", "features", "class", "ptx"};
    refuse_unknown_fields(root, tables, name);
    InstructionTable table;
    if (const toml::table* classes = root["class"].as_table()) {
        parse_classes(*classes, name, table);
    }
    if (const toml::table* ptx = root["ptx"].as_table()) {
        (void)required_text(*root["isa"].as_table(), "source", name + " isa");
        parse_ptx(*ptx, name, table.ptx);
    }
    if (!root.contains("class") && !root.contains("ptx")) {
        throw Error(name, "nothing", "a table [class] or [ptx]");
    }
    return table;
}

const PtxExpansion* find_ptx(const std::vector<PtxExpansion>& rows, std::string_view mnemonic) {
    for (std::string_view prefix = mnemonic; !prefix.empty();) {
        const auto row = std::lower_bound(
            rows.begin(), rows.end(), prefix,
            [](const PtxExpansion& entry, std::string_view name) { return entry.mnemonic < name; });
        if (row != rows.end() && row->mnemonic == prefix) {
            return &*row;
        }
        const std::size_t dot = prefix.rfind('.');
        prefix = dot == std::string_view::npos ? std::string_view{} : prefix.substr(0, dot);
    }
    return nullptr;
}

}  // namespace warptime::hw
