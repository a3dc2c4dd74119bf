// Reach of accesses against the bytes that their executions touch, one by one.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/demand/reach.hpp"

#include "model/kernel/text.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

namespace warptime::model::machine {

namespace {

/// Reach of one access within a loop of 5 trips, by 4 warps of 10 CTAs.
Reach reach_of(const std::string& access, const std::string& op = "ld_global") {
    const kernel::Kernel kernel = kernel::parse_text(
        fmt::format("kernel \"k\"\n  grid 10 1 1\n  cta 128 1 1\n  schedule one_per_cta tiles=10\n"
                    "  buffer \"b\" dtype=fp32 extent=1048576\n  role \"r\" warps=4\n    loop trips={{5}}\n"
                    "      op 0 {}\n        access {}\n    end\n  end\nend\n",
                    op, access));
    kernel::Freedom free;
    free.loop[0] = 4.0;
    free.warps = 3.0;
    Reach reach;
    note_reach(kernel, kernel.ops[0], kernel.accesses[0], free, reach);
    return reach;
}

constexpr double whole = 4.0 * 1048576.0;

}  // namespace

TEST_CASE("the reach goes from the first word of the first CTA to the last word of the last") {
    // 10 CTAs of 4096 elements, 4 warps of 1024, 5 trips of 64, and 32 lanes.
    const double last = 9.0 * 4096 + 3.0 * 1024 + 4.0 * 64 + 32.0;
    CHECK(reach_of("read b contiguous origin={4096*tile.0 + 1024*warp + 64*loop.0} bytes=4").bytes(whole) ==
          4.0 * last);
    // Two instructions, side by side or of the same words.
    CHECK(reach_of("read b contiguous origin={4096*tile.0} bytes=4 step=32", "ld_global count=2")
              .bytes(whole) == 4.0 * (9.0 * 4096 + 64.0));
    CHECK(reach_of("read b contiguous origin={4096*tile.0} bytes=4", "ld_global count=2").bytes(whole) ==
          4.0 * (9.0 * 4096 + 32.0));
    CHECK(reach_of("read b broadcast origin={100 + 7*warp} bytes=4").bytes(whole) == 4.0 * (3.0 * 7.0 + 1.0));
}

TEST_CASE("a modulus keeps the reach within its window, whatever the grid") {
    CHECK(reach_of("read b contiguous origin={(4096*tile.0)%8192} bytes=4").bytes(whole) ==
          doctest::Approx(4.0 * (8191.0 + 32.0)));
}

TEST_CASE("scattered accesses to one part of a buffer share it, those to different parts do not") {
    const auto both = [](std::int64_t first) {
        std::string lists = "  addresses";
        for (const std::int64_t from : {std::int64_t{0}, first}) {
            for (std::int64_t lane = 0; lane < 32; ++lane) lists += fmt::format(" {}", from + 100 * lane);
        }
        const kernel::Kernel kernel = kernel::parse_text(fmt::format(
            "kernel \"k\"\n  grid 10 1 1\n  cta 128 1 1\n  schedule one_per_cta tiles=10\n"
            "  buffer \"b\" dtype=fp32 extent=1048576\n{}\n  role \"r\" warps=4\n    op 0 st_global\n"
            "      access write b listed origin={{0}} distinct=3000 pool_length=32\n    op 1 st_global\n"
            "      access write b listed origin={{0}} distinct=3000 pool_first=32 pool_length=32\n"
            "  end\nend\n",
            lists));
        Reach reach;
        for (std::size_t op = 0; op < 2; ++op) {
            note_reach(kernel, kernel.ops[op], kernel.accesses[op], {}, reach);
        }
        return reach.bytes(whole);
    };
    CHECK(both(0) == 4.0 * 3101.0);
    CHECK(both(50) == 4.0 * 3151.0);
    CHECK(both(500000) == 4.0 * 6000.0);
}

TEST_CASE("strided lanes reach beyond their first one, on either side") {
    CHECK(reach_of("read b stride origin={10000} bytes=4 inner=32").bytes(whole) ==
          4.0 * (31.0 * 32.0 + 1.0));
    CHECK(reach_of("read b stride origin={10000} bytes=4 inner=-32").bytes(whole) ==
          4.0 * (31.0 * 32.0 + 1.0));
    CHECK(reach_of("read b stride origin={0} bytes=4 inner_extent=8 inner=1 outer=100").bytes(whole) ==
          4.0 * (7.0 + 3.0 * 100.0 + 1.0));
}

TEST_CASE("random addresses may be anywhere, and the reach never exceeds the buffer") {
    CHECK(reach_of("read b random origin={0} bytes=4 distinct=1000 seed=1").bytes(whole) == whole);
    CHECK(reach_of("read b contiguous origin={1000000*tile.0} bytes=4").bytes(whole) == whole);
}

}  // namespace warptime::model::machine
