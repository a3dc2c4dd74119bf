// Sorting, selecting and counting: recorded launches, bytes against closed forms, the limits of one CTA.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/selection.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using namespace warptime::workloads::fixture;

TEST_CASE("sorting and selecting launch what an H100 recorded") {
    CHECK(launches(lowered("sort", matrix(32, 128, "bf16"))) ==
          Launches{"memcpy 8192", "2x1x1 64x1x1 registers=16 shared=0",
                   "16x1x1 128x1x1 registers=18 shared=0", "memcpy 8192",
                   "32x1x1 32x1x1 registers=57 shared=1184"});
    const Launches sorted = launches(lowered("sort", matrix(2048, 5120, "fp32")));
    REQUIRE(sorted.size() == 8);
    CHECK(sorted[1] == "10240x1x1 1024x1x1 registers=26 shared=0");
    CHECK(sorted[5] == "2048x1x1 384x1x1 registers=65 shared=26176");
    CHECK(sorted[6] == "2048x1x1 192x1x1 registers=168 shared=29184");
    CHECK(launches(lowered("topk", matrix(259, 1664, "bf16"))) ==
          Launches{"259x1x1 1024x1x1 registers=32 shared=128", "259x1x1 16x1x1 registers=52 shared=5632"});
    const Launches selected = launches(lowered("topk", matrix(333, 32003, "fp32")));
    REQUIRE(selected.size() == 22);
    CHECK(selected[1] == "memset 340992");
    CHECK(selected[2] == "memset 3996");
    CHECK(selected[3] == "999x1x1 256x1x1 registers=20 shared=1024");
    CHECK(selected.back() == "333x1x1 16x1x1 registers=39 shared=6656");
    CHECK(launches(lowered("topk", matrix(9538, 448, "fp32"))).back() ==
          "795x1x1 16x12x1 registers=39 shared=6656");
}

TEST_CASE("histograms and the loss over classes launch what an H100 recorded") {
    CHECK(launches(lowered("cross_entropy", matrix(2797, 2304, "bf16"))) ==
          Launches{"2797x1x1 1024x1x1 registers=26 shared=128", "1x1x1 128x1x1 registers=32 shared=1024"});
    CHECK(launches(lowered("histogram", {{"n", "1048579"}})) ==
          Launches{"1x1x1 128x1x1 registers=16 shared=0", "228x1x1 512x1x1 registers=40 shared=1032"});
}

TEST_CASE("more than a few selected values are written where they are found and sorted by a CTA a row") {
    CHECK(rc::check("bytes and launches", [] {
        const auto [rows, cols, dtype, element, whole] = drawn_matrix(39, 1100, 2399);
        const auto k = *rc::gen::inRange<std::int64_t>(33, 1024);
        auto given = matrix(rows, cols, dtype);
        given["k"] = std::to_string(k);
        const auto program = lowered("topk", given);
        RC_ASSERT(program.kernel_count == 2U);
        const double selected = static_cast<double>(rows * k) * (element + 8.0);
        RC_ASSERT(moved(program.kernels[0], Direction::write) == selected);
        RC_ASSERT(moved(program.kernels[1], Direction::write) == selected);
        RC_ASSERT(moved(program.kernels[1], Direction::read) == selected);
        // A CTA of 32 threads holds 128 elements, or 1024.
        RC_ASSERT(program.kernels[1].cta.volume() == 32);
        RC_ASSERT(program.kernels[1].grid.volume() == rows);
        RC_ASSERT(program.kernels[1].static_shared == (k <= 128 ? 1184 : 8464));
    }));
}

TEST_CASE("a few selected values are sorted in place, in 15 steps of a bitonic sort") {
    const auto program = lowered("topk", {{"rows", "300"}, {"cols", "176"}, {"k", "8"}, {"dtype", "fp32"}});
    const auto& sort = program.kernels[program.kernel_count - 1];
    // Lanes beyond a CTA's eight and beyond the array are left out by their shares.
    CHECK(moved(sort, Direction::read) == doctest::Approx(300.0 * 8 * (4 + 8)).epsilon(0.01));
    CHECK(moved(sort, Direction::write) == doctest::Approx(300.0 * 8 * (4 + 8)).epsilon(0.01));
    const auto walk = walked::walk_totals(sort, walked::WorkItem{});
    CHECK(walk.instructions_of(warptime::hw::InstructionClass::ld_shared) == 15.0 * 6);
}

TEST_CASE("bins beyond a CTA's shared memory are counted in memory, an atomic addition an element") {
    CHECK(rc::check("bytes", [] {
        const auto n = *rc::gen::inRange<std::int64_t>(1000, 60000);
        const auto bins = *rc::gen::inRange<std::int64_t>(12286, 200000);
        const auto program = lowered(
            "histogram", {{"n", std::to_string(n)}, {"bins", std::to_string(bins)}, {"dtype", "fp32"}});
        RC_ASSERT(program.kernel_count == 2U);
        RC_ASSERT(program.kernels[0].grid.x == (bins + 1023) / 1024);
        RC_ASSERT(moved(program.kernels[0], Direction::write) == 4.0 * static_cast<double>(bins));
        RC_ASSERT(program.kernels[1].dynamic_shared == 0);
        RC_ASSERT(moved(program.kernels[1], Direction::read) == 4.0 * static_cast<double>(n));
        // Threads beyond the array add nothing in the machine; here whole warps do.
        const double added = moved(program.kernels[1], Direction::atomic);
        RC_ASSERT(added >= 4.0 * static_cast<double>(n));
        RC_ASSERT(added <= 4.0 * static_cast<double>(n + 9 * 512 * program.kernels[1].grid.x));
    }));
    // The last size that fits: 48 KiB without the guard of 8 bytes.
    const auto fits = lowered("histogram", {{"n", "100000"}, {"bins", "12285"}, {"dtype", "fp32"}});
    CHECK(fits.kernels[1].dynamic_shared == 4 * 12285);
    CHECK(moved(fits.kernels[1], Direction::atomic) ==
          4.0 * 12285 * static_cast<double>(fits.kernels[1].grid.x));
}

TEST_CASE("long rows of a few are shared by CTAs, as many as the chip has places for") {
    using reductions::ctas_of_row;
    using reductions::several_ctas_select;
    CHECK(several_ctas_select(20, 20000));
    CHECK_FALSE(several_ctas_select(20, 19999));
    CHECK(several_ctas_select(5000, 400));
    CHECK(rc::check("a CTA takes 4 to 64 elements a thread", [] {
        const auto rows = *rc::gen::inRange<std::int64_t>(1, 5000);
        const auto cols = *rc::gen::inRange<std::int64_t>(1, 200000);
        const std::int64_t ctas = ctas_of_row(rows, cols, 132);
        RC_ASSERT(ctas >= 1);
        RC_ASSERT(ctas * 64 * 256 >= cols);
        RC_ASSERT((ctas - 1) * 4 * 256 < cols);
        // More SMs never mean fewer CTAs; more columns neither.
        RC_ASSERT(ctas_of_row(rows, cols, 264) >= ctas);
        RC_ASSERT(ctas_of_row(1, cols + 1, 132) >= ctas_of_row(1, cols, 132));
    }));
}
