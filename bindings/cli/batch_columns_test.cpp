// Tests of the roles of a batch's columns.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/batch_columns.hpp"

#include "bindings/cli/usage_error.hpp"

#include <doctest/doctest.h>

#include <sstream>

using warptime::cli::ColumnRole;
using warptime::cli::roles_of;
using warptime::cli::UsageError;
using warptime::workloads::CsvTable;

namespace {

std::vector<ColumnRole> roles(const std::string& header) {
    std::istringstream in(header + "\n");
    return roles_of(CsvTable(in, "cases.csv"));
}

}  // namespace

TEST_CASE("columns have their roles") {
    CHECK(roles("op,m,cta_tile,cache,clock_mhz,gpu,engine,_id") ==
          std::vector<ColumnRole>{ColumnRole::op, ColumnRole::parameter, ColumnRole::parameter,
                                  ColumnRole::condition, ColumnRole::condition, ColumnRole::gpu,
                                  ColumnRole::engine, ColumnRole::passed});
}

TEST_CASE("an unknown column is named with the nearest one") {
    CHECK_THROWS_WITH_AS(static_cast<void>(roles("op,m,stagse")), doctest::Contains("'stages'"), UsageError);
    CHECK_THROWS_WITH_AS(static_cast<void>(roles("m,n,k")), doctest::Contains("a column 'op'"), UsageError);
    CHECK_THROWS_AS(static_cast<void>(roles("op,time_us")), UsageError);
}
