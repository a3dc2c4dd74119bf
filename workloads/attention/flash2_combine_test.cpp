// The reduction of split keys: partial results read once, and room for their log-sum-exp.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/flash2.hpp"
#include "workloads/attention/lowered_fixture_test.hpp"

#include <doctest/doctest.h>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using attention::fixture::lowered;
using attention::fixture::moved;
using attention::fixture::sizes;

TEST_CASE("split keys leave partial results that the reduction reads once") {
    const mk::Program split =
        lowered("attention", sizes("1", "8", "16", "128", {{"sk", "16384"}, {"implementation", "flash2"}}));
    REQUIRE(split.kernel_count == 2);
    const mk::Kernel& parts = split.kernels[0];
    const std::int64_t splits = parts.grid.y;
    CHECK(splits > 1);
    CHECK(parts.grid == mk::Dim3{1, splits, 8});
    const double result = 8.0 * 16 * 128;
    CHECK(moved(parts, 3, mk::Direction::write) == result * 4 * static_cast<double>(splits));
    const mk::Kernel& sum = split.kernels[1];
    CHECK(sum.grid.x == 8 * 16 / 4);
    CHECK(moved(sum, 0, mk::Direction::read) == result * 4 * static_cast<double>(splits));
    CHECK(moved(sum, 2, mk::Direction::write) == result * 2);
    // The parts have just been written.
    CHECK(sum.buffers[0].before == mk::Before::warm);
    CHECK(sum.buffers[0].written_by_step == 0);
}

TEST_CASE("shared memory holds the log-sum-exp of every split, in powers of two, for the rows of a CTA") {
    struct Case {
        int splits;
        std::int64_t padded;
    };
    for (const auto& [splits, padded] :
         {Case{2, 2}, Case{3, 4}, Case{16, 16}, Case{17, 32}, Case{128, 128}}) {
        // Heads of 64 take eight rows a CTA, of 128 four, of 96 sixteen.
        for (const auto& [head, rows] : {std::pair{64, 8}, std::pair{128, 4}, std::pair{96, 16}}) {
            CAPTURE(splits);
            CAPTURE(head);
            attention::Problem p;
            p.heads = p.kv_heads = 8;
            p.sq = 50;
            p.sk = 4096;
            p.head_dim = head;
            warptime::workloads::libraries::AttentionTile tile;
            tile.head = head;
            tile.m = 64;
            tile.n = 128;
            tile.warps = 4;
            mk::Kernel kernel;
            attention::lower_flash2_combine(p, tile, splits, kernel);
            mk::check(kernel);
            CHECK(kernel.static_shared == padded * (rows + 1) * 4);
            CHECK(kernel.grid.x == (8 * 50 + rows - 1) / rows);
            CHECK(moved(kernel, 1, mk::Direction::read) == 8.0 * 50 * splits * 4);
        }
    }
}
