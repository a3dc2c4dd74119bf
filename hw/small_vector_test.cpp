// Elements of a vector in place and on the heap: set up, copied and replaced.
// SPDX-License-Identifier: Apache-2.0
#include "hw/small_vector.hpp"

#include <doctest/doctest.h>

namespace warptime::hw {

namespace {
struct Pair {
    int one = 1;
    double two = 2.0;
};
}  // namespace

TEST_CASE("elements begin as their type says, each time anew, and are copied") {
    SmallVector<Pair, 4> vector;
    CHECK(vector.size() == 0);
    vector.reset(3);
    REQUIRE(vector.size() == 3);
    CHECK(vector[2].one == 1);
    CHECK(vector[2].two == 2.0);
    vector[2].one = 7;
    const SmallVector<Pair, 4> copy = vector;
    vector.reset(4);
    CHECK(vector[2].one == 1);
    CHECK(copy.size() == 3);
    CHECK(copy[2].one == 7);
    vector = copy;
    CHECK(vector.size() == 3);
    CHECK(vector[2].one == 7);
}

TEST_CASE("more elements than fit in place are kept and copied as well") {
    SmallVector<Pair, 2> vector(5);
    REQUIRE(vector.size() == 5);
    CHECK(vector[4].one == 1);
    vector[4].one = 9;
    SmallVector<Pair, 2> copy = vector;
    vector.reset(5);
    CHECK(vector[4].one == 1);
    CHECK(copy[4].one == 9);
    copy.reset(2);
    CHECK(copy.end() - copy.begin() == 2);
    copy = vector;
    CHECK(copy.size() == 5);
    CHECK(SmallVector<int, 2>(3) == SmallVector<int, 2>(3));
    CHECK_FALSE(SmallVector<int, 2>(3) == SmallVector<int, 2>(4));
}

}  // namespace warptime::hw
