// cuDNN's backward pass: launches as recorded, work by the walk against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/specialized_backward.hpp"

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

TEST_CASE("launches of cuDNN's backward pass are those that PyTorch makes") {
    // PyTorch takes cuDNN on Hopper; heads that share keys are added up behind.
    const mk::Program by_cudnn = lowered("attention_backward", sizes("132", "1", "1024", "128"));
    REQUIRE(by_cudnn.kernel_count == 3);
    CHECK(by_cudnn.memsets[0].bytes == 4);
    check_launch(by_cudnn.kernels[0], {128, 132, 1}, 128, 26, 0);
    check_launch(by_cudnn.kernels[1], {132, 1, 1}, 384, 168, 216064);
    check_launch(by_cudnn.kernels[2], {64, 132, 1}, 128, 30, 0);
    const mk::Program shared =
        lowered("attention_backward", sizes("1", "32", "685", "64", {{"kv_heads", "16"}}));
    REQUIRE(shared.kernel_count == 5);
    check_launch(shared.kernels[1], {132, 1, 1}, 384, 168, 152576);
    check_launch(shared.kernels[2], {22, 1, 32}, 128, 30, 0);
    check_launch(shared.kernels[3], {43, 1, 16}, 128, 32, 0);
}

TEST_CASE("cuDNN's backward pass does the same products, and adds the heads up that share keys") {
    attention::Problem p;
    p.batch = 2;
    p.heads = 8;
    p.kv_heads = 2;
    p.sq = p.sk = 512;
    p.head_dim = 128;
    const mk::Program backward =
        lowered("attention_backward", sizes("2", "8", "512", "128", {{"kv_heads", "2"}}));
    REQUIRE(backward.kernel_count == 5);
    const mk::Kernel& gradients = backward.kernels[1];
    CHECK(matrix_flop(gradients) == p.backward_flop());
    // Each of the four blocks of 128 keys reads all queries of its head and dO, and adds to every sum of dQ.
    CHECK(moved(gradients, 0, mk::Direction::read) == 4 * p.q_bytes());
    CHECK(moved(gradients, 1, mk::Direction::read) == 4 * p.q_bytes());
    CHECK(moved(gradients, 6, mk::Direction::atomic) == 4 * 2 * p.q_bytes());
    CHECK(moved(gradients, 7, mk::Direction::write) == p.q_bytes());
    // Keys are read once for each head of queries.
    CHECK(moved(gradients, 2, mk::Direction::read) == p.q_bytes());
    CHECK(moved(backward.kernels[0], 2, mk::Direction::write) == 2 * p.q_bytes());
    CHECK(moved(backward.kernels[2], 0, mk::Direction::read) == 2 * p.q_bytes());
    for (const std::size_t sum : {3U, 4U}) {
        CHECK(moved(backward.kernels[sum], 0, mk::Direction::read) == p.q_bytes());
        CHECK(moved(backward.kernels[sum], 1, mk::Direction::write) == p.k_bytes());
    }
    // Under a mask the blocks of 64 queries before a block of 128 keys are left out: 8 + 6 + 4 + 2 of 32.
    const mk::Program masked =
        lowered("attention_backward", sizes("2", "8", "512", "128", {{"kv_heads", "2"}, {"causal", "1"}}));
    CHECK(matrix_flop(masked.kernels[1]) == p.backward_flop() * 20 / 32);
}

TEST_CASE("each CTA of cuDNN's backward takes every 132nd item") {
    const Given cudnn{{"implementation", "cudnn"}};
    Given masked = cudnn;
    masked.insert({"causal", "1"});
    CHECK(lowered("attention_backward", sizes("2", "32", "1024", "128", cudnn)).kernels[1].schedule.kind ==
          mk::ScheduleKind::static_stride);
    const mk::Program program = lowered("attention_backward", sizes("2", "32", "1024", "128", masked));
    const mk::Schedule& schedule = program.kernels[1].schedule;
    CHECK(schedule.kind == mk::ScheduleKind::listed);
    CHECK_FALSE(schedule.on_demand);
    // Eight blocks of keys a head: CTA 0 has blocks 0 and 4 in turns, of 16 and 8 blocks of queries.
    std::int64_t trips = 0;
    for (std::size_t i = 0; i < schedule.items.size(); i += 132) {
        trips += schedule.items[i].end - schedule.items[i].begin;
    }
    CHECK(trips == 48);
}
