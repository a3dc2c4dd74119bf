// Attention's sizes: scores under a mask against a count one by one, blocks, splits, grouping.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/problem.hpp"

#include "workloads/attention/flash2.hpp"
#include "workloads/attention/work_list.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

using namespace warptime::workloads::attention;
namespace mk = warptime::model::kernel;

namespace {

Problem any_problem() {
    Problem p;
    p.batch = *rc::gen::inRange<std::int64_t>(1, 3);
    p.kv_heads = *rc::gen::inRange<std::int64_t>(1, 3);
    p.heads = p.kv_heads * *rc::gen::inRange<std::int64_t>(1, 4);
    p.sq = *rc::gen::inRange<std::int64_t>(1, 400);
    p.sk = *rc::gen::inRange<std::int64_t>(1, 400);
    p.causal = *rc::gen::arbitrary<bool>();
    return p;
}

/// Whether the query sees the key; the last query sees all.
bool sees(const Problem& p, std::int64_t query, std::int64_t key) {
    return !p.causal || key - query <= p.sk - p.sq;
}

}  // namespace

TEST_CASE("a mask leaves the scores that a count one by one finds") {
    CHECK(rc::check("any sizes", [] {
        const Problem p = any_problem();
        double scores = 0.0;
        for (std::int64_t query = 0; query < p.sq; ++query) {
            std::int64_t keys = 0;
            for (std::int64_t key = 0; key < p.sk; ++key) keys += sees(p, query, key) ? 1 : 0;
            RC_ASSERT(p.keys_of(query) == keys);
            scores += static_cast<double>(keys);
        }
        RC_ASSERT(p.scores_of_head() == scores);
        RC_ASSERT(p.forward_flop() == 4.0 * 64 * scores * static_cast<double>(p.batch * p.heads));
        RC_ASSERT(p.backward_flop() == 2.5 * p.forward_flop());
    }));
}

TEST_CASE("items cover exactly the blocks with a score that is seen") {
    CHECK(rc::check("queries, keys, and keys in pieces", [] {
        const Problem p = any_problem();
        const std::int64_t m = 32 * *rc::gen::inRange<std::int64_t>(1, 4);
        const std::int64_t n = 32 * *rc::gen::inRange<std::int64_t>(1, 4);
        const auto block_is_seen = [&](std::int64_t rows, std::int64_t columns) {
            for (std::int64_t i = rows * m; i < std::min(p.sq, (rows + 1) * m); ++i) {
                for (std::int64_t j = columns * n; j < std::min(p.sk, (columns + 1) * n); ++j) {
                    if (sees(p, i, j)) return true;
                }
            }
            return false;
        };
        std::int64_t seen = 0;
        for (std::int64_t i = 0; i * m < p.sq; ++i) {
            for (std::int64_t j = 0; j * n < p.sk; ++j) seen += block_is_seen(i, j) ? 1 : 0;
        }
        const auto covered = [&](const mk::Schedule& s) {
            if (s.kind != mk::ScheduleKind::listed) return s.item_count() * s.k_iterations;
            std::int64_t sum = 0;
            for (const mk::WorkItem& item : s.items) sum += item.end - item.begin;
            return sum;
        };
        mk::Schedule queries, keys, split;
        set_query_blocks(p, m, n, queries);
        set_key_blocks(p, m, n, keys);
        set_split_blocks(p, m, n, *rc::gen::inRange(1, 5), split);
        RC_ASSERT(covered(queries) == seen * p.q_heads());
        RC_ASSERT(covered(keys) == seen * p.q_heads());
        RC_ASSERT(covered(split) == seen * p.q_heads());
    }));
}

TEST_CASE("keys are split until the last wave is full enough") {
    // 8 blocks on 264 slots: 33 splits fill them exactly.
    CHECK(splits_of_keys(8, 264, 128, 128) == 32);
    // Enough blocks need no split, and one block of keys cannot be split.
    CHECK(splits_of_keys(212, 264, 128, 128) == 1);
    CHECK(splits_of_keys(8, 264, 1, 128) == 1);
    CHECK(rc::check("never more than there are slots, blocks of keys, or splits", [] {
        const auto blocks = *rc::gen::inRange<std::int64_t>(1, 300);
        const auto keys = *rc::gen::inRange<std::int64_t>(1, 200);
        const int splits = splits_of_keys(blocks, 264, keys, 128);
        RC_ASSERT(splits >= 1);
        RC_ASSERT(splits <= std::min<std::int64_t>(keys, 128));
        // No piece is empty.
        RC_ASSERT(ceil_div(keys, splits) * (splits - 1) < keys);
    }));
}

TEST_CASE("a single query takes the heads of its group together") {
    Problem p;
    p.heads = 32;
    p.kv_heads = 8;
    p.sk = 100;
    p.causal = true;
    const Problem grouped = as_grouped(p);
    CHECK(grouped.sq == 4);
    CHECK(grouped.heads == 8);
    CHECK_FALSE(grouped.causal);
    CHECK(grouped.forward_flop() == p.forward_flop());
    p.sq = 2;
    CHECK(as_grouped(p).heads == 32);
}
