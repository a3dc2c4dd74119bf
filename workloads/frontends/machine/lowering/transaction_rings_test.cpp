// Tests of rings of mbarriers: stages, stages that are free at first, arrivals, and elected warps.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/transaction_rings.hpp"

#include "workloads/frontends/machine/lowering/traced_fixture_test.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

/// What the warps of one CTA did at barriers, told to a recorder in the order of the events.
class Told {
  public:
    explicit Told(int warps) {
        cta_.warps.resize(static_cast<std::size_t>(warps));
        for (std::size_t w = 0; w < cta_.warps.size(); ++w) {
            cta_.warps[w].cta = &cta_;
            cta_.warps[w].index = static_cast<int>(w);
            recorder_.instruction(cta_.warps[w], 0, all_lanes, all_lanes);
            role_.warps.push_back(static_cast<int>(w));
        }
    }
    void event(int warp, BarrierEvent event) {
        recorder_.barrier(cta_.warps[static_cast<std::size_t>(warp)], event);
    }
    [[nodiscard]] TransactionRings rings() const { return transaction_rings(recorder_, {role_}); }
    [[nodiscard]] std::map<std::uint32_t, Elected> elected() const { return elected_in(recorder_, role_); }

  private:
    Cta cta_;
    TraceRecorder recorder_;
    RoleBody role_;
};

constexpr std::uint32_t expect = 10, copy = 11, wait_full = 20, release = 21, wait_free = 9;

/// A ring of `stages`: warp 0 fills a stage once it is free, all warps wait for it and release it.
void run_pipeline(Told& told, int warps, std::uint32_t stages, std::uint32_t trips) {
    for (std::uint32_t trip = 0; trip < trips; ++trip) {
        const std::uint32_t full = 64 + 8 * (trip % stages);
        const std::uint32_t free = 128 + 8 * (trip % stages);
        const bool odd = trip / stages % 2 != 0;
        told.event(0, {wait_free, BarrierAction::wait, free, false, !odd});
        told.event(0, {expect, BarrierAction::arrival, full, false, false});
        told.event(0, {copy, BarrierAction::copied_bytes, full, true, false});
        for (int w = 0; w < warps; ++w) {
            told.event(w, {wait_full, BarrierAction::wait, full, false, odd});
            told.event(w, {release, BarrierAction::arrival, free, w + 1 == warps, false});
        }
    }
}

TEST_CASE("instructions that use common addresses use one ring of as many stages") {
    for (const std::uint32_t stages : {1U, 2U, 5U}) {
        Told told(4);
        run_pipeline(told, 4, stages, 3 * stages);
        const TransactionRings rings = told.rings();
        REQUIRE(rings.rings.size() == 2);
        const std::size_t full = rings.ring_of.at(wait_full);
        const std::size_t free = rings.ring_of.at(wait_free);
        CHECK(full != free);
        CHECK(rings.ring_of.at(expect) == full);
        CHECK(rings.ring_of.at(copy) == full);
        CHECK(rings.ring_of.at(release) == free);
        for (const TransactionRing& ring : rings.rings) {
            CHECK(ring.stages == static_cast<std::int32_t>(stages));
        }
        // Stages begin empty: the producer's first wait for each passes, the consumers' do not.
        CHECK(rings.rings[full].free == 0);
        CHECK(rings.rings[free].free == static_cast<std::int32_t>(stages));
        // One warp's announcement and copy, and the release of each of four warps.
        CHECK(rings.rings[full].arrivals == 2);
        CHECK(rings.rings[free].arrivals == 4);
    }
}

TEST_CASE("a part of the warps is elected, and its arrivals count once") {
    Told told(4);
    run_pipeline(told, 4, 2, 6);
    const std::map<std::uint32_t, Elected> elected = told.elected();
    CHECK(elected.size() == 2);
    CHECK(elected.at(expect).warp == 0);
    CHECK(elected.at(expect).warps == 1);
    CHECK(elected.at(expect).times == doctest::Approx(6.0));
    CHECK(elected.at(wait_free).times == doctest::Approx(6.0));
    CHECK_FALSE(elected.contains(release));

    // Two of four warps arrive in each phase.
    Told two(4);
    for (std::uint32_t trip = 0; trip < 3; ++trip) {
        for (const int w : {1, 3}) {
            two.event(w, {release, BarrierAction::arrival, 64, w == 3, false});
        }
        two.event(0, {wait_full, BarrierAction::wait, 64, false, trip % 2 != 0});
    }
    REQUIRE(two.rings().rings.size() == 1);
    CHECK(two.rings().rings[0].arrivals == 1);
    CHECK(two.elected().at(release).warp == 1);
    CHECK(two.elected().at(release).warps == 2);
}

TEST_CASE("barriers that nobody waits for, or whose phases never end, are no rings") {
    Told nobody(2);
    nobody.event(0, {expect, BarrierAction::arrival, 64, true, false});
    CHECK(nobody.rings().rings.empty());
    CHECK(nobody.rings().ring_of.empty());
    Told never(2);
    never.event(0, {expect, BarrierAction::arrival, 64, false, false});
    never.event(1, {wait_full, BarrierAction::wait, 64, false, true});
    CHECK(never.rings().rings.empty());
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
