// The roles of a batch's columns.
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
    std::vector<ColumnRole> found;
    for (const auto& column : roles_of(CsvTable(in, "cases.csv"))) {
        found.push_back(column.role);
    }
    return found;
}

}  // namespace

TEST_CASE("columns have their roles") {
    CHECK(roles("op,m,cta_tile,cache,clock_mhz,gpu,engine,_id") ==
          std::vector<ColumnRole>{ColumnRole::op, ColumnRole::parameter, ColumnRole::parameter,
                                  ColumnRole::condition, ColumnRole::condition, ColumnRole::gpu,
                                  ColumnRole::engine, ColumnRole::passed});
}

TEST_CASE("the results of an earlier run are known") {
    CHECK(roles("op,n,time_us,status,error") ==
          std::vector<ColumnRole>{ColumnRole::op, ColumnRole::parameter, ColumnRole::result,
                                  ColumnRole::result, ColumnRole::result});
}

TEST_CASE("columns are known in any case and by their aliases") {
    std::istringstream in("OP,M,Tile,Cache,GPU,_Note\n");
    std::vector<std::string> names;
    for (const auto& column : roles_of(CsvTable(in, "cases.csv"))) {
        names.push_back(column.name);
    }
    CHECK(names == std::vector<std::string>{"op", "m", "cta_tile", "cache", "gpu", "_Note"});
    CHECK_THROWS_WITH_AS(static_cast<void>(roles("op,tile,cta_tile")),
                         doctest::Contains("one column for cta_tile"), UsageError);
}

TEST_CASE("an unknown column is named with the nearest one") {
    CHECK_THROWS_WITH_AS(static_cast<void>(roles("op,m,stagse")), doctest::Contains("'stages'"), UsageError);
    CHECK_THROWS_WITH_AS(static_cast<void>(roles("m,n,k")), doctest::Contains("a column 'op'"), UsageError);
    CHECK_THROWS_AS(static_cast<void>(roles("op,time")), UsageError);
}

TEST_CASE("a table with other separators is told so") {
    for (const char* header : {"op;m;n;k", "op\tm\tn\tk"}) {
        CHECK_THROWS_WITH_AS(static_cast<void>(roles(header)), doctest::Contains("separated by commas"),
                             UsageError);
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(roles("op,_a;b,stagse")), doctest::Contains("'stages'"),
                         UsageError);
}
