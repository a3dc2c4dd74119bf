// FlashAttention 2 forward: launches as recorded, work by the walk, instructions of the machine code, splits.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/flash2.hpp"
#include "workloads/attention/lowered_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using attention::fixture::check_launch;
using attention::fixture::Given;
using attention::fixture::lowered;
using attention::fixture::matrix_flop;
using attention::fixture::moved;
using attention::fixture::sizes;
using warptime::hw::InstructionClass;

TEST_CASE("launches of flash2 are those that PyTorch makes") {
    // Fit rows of torch_attention.
    const auto of = [](Given given) {
        given["implementation"] = "flash2";
        return lowered("attention", given).kernels[0];
    };
    check_launch(of(sizes("8", "4", "512", "64", {{"causal", "1"}})), {4, 8, 4}, 128, 255, 49152);
    check_launch(of(sizes("4", "2", "15296", "128", {{"causal", "1"}})), {120, 4, 2}, 128, 255, 65536);
    check_launch(of(sizes("2", "16", "11584", "256", {{"kv_heads", "2"}})), {181, 2, 16}, 128, 254, 98304);
    // One query: its group of eight heads, and too few keys to split.
    check_launch(of(sizes("4", "8", "1", "64", {{"kv_heads", "1"}, {"sk", "128"}})), {1, 4, 1}, 128, 255,
                 49152);
}

TEST_CASE("whole blocks do exactly the products of the closed form") {
    attention::Problem p;
    p.heads = p.kv_heads = 32;  // enough blocks for whole keys
    p.sq = p.sk = 512;
    p.head_dim = 64;
    for (const char* implementation : {"flash2", "cudnn"}) {
        CAPTURE(std::string(implementation));
        const mk::Program full =
            lowered("attention", sizes("1", "32", "512", "64", {{"implementation", implementation}}));
        CHECK(matrix_flop(full.kernels[0]) == p.forward_flop());
        CHECK(moved(full.kernels[0], 0, mk::Direction::read) == p.q_bytes());
        CHECK(moved(full.kernels[0], 3, mk::Direction::write) == p.q_bytes());
        // Each block of 128 queries reads all of K.
        CHECK(moved(full.kernels[0], 1, mk::Direction::read) == 4 * p.k_bytes());
        // Under a mask, blocks of 128 x 128: 1 + 2 + 3 + 4 of 16.
        const mk::Program masked =
            lowered("attention",
                    sizes("1", "32", "512", "64", {{"implementation", implementation}, {"causal", "1"}}));
        CHECK(matrix_flop(masked.kernels[0]) == p.forward_flop() * 10 / 16);
    }
}

TEST_CASE("softmax takes the instructions of the machine code") {
    // SASS of flash_fwd_kernel<128, 128, 64, 4>: 256 products, 336 FMUL, 68 MUFU and 80 LDSM a trip.
    const mk::Program program =
        lowered("attention", sizes("1", "1", "128", "128", {{"sk", "6400"}, {"implementation", "flash2"}}));
    REQUIRE(program.kernel_count == 2);  // few blocks: the keys are split
    const mk::Program whole =
        lowered("attention", sizes("8", "32", "128", "128", {{"sk", "6400"}, {"implementation", "flash2"}}));
    const mk::Kernel& kernel = whole.kernels[0];
    mk::WorkItem longer, shorter;
    longer.end = 100;
    shorter.end = 99;
    const mk::WalkTotals more = mk::walk_totals(kernel, longer);
    const mk::WalkTotals less = mk::walk_totals(kernel, shorter);
    const auto of_trip = [&](InstructionClass cls) {
        return (more.instructions_of(cls) - less.instructions_of(cls)) / 4;
    };
    CHECK(of_trip(InstructionClass::mma_sync) == 256);
    CHECK(of_trip(InstructionClass::ldmatrix) == 80);
    CHECK(of_trip(InstructionClass::mul_f32) == 336);
    CHECK(of_trip(InstructionClass::mufu) == 68);
    CHECK(of_trip(InstructionClass::cp_async) == 16);
    CHECK(of_trip(InstructionClass::shfl) == 8);
}

