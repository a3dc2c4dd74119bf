// Addresses that follow a pattern are found, and those that do not are not taken for one.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/affine.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

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

namespace {

/// Lanes that stand as the pattern says.
LaneAddresses placed(const LanePattern& pattern, std::int64_t base, Mask lanes = all_lanes) {
    LaneAddresses access;
    access.lanes = lanes;
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        access.address[static_cast<std::size_t>(lane)] = base + pattern.offset(lane);
    }
    return access;
}

std::int64_t value_at(const AffineFit& fit, const std::vector<std::int64_t>& variables) {
    std::int64_t value = fit.constant;
    for (std::size_t v = 0; v < variables.size(); ++v) {
        value += fit.coefficients[v] * variables[v];
    }
    return value;
}

std::ptrdiff_t exact(const AffineFit& fit, const std::vector<AffineSample>& samples) {
    return std::ranges::count_if(samples, [&fit](const AffineSample& sample) {
        return value_at(fit, sample.variables) == sample.value;
    });
}

/// A grid of samples of two variables.
std::vector<AffineSample> grid_of(std::int64_t rows, std::int64_t columns, const AffineFit& fit) {
    std::vector<AffineSample> samples;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
        AffineSample sample{{i / columns, i % columns}, 0};
        sample.value = value_at(fit, sample.variables);
        samples.push_back(sample);
    }
    return samples;
}

}  // namespace

TEST_CASE("a pattern holds where the share asked for follows it") {
    CHECK(rc::check("accesses with fewer lanes, some out of line", [] {
        const LanePattern pattern{*rc::gen::inRange<std::int64_t>(-64, 65), 8,
                                  *rc::gen::inRange<std::int64_t>(-4096, 4097)};
        const auto alike = *rc::gen::inRange<std::size_t>(1, 20);
        const auto others = *rc::gen::inRange<std::size_t>(0, 20);
        std::vector<LaneAddresses> accesses;
        for (std::size_t i = 0; i < alike; ++i) {
            accesses.push_back(placed(pattern, *rc::gen::inRange<std::int64_t>(0, 1 << 20)));
        }
        for (std::size_t i = 0; i < others; ++i) {
            LaneAddresses other = placed(pattern, 0, 0xffffU);
            other.address[5] += 1;
            RC_ASSERT_FALSE(follows(other, pattern));
            accesses.insert(accesses.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, 1 + std::ssize(accesses)),
                            other);
        }
        const double most = 0.05 * *rc::gen::inRange(0, 21);
        const auto found = fit_lanes(accesses, most);
        const double following = static_cast<double>(alike);
        RC_ASSERT(found.has_value() == (following >= most * static_cast<double>(alike + others)));
        if (found) {
            for (int lane = 0; lane < lanes_per_warp; ++lane) {
                RC_ASSERT(found->offset(lane) == pattern.offset(lane));
            }
        }
    }));
    CHECK_FALSE(fit_lanes({}, 0.0).has_value());
}

TEST_CASE("lanes that take no part follow every pattern") {
    const LanePattern pattern{4, 32, 0};
    CHECK(follows(LaneAddresses{}, pattern));
    LaneAddresses access = placed(pattern, 100);
    access.address[9] = -5;
    CHECK_FALSE(follows(access, pattern));
    access.lanes &= ~(Mask{1} << 9U);
    CHECK(follows(access, pattern));
    // Lane 0 need not be among those that take part.
    access.lanes &= ~Mask{7};
    CHECK(follows(access, pattern));
}

TEST_CASE("most samples give the function, whatever values the others have") {
    CHECK(rc::check("two variables, up to an eighth elsewhere", [] {
        const AffineFit truth{
            *rc::gen::inRange<std::int64_t>(-100000, 100001),
            {*rc::gen::inRange<std::int64_t>(-5000, 5001), *rc::gen::inRange<std::int64_t>(-5000, 5001)}};
        const auto rows = *rc::gen::inRange<std::int64_t>(6, 16);
        const auto columns = *rc::gen::inRange<std::int64_t>(6, 16);
        std::vector<AffineSample> samples = grid_of(rows, columns, truth);
        std::mt19937 engine(*rc::gen::arbitrary<std::uint32_t>());
        std::ranges::shuffle(samples, engine);
        const std::size_t apart = engine() % (samples.size() / 8 + 1);
        for (std::size_t i = 0; i < apart; ++i) {
            const auto far = static_cast<std::int64_t>(1 + engine() % 100000U);
            samples[i].value += engine() % 2 == 0 ? far : -far;
        }
        std::ranges::shuffle(samples, engine);
        const auto found = fit_most(samples);
        RC_ASSERT(found.has_value());
        RC_ASSERT(found->constant == truth.constant);
        RC_ASSERT(found->coefficients == truth.coefficients);
        // With any sample apart there is no function of all.
        RC_ASSERT(fit_affine(samples).has_value() == (apart == 0));
    }));
}

