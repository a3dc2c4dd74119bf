// Means over trips and warps, against sums over all of them.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/mean_over_trips.hpp"

#include "model/kernel/builder.hpp"
#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>

namespace {

using namespace warptime::model::kernel;

Kernel of_warps(int warps) {
    Kernel kernel;
    kernel.cta = {std::int64_t{32} * warps, 1, 1};
    Role role;
    role.warps = warps;
    kernel.roles.push_back(role);
    return kernel;
}

}  // namespace

TEST_CASE("lanes of warps that a limit cuts off: shares of warps and of lanes, by trips and warps") {
    CHECK(rc::check("against a sum over trips and warps", [] {
        const int warps = *rc::gen::inRange(1, 9);
        const int outer = *rc::gen::inRange(1, 9);
        const int inner = *rc::gen::inRange(1, 40);
        const int by_outer = *rc::gen::inRange(-40, 40);
        const int by_inner = *rc::gen::inRange(-9, 9);
        const int constant = *rc::gen::inRange(-50, 300);
        Kernel kernel = of_warps(warps);
        Builder build(kernel);
        kernel.lane_counts.push_back(
            build.index(constant, {term(Variable::loop, by_outer, 0), term(Variable::loop, by_inner, 1),
                                   term(Variable::warp, -32)}));
        double taken = 0.0;
        double active = 0.0;
        for (int w = 0; w < warps; ++w) {
            for (int i = 0; i < outer; ++i) {
                for (int j = 0; j < inner; ++j) {
                    const int here = std::clamp(constant + by_outer * i + by_inner * j - 32 * w, 0, 32);
                    taken += here > 0 ? 1.0 : 0.0;
                    active += here / 32.0;
                }
            }
        }
        const std::array trips{static_cast<double>(outer), static_cast<double>(inner)};
        const MeanLanes mean = mean_lanes(kernel, 0, kernel.roles[0], 0, Coordinates{}, trips);
        RC_ASSERT(std::abs(mean.taken - taken / (warps * outer * inner)) < 1e-12);
        RC_ASSERT(std::abs(mean.lanes - (taken > 0.0 ? active / taken : 0.0)) < 1e-12);
    }));
}

TEST_CASE("a triangle of trips has half the trips of the square; long loops are looked at in part") {
    Kernel kernel = of_warps(1);
    Builder build(kernel);
    Loop loop;
    loop.trips.index = build.variable(Variable::loop, 1, 0);
    for (const double outer : {10.0, 4000.0, 1e6}) {
        const std::array trips{outer};
        CHECK(mean_trips_around(kernel, loop, kernel.roles[0], 0, Coordinates{}, trips) ==
              doctest::Approx(0.5 * (outer - 1.0)).epsilon(1e-3));
    }
    loop.trips.index = build.power(build.variable(Variable::loop, 1, 0));
    const std::array trips{10.0};
    CHECK(mean_trips_around(kernel, loop, kernel.roles[0], 0, Coordinates{}, trips) == 1023.0 / 10.0);
}
