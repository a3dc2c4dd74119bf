// Merged requests of neighbours and strangers, against an enumeration of all placements; waves; bounds.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/merging_in_waves.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace hw = warptime::hw;
namespace machine = warptime::model::machine;
using namespace warptime::model::machine;

namespace {

constexpr machine::Dependence along_m{.along_m = true};
constexpr machine::Dependence along_n{.along_n = true};

/// Mean requests per reader over all ways to spread `readers` over `groups` GPCs, enumerated.
double counted_anywhere(std::int64_t readers, std::int64_t groups, std::int64_t most) {
    const auto ways = static_cast<std::int64_t>(
        std::llround(std::pow(static_cast<double>(groups), static_cast<double>(readers))));
    double requests = 0.0;
    for (std::int64_t way = 0; way < ways; ++way) {
        std::vector<std::int64_t> on(static_cast<std::size_t>(groups), 0);
        for (std::int64_t reader = 0, rest = way; reader < readers; ++reader, rest /= groups) {
            ++on[static_cast<std::size_t>(rest % groups)];
        }
        for (const std::int64_t count : on) {
            const std::int64_t of_cluster = (count + most - 1) / most;
            requests += static_cast<double>(of_cluster);
        }
    }
    return requests / static_cast<double>(ways * readers);
}

/// Eight GPCs of 16 SMs.
Readers readers_of(const machine::TileOrder& order, machine::Dependence slices, double waves) {
    const double wave = static_cast<double>(order.items()) / waves;
    return {order, slices, {std::min(wave, 128.0) / 8.0, std::max(1.0, wave / 128.0), wave, 128.0}, 8};
}

}  // namespace

TEST_CASE("neighbours in runs, and readers anywhere, are what counting them gives") {
    CHECK(left_in_order(1, 16.5, 4) == 1.0);
    // Four readers begin at one of 16 places: 13 places keep the readers together, three split them.
    CHECK(left_in_order(4, 16.0, 4) == doctest::Approx((13.0 * 1.0 + 3.0 * 2.0) / 16.0 / 4.0));
    CHECK(left_in_order(2, 16.0, 1) == 1.0);
    CHECK(left_in_order(160, 16.0, 4) == doctest::Approx(0.25).epsilon(0.03));
    for (const std::int64_t readers : {1, 2, 3, 5, 6}) {
        CHECK(left_anywhere(readers, 3, 2) == doctest::Approx(counted_anywhere(readers, 3, 2)));
        CHECK(left_anywhere(readers, 2, 4) == doctest::Approx(counted_anywhere(readers, 2, 4)));
    }
    CHECK(left_anywhere(8, 1, 4) == 0.25);
    CHECK(left_anywhere(256, 8, 4) == doctest::Approx(left_anywhere(257, 8, 4)).epsilon(0.01));
}

TEST_CASE("in the first wave all merge that a cluster of SMs has") {
    const MergingLaw law{4, 0.5, 0.0};
    const machine::TileOrder row{.m = 1, .n = 128};
    CHECK(merged_share(readers_of(row, along_m, 1.0), law) == doctest::Approx(0.75));
    CHECK(merged_share(readers_of(row, along_n, 1.0), law) == doctest::Approx(0.0));
    // Bands of eight rows: a run of 16 has two items in each row and eight in each column.
    const machine::TileOrder bands{.m = 8, .n = 16, .group = 8};
    CHECK(merged_share(readers_of(bands, along_m, 1.0), law) == doctest::Approx(0.5));
    CHECK(merged_share(readers_of(bands, along_n, 1.0), law) == doctest::Approx(0.75));
}

