// Shared steps of reading TOML: parsing, required fields, unknown names and citations.
// SPDX-License-Identifier: Apache-2.0
#include "hw/toml_file.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <array>

namespace warptime::hw {
namespace {

TEST_CASE("a syntax error names the file and the line") {
    try {
        (void)parse_toml("a = 1\nb = = 2\n", "some.toml");
        FAIL("expected an Error");
    } catch (const Error& error) {
        CHECK(error.parameter() == "some.toml");
        CHECK(error.value().find("line 2") != std::string::npos);
    }
}

TEST_CASE("a table header that is none is refused, also where toml++ only asserts") {
    for (const char* text :
         {"[=1]\n", "[ = 1", "[\x01]\n", "[[=]]\n", "[.a]\n", "[a.=]\n", "a.=1\n", "a = {=1}\n"}) {
        CAPTURE(text);
        CHECK_THROWS_AS((void)parse_toml(text, "f"), Error);
    }
}

TEST_CASE("characters beyond ASCII stand in strings and comments and are refused elsewhere") {
    CHECK(parse_toml("a = '\xC2\xB5' # \xC2\xB5", "f")["a"].value<std::string>() == "\xC2\xB5");
    CHECK(parse_toml("a = \"\"\"\\\n \xC3\xA9\"\"\"", "f")["a"].value<std::string>() == "\xC3\xA9");
    for (const char* text :
         {"\xC3\xA9 = 1", "a = \xC2\xB5", "a = 1\xE3\x80\x81", "a.\xC3\xA9 = 1", "x=00='[\xC2\xA2_"}) {
        CAPTURE(text);
        CHECK_THROWS_AS((void)parse_toml(text, "f"), Error);
    }
}

TEST_CASE("required text and unknown fields") {
    const toml::table table = parse_toml("a = 'x'\nb = 3\nc = ''\n", "f");
    CHECK(required_text(table, "a", "f") == "x");
    CHECK_THROWS_AS((void)required_text(table, "b", "f"), Error);
    CHECK_THROWS_AS((void)required_text(table, "c", "f"), Error);
    CHECK_THROWS_AS((void)required_text(table, "d", "f"), Error);
    constexpr std::array<std::string_view, 3> all{"a", "b", "c"};
    CHECK_NOTHROW(refuse_unknown_fields(table, all, "f"));
    constexpr std::array<std::string_view, 2> two{"a", "c"};
    CHECK_THROWS_WITH_AS(refuse_unknown_fields(table, two, "f"),
                         doctest::Contains("got 'b', expected one of a, c"), Error);
}

TEST_CASE("citations are spelled out") {
    const toml::table table = parse_toml("[sources]\nCPG = 'The Guide'\n", "f");
    CHECK(full_citation(table, "CPG") == "The Guide");
    CHECK(full_citation(table, "CPG, table 3") == "The Guide: table 3");
    CHECK(full_citation(table, "CPG table 3") == "The Guide: table 3");
    CHECK(full_citation(table, "CPGX table 3") == "CPGX table 3");
    CHECK(full_citation(parse_toml("", "f"), "CPG") == "CPG");
}

}  // namespace
}  // namespace warptime::hw