TEST_CASE("the warps at an edge do not hide the function of the others") {
    const AffineFit truth{640, {4096, 128}};
    std::vector<AffineSample> samples = grid_of(8, 8, truth);
    for (AffineSample& sample : samples) {
        // The last row stands where the one before does.
        if (sample.variables[0] == 7) sample.value -= 4096;
    }
    const auto found = fit_most(samples);
    REQUIRE(found.has_value());
    CHECK(found->constant == truth.constant);
    CHECK(found->coefficients == truth.coefficients);
}

TEST_CASE("half of the samples are enough, and fewer are not") {
    const AffineFit truth{1000, {12}};
    std::vector<AffineSample> samples;
    for (std::int64_t i = 0; i < 40; ++i) {
        // Every other sample stands apart, in turn above and below, each by another distance.
        const std::int64_t off = i % 2 == 0 ? 0 : (i % 4 == 1 ? 1 : -1) * (1000 + 37 * i);
        samples.push_back({{i}, 1000 + 12 * i + off});
    }
    const auto half = fit_most(samples);
    REQUIRE(half.has_value());
    CHECK(half->constant == truth.constant);
    CHECK(half->coefficients == truth.coefficients);
    CHECK(exact(*half, samples) == 20);
    samples[20].value += 5;
    CHECK_FALSE(fit_most(samples).has_value());
}

TEST_CASE("what is given for most samples is exact for at least half of them") {
    CHECK(rc::check("few values, often alike", [] {
        std::vector<AffineSample> samples;
        const auto count = *rc::gen::inRange(0, 30);
        for (int i = 0; i < count; ++i) {
            samples.push_back(
                {{*rc::gen::inRange<std::int64_t>(0, 4), *rc::gen::inRange<std::int64_t>(0, 3), 7},
                 *rc::gen::inRange<std::int64_t>(0, 5)});
        }
        const auto found = fit_most(samples);
        if (found) {
            RC_ASSERT(found->coefficients.size() == 3U);
            RC_ASSERT(found->coefficients[2] == 0);
            RC_ASSERT(2 * exact(*found, samples) >= std::ssize(samples));
        }
    }));
}

TEST_CASE("random values have no function of most of them, nor have samples of which no variable varies") {
    CHECK(rc::check("random values", [] {
        std::mt19937 engine(*rc::gen::arbitrary<std::uint32_t>());
        std::vector<AffineSample> samples = grid_of(8, 8, {0, {0, 0}});
        for (AffineSample& sample : samples) {
            sample.value = static_cast<std::int64_t>(engine() % 1000000U);
        }
        RC_ASSERT_FALSE(fit_most(samples).has_value());
    }));
    CHECK_FALSE(fit_most({}).has_value());
    CHECK_FALSE(fit_most(std::vector<AffineSample>{{{1, 2}, 5}, {{1, 2}, 5}}).has_value());
}

namespace {

/// Value of a fit by digits of variable 1 where the sample stands.
std::int64_t value_by_digits(const AffineFit& fit, const std::vector<std::int64_t>& variables) {
    std::vector<std::int64_t> others = variables;
    others[1] = 0;
    std::int64_t value = value_at(fit, others);
    for (std::size_t digit = 0; digit < fit.digits.size(); ++digit) {
        value += fit.digits[digit] * (variables[1] >> digit & 1);
    }
    return value;
}

std::optional<AffineFit> fit_by_digits(const std::vector<AffineSample>& samples) {
    const std::optional<AffineFit> fit = fit_affine(spell_digits(samples, 1));
    return fit ? std::optional(with_digits(*fit, samples.front().variables.size())) : std::nullopt;
}

}  // namespace

TEST_CASE("digits of a variable stand behind all others, the lowest first, and the variable is none") {
    const std::vector<AffineSample> samples{{{7, 0, 1}, 10}, {{8, 6, 2}, 20}, {{9, 2, 3}, 30}};
    const std::vector<AffineSample> spelled = spell_digits(samples, 1);
    REQUIRE(spelled.size() == 3);
    CHECK(spelled[0].variables == std::vector<std::int64_t>{7, 0, 1, 0, 0, 0});
    CHECK(spelled[1].variables == std::vector<std::int64_t>{8, 0, 2, 0, 1, 1});
    CHECK(spelled[2].variables == std::vector<std::int64_t>{9, 0, 3, 0, 1, 0});
    CHECK(spelled[1].value == 20);
    // A variable that is 0 everywhere has no digits, and a negative one none that say it.
    CHECK(spell_digits(std::vector<AffineSample>{{{4, 0}, 1}}, 1).front().variables ==
          std::vector<std::int64_t>{4, 0});
    CHECK(spell_digits(std::vector<AffineSample>{{{4, 3}, 1}, {{4, -1}, 1}}, 1).empty());
    CHECK(spell_digits({}, 0).empty());
}

