// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/work_list.hpp"

#include <algorithm>

namespace warptime::workloads::attention {

namespace mk = model::kernel;

void set_query_blocks(const Problem& p, std::int64_t m, std::int64_t n, mk::Schedule& s) {
    const std::int64_t blocks = ceil_div(p.sq, m);
    s.tiles = {blocks, 1, p.q_heads(), 1};
    s.group = blocks;
    s.k_iterations = ceil_div(p.sk, n);
    if (!p.causal) return;
    s.kind = mk::ScheduleKind::listed;
    s.items.reserve(static_cast<std::size_t>(blocks * p.q_heads()));
    for (std::int64_t head = 0; head < p.q_heads(); ++head) {
        for (std::int64_t block = 0; block < blocks; ++block) {
            mk::WorkItem& item = s.items.emplace_back();
            item.tile = {block, 0, head, 0};
            item.end = key_blocks(p, block * m, m, n);
        }
    }
}

void set_split_blocks(const Problem& p, std::int64_t m, std::int64_t n, int splits, mk::Schedule& s) {
    const std::int64_t blocks = ceil_div(p.sq, m);
    s.kind = mk::ScheduleKind::listed;
    s.tiles = {blocks, splits, p.q_heads(), 1};
    s.group = blocks;
    s.k_iterations = ceil_div(p.sk, n);
    const std::int64_t of_split = ceil_div(s.k_iterations, splits);
    for (std::int64_t head = 0; head < p.q_heads(); ++head) {
        for (std::int64_t split = 0; split < splits; ++split) {
            for (std::int64_t block = 0; block < blocks; ++block) {
                mk::WorkItem& item = s.items.emplace_back();
                item.tile = {block, split, head, 0};
                item.end = std::min(key_blocks(p, block * m, m, n), (split + 1) * of_split);
                item.begin = std::min(item.end, split * of_split);
            }
        }
    }
}

void set_key_blocks(const Problem& p, std::int64_t m, std::int64_t n, mk::Schedule& s) {
    const std::int64_t blocks = ceil_div(p.sk, n);
    const std::int64_t query_blocks = ceil_div(p.sq, m);
    s.tiles = {blocks, 1, p.q_heads(), 1};
    s.group = blocks;
    s.k_iterations = query_blocks;
    if (!p.causal) return;
    s.kind = mk::ScheduleKind::listed;
    for (std::int64_t head = 0; head < p.q_heads(); ++head) {
        for (std::int64_t block = 0; block < blocks; ++block) {
            mk::WorkItem& item = s.items.emplace_back();
            item.tile = {block, 0, head, 0};
            item.end = query_blocks;
            item.begin = std::min(item.end, first_query_block(p, block * n, m));
        }
    }
}

}  // namespace warptime::workloads::attention
