// Coalescing: known patterns, the closed form against enumeration of lanes.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/coalescing.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::model::machine;

namespace {

/// Caches since Volta.
constexpr CacheGeometry volta{32, 128};

Coalesced coalesce(const LaneAddresses& addresses, int bytes, std::uint32_t active = all_lanes) {
    return coalesce(addresses, bytes, active, volta);
}

LaneAddresses lanes_at(std::int64_t base, std::int64_t stride) {
    LaneAddresses addresses{};
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
        addresses[lane] = base + static_cast<std::int64_t>(lane) * stride;
    }
    return addresses;
}

/// Counts blocks byte by byte, by definition.
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
    CHECK(coalesce(lanes_at(128, -4), 4) == Coalesced{5, 2, 1});  // downwards
}

TEST_CASE("strides up and down count what single bytes count") {
    CHECK(rc::check("strides", [] {
        const int bytes = 1 << *rc::gen::inRange(0, 5);
        const std::int64_t stride = std::int64_t{bytes} * *rc::gen::inRange(-70, 70);
        const LaneAddresses addresses =
            lanes_at(100000 * 16 + std::int64_t{bytes} * *rc::gen::inRange(0, 64), stride);
        const int lanes = *rc::gen::inRange(1, 33);
        const std::uint32_t active = lanes == 32 ? all_lanes : (1U << lanes) - 1U;
        const Coalesced counted = coalesce(addresses, bytes, active);
        RC_ASSERT(counted.sectors == blocks_by_bytes(addresses, bytes, active, 32));
        RC_ASSERT(counted.lines == blocks_by_bytes(addresses, bytes, active, 128));
    }));
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

TEST_CASE("blocks of any size, of neighbours and of one line, count as bytes do") {
    CHECK(rc::check("blocks", [] {
        const int bytes = 1 << *rc::gen::inRange(0, 5);
        const std::int64_t base = std::int64_t{bytes} * *rc::gen::inRange(0, 40);
        LaneAddresses addresses = lanes_at(base, bytes);
        if (*rc::gen::arbitrary<bool>()) {  // within one line
            for (auto& address : addresses) {
                address = 256 + std::int64_t{bytes} * *rc::gen::inRange(0, 128 / bytes);
            }
        }
        const auto active = *rc::gen::element<std::uint32_t>(0xffffffffU, 0xffU, 0x80000001U);
        const CacheGeometry geometry{*rc::gen::element<std::int64_t>(32, 64, 50), 128};
        const Coalesced counted = coalesce(addresses, bytes, active, geometry);
        RC_ASSERT(counted.sectors == blocks_by_bytes(addresses, bytes, active, geometry.sector));
        RC_ASSERT(counted.lines == blocks_by_bytes(addresses, bytes, active, geometry.line));
    }));
}