TEST_CASE("coefficients of digits stand apart from those of variables") {
    const AffineFit fit = with_digits({5, {1, 0, 3, 40, 80}}, 3);
    CHECK(fit.constant == 5);
    CHECK(fit.coefficients == std::vector<std::int64_t>{1, 0, 3});
    CHECK(fit.digits == std::vector<std::int64_t>{40, 80});
    CHECK(with_digits({5, {1, 2}}, 2).digits.empty());
}

TEST_CASE("warps in rows and columns of a tile have a place by their digits, and none by their number") {
    struct Grid {
        std::int64_t rows, columns;
        std::vector<std::int64_t> digits;
    };
    // Warp w stands in row w / columns, 1000 further each, and in column w % columns, 64 further each.
    for (const Grid& grid :
         {Grid{2, 2, {64, 1000}}, Grid{4, 2, {64, 1000, 2000}}, Grid{2, 4, {64, 128, 1000}}}) {
        CAPTURE(grid.rows);
        CAPTURE(grid.columns);
        std::vector<AffineSample> samples;
        for (std::int64_t cta = 0; cta < 3; ++cta) {
            for (std::int64_t warp = 0; warp < grid.rows * grid.columns; ++warp) {
                for (std::int64_t trip = 0; trip < 4; ++trip) {
                    samples.push_back({{cta, warp, trip},
                                       12 + 5000 * cta + 1000 * (warp / grid.columns) +
                                           64 * (warp % grid.columns) + 32 * trip});
                }
            }
        }
        CHECK_FALSE(fit_affine(samples).has_value());
        const auto fit = fit_by_digits(samples);
        REQUIRE(fit.has_value());
        CHECK(fit->constant == 12);
        CHECK(fit->coefficients == std::vector<std::int64_t>{5000, 0, 32});
        CHECK(fit->digits == grid.digits);
    }
}

TEST_CASE("any coefficients of digits are found exactly, and a place out of line is refused") {
    CHECK(rc::check("a loop and warps", [] {
        const auto number = *rc::gen::inRange<std::size_t>(1, 6);
        const auto coefficient = rc::gen::inRange<std::int64_t>(-5000, 5001);
        AffineFit truth{*coefficient, {*coefficient, 0, *coefficient}};
        truth.digits = *rc::gen::container<std::vector<std::int64_t>>(number, coefficient);
        std::vector<AffineSample> samples;
        for (std::int64_t i = 0; i < 6 << number; ++i) {
            AffineSample sample{{i % 2, i / 6, i / 2 % 3}, 0};
            sample.value = value_by_digits(truth, sample.variables);
            samples.push_back(sample);
        }
        std::mt19937 engine(*rc::gen::arbitrary<std::uint32_t>());
        std::ranges::shuffle(samples, engine);
        const auto found = fit_by_digits(samples);
        RC_ASSERT(found.has_value());
        RC_ASSERT(found->constant == truth.constant);
        RC_ASSERT(found->coefficients == truth.coefficients);
        RC_ASSERT(found->digits == truth.digits);
        samples[engine() % samples.size()].value += 1;
        RC_ASSERT_FALSE(fit_by_digits(samples).has_value());
    }));
}

TEST_CASE("places that data choose for each CTA are no function of its number, though most of them fit one") {
    // Three of five CTAs read where a function says: two of them by any function with a slope and a start.
    const auto samples_at = [](const std::vector<std::int64_t>& places) {
        std::vector<AffineSample> samples;
        for (std::size_t cta = 0; cta < places.size(); ++cta) {
            for (std::int64_t trip = 0; trip < 4; ++trip)
                samples.push_back({{static_cast<std::int64_t>(cta), trip}, places[cta] + 512 * trip});
        }
        return samples;
    };
    const auto chance = samples_at({0, 100, 230, 300, 340});
    CHECK(fit_most(chance).has_value());
    CHECK_FALSE(fit_most(chance, 1).has_value());
    // One CTA at the edge stands apart from seven.
    const auto fit = fit_most(samples_at({0, 100, 200, 300, 400, 500, 600, 708}), 1);
    REQUIRE(fit);
    CHECK(fit->coefficients == std::vector<std::int64_t>{100, 512});
}

}  // namespace warptime::workloads::frontends::machine
