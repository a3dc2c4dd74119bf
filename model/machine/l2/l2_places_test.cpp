// Shares of a repeatedly read set that come from the near partition, the other one and DRAM.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/l2_places.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

namespace hw = warptime::hw;
using namespace warptime::model::machine;

namespace {

constexpr double megabyte = 1048576.0;

}  // namespace

TEST_CASE("one SM has its own partition, and the other one for lines of that home") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto places = [&](double megabytes) {
        return places_in_turn({.bytes = megabytes * megabyte, .reach = 1.0}, gpu);
    };
    CHECK(places(28.0).near == 1.0);
    CHECK(places(45.0).near == 0.0);
    CHECK(places(45.0).other == doctest::Approx(0.5));
    CHECK(places(45.0).dram == doctest::Approx(0.5));
    CHECK(places(80.0).dram == doctest::Approx(1.0));
}

TEST_CASE("parts of all SMs use the whole L2, and are lost to DRAM") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto places = [&](double megabytes) {
        return places_in_turn({.bytes = megabytes * megabyte, .reach = 0.5}, gpu);
    };
    CHECK(places(49.0).near == 1.0);
    CHECK(places(66.0).dram == doctest::Approx(1.0));
    CHECK(places(66.0).other == 0.0);
}

TEST_CASE("shares add up, and larger sets are found less near") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(rc::check("for sets of 1 to 200 MB", [&] {
        const double bytes = *rc::gen::inRange<int>(1, 200) * megabyte;
        const double reach = 0.5 + 0.5 * *rc::gen::inRange<int>(0, 2);
        const L2Places smaller = places_in_turn({.bytes = bytes, .reach = reach}, gpu);
        const L2Places larger = places_in_turn({.bytes = 1.1 * bytes, .reach = reach}, gpu);
        RC_ASSERT(std::abs(smaller.near + smaller.other + smaller.dram - 1.0) < 1e-12);
        RC_ASSERT(larger.near <= smaller.near);
        RC_ASSERT(larger.dram >= smaller.dram);
        const L2Places strange = places_of_strangers(bytes, gpu);
        RC_ASSERT(std::abs(strange.near + strange.other + strange.dram - 1.0) < 1e-12);
    }));
}

TEST_CASE("check bits come with the lines that miss, and make others miss") {
    CHECK(rc::check("for sets around the room", [] {
        const double room = 1000.0;
        const double bytes = *rc::gen::inRange<int>(900, 1400);
        const double ways = *rc::gen::inRange<int>(2, 10);
        const double beside = 0.01 * *rc::gen::inRange<int>(1, 12);
        const double plain = lost_in_turn(bytes, room, ways);
        const double lost = lost_in_turn(bytes, room, ways, beside);
        RC_ASSERT(lost >= plain);
        RC_ASSERT(lost <= 1.0);
        // With so many bytes more, the same share is lost.
        const double with_bits = lost_in_turn(bytes * (1.0 + beside * lost), room, ways);
        const double expected = bytes <= room ? 0.0 : with_bits;
        RC_ASSERT(std::abs(lost - expected) < 1e-9);
        RC_ASSERT(lost_in_turn(bytes + 1.0, room, ways, beside) >= lost);
    }));
}

TEST_CASE("without check bits among the data an L2 keeps more of what outgrows it") {
    auto gpu = hw::load_gpu("l40s");
    const L2Set set{.bytes = 105.0 * megabyte, .reach = 1.0};
    REQUIRE(gpu.dram.ecc.value() == 1.0);
    const double with_bits = places_in_turn(set, gpu).near;
    gpu.dram.ecc = hw::Number(0.0);
    CHECK(places_in_turn(set, gpu).near > with_bits + 0.1);
    CHECK(with_bits > 0.0);
}

TEST_CASE("a quarter of what others brought lies across, and costs its way") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const L2Places places = places_of_strangers(4.0 * megabyte, gpu);
    CHECK(places.near == doctest::Approx(0.75));
    CHECK(places.other == doctest::Approx(0.25));
    const double near = 0.5 * (gpu.latency.l2_near.value() + gpu.latency.l2_far.value());
    CHECK(lane_latency(places, gpu).value() > near);
    CHECK(lane_latency(places, gpu).value() < gpu.latency.dram.value());
    CHECK(latency_of(L2Places{}, gpu).value() == doctest::Approx(near));
    CHECK(latency_of(L2Places{0.0, 0.0, 1.0}, gpu).value() == doctest::Approx(gpu.latency.dram.value()));
    CHECK(latency_of(L2Places{0.0, 0.5, 0.5}, gpu).value() < gpu.latency.dram.value());
}
