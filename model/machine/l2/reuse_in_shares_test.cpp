// Lists that deal tiles out: closed forms, and an LRU store that follows every visit of random lists.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/reuse_in_shares.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

using namespace warptime::model;
using namespace warptime::model::machine;

namespace {

constexpr double of_block = 16384.0;

/// All iterations of a grid of tiles, m fastest, dealt out evenly: CTA c does [c share, (c + 1) share).
struct Dealt {
    std::vector<kernel::WorkItem> items;
    std::int64_t m, n, steps, ctas;
    [[nodiscard]] kernel::Kernel kernel() const {
        kernel::Kernel made;
        made.name = "dealt";
        made.grid = {ctas, 1, 1};
        made.schedule.kind = kernel::ScheduleKind::listed;
        made.schedule.tiles = {m, n, 1, 1};
        made.schedule.k_iterations = steps;
        made.schedule.items = items;
        return made;
    }
    [[nodiscard]] std::array<Operand, 2> operands() const {
        const double slice =
            of_block * static_cast<double>(m * n * steps) / static_cast<double>(items.size());
        return {Operand{.along_m = true,
                        .slice_bytes = slice,
                        .total_bytes = of_block * static_cast<double>(m * steps)},
                Operand{.along_n = true,
                        .slice_bytes = slice,
                        .total_bytes = of_block * static_cast<double>(n * steps)}};
    }
    [[nodiscard]] ReuseCase reuse(double capacity) const {
        ReuseCase of;
        of.order.m = m;
        of.order.n = n;
        of.concurrent = ctas;
        of.capacity_bytes = capacity;
        of.ways = 4096.0;  // nearly one store
        return of;
    }
};

/// Pieces in rounds, as a kernel's list has them; CTAs with more pieces come first.
Dealt deal(std::int64_t m, std::int64_t n, std::int64_t steps, std::int64_t ctas) {
    Dealt dealt{{}, m, n, steps, ctas};
    std::vector<std::vector<kernel::WorkItem>> pieces;
    const std::int64_t all = m * n * steps;
    for (std::int64_t c = 0; c < ctas; ++c) {
        pieces.emplace_back();
        const std::int64_t last = (c + 1) * all / ctas;
        for (std::int64_t at = c * all / ctas; at < last;) {
            kernel::WorkItem item;
            const std::int64_t tile = at / steps;
            item.tile = {tile % m, tile / m, 0, 0};
            item.begin = at % steps;
            item.end = std::min(steps, item.begin + last - at);
            at += item.end - item.begin;
            pieces.back().push_back(item);
        }
    }
    std::ranges::stable_sort(pieces, [](const auto& a, const auto& b) { return a.size() > b.size(); });
    for (std::size_t round = 0; round < pieces.front().size(); ++round) {
        for (const auto& own : pieces) {
            if (round < own.size()) dealt.items.push_back(own[round]);
        }
    }
    return dealt;
}

/// Bytes from DRAM when every visit goes through one LRU store, CTA by CTA, iteration by iteration.
double followed(const Dealt& dealt, double capacity) {
    std::vector<std::vector<std::array<std::int64_t, 2>>> visits;  // by iteration
    std::vector<std::int64_t> clock(static_cast<std::size_t>(dealt.ctas));
    for (std::size_t i = 0; i < dealt.items.size(); ++i) {
        const kernel::WorkItem& item = dealt.items[i];
        std::int64_t& now = clock[i % clock.size()];
        for (std::int64_t k = item.begin; k < item.end; ++k, ++now) {
            if (visits.size() <= static_cast<std::size_t>(now))
                visits.resize(static_cast<std::size_t>(now) + 1);
            auto& at = visits[static_cast<std::size_t>(now)];
            at.push_back({0, item.tile[0] * dealt.steps + k});
            at.push_back({1, item.tile[1] * dealt.steps + k});
        }
    }
    std::list<std::array<std::int64_t, 2>> store;
    std::map<std::array<std::int64_t, 2>, std::list<std::array<std::int64_t, 2>>::iterator> places;
    const auto room = static_cast<std::size_t>(capacity / of_block);
    double missed = 0.0;
    for (const auto& at : visits) {
        for (const auto& block : at) {
            if (const auto found = places.find(block); found != places.end()) {
                store.erase(found->second);
            } else {
                missed += of_block;
                if (store.size() >= room) {
                    places.erase(store.back());
                    store.pop_back();
                }
            }
            store.push_front(block);
            places[block] = store.begin();
        }
    }
    return missed;
}

double dram(const Dealt& dealt, double capacity) {
    std::array<OperandTraffic, 2> traffic{};
    const auto operands = dealt.operands();
    (void)reuse_in_shares(dealt.kernel(), dealt.reuse(capacity), 1.0, operands, traffic);
    return traffic[0].dram_bytes + traffic[1].dram_bytes;
}

double apart(const kernel::Kernel& kernel, const Dealt& dealt) {
    std::array<OperandTraffic, 2> traffic{};
    return reuse_in_shares(kernel, dealt.reuse(1e9), 1.0, dealt.operands(), traffic);
}

}  // namespace

