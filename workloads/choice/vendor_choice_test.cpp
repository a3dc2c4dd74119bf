// The family, tile and split of the choice, by alignment, dtype and each candidate's score.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/vendor_choice.hpp"

#include "hw/error.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/families_fixture_test.hpp"
#include "workloads/gemm/library_kernel.hpp"
#include "workloads/gemm/lower.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace warptime::workloads::choice;
using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::workloads::libraries::ClusterShape;
using warptime::workloads::libraries::GemmFamily;
using warptime::workloads::libraries::Tile;

namespace {

/// Scores a program by its number of CTA tiles, so that a choice needs no engine.
double fewest_items(const mk::Program& program, double /*limit*/ = 0.0) {
    double items = 0.0;
    for (std::size_t i = 0; i < program.kernel_count; ++i) {
        items += static_cast<double>(program.kernels[i].schedule.item_count());
    }
    return items;
}

}  // namespace

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
            // The search tries more than one number where both limits allow it.
            CHECK((tried > 1) == (most > 1 && iterations / 2 >= 8));
        }
    }
    family.split_searched = false;
    CHECK(next_split(family, c, 1000, 1) == 0);
}

TEST_CASE("the alignment of rows picks the family") {
    ChoiceMemory memory(gpu());
    const auto choose = [&](const Problem& p) {
        return choose_vendor_kernel(p, families(), gpu(), fewest_items, memory);
    };
    CHECK(choose(problem_of(2048, 2048, 2048)).mma == MatrixInstruction::wgmma);
    const Config two_elements = choose(problem_of(2068, 3772, 1142));
    CHECK(two_elements.mma == MatrixInstruction::mma_sync);
    CHECK(two_elements.copy_bytes == 4);
    const Config one_element = choose(problem_of(1000, 1000, 1001));
    CHECK(one_element.pipeline == Pipeline::sync);
    CHECK(one_element.copy_bytes == 2);
}

TEST_CASE("the best-scoring candidate wins") {
    const Problem p = problem_of(4096, 4096, 4096);
    ChoiceMemory memory(gpu());
    const Config best = choose_vendor_kernel(p, families(), gpu(), fewest_items, memory);
    double largest = 0.0;
    for (const Tile& t : nvjet().tiles) {
        largest = std::max(largest, 1.0 * t.m * t.n);
    }
    CHECK(1.0 * best.cta_m * best.cta_n <= largest);
    mk::Program again;
    lower(p, best, gpu(), again);
    // No candidate has a lower score.
    const double score = fewest_items(again);
    for (const Tile& t : nvjet().tiles) {
        for (const ClusterShape& cluster : nvjet().clusters) {
            mk::Program other;
            lower(p, vendor_config(p, nvjet(), t, cluster, gpu()), gpu(), other);
            CHECK(fewest_items(other) >= score);
        }
    }
}

TEST_CASE("a dtype that no family serves is an error with a way out") {
    Problem p = problem_of(512, 512, 512);
    p.a = p.b = p.out = Dtype::fp64;
    ChoiceMemory memory(gpu());
    std::vector<GemmFamily> others = families();
    std::erase_if(others, [](const GemmFamily& family) { return family.dtypes.front() == Dtype::fp64; });
    try {
        (void)choose_vendor_kernel(p, others, gpu(), fewest_items, memory);
        FAIL("not refused");
    } catch (const warptime::Error& error) {
        CHECK(error.parameter() == "gemm dtype");
        CHECK(error.value() == "fp64");
        CHECK(error.expected().find("cta_tile") != std::string::npos);
        CHECK(error.expected().find(gpu().id) != std::string::npos);
    }
    p.a = p.out = Dtype::bf16;
    p.b = Dtype::fp8;
    CHECK_THROWS_WITH_AS((void)choose_vendor_kernel(p, families(), gpu(), fewest_items, memory),
                         doctest::Contains("gemm dtype_b: got 'fp8', expected bf16"), warptime::Error);
}

TEST_CASE("a family for ragged N is taken where its number does not divide N, and nowhere else") {
    Problem p = problem_of(256, 824, 2368);
    p.a = p.b = Dtype::int8;
    p.out = p.accumulator = Dtype::int32;
    ChoiceMemory memory(gpu());
    CHECK(choose_vendor_kernel(p, families(), gpu(), fewest_items, memory).mma == MatrixInstruction::wgmma);
    p.n = 832;
    CHECK(choose_vendor_kernel(p, families(), gpu(), fewest_items, memory).mma ==
          MatrixInstruction::mma_sync);
}

TEST_CASE("several waves of fp8 run tiles that the consumers share") {
    ChoiceMemory memory(gpu());
    // This score prefers many items. If ping-pong tiles were allowed, their number would decide.
    const auto most_items = [](const mk::Program& candidate, double limit) {
        return -fewest_items(candidate, limit);
    };
    const Config waves =
        choose_vendor_kernel(problem_of(8192, 8192, 128), families(), gpu(), most_items, memory);
    CHECK(waves.specialization == Specialization::pingpong);
    Problem p = problem_of(8192, 8192, 128);
    p.a = p.b = Dtype::fp8;
    const Config shared = choose_vendor_kernel(p, families(), gpu(), most_items, memory);
    CHECK(
        (shared.specialization == Specialization::cooperative || std::min(shared.cta_m, shared.cta_n) < 64));
}

TEST_CASE("one row runs a dot product where bulk copies are ruled out, and never a tile of more rows") {
    ChoiceMemory memory(gpu());
    const auto chosen = [&](std::int64_t m, std::int64_t n, Dtype dtype) {
        Problem p = problem_of(m, n, 1024);
        p.a = p.b = p.out = dtype;
        return choose_vendor_kernel(p, families(), gpu(), fewest_items, memory);
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
    ChoiceMemory memory(gpu());
    Problem p = problem_of(6400, 88, 80);
    p.a = p.b = Dtype::int8;
    p.out = Dtype::int32;
    CHECK(choose_vendor_kernel(p, families(), gpu(), fewest_items, memory).cluster_n == 2);
}
