// Samples are the same whatever the order of the rows, grow by adding, and favour no split.
// SPDX-License-Identifier: Apache-2.0
#include "validate/sample.hpp"

#include "validate/recorded_fixture_test.hpp"
#include "validate/split.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace validate = warptime::validate;
namespace fixture = warptime::validate::fixture;

namespace {

std::vector<validate::RecordedRow> many_rows(int count) {
    std::vector<validate::RecordedRow> rows;
    for (int i = 0; i < count; ++i) {
        rows.push_back(fixture::row("s", "copy", fmt::format("dtype=bf16 n={}", 1024 * (i + 1)), 10.0 + i));
    }
    return rows;
}

std::vector<const validate::RecordedRow*> references(const std::vector<validate::RecordedRow>& rows) {
    std::vector<const validate::RecordedRow*> result;
    for (const auto& row : rows) result.push_back(&row);
    return result;
}

}  // namespace

TEST_CASE("a sample keeps the order of its rows and grows by adding") {
    const auto rows = many_rows(200);
    const auto all = references(rows);
    const auto small = validate::sample_rows(all, 20);
    const auto large = validate::sample_rows(all, 50);
    CHECK(small.size() == 20);
    CHECK(large.size() == 50);
    CHECK(std::is_sorted(small.begin(), small.end()));
    CHECK(std::includes(large.begin(), large.end(), small.begin(), small.end()));
    CHECK(validate::sample_rows(all, 0).size() == 200);
    CHECK(validate::sample_rows(all, 500).size() == 200);

    auto reversed = all;
    std::reverse(reversed.begin(), reversed.end());
    const auto again = validate::sample_rows(reversed, 20);
    CHECK(std::set(again.begin(), again.end()) == std::set(small.begin(), small.end()));
}

TEST_CASE("neighbouring cases are drawn independently, and splits in proportion") {
    const auto rows = many_rows(4000);
    const auto sample = validate::sample_rows(references(rows), 1000);
    std::size_t held_out = 0;
    std::size_t neighbours = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        held_out += validate::split_of("copy " + sample[i]->params) == validate::Split::held_out ? 1U : 0U;
        neighbours += i > 0 && sample[i] == sample[i - 1] + 1 ? 1U : 0U;
    }
    // Binomial with p = 0.3 and p = 0.25: six standard deviations either way.
    CHECK(held_out > 300 - 87);
    CHECK(held_out < 300 + 87);
    CHECK(neighbours > 250 - 83);
    CHECK(neighbours < 250 + 83);
}
