// Parts of attention kernels: counts of a block against its whole, heads of keys one by one, guarded copies.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/block.hpp"

#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using mk::InstructionClass;

namespace {

/// Items of a kernel with one role of `warps` that runs what `write` adds.
template <class Write>
mk::WalkTotals walked(std::int64_t warps, std::int64_t trips, Write write,
                      const std::array<std::int64_t, 4>& tile = {}) {
    mk::Kernel kernel;
    kernel.name = "part";
    kernel.cta = {32 * warps, 1, 1};
    kernel.schedule.k_iterations = trips;
    attention::Builder builder(kernel);
    attention::Body body(builder);
    write(kernel, builder, body);
    builder.finish();
    mk::WorkItem item;
    item.tile = tile;
    item.end = trips;
    return mk::walk_totals(kernel, item);
}

}  // namespace

TEST_CASE("the warps of a block share its scores, products and copies without rest") {
    CHECK(rc::check("blocks with 16 rows and more a warp", [] {
        attention::Problem p;
        attention::AttentionTile tile;
        tile.warps = *rc::gen::element(4, 8);
        tile.m = 16 * tile.warps * *rc::gen::element(1, 2);
        tile.n = *rc::gen::element(64, 128);
        tile.head = *rc::gen::element(32, 64, 96, 128, 256);
        const attention::BlockCounts counts = attention::counts_of(p, tile);
        const std::int64_t lanes = std::int64_t{32} * tile.warps;
        RC_ASSERT(counts.scores * lanes == std::int64_t{tile.m} * tile.n);
        RC_ASSERT(counts.outputs * lanes == std::int64_t{tile.m} * tile.head);
        RC_ASSERT(counts.products * tile.warps * 16 * 8 * 16 == std::int64_t{tile.m} * tile.n * tile.head);
        RC_ASSERT(counts.copies_q * lanes * 16 == std::int64_t{tile.m} * tile.head * 2);
        RC_ASSERT(counts.copies_k * lanes * 16 == std::int64_t{tile.n} * tile.head * 2);
        // A row's scores lie in four lanes; an ldmatrix takes 16 x 16 elements.
        RC_ASSERT(counts.rows * (32 / 4) * tile.warps == tile.m);
        RC_ASSERT(counts.loads_q * tile.warps * 16 * 16 == std::int64_t{tile.m} * tile.head);
        RC_ASSERT(counts.loads_k * 16 * 16 == std::int64_t{tile.n} * tile.head);
    }));
}

TEST_CASE("softmax has an exponential for each score, and rescales each output") {
    attention::BlockCounts counts;
    counts.scores = 64;
    counts.rows = 4;
    counts.outputs = 32;
    const auto run = [&](auto add) {
        return walked(1, 1, [&](mk::Kernel&, attention::Builder& builder, attention::Body& body) {
            builder.role("warps", 1);
            add(body, counts, mk::no_id);
        });
    };
    const mk::WalkTotals guarded = run(attention::add_softmax);
    const mk::WalkTotals lean = run(attention::add_lean_softmax);
    for (const mk::WalkTotals& walk : {guarded, lean}) {
        CHECK(walk.instructions_of(InstructionClass::mufu) == 64 + 4);
        CHECK(walk.instructions_of(InstructionClass::shfl) == 2 * 4);  // four lanes of a row
        CHECK(walk.instructions_of(InstructionClass::convert_pack) == 32);
    }
    CHECK(lean.instructions_of(InstructionClass::mul_f32) == 32);
    CHECK(guarded.instructions_of(InstructionClass::mul_f32) == 3 * 64 + 4 * 4 + 32);
    CHECK(lean.all_instructions() < guarded.all_instructions());
}

TEST_CASE("heads of queries find the head of keys that they share, sequence by sequence") {
    attention::Problem p;
    p.batch = 3;
    p.heads = 8;
    p.kv_heads = 2;
    p.sq = p.sk = 1;
    p.head_dim = 8;
    for (std::int64_t head = 0; head < p.heads; ++head) {
        for (std::int64_t sequence = 0; sequence < p.batch; ++sequence) {
            // A buffer whose only row that is read lies inside says where the index points.
            for (std::int64_t kv = 0; kv < p.kv_heads * p.batch; ++kv) {
                const mk::WalkTotals walk = walked(
                    1, 1,
                    [&](mk::Kernel&, attention::Builder& builder, attention::Body& body) {
                        const mk::Id k = attention::add_heads(builder, "k", p.dtype, p.head_dim, 1, kv + 1);
                        builder.role("warps", 1);
                        body.add(InstructionClass::ld_global, 1);
                        body.box(k, mk::Direction::read, attention::Builder::constant(0),
                                 attention::kv_head(builder, p), p.head_dim, 1);
                    },
                    {0, 0, head * p.batch + sequence, 0});
                const std::int64_t expected = head / 4 * p.batch + sequence;
                const bool inside = walk.traffic_of_buffer(0, mk::Direction::read).inside_bytes > 0.0;
                CHECK(inside == (expected <= kv));
            }
        }
    }
}

TEST_CASE("a guarded copy runs only where its trip exists") {
    for (const std::int64_t ahead : {0, 1, 3, 9}) {
        const mk::WalkTotals walk =
            walked(2, 5, [&](mk::Kernel& kernel, attention::Builder& builder, attention::Body& body) {
                builder.role("warps", 2);
                builder.loop(attention::trips_of_item(builder));
                body.add(InstructionClass::cp_async, 1);
                attention::guard_trip(builder, kernel, ahead);
                builder.end();
            });
        CHECK(walk.instructions_of(InstructionClass::cp_async) ==
              2.0 * static_cast<double>(std::max<std::int64_t>(0, 5 - ahead)));
    }
}

TEST_CASE("tokens of several stages are kept by stage, those of copies by warp") {
    mk::Kernel kernel;
    attention::Builder builder(kernel);
    attention::add_token(builder, "full", mk::TokenKind::mbarrier, 1, 3, 0);
    attention::add_token(builder, "done", mk::TokenKind::async_group, 1, 1, 0);
    CHECK(kernel.tokens[0].key == mk::TokenKey::stage);
    CHECK(kernel.tokens[0].scope == mk::Scope::cta);
    CHECK(kernel.tokens[1].key == mk::TokenKey::none);
    CHECK(kernel.tokens[1].scope == mk::Scope::warp);
}

TEST_CASE("a kernel of gradients has every array of its closed form") {
    attention::Problem p;
    p.batch = 2;
    p.heads = 4;
    p.kv_heads = 2;
    p.sq = 10;
    p.sk = 20;
    p.head_dim = 16;
    mk::Kernel kernel;
    attention::Builder builder(kernel);
    const attention::GradientBuffers of = attention::add_gradient_buffers(builder, p, 32, 128);
    const auto bytes = [&](mk::Id id) {
        return static_cast<double>(kernel.buffers[static_cast<std::size_t>(id)].bytes());
    };
    CHECK(bytes(of.q) == p.q_bytes());
    CHECK(bytes(of.d_out) == p.q_bytes());
    CHECK(bytes(of.k) + bytes(of.v) == 2 * p.k_bytes());
    CHECK(bytes(of.lse) + bytes(of.products) == 2 * p.row_bytes());
    CHECK(bytes(of.d_k) == 2 * p.k_bytes());  // a part for each of two heads that share keys
    CHECK(bytes(of.d_v) == bytes(of.d_k));
    CHECK(bytes(of.sums) == 2.0 * 4 * 32 * 128 * 4);
}
