// Tests of the names of origins and confidence levels.
// SPDX-License-Identifier: Apache-2.0
#include "hw/provenance.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

namespace warptime::hw {
namespace {

TEST_CASE("confidence levels are read back by name") {
    for (const Confidence level : {Confidence::datasheet, Confidence::paper, Confidence::repository,
                                   Confidence::inferred, Confidence::measured}) {
        CHECK(parse_confidence(to_string(level), "x") == level);
    }
    CHECK(to_string(Confidence::measured) == "measured");
    CHECK(to_string(Origin::inherited) == "inherited");
    CHECK(to_string(Origin::set) == "set");
    CHECK_THROWS_WITH_AS((void)parse_confidence("papper", "h200-sxm sm.count confidence"),
                         doctest::Contains("nearest: 'paper'"), Error);
}

}  // namespace
}  // namespace warptime::hw
