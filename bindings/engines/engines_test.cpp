// Tests of the names of the engines.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/engines/engines.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

namespace engines = warptime::engines;

TEST_CASE("an engine has the name that it was asked for by") {
    CHECK(engines::make_engine(engines::default_engine)->name() == engines::default_engine);
    CHECK(engines::make_engine("simulation")->name() == "simulation");
}

TEST_CASE("an unknown engine is refused with the nearest name") {
    CHECK_THROWS_WITH_AS(engines::check_engine_name("analitical"), doctest::Contains("'analytical'"),
                         warptime::Error);
    CHECK_THROWS_AS(static_cast<void>(engines::make_engine("")), warptime::Error);
}
