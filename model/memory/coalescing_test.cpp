// Coalescing: known patterns, the closed form against enumeration of lanes, random rows against simulation.
// SPDX-License-Identifier: Apache-2.0
#include "model/memory/coalescing.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <random>
#include <set>

using namespace warptime::model::memory;

namespace {

LaneAddresses lanes_at(std::int64_t base, std::int64_t stride) {
    LaneAddresses addresses{};
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
        addresses[lane] = base + static_cast<std::int64_t>(lane) * stride;
    }
    return addresses;
}

/// Byte by byte, the definition itself.
std::int64_t blocks_by_bytes(const LaneAddresses& addresses, int bytes, std::uint32_t active,
                             std::int64_t block) {
    std::set<std::int64_t> blocks;
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
        for (int byte = 0; (active >> lane & 1U) != 0U && byte < bytes; ++byte) {
            blocks.insert((addresses[lane] + byte) / block);
        }
    }
    return static_cast<std::int64_t>(blocks.size());
}

}  // namespace

TEST_CASE("patterns of the programming guide") {
    CHECK(coalesce(lanes_at(0, 4), 4) == Coalesced{4, 1, 1});         // contiguous, aligned
    CHECK(coalesce(lanes_at(4, 4), 4) == Coalesced{5, 2, 1});         // shifted by one element
    CHECK(coalesce(lanes_at(0, 8), 4) == Coalesced{8, 2, 1});         // stride 2
    CHECK(coalesce(lanes_at(0, 128), 4) == Coalesced{32, 32, 1});     // a column
    CHECK(coalesce(lanes_at(64, 0), 4) == Coalesced{1, 1, 1});        // broadcast
    CHECK(coalesce(lanes_at(0, 16), 16) == Coalesced{16, 4, 1});      // 16 bytes a lane
    CHECK(coalesce(lanes_at(0, 4), 4, 0xffU) == Coalesced{1, 1, 1});  // a quarter of the warp
    CHECK(coalesce(lanes_at(0, 4), 4, 0U) == Coalesced{});
    CHECK(coalesce_strided(128, -4, 4) == Coalesced{5, 2, 1});
    CHECK(coalesce_strided(0, 4, 4, 0) == Coalesced{});
}

TEST_CASE("enumeration counts what single bytes count") {
    CHECK(rc::check("bytes", [] {
        LaneAddresses addresses{};
        const int range = *rc::gen::element(64, 1024, 100000);
        for (auto& address : addresses) {
            address = *rc::gen::inRange(0, range);
        }
        const int bytes = *rc::gen::inRange(1, 17);
        const auto active = *rc::gen::arbitrary<std::uint32_t>();
        const Coalesced counted = coalesce(addresses, bytes, active);
        RC_ASSERT(counted.sectors == blocks_by_bytes(addresses, bytes, active, 32));
        RC_ASSERT(counted.lines == blocks_by_bytes(addresses, bytes, active, 128));
    }));
}

TEST_CASE("strides: the closed form equals enumeration") {
    CHECK(rc::check("strides", [] {
        const int bytes = 1 << *rc::gen::inRange(0, 5);
        const std::int64_t stride = std::int64_t{bytes} * *rc::gen::inRange(-70, 70);
        const std::int64_t base = 100000 * 16 + std::int64_t{bytes} * *rc::gen::inRange(0, 64);
        const int lanes = *rc::gen::inRange(1, 33);
        const std::uint32_t active = lanes == 32 ? all_lanes : (1U << lanes) - 1U;
        RC_ASSERT(coalesce_strided(base, stride, bytes, lanes) ==
                  coalesce(lanes_at(base, stride), bytes, active));
    }));
}

TEST_CASE("random rows: limits and a simulation") {
    CHECK(expected_distinct(1.0, 1000.0) == doctest::Approx(1.0));
    CHECK(expected_distinct(32.0, 1e12) == doctest::Approx(32.0).epsilon(1e-9));
    CHECK(expected_distinct(1e6, 10.0) == doctest::Approx(10.0));
    CHECK(expected_distinct(1e5, 1e5) == doctest::Approx(1e5 * (1.0 - std::exp(-1.0))).epsilon(1e-4));
    CHECK(expected_distinct(5.0, 1.0) == 1.0);
    CHECK(expected_distinct(0.0, 10.0) == 0.0);
    std::mt19937 random(3);
    double sum = 0.0;
    for (int trial = 0; trial < 20000; ++trial) {
        std::set<unsigned> cells;
        for (int draw = 0; draw < 32; ++draw) {
            cells.insert(static_cast<unsigned>(random() % 50U));
        }
        sum += static_cast<double>(cells.size());
    }
    CHECK(expected_distinct(32.0, 50.0) == doctest::Approx(sum / 20000.0).epsilon(0.005));
}
