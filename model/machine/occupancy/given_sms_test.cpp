// SMs that a launch is given, with and without a limit by the conditions.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/given_sms.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;

TEST_CASE("a kernel is given all SMs, or as many as the conditions leave it") {
    warptime::hw::Gpu gpu;
    gpu.sm.count = warptime::hw::Number(132.0);
    prediction::Conditions conditions;
    CHECK(machine::given_sms(gpu, conditions) == 132);
    conditions.available_sms = 66;
    CHECK(machine::given_sms(gpu, conditions) == 66);
    conditions.available_sms = 200;
    CHECK(machine::given_sms(gpu, conditions) == 132);
}
