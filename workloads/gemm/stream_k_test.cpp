// Stream-K: items against a deal by hand, every iteration once, work and parts by the walk.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/stream_k.hpp"

#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

using namespace warptime::workloads::gemm;
namespace mk = warptime::model::kernel;

namespace {

/// As Triton launches it: one CTA an SM.
Config shared_tile(StreamK kind, int m = 128, int n = 128) {
    Config c = fixture::tile_of(m, n, 64);
    c.stages = 3;
    c.warps = 8;
    c.schedule = mk::ScheduleKind::static_stride;
    c.stream_k = kind;
    c.strides_by_16 = true;
    c.one_cta_per_sm = true;
    return c;
}

std::int64_t steps_of(const std::vector<mk::WorkItem>& items) {
    std::int64_t steps = 0;
    for (const mk::WorkItem& item : items) steps += item.end - item.begin;
    return steps;
}

}  // namespace

TEST_CASE("what is shared are all tiles, or what fills no whole wave together with one wave") {
    CHECK(shared_tiles(StreamK::none, 100, 8, 10).tiles == 0);
    CHECK(shared_tiles(StreamK::all, 105, 8, 10).tiles == 105);
    CHECK(shared_tiles(StreamK::all, 105, 8, 10).share == 84);
    // 105 tiles of ten CTAs: nine whole waves, and fifteen tiles shared.
    CHECK(shared_tiles(StreamK::hybrid, 105, 8, 10).tiles == 15);
    CHECK(shared_tiles(StreamK::hybrid, 105, 8, 10).share == 12);
    CHECK(shared_tiles(StreamK::hybrid, 100, 8, 10).tiles == 0);
    CHECK(shared_tiles(StreamK::hybrid, 7, 8, 10).tiles == 7);
    CHECK(shared_tiles(StreamK::hybrid, 7, 8, 10).share == 6);
}

TEST_CASE("every iteration of every tile is done once, and CTAs differ by at most a share") {
    CHECK(rc::check("any product", [] {
        const auto m = *rc::gen::inRange<std::int64_t>(1, 4000);
        const auto n = *rc::gen::inRange<std::int64_t>(1, 4000);
        const auto k = *rc::gen::inRange<std::int64_t>(1, 6000);
        const StreamK kind = *rc::gen::element(StreamK::all, StreamK::hybrid);
        const mk::Program program = fixture::lowered(fixture::problem_of(m, n, k), shared_tile(kind));
        const mk::Kernel& kernel = program.kernels[0];
        mk::check(kernel);
        const mk::Schedule& s = kernel.schedule;
        const std::int64_t ctas = kernel.grid.x;
        std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<std::int64_t, std::int64_t>>>
            pieces;
        std::vector<std::int64_t> done(static_cast<std::size_t>(ctas), 0);
        for (std::size_t i = 0; i < s.items.size(); ++i) {
            const mk::WorkItem& item = s.items[i];
            RC_ASSERT(item.begin < item.end);
            pieces[{item.tile[0], item.tile[1]}].emplace_back(item.begin, item.end);
            done[i % static_cast<std::size_t>(ctas)] += item.end - item.begin;
        }
        RC_ASSERT(static_cast<std::int64_t>(pieces.size()) == ceil_div(m, 128) * ceil_div(n, 128));
        for (auto& [tile, of_tile] : pieces) {
            std::sort(of_tile.begin(), of_tile.end());
            std::int64_t at = 0;
            for (const auto& [begin, end] : of_tile) {
                RC_ASSERT(begin == at);
                at = end;
            }
            RC_ASSERT(at == s.k_iterations);
        }
        // No CTA has more than its whole tiles and its share.
        const std::int64_t tiles = static_cast<std::int64_t>(pieces.size());
        const SharedTiles shared = shared_tiles(kind, tiles, s.k_iterations, 132);
        const std::int64_t whole = (tiles - shared.tiles) / 132 * s.k_iterations;
        RC_ASSERT(*std::max_element(done.begin(), done.end()) <= whole + shared.share);
        RC_ASSERT(steps_of(s.items) == tiles * s.k_iterations);
    }));
}

TEST_CASE("the walk finds all products, each part written and read once, and C written once") {
    for (const StreamK kind : {StreamK::all, StreamK::hybrid}) {
        const Problem p = fixture::problem_of(11 * 128, 6 * 128, 2048);
        const mk::Program program = fixture::lowered(p, shared_tile(kind));
        const mk::Kernel& kernel = program.kernels[0];
        mk::Id c = mk::no_id, parts = mk::no_id;
        for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
            if (kernel.buffers[b].name.view() == "c") c = static_cast<mk::Id>(b);
            if (kernel.buffers[b].name.view() == "parts") parts = static_cast<mk::Id>(b);
        }
        double flop = 0.0, results = 0.0, written = 0.0, read = 0.0;
        std::int64_t begun_inside = 0;
        for (const mk::WorkItem& item : kernel.schedule.items) {
            const mk::WalkTotals walk = mk::walk_totals(kernel, item);
            flop += walk.matrix_flop;
            results += walk.traffic_of_buffer(c, mk::Direction::write).inside_bytes;
            written += walk.traffic_of_buffer(parts, mk::Direction::write).inside_bytes;
            read += walk.traffic_of_buffer(parts, mk::Direction::read).inside_bytes;
            begun_inside += item.begin > 0 ? 1 : 0;
        }
        CHECK(flop == p.flop());
        CHECK(results == 2.0 * 11 * 6 * 128 * 128);
        // 66 tiles of 32 iterations for 132 CTAs: half a tile each.
        CHECK(kernel.grid.x == 132);
        CHECK(begun_inside == 66);
        CHECK(written == 4.0 * 128 * 128 * static_cast<double>(begun_inside));
        CHECK(read == written);
        // SASS: lanes 32 bytes apart, 16 bytes at a time.
        for (const mk::Access& access : kernel.accesses) {
            if (access.buffer != parts || access.direction != mk::Direction::read) continue;
            CHECK(access.bytes == 16);
            CHECK(access.inner == 8);
            CHECK(kernel.buffers[static_cast<std::size_t>(parts)].before == mk::Before::warm);
        }
    }
}

TEST_CASE("tiles that fill whole waves are not shared by the hybrid") {
    const mk::Program program =
        fixture::lowered(fixture::problem_of(128 * 12, 128 * 11, 1024), shared_tile(StreamK::hybrid));
    const mk::Kernel& kernel = program.kernels[0];
    CHECK(kernel.grid.x == 132);
    CHECK(kernel.schedule.items.size() == 132);
    for (const mk::WorkItem& item : kernel.schedule.items) CHECK(item.end - item.begin == 16);
}
