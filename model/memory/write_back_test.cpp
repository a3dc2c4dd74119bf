// Write-back: the cases that were measured one by one, bounds, and derivatives with dual numbers.
// SPDX-License-Identifier: Apache-2.0
#include "model/memory/write_back.hpp"

#include "hw/math.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::hw;
using namespace warptime::model::memory;

namespace {

double over_dirty(double read, double written, double fraction, double capacity) {
    return writes_over_dirty(Bytes<double>(read), Bytes<double>(written), Number<double>(fraction),
                             Bytes<double>(capacity))
        .value();
}

double over_clean(double read, double written, double capacity) {
    return writes_over_clean(Bytes<double>(read), Bytes<double>(written), Bytes<double>(capacity)).value();
}

}  // namespace

TEST_CASE("reading, writing and copying kernels over a dirty L2 of 33 MB") {
    CHECK(over_dirty(10.0, 0.0, 0.5, 33.0) == 5.0);       // reads push out half as many lines
    CHECK(over_dirty(512.0, 0.0, 0.5, 33.0) == 33.0);     // until no dirty line is left
    CHECK(over_dirty(512.0, 512.0, 0.5, 33.0) == 512.0);  // a large copy nets to zero
    CHECK(over_dirty(16.0, 16.0, 0.5, 33.0) == 16.0);
    CHECK(over_dirty(0.0, 16.0, 0.5, 33.0) == 8.0);  // half of a small write displaces as much
    CHECK(over_clean(0.0, 20.0, 33.0) == 0.0);
    CHECK(over_clean(0.0, 50.0, 33.0) == doctest::Approx(17.0));
    CHECK(over_clean(100.0, 32.0, 33.0) == doctest::Approx(24.0));  // a quarter of all that came in is there
}

TEST_CASE("never negative, never more than the writes and all that was dirty; more reads never write less") {
    CHECK(rc::check("bounds", [] {
        const double read = *rc::gen::inRange(0, 1000);
        const double written = *rc::gen::inRange(0, 1000);
        const double fraction = *rc::gen::inRange(0, 101) / 100.0;
        const double capacity = *rc::gen::inRange(0, 60);
        const double result = over_dirty(read, written, fraction, capacity);
        const double clean = over_clean(read, written, capacity);
        RC_ASSERT(clean >= 0.0);
        RC_ASSERT(clean <= written);
        RC_ASSERT(clean >= written - capacity - 1e-9);
        RC_ASSERT(over_clean(read + 1.0, written, capacity) >= clean - 1e-9);
        RC_ASSERT(result <= written + capacity);
        RC_ASSERT(over_dirty(read + 1.0, written, fraction, capacity) >= result);
    }));
}

TEST_CASE("derivatives follow the branch taken") {
    using D = Dual<2>;
    const auto written = [](double read) {
        return writes_over_dirty(Bytes<D>(D(read)), Bytes<D>(D(0.0)), Number<D>(D::variable(0.5, 0)),
                                 Bytes<D>(D::variable(33.0, 1)))
            .value();
    };
    CHECK(written(10.0).derivative(0) == 10.0);
    CHECK(written(10.0).derivative(1) == 0.0);
    CHECK(written(100.0).derivative(0) == 0.0);
    CHECK(written(100.0).derivative(1) == 1.0);
}
