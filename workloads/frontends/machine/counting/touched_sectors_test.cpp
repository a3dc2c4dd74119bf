// Touched sectors against sets of numbers.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/counting/touched_sectors.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <set>
#include <vector>

using namespace warptime::workloads::frontends::machine;

namespace {

constexpr unsigned sector_shift = 5;

std::array<std::uint64_t, 32> all_at(std::uint64_t address) {
    std::array<std::uint64_t, 32> addresses{};
    addresses.fill(address);
    return addresses;
}

}  // namespace

TEST_CASE("nothing has been touched before the first access, nor by lanes that are off") {
    TouchedSectors touched;
    CHECK(touched.count().sectors == 0);
    touched.note({4096, 1024}, all_at(4096), 0, sector_shift);
    CHECK(touched.count().sectors == 0);
    CHECK(touched.count().span == 0);
}

TEST_CASE("sectors count once, and the span goes from the first to the last of each allocation") {
    TouchedSectors touched;
    const Allocation one{4096, 1 << 20}, other{1 << 24, 64};
    for (int again = 0; again < 2; ++again) {
        touched.note(one, all_at(4096 + 32 * 100), 1, sector_shift);
        touched.note(one, all_at(4096 + 32 * 400 + 28), 0xffffffffU, sector_shift);
        touched.note(other, all_at((1 << 24) + 60), 2, sector_shift);
        touched.note(other, all_at(4096), 2, sector_shift);  // elsewhere
    }
    CHECK(touched.count().sectors == 3);
    CHECK(touched.count().span == 301 + 1);
}

TEST_CASE("an allocation beyond a gigabyte is left out") {
    TouchedSectors touched;
    touched.note({4096, (std::uint64_t{1} << 30) + 1}, all_at(4096), 1, sector_shift);
    CHECK(touched.count().sectors == 0);
}

TEST_CASE("random places: as a set counts them") {
    const bool right = rc::check([] {
        TouchedSectors touched;
        std::set<std::uint64_t> expected;
        const std::uint64_t base = 512 * *rc::gen::inRange<std::uint64_t>(1, 1000);
        const auto accesses =
            *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 1 << 16));
        std::array<std::uint64_t, 32> addresses{};
        std::uint32_t lanes = 0;
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            addresses[i % 32] = base + accesses[i];
            lanes |= 1U << (i % 32);
            expected.insert(accesses[i] / 32);
            if (i % 32 == 31 || i + 1 == accesses.size()) {
                touched.note({base, 1 << 16}, addresses, lanes, sector_shift);
                lanes = 0;
            }
        }
        RC_ASSERT(touched.count().sectors == expected.size());
        RC_ASSERT(touched.count().span ==
                  (expected.empty() ? 0 : *expected.rbegin() - *expected.begin() + 1));
    });
    CHECK(right);
}
