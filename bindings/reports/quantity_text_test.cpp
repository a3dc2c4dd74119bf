// Readable numbers, where the prefix or the number of digits changes.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/quantity_text.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <string>

using namespace warptime::reports;

TEST_CASE("times") {
    CHECK(time_text(0.0) == "0.000 ns");
    CHECK(time_text(8.5e-7) == "850.0 ns");
    CHECK(time_text(1.2345e-5) == "12.35 us");
    CHECK(time_text(9.9996e-4) == "1.000 ms");
    CHECK(time_text(9.9994e-4) == "999.9 us");
    CHECK(time_text(2.0) == "2.000 s");
    CHECK(time_text(12345.0) == "12345 s");
}

TEST_CASE("quantities") {
    CHECK(quantity_text(4.8e12, "B/s") == "4.800 TB/s");
    CHECK(quantity_text(9.89e14, "FLOP/s") == "989.0 TFLOP/s");
    CHECK(quantity_text(1.98e9, "Hz") == "1.980 GHz");
    CHECK(quantity_text(0.5, "W") == "0.500 W");
    CHECK(quantity_text(0.0, "B/s") == "0.000 B/s");
    CHECK(percent_text(0.1234) == "12.3 %");
    CHECK(number_text(4096.0) == "4096");
    CHECK(number_text(1.0 / 3.0) == "0.3333");
    CHECK(number_text(9007199254740992.0) == "9007199254740992");
    CHECK(time_text(std::numeric_limits<double>::quiet_NaN()) == "nan ns");
}

TEST_CASE("the text is within half a unit of its fourth digit") {
    CHECK(rc::check([] {
        const double value = std::pow(10.0, *rc::gen::inRange(0, 150000) / 10000.0);
        const std::string text = quantity_text(value, "");
        const std::string prefixes = " kMGTP";
        const std::size_t space = text.find(' ');
        const char prefix = space + 1 < text.size() ? text[space + 1] : ' ';
        const double scale = std::pow(1000.0, static_cast<double>(prefixes.find(prefix)));
        RC_ASSERT(std::fabs(std::stod(text) * scale / value - 1.0) <= 5.1e-4);
    }));
}
