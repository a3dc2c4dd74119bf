// Spans of products and powers, against all values that they take.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/index_span.hpp"

#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace {

using namespace warptime::model::kernel;

/// Largest less smallest value over the trips of two loops.
double enumerated(const Kernel& kernel, const Index& index, int outer, int inner) {
    Coordinates at;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (int i = 0; i < outer; ++i) {
        for (int j = 0; j < inner; ++j) {
            at.loop[0] = i;
            at.loop[1] = j;
            const auto value = static_cast<double>(evaluate(kernel, index, at));
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    return high - low;
}

}  // namespace

TEST_CASE("the span of a product or a power is that of its values") {
    Kernel kernel;
    Builder build(kernel);
    const Index i = build.variable(Variable::loop, 1, 0);
    const Index j = build.variable(Variable::loop, 1, 1);
    const Freedom free{.loop = {7.0, 4.0}};
    for (const Index& index :
         {build.product(i, j), build.power(i), build.scaled(build.power(build.sum(i, j)), -3),
          build.product(build.index(2, {term(Variable::loop, 3, 0)}),
                        build.index(1, {term(Variable::loop, 1, 1)})),
          build.product(build.index(-3, {term(Variable::loop, 1, 0)}), j)}) {
        CHECK(span_of(kernel, index, free) == enumerated(kernel, index, 8, 5));
    }
}
