// Runs of guarded ops, against counting trip by trip.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/typical_item.hpp"

#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <utility>

namespace {

using namespace warptime::model::kernel;

double counted(const Kernel& kernel, const Op& op, int trips) {
    Coordinates at;
    double runs = 0.0;
    for (int i = 0; i < trips; ++i) {
        at.loop[0] = i;
        const std::int64_t value = evaluate(kernel, op.when.value, at);
        runs += value >= op.when.low && value < op.when.high ? 1.0 : 0.0;
    }
    return runs;
}

}  // namespace

TEST_CASE("trips of a guard are those in which it holds, linear or not") {
    Kernel kernel;
    Builder build(kernel);
    const Index i = build.variable(Variable::loop);
    for (const int trips : {1, 2, 3, 64, 1000}) {
        for (const Index& value : {i, build.scaled(i, -3), build.modulo(i, 4), build.floordiv(i, 8),
                                   build.power(i), build.product(i, i), build.clamp(i, 0, 5)}) {
            for (const auto& [low, high] : {std::pair{0, 1}, std::pair{2, 40}, std::pair{-9, 3}}) {
                Op op;
                op.when = {true, value, low, high};
                // A linear guard is solved in real numbers, so its ends may lie between two trips.
                CHECK(std::abs(guarded_trips(kernel, op, Coordinates{}, 1, trips) -
                               counted(kernel, op, trips)) <= 1.0);
            }
        }
    }
}
