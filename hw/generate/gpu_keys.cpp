// Writes hw/gpu_keys.hpp and hw/key_rules.hpp from hw/keys.toml.
// The first has the struct GpuKeys, its visitors and the table key_info; the second the table key_rules.
// Usage: gpu_keys KEYS_TOML GPU_KEYS_HPP KEY_RULES_HPP.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <exception>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
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

/// Allowed values: "[least, most]", with "0 or " before it where 0 says that a chip lacks the feature.
struct Allowed {
    double least = 0.0, most = 0.0;
    bool or_zero = false;
};

struct Key {
    std::string group, field, unit, type, kind, meaning, better, resource, sms;
    Allowed allowed;
    bool list = false;
    bool integer = false;
};

Allowed read_allowed(std::string text, const std::string& owner) {
    const std::runtime_error wrong(
        owner + ": allowed must be '[least, most]' or '0 or [least, most]', got '" + text + "'");
    constexpr std::string_view zero = "0 or ";
    Allowed allowed;
    if (text.starts_with(zero)) {
        allowed.or_zero = true;
        text.erase(0, zero.size());
    }
    const std::size_t comma = text.find(", ");
    if (text.size() < 6 || text.front() != '[' || text.back() != ']' || comma == std::string::npos) {
        throw wrong;
    }
    const auto number = [&](const char* begin, const char* end) {
        double value = 0.0;
        const auto read = std::from_chars(begin, end, value);
        if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(value)) {
            throw wrong;
        }
        return value;
    };
    allowed.least = number(text.data() + 1, text.data() + comma);
    allowed.most = number(text.data() + comma + 2, text.data() + text.size() - 1);
    if (!(0.0 <= allowed.least && allowed.least < allowed.most)) {
        throw wrong;
    }
    return allowed;
}

/// Word of an optional field, one of `words`; empty where the field is absent.
std::string optional_word(const toml::table& table, const char* field, const std::string& owner,
                          std::initializer_list<std::string_view> words) {
    std::string word = table[field].value_or(std::string());
    if (table.contains(field) && std::find(words.begin(), words.end(), word) == words.end()) {
        throw std::runtime_error(
            fmt::format("{}: {} must be {}, got '{}'", owner, field, fmt::join(words, " or "), word));
    }
    return word;
}

std::string required(const toml::table& table, const char* field, std::size_t position) {
    const auto value = table[field].value<std::string>();
    if (!value || value->empty()) {
        throw std::runtime_error(fmt::format("key number {}: '{}' is missing or not text", position, field));
    }
    return *value;
}

using UnitValues = std::map<std::string, Allowed, std::less<>>;

Key read_key(const toml::table& table, std::size_t position, const UnitValues& units) {
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
    const std::string owner = "key '" + name + "'";
    key.better = optional_word(table, "better", owner, {"more", "less"});
    key.sms = optional_word(table, "sms", owner, {"against", "with"});
    key.resource = table["resource"].value_or(std::string());
    if (!key.resource.empty() && key.better.empty()) {
        throw std::runtime_error(owner + ": the speed of a resource must say which direction is better");
    }
    if (const auto allowed = table["allowed"].value<std::string>()) {
        key.allowed = read_allowed(*allowed, owner);
    } else if (const auto of_unit = units.find(key.unit); of_unit != units.end()) {
        key.allowed = of_unit->second;
    } else {
        throw std::runtime_error(owner + ": no 'allowed', and no [[unit]] for '" + key.unit + "'");
    }
    for (const auto& [field, node] : table) {
        const std::string_view known[] = {"name",    "unit",    "kind",   "meaning",  "list",
                                          "integer", "allowed", "better", "resource", "sms"};
        if (std::find(std::begin(known), std::end(known), field.str()) == std::end(known)) {
            throw std::runtime_error("key '" + name + "': unknown field '" + std::string(field.str()) + "'");
        }
    }
    return key;
}

