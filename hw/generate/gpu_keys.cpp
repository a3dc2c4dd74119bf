// Writes hw/gpu_keys.hpp (the struct GpuKeys, its visitors and the table key_info) from hw/keys.toml.
// Usage: gpu_keys KEYS_TOML OUTPUT.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct UnitType {
    std::string_view unit;
    std::string_view type;
};

constexpr std::array<UnitType, 11> unit_types{{{"1", "Number"},
                                               {"B", "Bytes"},
                                               {"s", "Seconds"},
                                               {"cycle", "Cycles"},
                                               {"cycle/s", "Frequency"},
                                               {"B/cycle", "BytesPerCycle"},
                                               {"B/s", "BytesPerSecond"},
                                               {"op/cycle", "OperationsPerCycle"},
                                               {"op/s", "OperationsPerSecond"},
                                               {"1/cycle", "PerCycle"},
                                               {"W", "Watts"}}};

struct Key {
    std::string group, field, unit, type, kind, meaning;
    bool list = false;
    bool integer = false;
};

std::string required(const toml::table& table, const char* field, std::size_t position) {
    const auto value = table[field].value<std::string>();
    if (!value || value->empty()) {
        throw std::runtime_error(fmt::format("key number {}: '{}' is missing or not text", position, field));
    }
    return *value;
}

Key read_key(const toml::table& table, std::size_t position) {
    Key key;
    const std::string name = required(table, "name", position);
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos || name.find('.', dot + 1) != std::string::npos ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos) {
        throw std::runtime_error("key '" + name + "': expected group.field in snake_case");
    }
    key.group = name.substr(0, dot);
    key.field = name.substr(dot + 1);
    key.unit = required(table, "unit", position);
    const auto* type = std::find_if(unit_types.begin(), unit_types.end(),
                                    [&](const UnitType& u) { return u.unit == key.unit; });
    if (type == unit_types.end()) {
        throw std::runtime_error("key '" + name + "': no quantity type for unit '" + key.unit + "'");
    }
    key.type = type->type;
    key.kind = required(table, "kind", position);
    if (key.kind != "vendor" && key.kind != "fitted") {
        throw std::runtime_error("key '" + name + "': kind must be vendor or fitted, got '" + key.kind + "'");
    }
    key.meaning = required(table, "meaning", position);
    key.list = table["list"].value_or(false);
    key.integer = table["integer"].value_or(false);
    for (const auto& [field, node] : table) {
        const std::string_view known[] = {"name", "unit", "kind", "meaning", "list", "integer"};
        if (std::find(std::begin(known), std::end(known), field.str()) == std::end(known)) {
            throw std::runtime_error("key '" + name + "': unknown field '" + std::string(field.str()) + "'");
        }
    }
    return key;
}

std::vector<Key> read_keys(const char* path) {
    const toml::table file = toml::parse_file(path);
    const toml::array* rows = file["key"].as_array();
    if (rows == nullptr) {
        throw std::runtime_error("no [[key]] in the file");
    }
    std::vector<Key> keys;
    for (const toml::node& row : *rows) {
        Key key = read_key(*row.as_table(), keys.size() + 1);
        for (const Key& other : keys) {
            if (other.group == key.group && other.field == key.field) {
                throw std::runtime_error("key '" + key.group + "." + key.field + "' is declared twice");
            }
        }
        keys.push_back(std::move(key));
    }
    return keys;
}

std::string camel(std::string text) {
    text[0] = static_cast<char>(text[0] - (text[0] >= 'a' && text[0] <= 'z' ? 'a' - 'A' : 0));
    return text;
}

std::string write_structs(const std::vector<Key>& keys) {
    std::vector<std::string> groups;
    for (const Key& key : keys) {
        if (std::find(groups.begin(), groups.end(), key.group) == groups.end()) {
            groups.push_back(key.group);
        }
    }
    std::string out = "template <class S>\nstruct GpuKeys {\n    using scalar_type = S;\n";
    for (const std::string& group : groups) {
        out += fmt::format("\n    struct {} {{\n", camel(group));
        for (const Key& key : keys) {
            if (key.group == group) {
                const std::string type = key.list ? fmt::format("std::vector<hw::{}<S>>", key.type)
                                                  : fmt::format("hw::{}<S>", key.type);
                out += fmt::format("        /// {} [{}] ({})\n        {} {}{{}};\n", key.meaning, key.unit,
                                   key.kind, type, key.field);
            }
        }
        out += fmt::format("    }} {};\n", group);
    }
    return out + "};\n\n";
}

std::string write_visitors(const std::vector<Key>& keys) {
    std::string one =
        "/// Calls f(index, field) for every key, in the order of key_info.\n"
        "template <class Keys, class F>\nconstexpr void visit_keys(Keys& keys, F&& f) {\n";
    std::string two =
        "/// Calls f(index, field of a, field of b) for every key.\n"
        "template <class A, class B, class F>\n"
        "constexpr void visit_key_pairs(A& a, B& b, F&& f) {\n";
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string field = keys[i].group + "." + keys[i].field;
        one += fmt::format("    f(std::size_t{{{}}}, keys.{});\n", i, field);
        two += fmt::format("    f(std::size_t{{{}}}, a.{}, b.{});\n", i, field, field);
    }
    return one + "}\n\n" + two + "}\n\n";
}

std::string write_table(const std::vector<Key>& keys) {
    std::string out = fmt::format("inline constexpr std::size_t key_count = {};\n\n", keys.size());
    out += "inline constexpr std::array<KeyInfo, key_count> key_info{{\n";
    for (const Key& key : keys) {
        std::string meaning;
        for (const char c : key.meaning) {
            meaning += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        }
        out += fmt::format(
            "    {{\"{}.{}\", \"{}\", hw::{}<double>::dimension, KeyKind::{}, {}, {}, \"{}\"}},\n", key.group,
            key.field, key.unit, key.type, key.kind, key.list, key.integer, meaning);
    }
    return out + "}};\n\n";
}

void run(const char* input, const char* output) {
    const std::vector<Key> keys = read_keys(input);
    std::ofstream out(output, std::ios::binary);
    out << "// Generated from hw/keys.toml; do not edit.\n#pragma once\n\n"
           "#include <array>\n#include <cstddef>\n#include <vector>\n\n"
           "#include \"hw/key.hpp\"\n#include \"hw/quantity.hpp\"\n\nnamespace warptime::hw {\n\n"
        << write_structs(keys) << write_visitors(keys) << write_table(keys)
        << "}  // namespace warptime::hw\n";
    if (!out.flush()) {
        throw std::runtime_error(std::string("cannot write ") + output);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 3) {
            throw std::runtime_error("usage: gpu_keys KEYS_TOML OUTPUT");
        }
        run(argv[1], argv[2]);
        return 0;
    } catch (const toml::parse_error& error) {
        std::cerr << error << '\n';
        return 1;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
