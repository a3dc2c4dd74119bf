// Names of origins and confidence levels.
// SPDX-License-Identifier: Apache-2.0
#include "hw/provenance.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

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

TEST_CASE("constants of a GPU's own rows are told from those of a sibling") {
    const ConstantCounts h200 = count_constants(load_gpu("h200-sxm").provenance);
    CHECK(h200.inherited == 0);
    CHECK(h200.own > 100);
    const ConstantCounts h100 = count_constants(load_gpu("h100-sxm").provenance);
    CHECK(h100.own > 0);
    CHECK(h100.own < 10);
    CHECK(h100.own + h100.inherited == h200.own);
    const Setting floor = parse_setting("gpu.launch.floor=2x");
    CHECK(count_constants(load_gpu("h200-sxm", std::span(&floor, 1)).provenance).own == h200.own - 1);
}

}  // namespace
}  // namespace warptime::hw
