// The names of the engines.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/engines/engines.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

namespace engines = warptime::engines;
using warptime::model::kernel::Evidence;

TEST_CASE("an engine has the name that it was asked for by") {
    CHECK(engines::make_engine(engines::default_engine)->name() == engines::default_engine);
    CHECK(engines::make_engine("simulation")->name() == "simulation");
    CHECK(engines::make_engine("Simulation")->name() == "simulation");
}

TEST_CASE("only the default engine is calibrated, and only on a GPU that was measured") {
    using warptime::model::prediction::Status;
    warptime::hw::Gpu gpu;
    CHECK(engines::status_of("analytical", gpu, {}, Evidence::own) == Status::extrapolated);
    gpu.calibrated = true;
    CHECK(engines::status_of("analytical", gpu, {}, Evidence::own) == Status::calibrated);
    CHECK(engines::status_of("simulation", gpu, {}, Evidence::own) == Status::extrapolated);
    CHECK(engines::status_of("analytical", gpu, {}, Evidence::any) == Status::extrapolated);
}

TEST_CASE("an unknown engine is refused with the nearest name") {
    CHECK_THROWS_WITH_AS(engines::engine_named("analitical"), doctest::Contains("'analytical'"),
                         warptime::Error);
    CHECK_THROWS_AS(static_cast<void>(engines::make_engine("")), warptime::Error);
}
