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
