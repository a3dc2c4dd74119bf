// Addresses that follow a pattern are found, and those that do not are not taken for one.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/affine.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace warptime::workloads::frontends::machine {

TEST_CASE("lanes in rows of any length and distance are found") {
    CHECK(rc::check("one access", [] {
        const auto inner = *rc::gen::inRange<std::int64_t>(-64, 65);
        const auto extent = *rc::gen::element<std::int64_t>(2, 4, 8, 16, 32);
        const auto outer = *rc::gen::inRange<std::int64_t>(-4096, 4097);
        const auto base = *rc::gen::inRange<std::int64_t>(0, 1 << 20);
        LaneAddresses access;
        access.lanes = all_lanes;
        for (std::int64_t lane = 0; lane < lanes_per_warp; ++lane) {
            access.address[static_cast<std::size_t>(lane)] =
                base + lane % extent * inner + lane / extent * outer;
        }
        const auto found = fit_lanes(std::vector<LaneAddresses>{access});
        RC_ASSERT(found.has_value());
        for (int lane = 0; lane < lanes_per_warp; ++lane) {
            RC_ASSERT(base + found->offset(lane) == access.address[static_cast<std::size_t>(lane)]);
        }
    }));
}

TEST_CASE("a lane out of line is no pattern") {
    LaneAddresses access;
    access.lanes = all_lanes;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        access.address[lane] = static_cast<std::int64_t>(4 * lane);
    }
    access.address[13] += 4;
    access.address[27] -= 8;
    CHECK_FALSE(fit_lanes(std::vector<LaneAddresses>{access}).has_value());
}

TEST_CASE("an affine function of several variables is found exactly") {
    CHECK(rc::check("three variables", [] {
        const auto constant = *rc::gen::inRange<std::int64_t>(-100000, 100000);
        const auto coefficients =
            *rc::gen::container<std::vector<std::int64_t>>(3, rc::gen::inRange<std::int64_t>(-5000, 5001));
        std::vector<AffineSample> samples;
        for (std::int64_t i = 0; i < 12; ++i) {
            AffineSample sample;
            sample.variables = {i % 2, i / 2 % 3, i / 6 * 7};
            sample.value = constant;
            for (std::size_t v = 0; v < 3; ++v) {
                sample.value += coefficients[v] * sample.variables[v];
            }
            samples.push_back(sample);
        }
        const auto found = fit_affine(samples);
        RC_ASSERT(found.has_value());
        RC_ASSERT(found->constant == constant);
        RC_ASSERT(found->coefficients == coefficients);
    }));
}

TEST_CASE("what is not affine is refused") {
    std::vector<AffineSample> samples;
    for (std::int64_t i = 0; i < 8; ++i) {
        samples.push_back({{i}, i * i});
    }
    CHECK_FALSE(fit_affine(samples).has_value());
}

TEST_CASE("a variable that does not vary has no coefficient") {
    const std::vector<AffineSample> samples{{{3, 0}, 10}, {{3, 1}, 14}, {{3, 2}, 18}};
    const auto found = fit_affine(samples);
    REQUIRE(found.has_value());
    CHECK(found->coefficients == std::vector<std::int64_t>{0, 4});
    CHECK(found->constant == 10);
}

}  // namespace warptime::workloads::frontends::machine
