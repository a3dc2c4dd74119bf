// Little's law: both asymptotes, the corner, and derivatives with dual numbers.
// SPDX-License-Identifier: Apache-2.0
#include "model/memory/littles_law.hpp"

#include "hw/math.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

using namespace warptime::hw;
using namespace warptime::model::memory;

namespace {

double seconds(double bytes, double in_flight, double latency, double peak, double exponent) {
    return transfer_time(Bytes<double>(bytes), Bytes<double>(in_flight), Seconds<double>(latency),
                         BytesPerSecond<double>(peak), exponent)
        .value();
}

}  // namespace

TEST_CASE("asymptotes and the corner") {
    // 400 ns and 4.57 TB/s: the knee is at 1.83 MB in flight, where the norm costs 2^(1/p).
    const double knee = 400e-9 * 4.57e12;
    CHECK(seconds(1e9, 1000.0 * knee, 400e-9, 4.57e12, 4.0) == doctest::Approx(1e9 / 4.57e12));
    CHECK(seconds(1e9, knee / 1000.0, 400e-9, 4.57e12, 4.0) == doctest::Approx(1e12 / 4.57e12));
    CHECK(seconds(1e9, knee, 400e-9, 4.57e12, 4.0) ==
          doctest::Approx(1e9 / 4.57e12 * std::pow(2.0, 0.25)).epsilon(1e-12));
    CHECK(seconds(0.0, knee, 400e-9, 4.57e12, 4.0) == 0.0);
    CHECK(bytes_in_flight(Bytes<double>(5.0), Bytes<double>(3.0)).value() == 3.0);
    CHECK(bytes_in_flight(Bytes<double>(2.0), Bytes<double>(3.0)).value() == 2.0);
}

TEST_CASE("the same law in cycles") {
    const auto cycles = transfer_time(Bytes<double>(1280.0), Bytes<double>(64.0), Cycles<double>(100.0),
                                      BytesPerCycle<double>(64.0), 1.0);
    CHECK(cycles.value() == doctest::Approx(1280.0 * (100.0 / 64.0 + 1.0 / 64.0)));
}

TEST_CASE("between the sharp corner and the sum, equal to the formula as written") {
    CHECK(rc::check("bounds", [] {
        const double in_flight = *rc::gen::inRange(1, 1000000);
        const double latency = *rc::gen::inRange(1, 2000);
        const double peak = *rc::gen::inRange(1, 5000);
        const double exponent = 1.0 + 0.25 * *rc::gen::inRange(0, 28);
        const double time = seconds(1.0, in_flight, latency, peak, exponent);
        const double waiting = latency / in_flight;
        RC_ASSERT(time >= std::max(waiting, 1.0 / peak) * (1.0 - 1e-12));
        RC_ASSERT(time <= (waiting + 1.0 / peak) * (1.0 + 1e-12));
        const double direct =
            std::pow(std::pow(waiting, exponent) + std::pow(1.0 / peak, exponent), 1.0 / exponent);
        RC_ASSERT(std::abs(time / direct - 1.0) < 1e-9);
    }));
}

TEST_CASE("derivatives agree with differences") {
    using D = Dual<2>;
    const auto time = [](auto latency, auto peak) {
        using S = decltype(latency);
        return transfer_time(Bytes<S>(S(1e6)), Bytes<S>(S(1e3)), Seconds<S>(latency), BytesPerSecond<S>(peak),
                             S(3.0))
            .value();
    };
    const D dual = time(D::variable(2.0, 0), D::variable(400.0, 1));
    const double h = 1e-5;
    CHECK(value_of(dual) == doctest::Approx(time(2.0, 400.0)));
    CHECK(dual.derivative(0) ==
          doctest::Approx((time(2.0 + h, 400.0) - time(2.0 - h, 400.0)) / (2.0 * h)).epsilon(1e-6));
    CHECK(dual.derivative(1) ==
          doctest::Approx((time(2.0, 400.0 + h) - time(2.0, 400.0 - h)) / (2.0 * h)).epsilon(1e-5));
}
