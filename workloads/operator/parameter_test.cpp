// Numbers of parameters: accepted forms, refused forms, and the largest of each kind.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/operator/parameter.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>

using namespace warptime::workloads;
using warptime::Error;

TEST_CASE("a whole number is read up to the largest, and nothing beyond") {
    CHECK(rc::check("what is written is read", [] {
        const auto value = *rc::gen::inRange<std::int64_t>(1, 1 << 30);
        RC_ASSERT(parse_whole(std::to_string(value), "stages", value) == value);
        RC_ASSERT_THROWS_AS(static_cast<void>(parse_whole(std::to_string(value + 1), "stages", value)),
                            Error);
    }));
    for (const char* text : {"", "0", "-1", "+1", "1.0", "1e3", " 1", "1 ", "0x10", "99999999999999999999"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(static_cast<void>(parse_whole(text, "stages", 1 << 30)), Error);
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(parse_whole("x", "gemm stages", 16)),
                         "gemm stages: got 'x', expected a whole number from 1 to 16", Error);
}

TEST_CASE("sizes reach what a double holds exactly, other numbers 32 bits") {
    CHECK(largest_number(ParameterKind::size) == std::int64_t{1} << 53);
    CHECK(largest_number(ParameterKind::integer) == 2147483647);
    CHECK(parse_size(std::to_string(std::int64_t{1} << 53), "n") == std::int64_t{1} << 53);
}

TEST_CASE("kinds are named by the form that is typed") {
    CHECK(to_string(ParameterKind::extent2) == "MxN");
    CHECK(to_string(ParameterKind::extent3) == "MxNxK");
    CHECK(to_string(ParameterKind::text) == "text");
}
