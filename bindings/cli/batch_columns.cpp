// Finds each column among the operators' parameters and the conditions.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/batch_columns.hpp"

#include "bindings/cli/usage_error.hpp"
#include "hw/nearest_name.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/registry/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace warptime::cli {

namespace {

struct KnownColumn {
    std::string_view name;
    ColumnRole role;
};

/// Names and aliases of all columns; a name with several meanings comes once.
std::map<std::string_view, KnownColumn> known_columns() {
    std::map<std::string_view, KnownColumn> known;
    for (const workloads::OperatorInfo& info : workloads::operators()) {
        for (const workloads::ParameterInfo& parameter : info.parameters) {
            known.insert_or_assign(parameter.name, KnownColumn{parameter.name, ColumnRole::parameter});
            if (!parameter.alias.empty()) {
                known.emplace(parameter.alias, KnownColumn{parameter.name, ColumnRole::parameter});
            }
        }
    }
    for (const workloads::ConditionInfo& info : workloads::condition_infos()) {
        known.insert_or_assign(info.name, KnownColumn{info.name, ColumnRole::condition});
    }
    for (const std::string_view name : result_columns) {
        known.insert_or_assign(name, KnownColumn{name, ColumnRole::result});
    }
    known.insert_or_assign("op", KnownColumn{"op", ColumnRole::op});
    known.insert_or_assign("gpu", KnownColumn{"gpu", ColumnRole::gpu});
    known.insert_or_assign("engine", KnownColumn{"engine", ColumnRole::engine});
    return known;
}

}  // namespace

std::vector<BatchColumnRole> roles_of(const workloads::CsvTable& table,
                                      std::span<const std::string_view> own) {
    std::map<std::string_view, KnownColumn> known = known_columns();
    for (const std::string_view name : own)
        known.insert_or_assign(name, KnownColumn{name, ColumnRole::passed});
    std::vector<std::string_view> names;
    for (const auto& [name, column] : known) {
        names.push_back(name);
    }
    const std::string owner = table.reader().name() + " column";
    std::vector<BatchColumnRole> roles;
    for (const std::string& column : table.columns()) {
        if (column.starts_with('_')) {
            roles.push_back({ColumnRole::passed, column});
            continue;
        }
        const auto index = hw::find_name(column, names);
        if (!index && column.find_first_of(";\t") != std::string::npos) {
            throw UsageError(owner, column, "columns that are separated by commas");
        }
        if (!index) {
            throw UsageError(
                owner, column,
                hw::expected_names(column, names) + " (a column that begins with _ passes through)");
        }
        const KnownColumn& found = known.at(names[*index]);
        if (std::any_of(roles.begin(), roles.end(),
                        [&](const BatchColumnRole& r) { return r.name == found.name; })) {
            throw UsageError(owner, column, fmt::format("one column for {}", found.name));
        }
        roles.push_back({found.role, std::string(found.name)});
    }
    if (std::none_of(roles.begin(), roles.end(),
                     [](const BatchColumnRole& r) { return r.role == ColumnRole::op; })) {
        as_usage([&table] { return table.require("op"); });
    }
    return roles;
}

}  // namespace warptime::cli
