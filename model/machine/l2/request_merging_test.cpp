// Merging requests: limits, runs of items on GPCs against an enumeration, and drift.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/request_merging.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace hw = warptime::hw;
namespace machine = warptime::model::machine;
using namespace warptime::model::machine;

namespace {

constexpr machine::Dependence along_m{.along_m = true};
constexpr machine::Dependence along_n{.along_n = true};

/// Readers of a slice of A, counted item by item over the runs of one GPC that begin at `begins`.
double counted(const machine::TileOrder& order, std::int64_t length,
               const std::vector<std::int64_t>& begins) {
    std::set<std::int64_t> rows;
    double items = 0.0;
    for (const std::int64_t begin : begins) {
        for (std::int64_t i = begin; i < begin + length; ++i) {
            rows.insert(machine::tile_at(order, i).m);
            items += 1.0;
        }
    }
    return items / static_cast<double>(rows.size());
}

}  // namespace

TEST_CASE("up to four requests become one") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l2.merge_requests = hw::Number(4.0);
    CHECK(left_of_merged(0.3, gpu) == 1.0);
    CHECK(left_of_merged(1.0, gpu) == 1.0);
    CHECK(left_of_merged(2.0, gpu) == 0.5);
    CHECK(left_of_merged(4.0, gpu) == 0.25);
    CHECK(left_of_merged(16.5, gpu) == 0.25);
}

TEST_CASE("a wave lies in runs, one for each cluster of SMs and CTA of an SM") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(group_runs(132, gpu).length == doctest::Approx(16.5));
    CHECK(group_runs(132, gpu).count == 1.0);
    CHECK(group_runs(264, gpu).length == doctest::Approx(16.5));
    CHECK(group_runs(264, gpu).count == 2.0);
    CHECK(group_runs(66, gpu).length == doctest::Approx(8.25));
    CHECK(group_runs(1, gpu).length == 1.0);
}

TEST_CASE("readers of a run are what counting its items gives") {
    const machine::TileOrder order{.m = 32, .n = 64, .group = 8};
    const GroupRuns one{16.0, 1.0, 128.0, 128.0};
    // The closed form samples runs at a quarter and three quarters of the grid, here both across two bands.
    CHECK(readers_in_group(order, along_m, one) == doctest::Approx(counted(order, 16, {508})));
    CHECK(readers_in_group(order, along_m, one) == doctest::Approx(counted(order, 16, {1524})));
    // The second run reads rows of the same band, as the whole wave does.
    const GroupRuns two{16.0, 2.0, 256.0, 128.0};
    const double more = readers_in_group(order, along_m, two);
    CHECK(more > readers_in_group(order, along_m, one));
    CHECK(more <= counted(order, 16, {508, 636}));
    // One row of tiles after the other: all items of a run share A, and none shares B.
    const machine::TileOrder rows{.m = 64, .n = 128};
    CHECK(readers_in_group(rows, along_n, one) == doctest::Approx(1.0));
    CHECK(readers_in_group(rows, along_m, one) >= 8.0);
}

TEST_CASE("every n-th item reads the same") {
    const GroupRuns one{16.0, 1.0, 132.0, 132.0};
    CHECK(readers_of_repeated(8.0, one) == doctest::Approx(2.0));
    CHECK(readers_of_repeated(16.0, one) == doctest::Approx(1.0));
    CHECK(readers_of_repeated(64.0, one) == doctest::Approx(1.0));
    // The second run begins 132 items later, which is 4 further in rounds of 32.
    const GroupRuns two{16.0, 2.0, 264.0, 132.0};
    CHECK(readers_of_repeated(32.0, two) == doctest::Approx(32.0 / 20.0));
    CHECK(readers_of_repeated(16.0, two) == doctest::Approx(2.0));
}

TEST_CASE("fewer merge the more warps share an SM where they wait for the L2") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l2.merge_warps = hw::Number(8.0);
    CHECK(in_step_while_waiting(1.0, 32.0, gpu) == 1.0);
    CHECK(in_step_while_waiting(2.0, 8.0, gpu) == doctest::Approx(0.5));
    CHECK(in_step_while_waiting(4.0, 8.0, gpu) < in_step_while_waiting(4.0, 4.0, gpu));
}

TEST_CASE("the more whole lines a warp copies in a trip, the more of those that could merge do") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto share = [&](double copies, double row) { return in_step_by_copies(copies * 512.0, row, gpu); };
    // Half the requests meet at the number of copies that the key names.
    CHECK(share(gpu.l2.step_copies.value(), 128.0) == doctest::Approx(0.5));
    CHECK(share(2.0, 128.0) < share(4.0, 128.0));
    CHECK(share(500.0, 128.0) > 0.98);
    // Rows of half a line count half.
    CHECK(share(8.0, 64.0) == doctest::Approx(share(4.0, 128.0)));
}
