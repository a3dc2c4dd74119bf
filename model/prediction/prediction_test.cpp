// Names of a prediction's status.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/prediction.hpp"

#include <doctest/doctest.h>

using namespace warptime::model::prediction;

TEST_CASE("a prediction nobody has calibrated says so") {
    CHECK(to_string(Prediction{}.status) == "extrapolated");
    CHECK(to_string(Status::calibrated) == "calibrated");
    CHECK(to_string(Status::what_if) == "what-if");
}
