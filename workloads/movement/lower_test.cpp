// Copies, strided maps and concatenations: recorded launches, and bytes against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/movement/lower.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using namespace warptime::workloads::fixture;

TEST_CASE("launches of strided maps and of cat are those that an H100 recorded") {
    CHECK(launches(lowered("transpose", matrix(16384, 1000, "bf16"))) ==
          Launches{"32000x1x1 128x1x1 registers=18 shared=0"});
    CHECK(launches(lowered("permute", matrix(1000, 4032, "fp32", {{"heads", "8"}}))) ==
          Launches{"15750x1x1 128x1x1 registers=18 shared=0"});
    CHECK(launches(lowered("strided_copy", matrix(333, 32002, "bf16"))) ==
          Launches{"10407x1x1 128x1x1 registers=18 shared=0"});
    CHECK(launches(lowered("pad", matrix(2048, 5120, "fp32"))) ==
          Launches{"10242x1x1 128x1x1 registers=16 shared=0", "40960x1x1 128x1x1 registers=18 shared=0"});
    CHECK(launches(lowered("cat", matrix(16384, 1000, "fp32"))) ==
          Launches{"4224x2x1 128x1x1 registers=18 shared=0"});
    CHECK(launches(lowered("cat", matrix(68, 1201, "bf16"))) ==
          Launches{"160x2x1 128x1x1 registers=32 shared=0"});
    // Whatever its size; recorded in steps, with 25 registers where there are four dimensions.
    CHECK(launches(lowered("cat", matrix(131072, 32, "bf16", {{"layout", "gaps"}}))) ==
          Launches{"264x2x1 512x1x1 registers=23 shared=0"});
    CHECK(refused("cat", matrix(64, 64, "bf16", {{"layout", "gaps"}, {"implementation", "ideal"}})) ==
          "cat layout");
    CHECK(refused("cat", matrix(64, 64, "bf16", {{"dims", "3"}})) == "cat dims");
    CHECK(refused("cat", matrix(64, 64, "bf16", {{"layout", "gaps"}, {"dims", "5"}})) == "cat dims");
}

TEST_CASE("arrays that do not lie alike are read each, element by element") {
    const auto walked = [](const Parameters& more) {
        Parameters all{{"n", "1048576"}, {"dtype", "bf16"}};
        all.insert(more.begin(), more.end());
        return lowered("elementwise", all);
    };
    constexpr double whole = 2.0 * 1048576;
    const auto copy = walked({{"row", "64"}});
    CHECK(launches(copy) == Launches{"2048x1x1 128x1x1 registers=18 shared=0"});
    const auto sum = walked({{"row", "64"}, {"inputs", "2"}});
    CHECK(launches(sum) == launches(copy));
    CHECK(moved(sum.kernels[0], Direction::write) == whole);
    CHECK(moved(sum.kernels[0], Direction::read) == 2.0 * moved(copy.kernels[0], Direction::read));
    // What every row reads again is as small as a row.
    const auto scaled = walked({{"row", "64"}, {"inputs", "2"}, {"repeated", "1"}});
    CHECK(scaled.kernels[0].buffers[1].extent[0] == 64);
}

TEST_CASE("a row of an elementwise function divides its arrays") {
    const auto refusal = [](const Parameters& more) {
        Parameters all{{"n", "4096"}};
        all.insert(more.begin(), more.end());
        return refused("elementwise", all);
    };
    CHECK(refusal({{"row", "63"}}) == "elementwise row");
    CHECK(refusal({{"row", "64"}, {"outputs", "2"}}) == "elementwise row");
    CHECK(refusal({{"row", "64"}, {"implementation", "ideal"}}) == "elementwise row");
    CHECK(refusal({{"repeated", "1"}}) == "elementwise repeated");
    CHECK(refusal({{"row", "64"}, {"inputs", "2"}, {"repeated", "2"}}) == "elementwise repeated");
}

TEST_CASE("every element is written once, for any size") {
    CHECK(rc::check("bytes in closed form", [] {
        const auto [rows, cols, dtype, element, whole] =
            drawn_matrix(89, 2, 598, 2, {"bf16", "fp32", "int8"});
        for (const char* op : {"transpose", "pad", "permute"}) {
            const auto program =
                lowered(op, matrix(rows, cols, dtype,
                                   op == std::string("permute") ? Parameters{{"heads", "2"}} : Parameters{}));
            const auto& last = program.kernels[program.kernel_count - 1];
            RC_ASSERT(moved(last, "out", Direction::write) == whole);
            RC_ASSERT(moved(last, "in", Direction::read) >= whole);
        }
        RC_ASSERT(moved(lowered("strided_copy", matrix(rows, cols, dtype)).kernels[0], Direction::write) ==
                  whole / 2.0);
        if (dtype != "int8") {
            const auto both = lowered("cat", matrix(rows, cols, dtype));
            RC_ASSERT(moved(both.kernels[0], "out", Direction::write) >= 2.0 * whole);
        }
    }));
}

TEST_CASE("a copy within a type is the driver's, in two passes where it is long and ragged") {
    const auto even = lowered("copy", {{"n", "67108864"}, {"dtype", "bf16"}});
    CHECK(launches(even) == Launches{"memcpy 134217728"});
    CHECK(even.memcpys[0].passes == 1);
    CHECK(lowered("copy", {{"n", "67108865"}, {"dtype", "bf16"}}).memcpys[0].passes == 2);
    CHECK(lowered("copy", {{"n", "33"}, {"dtype", "bf16"}}).memcpys[0].passes == 1);
}

TEST_CASE("a transpose that is transposed again moves as many bytes, whichever side is long") {
    CHECK(rc::check("both ways", [] {
        const auto rows = *rc::gen::inRange<std::int64_t>(2, 200);
        const auto cols = *rc::gen::inRange<std::int64_t>(2, 200);
        const auto there = lowered("transpose", matrix(rows, cols, "fp32"));
        const auto back = lowered("transpose", matrix(cols, rows, "fp32"));
        RC_ASSERT(moved(there.kernels[0], Direction::write) == moved(back.kernels[0], Direction::write));
        RC_ASSERT(launches(there).size() == launches(back).size());
    }));
}
