// Closed form of merging against the law item by item, over grids, groups and CTAs an SM.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/merging_in_brief.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

using namespace warptime::model;
using namespace warptime::model::machine;
using warptime::hw::load_gpu;

namespace {

Readers readers_of(std::int64_t m, std::int64_t n, std::int64_t group, std::int64_t ctas_per_sm, bool of_a,
                   const warptime::hw::Gpu& gpu) {
    Readers readers;
    readers.order.m = m;
    readers.order.n = n;
    readers.order.group = group;
    readers.slices = {.along_m = of_a, .along_n = !of_a};
    readers.runs = group_runs(std::min(132 * ctas_per_sm, m * n), gpu);
    readers.groups = 8;
    return readers;
}

}  // namespace

TEST_CASE("in brief the share is that of going item by item, but for small grids within a few hundredths") {
    const auto gpu = load_gpu("h200-sxm");
    const MergingLaw law = merging_law(gpu);
    double apart = 0.0;
    int grids = 0;
    for (const std::int64_t m : {4, 8, 18, 32, 64}) {
        for (const std::int64_t n : {4, 11, 32, 64, 100}) {
            for (const std::int64_t group : {1, 4, 8}) {
                for (const std::int64_t ctas_per_sm : {1, 2, 4, 8}) {
                    for (const bool of_a : {true, false}) {
                        for (const bool stay : {true, false}) {
                            Readers readers = readers_of(m, n, group, ctas_per_sm, of_a, gpu);
                            readers.stay = stay;
                            const MergingInBrief merging(readers.order, readers.runs, readers.groups, stay);
                            const double brief = merging.merged_share(readers.slices, law);
                            CHECK(brief >= 0.0);
                            CHECK(brief <= 1.0 - 1.0 / static_cast<double>(law.most) + 1e-12);
                            apart += std::fabs(brief - merged_share(readers, law));
                            ++grids;
                        }
                    }
                }
            }
        }
    }
    CHECK(apart / grids < 0.025);
}

TEST_CASE("neighbours who begin anywhere leave what counting their places gives") {
    for (const std::int64_t readers : {1, 2, 3, 4, 6, 8, 12, 16}) {
        CAPTURE(readers);
        CHECK(left_in_order_in_brief(static_cast<double>(readers), 16.0, 4.0) ==
              doctest::Approx(left_in_order(readers, 16.0, 4)).epsilon(0.01));
    }
    // Long rows of tiles: whole runs and two ends.
    CHECK(left_in_order_in_brief(100.0, 16.0, 4.0) ==
          doctest::Approx(left_in_order(100, 16.0, 4)).epsilon(0.05));
}

TEST_CASE("runs of a slice go down a band, along a row, or through the whole plane") {
    machine::TileOrder order;
    order.m = 16;
    order.n = 24;
    order.group = 8;
    CHECK(run_of_slice(order, {.along_n = true}) == 8.0);
    CHECK(run_of_slice(order, {.along_m = true}) == 1.0);
    CHECK(run_of_slice(order, {.along_m = true, .along_n = true}) == 1.0);
    CHECK(run_of_slice(order, {}) == 16.0 * 24.0);
    order.group = 1;
    CHECK(run_of_slice(order, {.along_n = true}) == 1.0);
    CHECK(run_of_slice(order, {.along_m = true}) == 24.0);
    order.raster = machine::Raster::along_m;
    CHECK(run_of_slice(order, {.along_n = true}) == 16.0);
}
