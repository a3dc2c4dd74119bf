// Attention forward with specialised warps: launches as recorded, stages, items in order.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/specialized.hpp"

#include "workloads/attention/lowered_fixture_test.hpp"

#include <doctest/doctest.h>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using attention::fixture::check_launch;
using attention::fixture::lowered;
using attention::fixture::matrix_flop;
using attention::fixture::moved;
using attention::fixture::sizes;

TEST_CASE("launches of cuDNN are those that PyTorch makes") {
    const mk::Program cudnn = lowered(
        "attention",
        sizes("4", "40", "1023", "128", {{"kv_heads", "8"}, {"causal", "1"}, {"implementation", "cudnn"}}));
    REQUIRE(cudnn.memsets.size() == 1);
    CHECK(cudnn.memsets[0].bytes == 4);
    check_launch(cudnn.kernels[0], {132, 1, 1}, 384, 168, 232448);
}

TEST_CASE("cuDNN splits the keys of one query") {
    // One query of 32 heads: keys in eight pieces (fit row of torch_attention).
    const mk::Program single = lowered("attention", sizes("1", "32", "1", "128", {{"sk", "16384"}}));
    REQUIRE(single.kernel_count == 2);
    CHECK(single.kernels[0].grid == mk::Dim3{1, 8, 32});
    check_launch(single.kernels[0], {1, 8, 32}, 128, 186, 86336);
}

TEST_CASE("FlashAttention 3 takes the longest blocks first") {
    const mk::Kernel third =
        lowered("attention", sizes("1", "32", "4096", "128", {{"causal", "1"}, {"implementation", "flash3"}}))
            .kernels[0];
    CHECK(third.cta.x == 384);
    CHECK(third.schedule.on_demand);
    CHECK(third.schedule.items.front().end == 32);
    CHECK(third.schedule.items.back().end == 1);
}

TEST_CASE("every item reads its queries once, and keys as often as there are blocks of queries") {
    const mk::Kernel kernel =
        lowered("attention", sizes("2", "8", "1024", "128", {{"kv_heads", "2"}, {"implementation", "cudnn"}}))
            .kernels[0];
    const std::int64_t block = kernel.buffers[5].extent[1];  // of shared_q
    REQUIRE(1024 % block == 0);
    const double q = 2.0 * 8 * 1024 * 128 * 2;
    CHECK(moved(kernel, 0, mk::Direction::read) == q);
    CHECK(moved(kernel, 3, mk::Direction::write) == q);
    CHECK(moved(kernel, 4, mk::Direction::write) == 2.0 * 8 * 1024 * 4);
    const double blocks = 1024.0 / static_cast<double>(block);
    for (const mk::Id keys : {1, 2}) CHECK(moved(kernel, keys, mk::Direction::read) == blocks * q);
    CHECK(matrix_flop(kernel) == 4.0 * 2 * 8 * 1024 * 1024 * 128);
    // Copies of the producer fill what the consumers give back, stage by stage.
    for (const mk::Token& token : kernel.tokens) {
        if (token.kind == mk::TokenKind::async_group) continue;
        CHECK((token.initial == 0 || token.initial == token.depth));
    }
}