TEST_CASE("clusters of CTAs fill one cluster of SMs after the other, in bands across their longer side") {
    const MergingLaw law{4, 0.5, 0.0};
    // Pairs along m, eight pairs across: the 16 CTAs of a GPC have two rows of eight columns.
    Readers pairs = readers_of({.m = 16, .n = 8, .group = 2}, along_m, 1.0);
    pairs.in_cluster = 2;
    CHECK(merged_share(pairs, law) == doctest::Approx(0.75));
    pairs.slices = along_n;
    CHECK(merged_share(pairs, law) == doctest::Approx(0.5));
    // 32 columns in two bands of 16, with the raster exchanged: eight items of a band read each of two rows.
    pairs.order = {.m = 4, .n = 32, .group = 32};
    CHECK(merged_share(pairs, law) == doctest::Approx(0.5));
    pairs.slices = along_m;
    CHECK(merged_share(pairs, law) == doctest::Approx(0.75));
    pairs.order = {.m = 64, .n = 32, .group = 32};
    pairs.runs.wave = 128.0;
    const double first = 0.75, waves = 16.0;
    pairs.stay = true;
    CHECK(merged_share(pairs, law) == doctest::Approx(first * (1.0 + (waves - 1.0) * 0.5) / waves));
}

TEST_CASE("later waves merge neighbours, some of them elsewhere, and a share of strangers") {
    const machine::TileOrder bands{.m = 8, .n = 64, .group = 8};
    const double first_m = 0.5;
    const double first_n = 0.75;
    const auto share = [&](machine::Dependence slices, const MergingLaw& law) {
        return merged_share(readers_of(bands, slices, 4.0), law);
    };
    CHECK(share(along_m, {4, 1.0, 0.0}) == doctest::Approx(first_m / 4.0));
    CHECK(share(along_n, {4, 1.0, 0.0}) ==
          doctest::Approx((first_n + 3.0 * (1.0 - left_in_order(8, 16.0, 4))) / 4.0));
    CHECK(share(along_n, {4, 0.0, 0.0}) ==
          doctest::Approx((first_n + 3.0 * (1.0 - left_anywhere(8, 8, 4))) / 4.0));
    // 16 items of a wave read a row.
    CHECK(share(along_m, {4, 1.0, 0.2}) ==
          doctest::Approx((first_m + 3.0 * 0.2 * (1.0 - left_anywhere(16, 8, 4))) / 4.0));
    Readers stay = readers_of(bands, along_m, 4.0);
    stay.stay = true;
    CHECK(merged_share(stay, {4, 0.5, 0.0}) == doctest::Approx(first_m * (1.0 + 3.0 * 0.5) / 4.0));
}

TEST_CASE("work of others and lines of one's own put CTAs out of step") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l2.merge_warps = hw::Number(8.0);
    gpu.l2.merge_private = hw::Number(0.25);
    gpu.l2.merge_drift = hw::Number(0.001);
    CHECK(share_in_step(0.0, false, 0.0, gpu) == 1.0);
    CHECK(share_in_step(8.0, false, 0.0, gpu) == 0.5);
    CHECK(share_in_step(0.0, true, 0.0, gpu) == 0.25);
    CHECK(share_in_step(16.0, true, 0.0, gpu) == doctest::Approx(1.0 / 6.0));
    CHECK(share_in_step(8.0, false, 500.0, gpu) == doctest::Approx(0.4));
}

TEST_CASE("no more goes than all but one of those that become one") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const MergingLaw law = merging_law(gpu);
    REQUIRE(law.most == 4);
    CHECK(rc::check("random orders", [&] {
        const machine::TileOrder order{.m = *rc::gen::inRange<std::int64_t>(1, 40),
                                       .n = *rc::gen::inRange<std::int64_t>(1, 40),
                                       .batch = *rc::gen::inRange<std::int64_t>(1, 4),
                                       .group = *rc::gen::inRange<std::int64_t>(1, 9)};
        const auto concurrent =
            std::min<std::int64_t>(order.items(), *rc::gen::inRange<std::int64_t>(1, 600));
        for (const machine::Dependence slices : {along_m, along_n, machine::Dependence{}}) {
            const Readers readers{order, slices, group_runs(concurrent, gpu), 8};
            const double share = merged_share(readers, law);
            RC_ASSERT(share >= -1e-12);
            RC_ASSERT(share <= 0.75 + 1e-12);
        }
    }));
}
