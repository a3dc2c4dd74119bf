// The trees of picks: their questions, their GPUs, and the kernels that they name.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/library_picks.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "workloads/choice/vendor_choice.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/lower.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

using namespace warptime::workloads::choice;
using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::workloads::libraries::KernelPick;
using warptime::workloads::libraries::Libraries;
using warptime::workloads::libraries::PickTable;

namespace {

const Libraries& data() {
    static const Libraries loaded = warptime::workloads::libraries::load_libraries();
    return loaded;
}

const PickTable& table() {
    REQUIRE(data().pick_tables.size() == 1);
    return data().pick_tables.front();
}

/// A Libraries whose one group has one leaf.
Libraries one_leaf(const std::string& pick) {
    Libraries libraries = data();
    const std::string text = "gpus h200-sxm\nsms 132\npick 0 " + pick + "\ngroup bf16,fp32,tf32 2\n= 0\n";
    libraries.pick_tables = {read_picks(text, "test.picks", libraries.gemm_families)};
    return libraries;
}

Config chosen(const Libraries& libraries, const Problem& problem) {
    ChoiceMemory memory(gpu());
    const Config config = choose_vendor_kernel(
        problem, libraries, gpu(), [](const mk::Program&, double) { return 1.0; }, memory);
    mk::Program program;
    lower(problem, config, gpu(), program);
    mk::check(program);
    return config;
}

}  // namespace

TEST_CASE("the features that trees ask for are those that they were learned with") {
    Problem p = problem_of(1792, 728, 2120);
    p.b_major = Major::other;
    const auto f = features_of(p, 132);
    CHECK(f[0] == 1792.0);
    CHECK(f[5] == 1792.0 * 2120.0);
    CHECK(f[9] == 1792.0 * 728.0 / 2120.0);
    CHECK(f[10] == 1.0);
    CHECK(f[12] == 8.0);
    CHECK(f[14] == 112.0 * 12.0);  // number of tiles of 16x64
    CHECK(f[15] == (112 * 12 - 1) % 132);
    CHECK(f[feature_count - 2] == 14.0 * 3.0);  // number of tiles of 128x320
}

TEST_CASE("only the GPU that was asked has picks, and a kernel chosen there is one of them") {
    const Problem p = problem_of(4096, 4096, 4096);
    CHECK_FALSE(picks_of(p, table(), gpu()).likely.empty());
    CHECK(picks_of(p, table(), warptime::hw::load_gpu("h100-sxm")).likely.empty());
    const Config config = chosen(data(), p);
    const auto numbers = picks_of(p, table(), gpu()).likely;
    CHECK(std::any_of(numbers.begin(), numbers.end(), [&](int number) {
        const KernelPick& pick = table().picks[static_cast<std::size_t>(number)];
        return pick.tile.m == config.cta_m && pick.tile.n == config.cta_n;
    }));
    CHECK(rc::check("every product has a kernel that can run", [] {
        Problem any =
            problem_of(*rc::gen::inRange(1, 5000), *rc::gen::inRange(1, 5000), *rc::gen::inRange(1, 40000));
        any.a = any.b = any.out = *rc::gen::element(warptime::hw::Dtype::bf16, warptime::hw::Dtype::tf32,
                                                    warptime::hw::Dtype::fp32);
        const Config c = chosen(data(), any);
        RC_ASSERT(c.split_k >= 1);
        RC_ASSERT(c.cta_m > 0);
    }));
}

TEST_CASE("splits fill so many CTAs an SM, or take so many k-iterations each") {
    Problem p = problem_of(512, 512, 8192);
    p.a = p.b = p.out = warptime::hw::Dtype::fp32;
    // 16 tiles of 128x128: 2 CTAs on each of 132 SMs give 16.5 CTAs a tile.
    CHECK(chosen(one_leaf("fill:2 xmma_sm80_ffma_align16 128x128 0 0 1x1"), p).split_k == 16);
    CHECK(chosen(one_leaf("whole xmma_sm80_ffma_align16 128x128 0 0 1x1"), p).split_k == 1);
    // 1024 iterations with 8 elements of K each.
    CHECK(chosen(one_leaf("each:128 xmma_sm80_ffma_align16 128x128 0 0 1x1"), p).split_k == 8);
}

TEST_CASE("a persistent grid ends where the library's does, and its CTAs may share K out") {
    Problem p = problem_of(64, 4096, 16384);
    p.a = p.b = p.out = warptime::hw::Dtype::tf32;
    const Config whole = chosen(one_leaf("whole xmma_sm90_tf32 64x64 0 0 1x5 pingpong"), p);
    CHECK(whole.cluster_n == 5);
    CHECK(whole.max_ctas == 110);
    CHECK(whole.split_k == 1);
    // The product has 32 tiles, the grid 132 CTAs.
    const Config shared = chosen(one_leaf("segments xmma_sm90_tf32 64x128 0 0 1x1 pingpong"), p);
    CHECK(shared.split_k == 4);
    CHECK(shared.reduction == Reduction::last_cta);
}

TEST_CASE("where no kernel is known the rules of the library choose") {
    const Problem p = problem_of(512, 512, 512);
    CHECK(chosen(one_leaf("whole other"), p).cta_m > 0);
}

TEST_CASE("a likely kernel that is far slower than those around is not believed") {
    // The tree: m <= 8192 ? the small tile : the large one. The large one comes often enough that times do
    // not decide at the first question.
    std::string large = "=";
    for (int i = 0; i < 20; ++i) large += " 1";
    Libraries libraries = data();
    libraries.pick_tables = {read_picks(
        "gpus h200-sxm\nsms 132\npick 0 whole nvjet_sm90 64x64 0 0 1x1 pingpong transposed\n"
        "pick 1 whole nvjet_sm90 128x256 0 0 2x1 cooperative transposed\ngroup bf16 2\n0 8192\n= 0\n" +
            large + "\n",
        "test.picks", libraries.gemm_families)};
    const Problem p = problem_of(4096, 4096, 4096);
    const LikelyPicks picks = picks_of(p, libraries.pick_tables.front(), gpu());
    CHECK(picks.likely.size() == 1);
    CHECK(picks.around.size() == 21);
    CHECK(chosen(libraries, p).cta_m == 64);  // the score is equal for all
    ChoiceMemory memory(gpu());
    const auto tile_m_by = [&](double exponent) {
        return choose_vendor_kernel(
                   p, libraries, gpu(),
                   [exponent](const mk::Program& tried, double) {
                       const auto& kernel = tried.kernels[0];
                       const auto tiles =
                           static_cast<double>(kernel.schedule.tiles[0] * kernel.schedule.tiles[1]);
                       return std::pow(tiles, exponent);
                   },
                   memory)
            .cta_m;
    };
    CHECK(tile_m_by(1.0) == 128);   // eight times as many tiles
    CHECK(tile_m_by(0.05) == 64);   // the likely pick takes 1.11 times as long
    CHECK(tile_m_by(0.12) == 128);  // the likely pick takes 1.28 times as long
}
