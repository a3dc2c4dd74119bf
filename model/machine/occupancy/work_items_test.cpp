// Every tile and k-iteration is done exactly once, whatever the schedule and the cluster.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/work_items.hpp"

#include "hw/error.hpp"
#include "model/kernel/examples/split_gemm.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>
#include <tuple>

using namespace warptime::model::kernel;
using namespace warptime::model::machine;

namespace {

using Counts = std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, int>;

/// Number of times that all CTAs together do each (m, n, batch, k-iteration).
Counts done_by_all(const Kernel& kernel) {
    const WorkItems items(kernel);
    Counts counts;
    for (std::int64_t cta = 0; cta < kernel.grid.volume(); ++cta) {
        std::vector<std::int64_t> positions;
        items.append_of_cta(cta, positions);
        for (const std::int64_t position : positions) {
            const WorkItem item = items.at(position);
            for (std::int64_t k = item.begin; k < item.end; ++k) {
                ++counts[{item.tile[0], item.tile[1], item.tile[2], k}];
            }
        }
    }
    return counts;
}

}  // namespace

TEST_CASE("grids, strides, splits and clusters cover the tiles once") {
    CHECK(rc::check("random schedules", [] {
        const auto pick = [](int low, int high) { return *rc::gen::inRange<std::int64_t>(low, high + 1); };
        Kernel kernel;
        Schedule& s = kernel.schedule;
        const std::int64_t along_m = pick(1, 2);
        kernel.cluster = {along_m * pick(1, 2), 1, 1};
        s.tiles = {pick(1, 5) * kernel.cluster.x, pick(1, 5) * kernel.cluster.x, pick(1, 3), 1};
        s.group = pick(1, 4);
        s.raster = static_cast<Raster>(pick(0, 1));
        s.k_iterations = pick(1, 9);
        s.split_k = pick(1, 4);
        const bool persistent = pick(0, 1) == 1;
        s.kind = persistent ? ScheduleKind::static_stride : ScheduleKind::one_per_cta;
        kernel.grid.x = persistent ? kernel.cluster.x * pick(1, 5) : s.item_count();
        const Counts counts = done_by_all(kernel);
        RC_ASSERT(static_cast<std::int64_t>(counts.size()) ==
                  s.tiles[0] * s.tiles[1] * s.tiles[2] * s.k_iterations);
        for (const auto& [what, times] : counts) {
            RC_ASSERT(times == 1);
        }
    }));
}

TEST_CASE("the CTAs of a cluster stand side by side along the way that shares the multicast operand") {
    Kernel kernel;
    examples::warp_specialized_gemm(kernel, {});  // B goes to both CTAs: neighbours along m
    CHECK(cluster_shape(kernel) == ClusterShape{2, 1});
    const WorkItems items(kernel);
    for (std::int64_t i = 0; i + 1 < items.count(); i += 2) {
        CHECK(items.at(i + 1).tile[0] == items.at(i).tile[0] + 1);
        CHECK(items.at(i + 1).tile[1] == items.at(i).tile[1]);
    }
}

TEST_CASE("a stream-K list is cut where the shares of the CTAs end") {
    examples::SplitGemm problem;
    Kernel kernel;
    examples::stream_k(kernel, problem);
    const Counts counts = done_by_all(kernel);
    CHECK(static_cast<std::int64_t>(counts.size()) == problem.tiles() * problem.k_iterations());
    const WorkItems items(kernel);
    const std::int64_t share = (problem.tiles() * problem.k_iterations() + problem.ctas - 1) / problem.ctas;
    for (std::int64_t cta = 0; cta < problem.ctas; ++cta) {
        std::vector<std::int64_t> positions;
        items.append_of_cta(cta, positions);
        std::int64_t iterations = 0;
        for (const std::int64_t position : positions) {
            iterations += items.at(position).end - items.at(position).begin;
        }
        CHECK(iterations <= share);
    }
    kernel.schedule.kind = ScheduleKind::static_stride;
    CHECK_THROWS_AS(WorkItems{kernel}, warptime::Error);
}

TEST_CASE("CTAs that ask for their items get none beforehand") {
    Kernel kernel;
    kernel.schedule.tiles = {4, 4, 1, 1};
    kernel.schedule.kind = ScheduleKind::dynamic_counter;
    std::vector<std::int64_t> positions;
    const WorkItems items(kernel);
    items.append_of_cta(0, positions);
    CHECK(positions.empty());
    CHECK(items.on_demand());
    CHECK(items.count() == 16);
    Kernel listed;
    listed.schedule.kind = ScheduleKind::listed;
    listed.schedule.items.resize(3);
    CHECK_FALSE(WorkItems(listed).on_demand());
    listed.schedule.on_demand = true;
    CHECK(WorkItems(listed).on_demand());
}
