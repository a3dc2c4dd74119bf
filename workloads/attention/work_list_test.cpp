// Work items of attention against pairs of blocks that are counted one by one.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/work_list.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>

using namespace warptime::workloads::attention;
namespace mk = warptime::model::kernel;

namespace {

Problem any_problem() {
    Problem p;
    p.batch = *rc::gen::inRange<std::int64_t>(1, 3);
    p.heads = p.kv_heads = *rc::gen::inRange<std::int64_t>(1, 3);
    p.sq = *rc::gen::inRange<std::int64_t>(1, 90);
    p.sk = p.sq + *rc::gen::inRange<std::int64_t>(0, 40);
    p.head_dim = 64;
    p.causal = true;
    return p;
}

/// Pairs of a block of m queries and one of n keys in which the mask leaves a score, over all heads.
std::int64_t pairs(const Problem& p, std::int64_t m, std::int64_t n) {
    std::int64_t count = 0;
    for (std::int64_t q = 0; q < p.sq; q += m) {
        // The last query of a block sees most keys; the mask is aligned at the bottom right.
        const std::int64_t last = std::min(q + m, p.sq) - 1;
        for (std::int64_t k = 0; k < p.sk; k += n) count += k <= last + p.sk - p.sq ? 1 : 0;
    }
    return count * p.batch * p.heads;
}

std::int64_t trips(const mk::Schedule& schedule) {
    std::int64_t sum = 0;
    for (const mk::WorkItem& item : schedule.items) sum += item.end - item.begin;
    return sum;
}

}  // namespace

TEST_CASE(
    "items under a causal mask go over the pairs of blocks that it leaves, by queries, pieces and keys") {
    CHECK(rc::check("any sizes", [] {
        const Problem p = any_problem();
        const auto m = *rc::gen::inRange<std::int64_t>(1, 40);
        const auto n = *rc::gen::inRange<std::int64_t>(1, 40);
        mk::Schedule queries, keys, pieces;
        set_query_blocks(p, m, n, queries);
        set_key_blocks(p, m, n, keys);
        set_split_blocks(p, m, n, *rc::gen::inRange(1, 5), pieces);
        RC_ASSERT(trips(queries) == pairs(p, m, n));
        RC_ASSERT(trips(keys) == pairs(p, m, n));
        RC_ASSERT(trips(pieces) == pairs(p, m, n));
    }));
}

TEST_CASE("without a mask there is no list") {
    Problem p;
    p.batch = 2;
    p.heads = p.kv_heads = 3;
    p.sq = 100;
    p.sk = 70;
    mk::Schedule schedule;
    set_query_blocks(p, 64, 32, schedule);
    CHECK(schedule.items.empty());
    CHECK(schedule.item_count() == 2 * 2 * 3);
    CHECK(schedule.k_iterations == 3);
}
