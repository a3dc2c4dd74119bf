// Least recently used blocks against a plain list; merging of requests in flight.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/l2.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

using namespace warptime::model::simulation;

TEST_CASE("a block is present while fewer bytes than the capacity were used since") {
    CHECK(rc::check("against a list of blocks by last use", [] {
        const int capacity = *rc::gen::inRange(1, 40);
        L2 l2(capacity, 1);
        std::vector<std::pair<std::uint64_t, int>> list;  // most recent last
        for (int i = 0; i < 200; ++i) {
            const auto block = *rc::gen::inRange<std::uint64_t>(0, 12);
            const int bytes = 1 + static_cast<int>(block % 5);
            const auto same = [block](const auto& entry) { return entry.first == block; };
            const auto at = std::find_if(list.begin(), list.end(), same);
            const bool present = at != list.end();
            if (present) {
                list.erase(at);
            }
            list.emplace_back(block, bytes);
            int held = 0;
            for (const auto& entry : list) {
                held += entry.second;
            }
            while (held > capacity && list.size() > 1) {
                held -= list.front().second;
                list.erase(list.begin());
            }
            if (*rc::gen::inRange(0, 4) == 0) {
                l2.write(block, bytes);
            } else {
                RC_ASSERT(l2.read(block, bytes, 0).present == present);
            }
            RC_ASSERT(l2.held_bytes() == held);
        }
    }));
}

TEST_CASE("as many requests share one in flight as a TPC has SMs, and none after it has arrived") {
    L2 l2(1000.0, 2);
    CHECK_FALSE(l2.read(7, 10.0, 0).present);
    l2.in_flight(7, 100);
    const auto second = l2.read(7, 10.0, 50);
    CHECK(second.merged);
    CHECK(second.arrives == 100);
    const auto third = l2.read(7, 10.0, 60);
    CHECK(third.present);
    CHECK_FALSE(third.merged);
    l2.in_flight(7, 160);
    CHECK(l2.read(7, 10.0, 100).merged);
    CHECK_FALSE(l2.read(7, 10.0, 160).merged);
}

TEST_CASE("a block has pieces, and each is brought once") {
    L2 l2(1000.0, 2);
    CHECK(l2.read(7, 10.0, 0, 0b0011).absent == 2);
    const auto some = l2.read(7, 10.0, 0, 0b0110);
    CHECK(some.absent == 1);
    CHECK_FALSE(some.present);
    CHECK(l2.read(7, 10.0, 0, 0b0111).present);
    CHECK(l2.held_bytes() == 30.0);
    CHECK(l2.write(7, 10.0, 0b1000).absent == 1);
    CHECK(l2.read(7, 10.0, 0, 0b1111).present);
}
