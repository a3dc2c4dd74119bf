// Backward of FlashAttention 2: launches as recorded, work by the walk against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/lowered_fixture_test.hpp"

#include <doctest/doctest.h>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using attention::fixture::check_launch;
using attention::fixture::Given;
using attention::fixture::lowered;
using attention::fixture::matrix_flop;
using attention::fixture::moved;
using attention::fixture::sizes;

TEST_CASE("launches of the three backward kernels are those that PyTorch makes") {
    const Given by_flash{{"implementation", "flash2"}};
    const mk::Program backward = lowered("attention_backward", sizes("132", "1", "1024", "128", by_flash));
    REQUIRE(backward.kernel_count == 3);
    check_launch(backward.kernels[0], {16, 132, 1}, 256, 50, 0);
    check_launch(backward.kernels[1], {8, 132, 1}, 256, 255, 147456);
    CHECK(backward.kernels[2].grid == mk::Dim3{16, 132, 1});
    const mk::Program narrow =
        lowered("attention_backward",
                sizes("2", "32", "1024", "96", {{"causal", "1"}, {"implementation", "flash2"}}));
    check_launch(narrow.kernels[1], {8, 2, 32}, 256, 255, 94208);
    CHECK(lowered("attention_backward", sizes("1", "1", "64", "64"), "a100-sxm-80gb").kernels[0].name ==
          "flash_bwd_dot_do_o");
}

TEST_CASE("the gradients do exactly the products of the closed form") {
    attention::Problem p;
    p.heads = p.kv_heads = 32;
    p.sq = p.sk = 512;
    p.head_dim = 64;
    const mk::Program backward =
        lowered("attention_backward", sizes("1", "32", "512", "64", {{"implementation", "flash2"}}));
    CHECK(matrix_flop(backward.kernels[1]) == p.backward_flop());
    // Four blocks of keys add to every sum of dQ in fp32.
    CHECK(moved(backward.kernels[1], 6, mk::Direction::atomic) == 4 * 2 * p.q_bytes());
    CHECK(moved(backward.kernels[0], 2, mk::Direction::write) == 2 * p.q_bytes());
    CHECK(moved(backward.kernels[2], 1, mk::Direction::write) == p.q_bytes());
}

TEST_CASE("under a mask, blocks of queries before their keys are left out") {
    // Heads of 64 take blocks of 128 queries and 128 keys: 4 + 3 + 2 + 1 of 16.
    const mk::Program masked = lowered(
        "attention_backward", sizes("1", "2", "512", "64", {{"causal", "1"}, {"implementation", "flash2"}}));
    attention::Problem p;
    p.heads = p.kv_heads = 2;
    p.sq = p.sk = 512;
    p.head_dim = 64;
    CHECK(matrix_flop(masked.kernels[1]) == p.backward_flop() * 10 / 16);
    // Each key's gradient is written once all the same.
    CHECK(moved(masked.kernels[1], 7, mk::Direction::write) == p.k_bytes());
    CHECK(moved(masked.kernels[1], 8, mk::Direction::write) == p.k_bytes());
}

TEST_CASE("sums of dQ have whole blocks of 128 queries") {
    const mk::Program odd =
        lowered("attention_backward", sizes("1", "2", "300", "64", {{"implementation", "flash2"}}));
    REQUIRE(odd.kernel_count == 3);
    CHECK(odd.kernels[0].buffers[2].extent[1] == 384);
    CHECK(odd.kernels[2].buffers[0].extent[1] == 384);
    CHECK(moved(odd.kernels[2], 1, mk::Direction::write) == 2.0 * 300 * 64 * 2);
}

TEST_CASE("heads that share keys are added up behind the gradients, 512 results a CTA") {
    const mk::Program shared = lowered(
        "attention_backward",
        sizes("1", "32", "1024", "128", {{"kv_heads", "8"}, {"causal", "1"}, {"implementation", "flash2"}}));
    REQUIRE(shared.kernel_count == 5);
    for (const std::size_t k : {3U, 4U}) {
        check_launch(shared.kernels[k], {2048, 1, 1}, 128, 54, 0);
        CHECK(moved(shared.kernels[k], 0, mk::Direction::read) == 32.0 * 1024 * 128 * 2);
        CHECK(moved(shared.kernels[k], 1, mk::Direction::write) == 8.0 * 1024 * 128 * 2);
    }
    const mk::Program ragged =
        lowered("attention_backward",
                sizes("1", "32", "685", "64", {{"kv_heads", "16"}, {"implementation", "flash2"}}));
    CHECK(ragged.kernels[3].grid.x == 1370);
}