TEST_CASE("CTAs that begin with whole tiles are not apart, and those that share one tile are") {
    const Dealt whole = deal(4, 4, 10, 16);
    CHECK(apart(whole.kernel(), whole) == 0.0);
    // Four CTAs, a quarter of the tile each: the first alone begins where whole tiles do.
    const Dealt shared = deal(1, 1, 40, 4);
    CHECK(apart(shared.kernel(), shared) == doctest::Approx(0.75));
    // One place for all: each goes on where the one before has ended.
    Dealt lone = shared;
    kernel::Kernel waiting = lone.kernel();
    std::array<OperandTraffic, 2> traffic{};
    ReuseCase one = lone.reuse(1e9);
    one.concurrent = 1;
    CHECK(reuse_in_shares(waiting, one, 1.0, lone.operands(), traffic) == 0.0);
    // Asked for, the items go to the same places.
    waiting.schedule.on_demand = true;
    CHECK(apart(waiting, lone) == doctest::Approx(0.75));
    CHECK(reuse_in_shares(waiting, one, 1.0, lone.operands(), traffic) == 0.0);
    // In the order of the CTAs: two tiles for three CTAs.
    const Dealt three = deal(2, 1, 30, 3);
    kernel::Kernel in_order = three.kernel();
    std::ranges::sort(in_order.schedule.items, {},
                      [](const kernel::WorkItem& item) { return item.tile[0] * 30 + item.begin; });
    in_order.schedule.stream_k = true;
    CHECK(apart(in_order, three) == doctest::Approx(apart(three.kernel(), three)));
}

TEST_CASE("operands that fit are read once, and what nobody shares comes from DRAM whenever it is read") {
    const Dealt dealt = deal(4, 6, 50, 36);
    const double once = of_block * (4.0 + 6.0) * 50.0;
    CHECK(dram(dealt, 1e9) == doctest::Approx(once));
    // Room for what all CTAs read in one iteration: only visits at the same time meet.
    const Dealt alone = deal(1, 5, 64, 20);
    const double room = 40.0 * of_block;
    CHECK(dram(alone, room) == doctest::Approx(followed(alone, room)).epsilon(0.02));
}

TEST_CASE("operands that are not cut along K stay as whole tiles read them") {
    const Dealt dealt = deal(4, 6, 50, 36);
    std::array<Operand, 2> operands = dealt.operands();
    operands[1].slice_bytes *= 3.0;
    std::array<OperandTraffic, 2> traffic{};
    traffic[1] = {7.0, 6.0, 5.0, 5.5};
    CHECK(reuse_in_shares(dealt.kernel(), dealt.reuse(1e6), 1.0, operands, traffic) > 0.0);
    CHECK(traffic[1].requested_bytes == 7.0);
    CHECK(traffic[1].dram_bytes == 5.5);
    CHECK(traffic[0].requested_bytes == doctest::Approx(of_block * 4.0 * 6.0 * 50.0));
}

TEST_CASE("random lists read from DRAM what an LRU store would") {
    double distance = 0.0;
    int cases = 0;
    CHECK(rc::check("dealt out", [&] {
        const auto m = *rc::gen::inRange<std::int64_t>(1, 12), n = *rc::gen::inRange<std::int64_t>(1, 12);
        const auto steps = *rc::gen::inRange<std::int64_t>(16, 120);
        const auto ctas = *rc::gen::inRange<std::int64_t>(8, 64);
        RC_PRE(m * n % ctas != 0);  // whole tiles alone are not apart
        const Dealt dealt = deal(m, n, steps, std::min(ctas, m * n * steps));
        const double all = of_block * static_cast<double>((m + n) * steps);
        const double capacity =
            std::max(4.0 * of_block * static_cast<double>(ctas), all * *rc::gen::inRange(5, 120) / 100.0);
        const double ours = dram(dealt, capacity), theirs = followed(dealt, capacity);
        const double requested = 2.0 * of_block * static_cast<double>(m * n * steps);
        RC_ASSERT(ours >= all * (1.0 - 1e-9));
        RC_ASSERT(ours <= requested * (1.0 + 1e-9));
        RC_ASSERT(std::fabs(std::log(ours / theirs)) < 0.7);
        distance += std::fabs(std::log(ours / theirs));
        ++cases;
    }));
    CHECK(distance / cases < 0.03);
}
