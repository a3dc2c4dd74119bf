// Elements of a vector in place: set up, copied and replaced.
// SPDX-License-Identifier: Apache-2.0
#include "hw/inplace_vector.hpp"

#include <doctest/doctest.h>

namespace warptime::hw {

namespace {
struct Pair {
    int one = 1;
    double two = 2.0;
};
}  // namespace

TEST_CASE("elements begin as their type says, each time anew, and are copied") {
    InplaceVector<Pair, 4> vector;
    CHECK(vector.size() == 0);
    vector.reset(3);
    REQUIRE(vector.size() == 3);
    CHECK(vector[2].one == 1);
    CHECK(vector[2].two == 2.0);
    vector[2].one = 7;
    const InplaceVector<Pair, 4> copy = vector;
    vector.reset(4);
    CHECK(vector[2].one == 1);
    CHECK(copy.size() == 3);
    CHECK(copy[2].one == 7);
    vector = copy;
    CHECK(vector.size() == 3);
    CHECK(vector[2].one == 7);
}

}  // namespace warptime::hw
