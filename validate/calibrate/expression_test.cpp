// Formulas against C++'s own arithmetic, and texts that are no formula.
// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate/expression.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

namespace warptime::validate::calibrate {
namespace {

double value_of(std::string_view formula) {
    return evaluate(formula, [](std::string_view name) {
        if (name == "a") return 7.0;
        if (name == "gpu.sm.count") return 132.0;
        throw Error("name", std::string(name), "a or gpu.sm.count");
    });
}

TEST_CASE("precedence is that of C++") {
    const double a = 7.0;
    CHECK(value_of("1 + 2 * 3 - 4 / 8") == 1 + 2 * 3 - 4.0 / 8);
    CHECK(value_of("-a*-2 - -1") == -a * -2 + 1);
    CHECK(value_of("10 - 4 - 3") == 3.0);
    CHECK(value_of("48 / 4 / 3") == 4.0);
    CHECK(value_of("(1.5e2 + a) / (gpu.sm.count-a)") == (150 + a) / (132 - a));
}

TEST_CASE("comparisons and logic give one or zero") {
    CHECK(value_of("a >= 7 and a <= 7") == 1.0);
    CHECK(value_of("a > 7 or a < 7") == 0.0);
    CHECK(value_of("not a == 7 or 1 != 2") == 1.0);
    CHECK(value_of("1 == 1 or 1 == 2 and 1 == 3") == 1.0);  // `and` binds closer
    CHECK(value_of("a + 1 < 9 and not (a * 2 == 15)") == 1.0);
}

TEST_CASE("what is no formula is refused") {
    for (const char* bad :
         {"", "1 +", "(1", "1 2", "a b", "1 == == 2", "b", "a >", "and", "1 $ 2", "..1.1"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(static_cast<void>(value_of(bad)), Error);
    }
}

}  // namespace
}  // namespace warptime::validate::calibrate
