// The library's rules: stages by shared memory, grids by clusters, memsets by waves, splits, families by
// alignment. SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/vendor_choice.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/footprint.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>

using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::workloads::libraries::ClusterShape;
using warptime::workloads::libraries::GemmFamily;
using warptime::workloads::libraries::Tile;

namespace {

const std::vector<GemmFamily>& families() {
    static const auto loaded = warptime::workloads::libraries::load_libraries();
    return loaded.gemm_families;
}

const GemmFamily& nvjet() {
    const auto found = std::find_if(families().begin(), families().end(),
                                    [](const GemmFamily& f) { return f.instruction == "wgmma"; });
    REQUIRE(found != families().end());
    return *found;
}

Tile tile(int m, int n, bool cooperative = true) {
    Tile t;
    t.m = m;
    t.n = n;
    t.cooperative = cooperative;
    return t;
}

/// Scores by the number of CTA tiles, so that a choice needs no engine.
double fewest_items(const mk::Program& program, double /*limit*/ = 0.0) {
    double items = 0.0;
    for (std::size_t i = 0; i < program.kernel_count; ++i) {
        items += static_cast<double>(program.kernels[i].schedule.item_count());
    }
    return items;
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
    CHECK(rc::check("they fit, and one more would not", [&] {
        const Tile& t = *rc::gen::elementOf(nvjet().tiles);
        const Config c = vendor_config(p, nvjet(), t, {1, 1}, gpu());
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
    CHECK(limit(2, 1) == 2 * static_cast<std::int64_t>(gpu().cluster.active_max_2.value()));
    CHECK(limit(1, 4) == 4 * static_cast<std::int64_t>(gpu().cluster.active_max_4.value()));
    CHECK(limit(2, 4) == 8 * static_cast<std::int64_t>(gpu().cluster.active_max_8.value()));
    CHECK(rc::check("and by the work", [] {
        const Problem any = problem_of(*rc::gen::inRange(1, 9000), *rc::gen::inRange(1, 9000), 512);
        const ClusterShape cluster = *rc::gen::elementOf(nvjet().clusters);
        const Config c = vendor_config(any, nvjet(), *rc::gen::elementOf(nvjet().tiles), cluster, gpu());
        mk::Program program;
        lower_vendor(any, c, gpu(), program);
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
        lower_vendor(p, vendor_config(p, nvjet(), t, {2, 1}, gpu()), gpu(), program);
        const bool first = !program.memsets.empty() && program.steps[0].kind == mk::StepKind::memset;
        CHECK(program.memsets.empty() == !first);
        return program.memsets.size();
    };
    const auto slots = static_cast<std::int64_t>(gpu().cluster.active_max_2.value());
    const auto waves = static_cast<std::int64_t>(nvjet().dynamic_above_waves);
    // One column of tiles, two rows a cluster: exactly the limit, and one cluster more.
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

TEST_CASE("searched splits ascend from one to the family's limits and end") {
    GemmFamily family = nvjet();
    family.split_searched = true;
    const Config c;
    for (const int most : {1, 2, 8, 16}) {
        for (const int iterations : {1, 8, 31, 32, 64, 1000}) {
            family.split_max = most;
            family.split_min_iterations = 8;
            int split = 1;
            int tried = 1;
            for (int next = next_split(family, c, iterations, split); next > 0;
                 next = next_split(family, c, iterations, split)) {
                REQUIRE(next > split);
                CHECK(next <= most);
                CHECK(iterations / next >= family.split_min_iterations);
                split = next;
                ++tried;
            }
            CHECK(tried <= most);
            // Where both limits leave room, more than one is tried.
            CHECK((tried > 1) == (most > 1 && iterations / 2 >= 8));
        }
    }
    family.split_searched = false;
    CHECK(next_split(family, c, 1000, 1) == 0);
}

TEST_CASE("the alignment of rows picks the family") {
    mk::Program program;
    const auto choose = [&](const Problem& p) {
        return choose_vendor_kernel(p, families(), gpu(), fewest_items, program);
    };
    CHECK(choose(problem_of(2048, 2048, 2048)).mma == MatrixInstruction::wgmma);
    const Config two_elements = choose(problem_of(2068, 3772, 1142));
    CHECK(two_elements.mma == MatrixInstruction::mma_sync);
    CHECK(two_elements.copy_bytes == 4);
    const Config one_element = choose(problem_of(1000, 1000, 1001));
    CHECK(one_element.pipeline == Pipeline::sync);
    CHECK(one_element.copy_bytes == 2);
}

TEST_CASE("the best-scoring candidate wins and stays lowered") {
    const Problem p = problem_of(4096, 4096, 4096);
    mk::Program program;
    const Config best = choose_vendor_kernel(p, families(), gpu(), fewest_items, program);
    double largest = 0.0;
    for (const Tile& t : nvjet().tiles) {
        largest = std::max(largest, 1.0 * t.m * t.n);
    }
    CHECK(1.0 * best.cta_m * best.cta_n <= largest);
    mk::Program again;
    lower_vendor(p, best, gpu(), again);
    CHECK(program.kernels[0] == again.kernels[0]);
    CHECK(program.kernel_count == again.kernel_count);
    // Every candidate scored at least as much.
    const double score = fewest_items(program);
    for (const Tile& t : nvjet().tiles) {
        for (const ClusterShape& cluster : nvjet().clusters) {
            mk::Program other;
            lower_vendor(p, vendor_config(p, nvjet(), t, cluster, gpu()), gpu(), other);
            CHECK(fewest_items(other) >= score);
        }
    }
}

TEST_CASE("a dtype that no family serves is an error with a way out") {
    Problem p = problem_of(512, 512, 512);
    p.a = p.b = p.out = Dtype::fp64;
    mk::Program program;
    try {
        (void)choose_vendor_kernel(p, families(), gpu(), fewest_items, program);
        FAIL("not refused");
    } catch (const warptime::Error& error) {
        CHECK(error.parameter() == "gemm dtype");
        CHECK(error.value() == "fp64");
        CHECK(error.expected().find("cta_tile") != std::string::npos);
        CHECK(error.expected().find(gpu().id) != std::string::npos);
    }
    p.a = p.out = Dtype::bf16;
    p.b = Dtype::fp8;
    CHECK_THROWS_WITH_AS((void)choose_vendor_kernel(p, families(), gpu(), fewest_items, program),
                         doctest::Contains("gemm dtype_b: got 'fp8', expected bf16"), warptime::Error);
}

TEST_CASE("a family for ragged N is taken where its number does not divide N, and nowhere else") {
    Problem p = problem_of(256, 824, 2368);
    p.a = p.b = Dtype::int8;
    p.out = p.accumulator = Dtype::int32;
    mk::Program program;
    CHECK(choose_vendor_kernel(p, families(), gpu(), fewest_items, program).mma == MatrixInstruction::wgmma);
    p.n = 832;
    CHECK(choose_vendor_kernel(p, families(), gpu(), fewest_items, program).mma ==
          MatrixInstruction::mma_sync);
}

TEST_CASE("few tiles are split until they fill the SMs, as recorded grids are") {
    Problem p = problem_of(1152, 1152, 1152);
    p.a = p.b = p.out = p.accumulator = Dtype::fp32;
    const auto family = [](const char* name) {
        return *std::find_if(families().begin(), families().end(),
                             [name](const GemmFamily& f) { return f.name == name; });
    };
    // 9 x 9 tiles, a CTA an SM: 132 / 81.
    const GemmFamily fp32 = family("xmma_sm80_ffma_align16");
    CHECK(vendor_config(p, fp32, tile(128, 128), {1, 1}, gpu()).split_k == 1);
    p.m = 2048;
    p.n = 128;
    p.k = 16384;
    CHECK(vendor_config(p, fp32, tile(128, 128), {1, 1}, gpu()).split_k == 8);
    p.k = 320;  // 64 elements of K each
    CHECK(vendor_config(p, fp32, tile(128, 128), {1, 1}, gpu()).split_k == 5);
    p.m = 4096;
    p.n = 4096;
    CHECK(vendor_config(p, fp32, tile(128, 128), {1, 1}, gpu()).split_k == 1);
}

TEST_CASE("several waves of fp8 run tiles that the consumers share") {
    mk::Program program;
    // The score prefers many items: were ping-pong tiles allowed, their number would decide.
    const auto most_items = [](const mk::Program& candidate, double limit) {
        return -fewest_items(candidate, limit);
    };
    const Config waves =
        choose_vendor_kernel(problem_of(8192, 8192, 128), families(), gpu(), most_items, program);
    CHECK(waves.specialization == Specialization::pingpong);
    Problem p = problem_of(8192, 8192, 128);
    p.a = p.b = Dtype::fp8;
    const Config shared = choose_vendor_kernel(p, families(), gpu(), most_items, program);
    CHECK(
        (shared.specialization == Specialization::cooperative || std::min(shared.cta_m, shared.cta_n) < 64));
}

TEST_CASE("one row runs a dot product where bulk copies are ruled out, and never a tile of more rows") {
    mk::Program program;
    const auto chosen = [&](std::int64_t m, std::int64_t n, Dtype dtype) {
        Problem p = problem_of(m, n, 1024);
        p.a = p.b = p.out = dtype;
        return choose_vendor_kernel(p, families(), gpu(), fewest_items, program);
    };
    CHECK(chosen(1, 4097, Dtype::bf16).streamed_columns);
    CHECK(chosen(2, 4097, Dtype::bf16).dot_products);
    CHECK(chosen(2, 4097, Dtype::bf16).cta_m == 2);
    CHECK_FALSE(chosen(1, 4096, Dtype::bf16).dot_products);
    CHECK(chosen(1, 4096, Dtype::tf32).streamed_columns);
    CHECK_FALSE(chosen(2, 4096, Dtype::tf32).dot_products);
    CHECK_FALSE(chosen(64, 4097, Dtype::bf16).dot_products);
}

TEST_CASE("a family of one cluster serves what that cluster does not divide") {
    mk::Program program;
    Problem p = problem_of(6400, 88, 80);
    p.a = p.b = Dtype::int8;
    p.out = Dtype::int32;
    CHECK(choose_vendor_kernel(p, families(), gpu(), fewest_items, program).cluster_n == 2);
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
    // Beyond a band's width: bands of as many clusters the other way round.
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
