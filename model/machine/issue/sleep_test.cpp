// SPDX-License-Identifier: Apache-2.0
#include "model/machine/issue/sleep.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace warptime::model::machine;

TEST_CASE("a sleep ends at the next multiple of a power of two that is not below what was asked for") {
    CHECK(sleep_period_ns(0) == 1);
    CHECK(sleep_period_ns(32) == 32);
    CHECK(sleep_period_ns(33) == 64);
    CHECK(sleep_period_ns(512) == 512);
    CHECK(sleep_period_ns(513) == 1024);
    CHECK(sleep_period_ns(1'000'000) == 1'048'576);
    CHECK(mean_sleep_ns(1070) == 1024.0);
}

TEST_CASE("sleeps in a row take a period each, as recorded") {
    std::ifstream file(std::string(WARPTIME_SOURCE_DIR) + "/validate/recorded/h100-sxm/ladders/sleeps.csv");
    std::string line;
    REQUIRE(std::getline(file, line));
    int rows = 0;
    while (std::getline(file, line)) {
        std::istringstream text(line);
        std::vector<std::string> fields;
        for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
        const auto asked = static_cast<std::uint32_t>(std::stoul(fields[0]));
        // Shorter ones are as long as the loop around them.
        if (asked < 350) continue;
        CHECK(std::stod(fields[4]) ==
              doctest::Approx(static_cast<double>(sleep_period_ns(asked))).epsilon(0.1));
        ++rows;
    }
    CHECK(rows > 100);
}
