// Occupancy: worked examples, the table recorded from cuda_occupancy.h, refusals and cluster limits.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/occupancy.hpp"

#include "hw/error.hpp"
#include "model/machine/occupancy/occupancy_chips_test.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <rapidcheck.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace test = warptime::model::machine::test;
using namespace warptime::model::machine;

namespace {

const SmLimits& hopper() {
    static const SmLimits limits = test::chips()[5].limits;
    return limits;
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) {
        cells.push_back(cell);
    }
    return cells;
}

std::string refused_parameter(const CtaResources& cta, const SmLimits& limits) {
    try {
        check(cta, limits);
    } catch (const warptime::Error& error) {
        return error.parameter();
    }
    return "";
}

}  // namespace

TEST_CASE("worked examples on Hopper") {
    // 128 registers x 256 threads = 32768: two CTAs. Shared memory of 96 KiB + 1 KiB each: two CTAs in 228
    // KiB.
    Occupancy o = occupancy({.threads = 256, .registers_per_thread = 128, .dynamic_shared = 98304}, hopper());
    CHECK(o.ctas_per_sm == 2);
    CHECK(o.warps_per_sm == 16);
    CHECK(o.limit == Limit::registers);
    CHECK(o.next_limit == Limit::shared);
    CHECK(o.ctas_by(Limit::threads) == 8);
    CHECK(o.shared_per_cta == 97 * 1024);
    // 168 registers: 5376 a warp, 3 warps in 16384: 12 warps, one CTA of 12 warps.
    o = occupancy({.threads = 384, .registers_per_thread = 168, .dynamic_shared = 200000}, hopper());
    CHECK(o.ctas_per_sm == 1);
    CHECK(o.ctas_by(Limit::registers) == 1);
    // A small kernel stops at the number of CTAs, then at the number of barriers.
    o = occupancy({.threads = 32, .registers_per_thread = 16, .named_barriers = 2}, hopper());
    CHECK(o.ctas_per_sm == 32);
    CHECK(o.limit == Limit::ctas);
    CHECK(o.next_limit == Limit::barriers);
    o = occupancy({.threads = 32, .registers_per_thread = 16, .named_barriers = 16}, hopper());
    CHECK(o.limit == Limit::barriers);
    CHECK(o.ctas_per_sm == 4);
    // A preference for L1 reduces the SM's shared memory to the need of one CTA.
    o = occupancy({.threads = 64, .dynamic_shared = 9000, .carveout_bytes = 0}, hopper());
    CHECK(o.shared_per_sm == 16 * 1024);
    CHECK(o.ctas_per_sm == 1);
}

TEST_CASE("every row of the table recorded from cuda_occupancy.h") {
    std::ifstream file(std::string(WARPTIME_SOURCE_DIR) + "/model/machine/occupancy/occupancy_cases.csv");
    REQUIRE(file.good());
    const auto chips = test::chips();
    std::string line;
    std::getline(file, line);
    int rows = 0;
    for (; std::getline(file, line); ++rows) {
        CAPTURE(line);
        const std::vector<std::string> cells = cells_of(line);
        REQUIRE(cells.size() == 14);
        const auto number = [&cells](std::size_t i) { return std::stoi(cells[i]); };
        const auto chip = std::find_if(chips.begin(), chips.end(), [&cells](const test::Chip& c) {
            return fmt::format("{}.{}", c.major, c.minor) == cells[0];
        });
        REQUIRE(chip != chips.end());
        const CtaResources cta{
            number(1), number(2), number(3), number(4), carveout_of_percent(number(5), chip->limits),
            number(6)};
        const Occupancy o = occupancy(cta, chip->limits);
        CHECK(o.ctas_per_sm == number(7));
        CHECK(o.ctas_by(Limit::threads) == number(8));
        CHECK(o.ctas_by(Limit::ctas) == number(9));
        CHECK(o.ctas_by(Limit::registers) == number(10));
        CHECK(o.ctas_by(Limit::shared) == number(11));
        CHECK(o.ctas_by(Limit::barriers) == number(12));
        CHECK(o.shared_per_cta == number(13));
    }
    CHECK(rows == 2000);
}

TEST_CASE("a CTA is refused exactly when none is resident, and lifting the limit leaves the next one") {
    const auto chips = test::chips();
    std::mt19937_64 random(99);
    for (int i = 0; i < 20000; ++i) {
        const test::Case c = test::random_case(random, chips);
        const SmLimits& limits = chips[c.chip].limits;
        const Occupancy o = occupancy(c.cta, limits);
        REQUIRE((o.ctas_per_sm == 0) == !refused_parameter(c.cta, limits).empty());
        REQUIRE((o.ctas_per_sm > 0) == fits(c.cta, limits));
        REQUIRE(o.ctas_by(o.limit) == o.ctas_per_sm);
        REQUIRE(o.limit != o.next_limit);
        auto sorted = o.ctas_by_limit;
        std::sort(sorted.begin(), sorted.end());
        REQUIRE(o.ctas_by(o.next_limit) == sorted[1]);
        REQUIRE(o.shared_per_cta * (o.ctas_per_sm > 0 ? o.ctas_per_sm : 0) <=
                o.shared_per_sm + (o.ctas_per_sm == 0 ? limits.shared_capacity() : 0));
    }
}

TEST_CASE("refusals name what does not fit") {
    CHECK(refused_parameter({.threads = 0}, hopper()) == "kernel threads");
    CHECK(refused_parameter({.threads = 1025}, hopper()) == "kernel threads");
    CHECK(refused_parameter({.threads = 1024, .registers_per_thread = 72}, hopper()) == "kernel registers");
    CHECK(refused_parameter({.threads = 32, .registers_per_thread = 257}, hopper()) == "kernel registers");
    CHECK(refused_parameter({.threads = 32, .dynamic_shared = 227 * 1024 + 1}, hopper()) ==
          "kernel shared_bytes");
    CHECK(refused_parameter({.threads = 32, .static_shared = -1}, hopper()) == "kernel static_shared");
    CHECK(refused_parameter({.threads = 32, .dynamic_shared = -1}, hopper()) == "kernel dynamic_shared");
    CHECK(refused_parameter({.threads = 32, .named_barriers = 65}, hopper()) == "kernel named_barriers");
    CHECK(refused_parameter({.threads = 32, .carveout_bytes = 1 << 20}, hopper()) == "kernel carveout");
    CHECK(refused_parameter({.threads = 32, .dynamic_shared = 227 * 1024}, hopper()).empty());
    CHECK(occupancy({.threads = -5}, hopper()).ctas_per_sm == 0);
}

TEST_CASE("more of any resource never raises occupancy") {
    CHECK(rc::check("monotone", [] {
        const auto chips = test::chips();
        const auto seed = *rc::gen::arbitrary<std::uint32_t>();
        std::mt19937_64 random(seed);
        const test::Case c = test::random_case(random, chips);
        const SmLimits& limits = chips[c.chip].limits;
        const int before = occupancy(c.cta, limits).ctas_per_sm;
        CtaResources more = c.cta;
        more.registers_per_thread += *rc::gen::inRange(0, 20);
        more.named_barriers += *rc::gen::inRange(0, 3);
        RC_ASSERT(occupancy(more, limits).ctas_per_sm <= before);
        more.threads += *rc::gen::inRange(0, 64);
        RC_ASSERT(occupancy(more, limits).ctas_per_sm <= before);
    }));
}

TEST_CASE("names of limits") {
    CHECK(to_string(Limit::threads) == "threads");
    CHECK(to_string(Limit::none) == "none");
}
