// DRAM writes: measured cases one by one, and bounds.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/write_back.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

using namespace warptime::hw;
using namespace warptime::model::machine;

namespace {

double over_dirty(double read, double written, double fraction, double capacity, double first = 0.0) {
    return writes_over_dirty(Bytes(read), Bytes(written), Bytes(first), Number(fraction), Bytes(capacity))
        .value();
}

double over_clean(double filled, double written, double capacity, double dirty,
                  double waves = std::numeric_limits<double>::infinity()) {
    return writes_over_clean(Bytes(filled), Bytes(written), Bytes(capacity), Bytes(dirty), waves).value();
}

}  // namespace

TEST_CASE("reading, writing and copying kernels over a dirty L2 of 33 MB") {
    CHECK(over_dirty(10.0, 0.0, 0.5, 33.0) == 5.0);       // reads push out half as many lines
    CHECK(over_dirty(512.0, 0.0, 0.5, 33.0) == 33.0);     // until no dirty line is left
    CHECK(over_dirty(512.0, 512.0, 0.5, 33.0) == 512.0);  // a large copy nets to zero
    CHECK(over_dirty(16.0, 16.0, 0.5, 33.0) == 16.0);
    CHECK(over_dirty(0.0, 16.0, 0.5, 33.0) == 8.0);       // half of a small write displaces as much
    CHECK(over_dirty(1.0, 0.0, 0.5, 33.0, 2.0) == 1.0);   // the first lines are all dirty
    CHECK(over_dirty(10.0, 0.0, 0.5, 33.0, 2.0) == 6.0);  // half of the other lines
    CHECK(over_dirty(512.0, 0.0, 0.5, 33.0, 2.0) == 33.0);
    CHECK(over_dirty(0.0, 16.0, 0.5, 33.0, 2.0) == 8.0);  // nobody waits for lines that stores displace
    CHECK(over_clean(0.0, 20.0, 60.0, 33.0) == 0.0);
    CHECK(over_clean(0.0, 50.0, 60.0, 33.0) == doctest::Approx(17.0));
    CHECK(over_clean(30.0, 30.0, 60.0, 33.0) == 0.0);        // all lines fit
    CHECK(over_clean(200.0, 10.0, 60.0, 33.0, 1.0) == 0.0);  // written at the end, all lines are there
    CHECK(over_clean(990.0, 10.0, 60.0, 33.0, 2.0) == doctest::Approx(5.0));  // the first half is gone
    // half of all arriving lines are there
    CHECK(over_clean(88.0, 32.0, 60.0, 33.0) == doctest::Approx(16.0));
}

TEST_CASE("never negative, never more than the writes and all that was dirty; more reads never write less") {
    CHECK(rc::check("bounds", [] {
        const double read = *rc::gen::inRange(0, 1000);
        const double written = *rc::gen::inRange(0, 1000);
        const double fraction = *rc::gen::inRange(0, 101) / 100.0;
        const double capacity = *rc::gen::inRange(0, 60);
        const double first = *rc::gen::inRange(0, 10);
        const double result = over_dirty(read, written, fraction, capacity, first);
        const double clean = over_clean(read, written, 60.0, capacity);
        RC_ASSERT(clean >= 0.0);
        RC_ASSERT(clean <= written);
        RC_ASSERT(clean >= written - capacity - 1e-9);
        RC_ASSERT(over_clean(read + 1.0, written, 60.0, capacity) >= clean - 1e-9);
        RC_ASSERT(result <= written + capacity);
        RC_ASSERT(over_dirty(read + 1.0, written, fraction, capacity, first) >= result);
    }));
}

TEST_CASE("what is written last, wave by wave") {
    CHECK(written_last(0.5, 1.0) == 1.0);
    CHECK(written_last(0.1, 2.0) == doctest::Approx(0.5));   // the second of two waves
    CHECK(written_last(0.5, 2.0) == doctest::Approx(1.0));   // half of the traffic follows the first wave
    CHECK(written_last(0.1, 1.25) == doctest::Approx(0.2));  // a quarter of a wave is a fifth of all
    CHECK(written_last(0.35, 4.5) == doctest::Approx(2.5 / 4.5));  // the last two full waves and the rest
    CHECK(rc::check("bounds, and endless waves are their limit", [] {
        const double room = *rc::gen::inRange(0, 101) / 100.0;
        const double waves = 1.0 + *rc::gen::inRange(0, 1000) / 10.0;
        const double share = written_last(room, waves);
        RC_ASSERT(share > 0.0);
        RC_ASSERT(share <= 1.0 + 1e-12);
        RC_ASSERT(std::fabs(share - room) <= 1.0 / waves + 1e-12);
        RC_ASSERT(written_last(room, std::numeric_limits<double>::infinity()) == room);
    }));
}
