// The columns of a batch.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/batch_column.hpp"

#include <doctest/doctest.h>

#include <limits>

using warptime::workloads::BatchColumn;
using warptime::workloads::find_operator;
using warptime::workloads::number_at;
using warptime::workloads::number_text;
using warptime::workloads::rows_of;
using warptime::workloads::words_of;

TEST_CASE("numbers become words, each distinct one once") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> reals{2, nan, 2, 1.5, nan, 1e15};
    const auto values = words_of(BatchColumn{"n", std::span<const double>(reals)});
    CHECK(values.words == std::vector<std::string>{"2", "nan", "1.5", "1000000000000000"});
    CHECK(values.codes == std::vector<std::int32_t>{0, 1, 0, 2, 1, 3});
    CHECK(rows_of(BatchColumn{"n", "text"}) == 1);
}

TEST_CASE("a number is taken where its parameter takes it") {
    const auto& n = find_operator("copy").parameters.front();
    const std::int64_t largest = std::int64_t{1} << 53;
    const std::vector<std::int64_t> integers{0, 1, largest, largest + 1};
    const BatchColumn column{"n", std::span<const std::int64_t>(integers)};
    CHECK_FALSE(number_at(column, 0, n));
    CHECK(number_at(column, 1, n) == 1);
    CHECK(number_at(column, 2, n) == largest);
    CHECK_FALSE(number_at(column, 3, n));
    CHECK(number_text(column, 3) == "9007199254740993");
    const std::vector<double> reals{1.0, 1.5, std::numeric_limits<double>::infinity(), -3.0};
    const BatchColumn real_column{"n", std::span<const double>(reals)};
    CHECK(number_at(real_column, 0, n) == 1);
    for (std::size_t row = 1; row < reals.size(); ++row) {
        CHECK_FALSE(number_at(real_column, row, n));
    }
    CHECK(number_text(real_column, 2) == "inf");
    CHECK(number_text(real_column, 3) == "-3");
}
