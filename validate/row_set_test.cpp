// Sets of rows: order does not matter, every row and every value does.
// SPDX-License-Identifier: Apache-2.0
#include "validate/row_set.hpp"

#include "validate/recorded_fixture_test.hpp"

#include <doctest/doctest.h>

namespace validate = warptime::validate;
namespace fixture = warptime::validate::fixture;

TEST_CASE("a set of rows is the same in any order, and another with any other value") {
    const auto a = fixture::row("s", "copy", "n=1", 10);
    const auto b = fixture::row("s", "copy", "n=2", 20);
    auto again = b;
    again.value = 20.5;
    const auto set_of = [](std::initializer_list<validate::RecordedRow> rows) {
        validate::RowSet set;
        for (const auto& row : rows) set.add(row);
        return set;
    };
    CHECK(set_of({a, b}) == set_of({b, a}));
    CHECK(to_text(set_of({a, b})) == to_text(set_of({b, a})));
    CHECK(set_of({a, b}) != set_of({a, again}));
    CHECK(to_text(set_of({a, b})) != to_text(set_of({a, again})));
    CHECK(set_of({a}) != set_of({a, a}));
    auto joined = set_of({a});
    joined.add(set_of({b}));
    CHECK(joined == set_of({a, b}));
    CHECK(to_text(validate::RowSet{}) == "0:00000000");
}
