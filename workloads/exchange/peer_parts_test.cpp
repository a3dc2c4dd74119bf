// Parts of messages against what NCCL 2.28.9 launched on two H100s, and orders that must hold.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/exchange/peer_parts.hpp"

#include "hw/error.hpp"
#include "workloads/libraries/library.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string_view>

using namespace warptime::workloads;
using warptime::workloads::exchange::peer_parts;

namespace {

constexpr double kb = 1024.0;
constexpr double h100_links = 18.0;

const libraries::PeerRule& rule(std::string_view implementation) {
    static const libraries::Libraries read = libraries::load_libraries();
    const auto found =
        std::find_if(read.peer_rules.begin(), read.peer_rules.end(),
                     [&](const libraries::PeerRule& one) { return one.implementation == implementation; });
    REQUIRE(found != read.peer_rules.end());
    return *found;
}

}  // namespace

TEST_CASE("as many channels carry a message to one peer as were recorded") {
    // Grids of send_recv between two GPUs, validate/recorded/h100-sxm/collectives.csv.
    const auto channels = [](double bytes, bool flags) {
        return bytes / peer_parts(bytes, 2, h100_links, rule("nccl"), flags).bytes;
    };
    CHECK(channels(16 * kb, true) == 2.0);
    CHECK(channels(64 * kb, true) == 8.0);
    CHECK(channels(256 * kb, true) == 16.0);
    CHECK(channels(1024 * kb, false) == 16.0);
    CHECK(channels(256 * kb * kb, false) == 16.0);
    CHECK(channels(1024 * kb * kb, false) == 32.0);
}

TEST_CASE("flags end with the message or with the part, as the library's data say") {
    const auto flags = [](std::string_view implementation, double bytes, std::int64_t gpus) {
        return peer_parts(bytes, gpus, h100_links, rule(implementation), true).taken;
    };
    CHECK(flags("nccl", 512 * kb, 2));
    CHECK(flags("nccl", 512 * kb, 8));
    CHECK_FALSE(flags("nccl", 513 * kb, 2));
    CHECK(flags("nccl_by_part", 16 * kb, 2));
    CHECK_FALSE(flags("nccl_by_part", 17 * kb, 2));
}

TEST_CASE("peers share channels, cards without NVLink have two, and parts never exceed the message") {
    const libraries::PeerRule& by_message = rule("nccl");
    const double bytes = 8.0 * kb * kb;
    CHECK(peer_parts(bytes, 8, h100_links, by_message, false).bytes ==
          4.0 * peer_parts(bytes, 2, h100_links, by_message, false).bytes);
    CHECK(peer_parts(bytes, 2, 0.0, by_message, false).bytes == bytes);
    CHECK(peer_parts(3.0 * bytes, 2, 0.0, by_message, false).bytes == 1.5 * bytes);
    CHECK(rc::check("parts", [&] {
        const auto size = static_cast<double>(*rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 34));
        const auto gpus = *rc::gen::inRange<std::int64_t>(2, 64);
        const bool flags = *rc::gen::arbitrary<bool>();
        const double part = peer_parts(size, gpus, h100_links, by_message, flags).bytes;
        RC_ASSERT(part <= size);
        RC_ASSERT(part * by_message.most_channels >= size * (1.0 - 1e-12));
    }));
}
