// The version has three numbers, as every report shows it.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/version.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <string>

TEST_CASE("the program's version is three numbers with dots between") {
    const std::string version(warptime::reports::program_version());
    CHECK(std::count(version.begin(), version.end(), '.') == 2);
    CHECK(std::isdigit(static_cast<unsigned char>(version.front())) != 0);
    CHECK(std::isdigit(static_cast<unsigned char>(version.back())) != 0);
    CHECK(std::all_of(version.begin(), version.end(),
                      [](unsigned char c) { return c == '.' || std::isdigit(c) != 0; }));
}

TEST_CASE("the version of the model is the program's and a hash") {
    const std::string version(warptime::reports::model_version());
    const std::string program(warptime::reports::program_version());
    REQUIRE(version.size() == program.size() + 13);
    CHECK(version.starts_with(program + "+"));
    CHECK(version.find_first_not_of("0123456789abcdef", program.size() + 1) == std::string::npos);
}
