// The reader of plan.toml.
// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate/plan.hpp"

#include "hw/error.hpp"
#include "hw/gpu.hpp"
#include "hw/nearest_name.hpp"
#include "hw/toml_file.hpp"

#include <fmt/format.h>

#include <array>
#include <regex>
#include <set>

namespace warptime::validate::calibrate {
namespace {

constexpr std::array<std::string_view, 9> selection_fields{
    "suite", "op", "quantity", "quantities", "where", "defaults", "if", "value", "steps"};
constexpr std::array<std::string_view, 17> constant_fields{
    "key",   "suite", "op",        "quantity", "quantities", "where", "defaults",  "if",  "value",
    "steps", "unit",  "statistic", "x",        "line_if",    "also",  "reference", "note"};
constexpr std::array<std::string_view, 4> statistic_names{"median", "largest", "line_start", "line_fall"};

std::string text_or(const toml::table& table, std::string_view field, std::string otherwise,
                    const std::string& owner) {
    return table.contains(field) ? hw::required_text(table, field, owner) : std::move(otherwise);
}

const toml::table* sub_table(const toml::table& table, std::string_view field, const std::string& owner) {
    const toml::node* node = table.get(field);
    if (node != nullptr && !node->is_table())
        throw Error(owner + " " + std::string(field), "no table", "{ name = ... }");
    return node != nullptr ? node->as_table() : nullptr;
}

/// The fields of `table` override the fields of `selection`.
Selection selection_of(const toml::table& table, Selection selection, const std::string& owner) {
    selection.suite = text_or(table, "suite", selection.suite, owner);
    selection.op = text_or(table, "op", selection.op, owner);
    selection.condition = text_or(table, "if", selection.condition, owner);
    selection.value = text_or(table, "value", selection.value, owner);
    selection.steps = text_or(table, "steps", selection.steps, owner);
    if (table.contains("quantity"))
        selection.quantities = {{"value", hw::required_text(table, "quantity", owner)}};
    if (const toml::table* names = sub_table(table, "quantities", owner)) {
        selection.quantities.clear();
        for (const auto& [name, node] : *names)
            selection.quantities[std::string(name.str())] = hw::required_text(*names, name.str(), owner);
    }
    if (const toml::table* words = sub_table(table, "where", owner)) {
        selection.where.clear();
        for (const auto& [name, node] : *words)
            selection.where[std::string(name.str())] = hw::required_text(*words, name.str(), owner);
    }
    if (const toml::table* numbers = sub_table(table, "defaults", owner)) {
        for (const auto& [name, node] : *numbers) {
            const auto number = node.value<double>();
            if (!number) throw Error(owner + " defaults", std::string(name.str()), "a number");
            selection.defaults[std::string(name.str())] = *number;
        }
    }
    if (selection.suite.empty()) throw Error(owner, "no suite", "the suite of its rows");
    if (selection.quantities.empty()) throw Error(owner, "no quantity", "a quantity of its rows");
    try {
        static_cast<void>(std::regex(selection.steps));
    } catch (const std::regex_error& error) {
        throw Error(owner + " steps", selection.steps, error.what());
    }
    return selection;
}

IsolatedConstant constant_of(const toml::table& table, const std::string& file) {
    IsolatedConstant constant;
    constant.key = hw::required_text(table, "key", file);
    const std::string owner = file + " " + constant.key;
    hw::refuse_unknown_fields(table, constant_fields, owner);
    const hw::KeyInfo& info = hw::key_info[hw::key_index(constant.key)];
    if (info.kind != hw::KeyKind::fitted || info.list)
        throw Error(owner, "a vendor's key", "a fitted key with one value");
    const Selection first = selection_of(table, {}, owner);
    constant.selections = {first};
    if (const toml::node* also = table.get("also")) {
        if (!also->is_array()) throw Error(owner + " also", "no list", "a list of tables");
        for (const toml::node& node : *also->as_array()) {
            if (!node.is_table()) throw Error(owner + " also", "no table", "a list of tables");
            hw::refuse_unknown_fields(*node.as_table(), selection_fields, owner + " also");
            constant.selections.push_back(selection_of(*node.as_table(), first, owner + " also"));
        }
    }
    if (const toml::table* reference = sub_table(table, "reference", owner)) {
        hw::refuse_unknown_fields(*reference, selection_fields, owner + " reference");
        Selection base = first;
        base.value = "value";
        constant.reference = {selection_of(*reference, base, owner + " reference")};
    }
    constant.unit = text_or(table, "unit", "", owner);
    constant.note = text_or(table, "note", "", owner);
    const std::string statistic = text_or(table, "statistic", "median", owner);
    const auto found = std::find(statistic_names.begin(), statistic_names.end(), statistic);
    if (found == statistic_names.end())
        throw Error(owner + " statistic", statistic, hw::expected_names(statistic, statistic_names));
    constant.statistic = static_cast<Statistic>(found - statistic_names.begin());
    constant.x = text_or(table, "x", "", owner);
    constant.line_condition = text_or(table, "line_if", "", owner);
    const bool is_line =
        constant.statistic == Statistic::line_start || constant.statistic == Statistic::line_fall;
    if (is_line == constant.x.empty())
        throw Error(owner + " x", constant.x, "a formula for line_start and line_fall only");
    return constant;
}

std::vector<std::string> names_of(const toml::table& table, std::string_view field,
                                  const std::string& owner) {
    std::vector<std::string> names;
    const toml::array* list = table[field].as_array();
    if (list == nullptr || list->empty())
        throw Error(owner + " " + std::string(field), "nothing", "a list of names");
    for (const toml::node& node : *list) {
        const auto name = node.value_exact<std::string>();
        if (!name)
            throw Error(owner + " " + std::string(field), "an element that is no text", "a list of names");
        names.push_back(*name);
    }
    return names;
}

template <class Take>
void each_entry(const toml::table& root, std::string_view name, const std::string& file, const Take& take) {
    const toml::node* node = root.get(name);
    if (node == nullptr) return;
    if (!node->is_array()) throw Error(file, std::string(name), fmt::format("entries [[{}]]", name));
    for (const toml::node& entry : *node->as_array()) {
        if (!entry.is_table()) throw Error(file, std::string(name), fmt::format("entries [[{}]]", name));
        take(*entry.as_table());
    }
}

}  // namespace

Plan parse_plan(std::string_view text, const std::string& file) {
    const toml::table root = hw::parse_toml(text, file);
    constexpr std::array<std::string_view, 3> kinds{"constant", "fit", "bands"};
    hw::refuse_unknown_fields(root, kinds, file);
    Plan plan;
    std::set<std::string> keys;
    each_entry(root, "constant", file, [&](const toml::table& table) {
        plan.constants.push_back(constant_of(table, file));
        const std::string& key = plan.constants.back().key;
        if (!keys.insert(key).second) throw Error(file, key, "one entry a key");
    });
    each_entry(root, "fit", file, [&](const toml::table& table) {
        constexpr std::array<std::string_view, 2> fields{"suites", "keys"};
        hw::refuse_unknown_fields(table, fields, file + " fit");
        plan.fits.push_back(
            {names_of(table, "suites", file + " fit"), names_of(table, "keys", file + " fit")});
        for (const std::string& text_of_key : plan.fits.back().keys) {
            const std::string key = text_of_key.substr(0, text_of_key.find('='));
            if (hw::key_info[hw::key_index(key)].kind != hw::KeyKind::fitted)
                throw Error(file + " fit", key, "a fitted key");
            if (!keys.insert(key).second) throw Error(file, key, "one entry a key");
        }
    });
    each_entry(root, "bands", file, [&](const toml::table& table) {
        constexpr std::array<std::string_view, 1> fields{"suites"};
        hw::refuse_unknown_fields(table, fields, file + " bands");
        plan.bands.push_back({names_of(table, "suites", file + " bands"), {}});
    });
    return plan;
}

}  // namespace warptime::validate::calibrate
