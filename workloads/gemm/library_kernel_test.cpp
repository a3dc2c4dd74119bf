// The rules of a library's families: stages, grids, memsets, splits and order.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/library_kernel.hpp"

#include "model/kernel/checks.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/families_fixture_test.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/lower.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <utility>

using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::workloads::libraries::ClusterShape;
using warptime::workloads::libraries::GemmFamily;
using warptime::workloads::libraries::Tile;

namespace {

Tile tile(int m, int n, bool cooperative = true) {
    Tile t;
    t.m = m;
    t.n = n;
    t.cooperative = cooperative;
    return t;
}

/// Clusters of so many CTAs that the chip takes at once, with one CTA an SM (placement_test.cpp has the
/// numbers).
std::int64_t clusters_of(int ctas) {
    return warptime::model::machine::clusters_at_once(gpu(), ctas, 1);
}

}  // namespace

TEST_CASE("stages are what shared memory holds, as the recorded names say") {
    const Problem p = problem_of(8192, 8192, 8192);
    const auto stages = [&](int m, int n) {
        return vendor_config(p, nvjet(), tile(m, n), {1, 1}, gpu()).stages;
    };
    CHECK(stages(128, 256) == 4);
    CHECK(stages(192, 192) == 4);
    CHECK(stages(128, 320) == 3);
    CHECK(stages(128, 128) == 6);
    CHECK(stages(64, 64) == 13);
    CHECK(stages(8, 64) == 16);
    CHECK(vendor_config(p, nvjet(), tile(256, 128), {1, 1}, gpu()).shared_bytes == 213248);  // recorded
    CHECK(rc::check("they fit, and one more would not", [&] {
        const Tile& t = *rc::gen::elementOf(nvjet().tiles);
        const Config c = vendor_config(p, nvjet(), t, {1, 1}, gpu());
        RC_ASSERT(c.shared_bytes == c.stages * stage_bytes(p, c) + nvjet().epilogue_bytes);
        RC_ASSERT(c.stages * stage_bytes(p, c) <= nvjet().shared_limit);
        RC_ASSERT(c.stages == nvjet().stages_max ||
                  (c.stages + 1) * stage_bytes(p, c) > nvjet().shared_limit);
        RC_ASSERT(c.shared_bytes <= static_cast<std::int64_t>(gpu().shared.per_cta_optin.value()));
    }));
}

TEST_CASE("a persistent grid is limited by the clusters that the chip takes") {
    const Problem p = problem_of(8192, 8192, 1024);
    const auto limit = [&](int m, int n) {
        return vendor_config(p, nvjet(), tile(128, 256), {m, n}, gpu()).max_ctas;
    };
    CHECK(limit(1, 1) == static_cast<std::int64_t>(gpu().sm.count.value()));
    for (const auto& [m, n] : {std::pair{2, 1}, {1, 4}, {2, 4}})
        CHECK(limit(m, n) == clusters_of(m * n) * m * n);
    CHECK(rc::check("and by the work", [] {
        const Problem any = problem_of(*rc::gen::inRange(1, 9000), *rc::gen::inRange(1, 9000), 512);
        const ClusterShape cluster = *rc::gen::elementOf(nvjet().clusters);
        const Config c = vendor_config(any, nvjet(), *rc::gen::elementOf(nvjet().tiles), cluster, gpu());
        mk::Program program;
        lower(any, c, gpu(), program);
        const mk::Kernel& kernel = program.kernels[0];
        RC_ASSERT(kernel.grid.volume() <= c.max_ctas);
        RC_ASSERT(kernel.grid.volume() <= kernel.schedule.item_count());
        RC_ASSERT(kernel.grid.volume() % (cluster.m * cluster.n) == 0);
        mk::check(program);
    }));
}

TEST_CASE("more waves than the family's limit take a tile counter and its memset") {
    const Tile t = tile(128, 256);
    const auto memsets = [&](std::int64_t m, std::int64_t n) {
        const Problem p = problem_of(m, n, 1024);
        mk::Program program;
        lower(p, vendor_config(p, nvjet(), t, {2, 1}, gpu()), gpu(), program);
        const bool first = !program.memsets.empty() && program.steps[0].kind == mk::StepKind::memset;
        CHECK(program.memsets.empty() == !first);
        return program.memsets.size();
    };
    const std::int64_t slots = clusters_of(2);
    const auto waves = static_cast<std::int64_t>(nvjet().dynamic_above_waves);
    // One column of tiles, two rows a cluster: exactly the limit, then one cluster more.
    CHECK(memsets(256 * slots * waves, 256) == 0);
    CHECK(memsets(256 * (slots * waves + 1), 256) == 1);
}

TEST_CASE("a family that splits small tiles only leaves the others whole") {
    auto family = nvjet();
    family.split_elements_max = 64 * 32;
    const Problem p = problem_of(128, 256, 1 << 20);
    CHECK(vendor_config(p, family, tile(64, 32, false), {1, 2}, gpu()).split_k > 1);
    CHECK(vendor_config(p, family, tile(64, 40, false), {1, 2}, gpu()).split_k == 1);
}