TEST_CASE("keys are split into the fewest pieces that use the last wave nearly best") {
    CHECK(rc::check("against the definition, in exact fractions", [] {
        const auto blocks = *rc::gen::inRange<std::int64_t>(1, 300);
        const auto slots = *rc::gen::inRange<std::int64_t>(1, 400);
        const auto keys = *rc::gen::inRange<std::int64_t>(1, 200);
        const int splits = attention::splits_of_keys(blocks, slots, keys, 128);
        RC_ASSERT(splits >= 1);
        RC_ASSERT(splits <= std::min<std::int64_t>({128, slots, keys}));
        if (5 * blocks >= 4 * slots) {
            RC_ASSERT(splits == 1);
            return;
        }
        // Share of the slots of all waves that have a block. Pieces of one length count once, the fewest.
        const auto use = [&](std::int64_t s) {
            const std::int64_t waves = (blocks * s + slots - 1) / slots;
            return static_cast<double>(blocks * s) / static_cast<double>(waves * slots);
        };
        const auto counts = [&](std::int64_t s) {
            return s == 1 || (keys + s - 1) / s != (keys + s - 2) / (s - 1);
        };
        double best = 0.0;
        for (std::int64_t s = 1; s <= std::min<std::int64_t>({128, slots, keys}); ++s) {
            if (counts(s)) best = std::max(best, use(s));
        }
        RC_ASSERT(counts(splits));
        RC_ASSERT(use(splits) >= 0.85 * best - 1e-6);
        for (std::int64_t s = 1; s < splits; ++s) {
            RC_ASSERT(!counts(s) || use(s) < 0.85 * best + 1e-6);
        }
    }));
}

TEST_CASE("one query becomes a block of the heads that share keys, with the same work") {
    CHECK(rc::check("any heads", [] {
        attention::Problem p;
        p.batch = *rc::gen::inRange<std::int64_t>(1, 5);
        p.kv_heads = *rc::gen::inRange<std::int64_t>(1, 9);
        p.heads = p.kv_heads * *rc::gen::inRange<std::int64_t>(1, 9);
        p.sk = *rc::gen::inRange<std::int64_t>(1, 5000);
        p.sq = *rc::gen::inRange<std::int64_t>(1, 3);
        p.causal = *rc::gen::arbitrary<bool>();
        const attention::Problem grouped = attention::as_grouped(p);
        RC_ASSERT(grouped.forward_flop() == p.forward_flop());
        RC_ASSERT(grouped.q_bytes() == p.q_bytes());
        RC_ASSERT(grouped.k_bytes() == p.k_bytes());
        RC_ASSERT(p.sq != 1 || grouped.heads == grouped.kv_heads);
        RC_ASSERT(p.sq == 1 || (grouped.heads == p.heads && grouped.causal == p.causal));
    }));
}

TEST_CASE("masked blocks are the loop's first trips, or stand before it where the code is long") {
    const auto trips = [](const char* sq, const char* causal) {
        const mk::Program program = lowered(
            "attention", sizes("8", "32", sq, "128", {{"causal", causal}, {"implementation", "flash2"}}));
        const mk::Kernel& kernel = program.kernels[0];
        return std::pair{kernel.loops.size(), kernel.branches.size()};
    };
    using Counts = std::pair<std::size_t, std::size_t>;
    CHECK(trips("1024", "0") == Counts{1, 0});
    CHECK(trips("1000", "0") == Counts{1, 1});
    CHECK(trips("1024", "1") == Counts{1, 1});
    CHECK(trips("1023", "1") == Counts{4, 0});  // two blocks along the diagonal and the ragged one
    CHECK(trips("64", "0") == Counts{2, 0});

    // Two of 16 blocks of 64 keys are masked: a comparison and a selection for each score.
    const mk::Program program = lowered(
        "attention", sizes("8", "32", "1024", "128", {{"causal", "1"}, {"implementation", "flash2"}}));
    mk::WorkItem longer, shorter;
    longer.end = 16;
    shorter.end = 15;
    const mk::WalkTotals more = mk::walk_totals(program.kernels[0], longer);
    const mk::WalkTotals less = mk::walk_totals(program.kernels[0], shorter);
    const auto moves = InstructionClass::move;
    CHECK(more.instructions_of(moves) == less.instructions_of(moves));
    CHECK(more.instructions_of(moves) == 4 * (1 + 7) * 64);
}
