// Finds each column among the operators' parameters and the conditions.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/batch_columns.hpp"

#include "bindings/cli/usage_error.hpp"
#include "hw/nearest_name.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/operation.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace warptime::cli {

namespace {

std::map<std::string_view, ColumnRole> known_columns() {
    std::map<std::string_view, ColumnRole> known;
    for (const workloads::OperatorInfo& info : workloads::operators()) {
        for (const workloads::ParameterInfo& parameter : info.parameters) {
            known.emplace(parameter.name, ColumnRole::parameter);
        }
    }
    for (const workloads::ConditionInfo& info : workloads::condition_infos()) {
        known.insert_or_assign(info.name, ColumnRole::condition);
    }
    known.insert_or_assign("op", ColumnRole::op);
    known.insert_or_assign("gpu", ColumnRole::gpu);
    known.insert_or_assign("engine", ColumnRole::engine);
    return known;
}

}  // namespace

std::vector<ColumnRole> roles_of(const workloads::CsvTable& table) {
    const std::map<std::string_view, ColumnRole> known = known_columns();
    std::vector<std::string_view> names;
    for (const auto& [name, role] : known) {
        names.push_back(name);
    }
    std::vector<ColumnRole> roles;
    for (const std::string& column : table.columns()) {
        const auto found = known.find(column);
        if (column.starts_with('_')) {
            roles.push_back(ColumnRole::passed);
        } else if (found != known.end()) {
            roles.push_back(found->second);
        } else {
            throw UsageError(
                table.reader().name() + " column", column,
                hw::expected_names(column, names) + " (a column that begins with _ passes through)");
        }
    }
    as_usage([&table] { return table.require("op"); });
    return roles;
}

}  // namespace warptime::cli
