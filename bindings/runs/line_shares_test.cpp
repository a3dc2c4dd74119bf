// Tests of the shares of lines: one resource, several, and lines that ask for nothing.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/runs/line_shares.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <numeric>

namespace warptime::runs {
namespace {

using model::prediction::Bound;
using model::prediction::Limiter;

LineRecord line(double instructions, double requests, double sectors, double passes) {
    return {"file.cu", 1, instructions, requests, sectors, passes};
}

TEST_CASE("a bound is divided by what the lines ask of its resource") {
    const std::vector<LineRecord> lines{line(10, 1, 4, 0), line(30, 3, 4, 8)};
    const auto shares = [&lines](Limiter limiter) {
        return line_shares(lines, std::vector<Bound>{{limiter, 1e-6, {}}});
    };
    CHECK(shares(Limiter::issue)[0] == doctest::Approx(0.25));
    CHECK(shares(Limiter::fp32)[1] == doctest::Approx(0.75));
    CHECK(shares(Limiter::dram)[0] == doctest::Approx(0.5));
    CHECK(shares(Limiter::shared)[0] == 0.0);
    CHECK(shares(Limiter::chain_latency)[1] == doctest::Approx(0.75));
    CHECK(shares(Limiter::launch) == std::vector<double>{0.0, 0.0});
}

TEST_CASE("longer bounds weigh more, and kernels without requests wait for their instructions") {
    const std::vector<LineRecord> lines{line(10, 0, 0, 0), line(30, 0, 0, 4)};
    const std::vector<double> shares = line_shares(
        lines, std::vector<Bound>{{Limiter::chain_latency, 3e-6, {}}, {Limiter::shared, 1e-6, {}}});
    CHECK(shares[0] == doctest::Approx(0.75 * 0.25));
    CHECK(shares[1] == doctest::Approx(0.75 * 0.75 + 0.25));
    CHECK(line_shares({}, std::vector<Bound>{{Limiter::issue, 1e-6, {}}}).empty());
}

TEST_CASE("shares sum to 1 where any line executed anything") {
    CHECK(rc::check("sum", [] {
        std::vector<LineRecord> lines;
        const int count = *rc::gen::inRange(1, 8);
        for (int i = 0; i < count; ++i) {
            lines.push_back(line(1 + *rc::gen::inRange(0, 100), *rc::gen::inRange(0, 9),
                                 *rc::gen::inRange(0, 9), *rc::gen::inRange(0, 9)));
        }
        std::vector<Bound> bounds{{Limiter::issue, 1e-6, {}}};
        for (const Limiter limiter : {Limiter::l2, Limiter::shared, Limiter::chain_latency, Limiter::tail}) {
            bounds.push_back({limiter, 1e-7 * *rc::gen::inRange(0, 90), {}});
        }
        const std::vector<double> shares = line_shares(lines, bounds);
        RC_ASSERT(std::accumulate(shares.begin(), shares.end(), 0.0) == doctest::Approx(1.0));
    }));
}

}  // namespace
}  // namespace warptime::runs
