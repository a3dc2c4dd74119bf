// Records of movements: what cannot run is refused by name.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads;
using namespace warptime::workloads::fixture;

TEST_CASE("what cannot run is refused by name") {
    CHECK(refused("permute", matrix(8, 100, "bf16", {{"heads", "3"}})) == "permute heads");
    CHECK(refused("cat", matrix(1 << 20, 1 << 20, "bf16")) == "cat size");
    CHECK(refused("scatter_add_rows", matrix(8, 8, "int8")) == "scatter_add_rows dtype");
}
