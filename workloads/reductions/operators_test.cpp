// Records of reductions: what cannot run is refused by name.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads;
using namespace warptime::workloads::fixture;

TEST_CASE("what cannot run is refused by name") {
    auto few = matrix(16, 4, "bf16");
    CHECK(refused("topk", few) == "topk k");
    auto many = matrix(16, 8192, "bf16");
    many["k"] = "4097";
    CHECK(refused("topk", many) == "topk k");
    CHECK(refused("histogram", {{"n", "64"}, {"bins", "4294967296"}}) == "histogram bins");
    CHECK(refused("histogram", {{"n", "64"}, {"bins", "8193"}, {"implementation", "ideal"}}) ==
          "histogram bins");
    CHECK(refused("softmax", matrix(1000000, 1000000, "bf16")) == "softmax size");
    CHECK(refused("softmax", matrix(16, 16, "int8")) == "softmax dtype");
}