UnitValues read_units(const toml::table& file) {
    UnitValues units;
    if (const toml::array* rows = file["unit"].as_array()) {
        for (const toml::node& row : *rows) {
            const std::string name = required(*row.as_table(), "name", units.size() + 1);
            units[name] =
                read_allowed(required(*row.as_table(), "allowed", units.size() + 1), "unit '" + name + "'");
        }
    }
    return units;
}

std::vector<Key> read_keys(const char* path) {
    const toml::table file = toml::parse_file(path);
    const UnitValues units = read_units(file);
    const toml::array* rows = file["key"].as_array();
    if (rows == nullptr) {
        throw std::runtime_error("no [[key]] in the file");
    }
    std::vector<Key> keys;
    for (const toml::node& row : *rows) {
        Key key = read_key(*row.as_table(), keys.size() + 1, units);
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
    std::string out = "struct GpuKeys {\n";
    for (const std::string& group : groups) {
        out += fmt::format("\n    struct {} {{\n", camel(group));
        for (const Key& key : keys) {
            if (key.group == group) {
                const std::string type =
                    key.list ? fmt::format("std::vector<hw::{}>", key.type) : fmt::format("hw::{}", key.type);
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
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string field = keys[i].group + "." + keys[i].field;
        one += fmt::format("    f(std::size_t{{{}}}, keys.{});\n", i, field);
    }
    return one + "}\n\n";
}

std::string write_table(const std::vector<Key>& keys) {
    std::string out = fmt::format("inline constexpr std::size_t key_count = {};\n\n", keys.size());
    out += "inline constexpr std::array<KeyInfo, key_count> key_info{{\n";
    for (const Key& key : keys) {
        std::string meaning;
        for (const char c : key.meaning) {
            meaning += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        }
        out +=
            fmt::format("    {{\"{}.{}\", \"{}\", hw::{}::dimension, KeyKind::{}, {}, {}, \"{}\"}},\n",
                        key.group, key.field, key.unit, key.type, key.kind, key.list, key.integer, meaning);
    }
    return out + "}};\n\n";
}

std::string write_rules(const std::vector<Key>& keys) {
    std::string out = "inline constexpr std::array<KeyRule, key_count> key_rules{{\n";
    for (const Key& key : keys) {
        const std::string better = key.better.empty() ? "either" : key.better;
        const std::string sms = key.sms.empty() ? "stays" : key.sms == "with" ? "grows" : "shrinks";
        out += fmt::format("    {{{}, {}, {}, Better::{}, WithSms::{}, \"{}\"}},\n", key.allowed.least,
                           key.allowed.most, key.allowed.or_zero, better, sms, key.resource);
    }
    return out + "}};\n\n";
}

void write_file(const char* path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << "// Generated from hw/keys.toml; do not edit.\n#pragma once\n\n"
        << text << "}  // namespace warptime::hw\n";
    if (!out.flush()) {
        throw std::runtime_error(std::string("cannot write ") + path);
    }
}

void run(const char* input, const char* keys_header, const char* rules_header) {
    const std::vector<Key> keys = read_keys(input);
    write_file(keys_header,
               "#include <array>\n#include <cstddef>\n#include <vector>\n\n"
               "#include \"hw/key.hpp\"\n#include \"hw/quantity.hpp\"\n\nnamespace warptime::hw {\n\n" +
                   write_structs(keys) + write_visitors(keys) + write_table(keys));
    write_file(rules_header,
               "#include <array>\n\n#include \"hw/gpu_keys.hpp\"\n#include \"hw/key_rule.hpp\"\n\nnamespace "
               "warptime::hw {\n\n" +
                   write_rules(keys));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 4) {
            throw std::runtime_error("usage: gpu_keys KEYS_TOML GPU_KEYS_HPP KEY_RULES_HPP");
        }
        run(argv[1], argv[2], argv[3]);
        return 0;
    } catch (const toml::parse_error& error) {
        std::cerr << error << '\n';
        return 1;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
