// Numbers with units: values known by hand, round trips, and refused text.
// SPDX-License-Identifier: Apache-2.0
#include "hw/unit.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <string>

namespace warptime::hw {
namespace {

TEST_CASE("values known by hand") {
    CHECK(parse_value("4.8 TB/s", "B/s", "x") == doctest::Approx(4.8e12));
    CHECK(parse_value("64 B/cycle", "B/cycle", "x") == 64);
    CHECK(parse_value("1980 MHz", "cycle/s", "x") == 1.98e9);
    CHECK(parse_value("1.98Gcycle/s", "cycle/s", "x") == doctest::Approx(1.98e9));
    CHECK(parse_value("227 KiB", "B", "x") == 232448);
    CHECK(parse_value("132", "1", "x") == 132);
    CHECK(parse_value("95 %", "1", "x") == doctest::Approx(0.95));
    CHECK(parse_value("1.45 us", "s", "x") == doctest::Approx(1.45e-6).scale(1e-6));
    CHECK(parse_value("1.45 \xc2\xb5s", "s", "x") == doctest::Approx(1.45e-6).scale(1e-6));
    CHECK(parse_value("989.4 TFLOP/s", "op/s", "x") == doctest::Approx(9.894e14));
    CHECK(parse_value("4096 op/cycle", "op/cycle", "x") == 4096);
    CHECK(parse_value("128 1/cycle", "1/cycle", "x") == 128);
    CHECK(parse_value(" 1e3 kW ", "W", "x") == 1e6);
    CHECK(parse_value("8 B/ns", "B/s", "x") == doctest::Approx(8e9));
}

TEST_CASE("text that is refused") {
    for (const char* text : {"",        " ",         "B",    "abc",   "nan",   "inf B",   "-1 B", "+1 B",
                             "1e999 B", "1 TB junk", "1 QB", "1 mB",  "1 Kis", "1 B/",    "1 /s", "1 B/s/s",
                             "0x10",    "1 2",       "1..2", "1,5 B", "1 k",   "1e308 PB"}) {
        CAPTURE(text);
        CHECK_THROWS_AS((void)parse_measure(text, "x"), Error);
    }
    CHECK_THROWS_AS((void)parse_value("5 B", "B/s", "x"), Error);
    CHECK_THROWS_AS((void)parse_value("5", "B/s", "x"), Error);
    CHECK_THROWS_AS((void)parse_value("5 s", "1", "x"), Error);
    CHECK_THROWS_AS((void)parse_dimension("furlong"), Error);
}

TEST_CASE("an error names the parameter, the value and the form") {
    try {
        (void)parse_value("5 MHz", "B/s", "h200-sxm dram.bandwidth");
        FAIL("expected an Error");
    } catch (const Error& error) {
        CHECK(error.parameter() == "h200-sxm dram.bandwidth");
        CHECK(error.value() == "5 MHz");
        CHECK(error.expected().find("B/s") != std::string::npos);
    }
}

TEST_CASE("readable text") {
    CHECK(format_value(4.8e12, "B/s") == "4.8 TB/s");
    CHECK(format_value(1.98e9, "cycle/s") == "1.98 GHz");
    CHECK(format_value(232448, "B") == "227 KiB");
    CHECK(format_value(2e12, "B") == "2 TB");
    CHECK(format_value(64.0 * 1024 * 1024 * 1024, "B") == "64 GiB");
    CHECK(format_value(62914560, "B") == "60 MiB");
    CHECK(format_value(141e9, "B") == "141 GB");
    CHECK(format_value(1.45e-6, "s") == "1.45 us");
    CHECK(format_value(0, "B/s") == "0 B/s");
    CHECK(format_value(64, "B/cycle") == "64 B/cycle");
    CHECK(format_value(700, "W") == "700 W");
    CHECK(format_value(0.95, "1") == "0.95");
}

TEST_CASE("what is written is read back") {
    constexpr std::array<const char*, 11> units{"1",   "B",        "s",    "cycle",   "cycle/s", "B/cycle",
                                                "B/s", "op/cycle", "op/s", "1/cycle", "W"};
    CHECK(rc::check("parse(format(x)) == x to rounding", [&] {
        const char* unit = units[*rc::gen::inRange<std::size_t>(0, units.size())];
        const double value = static_cast<double>(*rc::gen::inRange(1, 1000000)) *
                             std::pow(10.0, static_cast<double>(*rc::gen::inRange(-12, 10)));
        const double back = parse_value(format_value(value, unit), unit, "x");
        RC_ASSERT(std::fabs(back - value) <= 1e-11 * value);
    }));
}

}  // namespace
}  // namespace warptime::hw
