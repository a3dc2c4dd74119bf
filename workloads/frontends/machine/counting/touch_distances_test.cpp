// Distances between touches against a list of all of them, searched backwards.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/counting/touch_distances.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdlib>
#include <vector>

using namespace warptime::workloads::frontends::machine;

namespace {

constexpr unsigned shift = 5;

Allocation allocation_of(std::uint64_t bytes) {
    Allocation allocation;
    allocation.address = 1 << 20;
    allocation.bytes = bytes;
    return allocation;
}

}  // namespace

TEST_CASE("touches further back than so many CTAs are those that a search finds") {
    CHECK(rc::check("distances of touches", [] {
        const Allocation allocation = allocation_of(64 << shift);
        struct Touch {
            std::uint64_t sector, cta;
        };
        std::vector<Touch> touches;
        LastTouches last(1000);
        TouchDistances distances;
        const auto count = *rc::gen::inRange(1, 60);
        std::uint64_t cta = 0;
        std::vector<std::uint64_t> back;
        for (int i = 0; i < count; ++i) {
            cta += *rc::gen::inRange<std::uint64_t>(0, 9);
            const auto sector = *rc::gen::inRange<std::uint64_t>(0, 64);
            std::array<std::uint64_t, 32> addresses{};
            addresses[3] = allocation.address + (sector << shift) + 4;
            last.note(allocation, addresses, 1U << 3U, shift, cta, distances);
            for (auto t = touches.rbegin(); t != touches.rend(); ++t) {
                if (t->sector != sector) continue;
                back.push_back(cta - t->cta);
                break;
            }
            touches.push_back({sector, cta});
        }
        RC_ASSERT(last.unit() == 1U);
        RC_ASSERT(distances.known());
        for (const double units : {0.0, 1.0, 2.0, 3.0, 20.0}) {
            // A touch is known to be after 1, 2 to 3, 4 to 7 and so on: each of these numbers as likely.
            double expected = 0.0;
            for (const std::uint64_t ctas : back) {
                if (ctas == 0) continue;
                std::uint64_t least = 1;
                while (2 * least <= ctas) least *= 2;
                double more = 0.0;
                for (std::uint64_t one = least; one < 2 * least; ++one) {
                    if (static_cast<double>(one) > units) more += 1.0;
                }
                expected += more / static_cast<double>(least);
            }
            RC_ASSERT(std::abs(distances.further_than(units) - expected) < 1e-9);
        }
    }));
}

TEST_CASE("large grids count several CTAs as one, and large allocations are not known") {
    LastTouches last(1'000'000);
    CHECK(last.unit() == 16U);
    TouchDistances distances;
    std::array<std::uint64_t, 32> addresses{};
    const Allocation small = allocation_of(1 << 10);
    addresses[0] = small.address;
    last.note(small, addresses, 1, shift, 0, distances);
    last.note(small, addresses, 1, shift, 999'999, distances);
    CHECK(distances.further_than(30'000.0) == 1.0);
    CHECK(distances.further_than(70'000.0) == 0.0);
    CHECK(distances.known());
    CHECK_FALSE(TouchDistances{}.known());
    last.note(allocation_of(std::uint64_t{1} << 29U), addresses, 1, shift, 0, distances);
    CHECK_FALSE(distances.known());
}