TEST_CASE("splits fill idle slots as far as the k-iterations allow") {
    const auto split = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
        return vendor_config(problem_of(m, n, k), nvjet(), tile(128, 128, false), {1, 2}, gpu()).split_k;
    };
    CHECK(split(8192, 8192, 65536) == 1);                            // no idle slot
    CHECK(split(128, 256, 64 * nvjet().split_min_iterations) == 1);  // too short to cut
    CHECK(split(128, 256, 1 << 20) == nvjet().split_max);
    CHECK(rc::check("limits of every split", [&] {
        const Problem p =
            problem_of(*rc::gen::inRange(1, 4000), *rc::gen::inRange(1, 4000), *rc::gen::inRange(1, 100000));
        const Config c = vendor_config(p, nvjet(), *rc::gen::elementOf(nvjet().tiles),
                                       *rc::gen::elementOf(nvjet().clusters), gpu());
        RC_ASSERT(c.split_k >= 1);
        RC_ASSERT(c.split_k <= nvjet().split_max);
        if (c.split_k > 1) {
            RC_ASSERT(ceil_div(p.k, c.cta_k) / c.split_k >= nvjet().split_min_iterations);
        }
    }));
}

TEST_CASE("few tiles are split until they fill the SMs, as recorded grids are") {
    Problem p = problem_of(1152, 1152, 1152);
    p.a = p.b = p.out = p.accumulator = Dtype::fp32;
    const auto family = [](const char* name) {
        return *std::find_if(families().begin(), families().end(),
                             [name](const GemmFamily& f) { return f.name == name; });
    };
    // 9 x 9 tiles and one CTA an SM: 132 / 81 gives one split.
    const GemmFamily fp32 = family("xmma_sm80_ffma_align16");
    CHECK(vendor_config(p, fp32, tile(128, 128), {1, 1}, gpu()).split_k == 1);
    p.m = 2048;
    p.n = 128;
    p.k = 16384;
    CHECK(vendor_config(p, fp32, tile(128, 128), {1, 1}, gpu()).split_k == 8);
    p.k = 320;  // 64 elements of K for each split
    CHECK(vendor_config(p, fp32, tile(128, 128), {1, 1}, gpu()).split_k == 5);
    p.m = 4096;
    p.n = 4096;
    CHECK(vendor_config(p, fp32, tile(128, 128), {1, 1}, gpu()).split_k == 1);
}

TEST_CASE("clusters follow one another across their longer side, in bands if the family has any") {
    auto family = nvjet();
    REQUIRE(family.band_clusters == 16);
    Problem p = problem_of(2048, 4096, 1024);
    const auto order = [&](ClusterShape cluster) {
        return vendor_config(p, family, tile(128, 256), cluster, gpu());
    };
    CHECK(order({2, 1}).raster == mk::Raster::along_n);
    CHECK(order({2, 1}).group == 2);
    CHECK(order({1, 4}).raster == mk::Raster::along_m);
    CHECK(order({1, 4}).group == 4);
    // Grids wider than a band have bands of as many clusters in the other direction.
    p = problem_of(16384, 8192, 1024);
    CHECK(order({2, 1}).raster == mk::Raster::along_n);
    CHECK(order({2, 1}).group == 32);
    CHECK(order({1, 4}).raster == mk::Raster::along_m);
    CHECK(order({1, 4}).group == 64);
    // The eight CTAs of a cluster are eight items in a row.
    CHECK(order({2, 4}).raster == mk::Raster::along_n);
    CHECK(order({2, 4}).group == 2);
    CHECK(order({4, 2}).raster == mk::Raster::along_m);
    CHECK(order({4, 2}).group == 2);
    CHECK(order({1, 1}).raster == mk::Raster::along_n);
    CHECK(order({1, 1}).group == 16);
    family.band_clusters = 0;
    CHECK(order({1, 2}).raster == mk::Raster::along_n);
    CHECK(order({1, 2}).group == 1);
}

TEST_CASE("splits are added up by blocks up to the family's limits, beyond by the last CTA of a tile") {
    GemmFamily family = nvjet();
    family.blocks_up_to_bytes = 0;
    Config c = tile_of(128, 128, 64);
    c.split_k = 3;
    const Problem p = problem_of(1024, 1024, 65536);
    CHECK(vendor_reduction(p, family, c) == Reduction::workspace);
    // 64 tiles with three splits of 64 KiB each.
    family.blocks_up_to_bytes = std::int64_t{64} * 3 * 65536;
    CHECK(vendor_reduction(p, family, c) == Reduction::blocks);
    family.blocks_up_to_bytes -= 1;
    CHECK(vendor_reduction(p, family, c) == Reduction::last_cta);
    // For two splits the number of tiles has its own limit.
    c.split_k = 2;
    family.blocks_of_pairs_up_to = 64;
    CHECK(vendor_reduction(p, family, c) == Reduction::blocks);
    family.blocks_of_pairs_up_to = 63;
    CHECK(vendor_reduction(p, family, c) == Reduction::last_cta);
}
