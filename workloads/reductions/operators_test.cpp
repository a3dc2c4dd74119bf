// Reductions: recorded launches, bytes against closed forms, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using fixture::launches;
using fixture::lowered;
using fixture::matrix;
using fixture::moved;
using Direction = warptime::model::kernel::Direction;
using Launches = std::vector<std::string>;

TEST_CASE("sums and maxima are cut as an H100 recorded") {
    CHECK(launches(lowered("sum", {{"n", "1024"}, {"dtype", "bf16"}})) ==
          Launches{"1x1x1 128x1x1 registers=32 shared=528"});
    CHECK(launches(lowered("sum", {{"n", "262144"}, {"dtype", "bf16"}})) ==
          Launches{"memset 4", "1x32x1 512x1x1 registers=32 shared=2064"});
    CHECK(launches(lowered("sum", {{"n", "70424707"}, {"dtype", "fp32"}})) ==
          Launches{"memset 4", "1x538x1 512x1x1 registers=32 shared=2064"});
    CHECK(launches(lowered("amax", {{"n", "2049"}, {"dtype", "bf16"}})) ==
          Launches{"3x1x1 128x1x1 registers=32 shared=0", "1x1x1 512x1x1 registers=32 shared=1040"});
    CHECK(launches(lowered("rowsum", matrix(16384, 1000, "fp32"))) ==
          Launches{"1024x1x1 32x16x1 registers=32 shared=16"});
    CHECK(launches(lowered("rowsum", matrix(32, 128, "bf16"))) ==
          Launches{"1x1x1 16x32x1 registers=32 shared=16"});
    CHECK(launches(lowered("rowsum", matrix(64, 131072, "fp32"))) ==
          Launches{"memset 256", "64x9x1 32x16x1 registers=32 shared=2064"});
    CHECK(launches(lowered("argmax", matrix(64, 131072, "fp32"))) ==
          Launches{"memset 256", "64x9x1 32x16x1 registers=32 shared=8208"});
    CHECK(launches(lowered("colsum", matrix(16384, 1000, "bf16"))) ==
          Launches{"memset 32", "8x256x1 32x4x1 registers=54 shared=2064"});
    CHECK(launches(lowered("colsum", matrix(3198, 2357, "fp32"))) ==
          Launches{"74x1x1 32x16x1 registers=32 shared=2064"});
    CHECK(launches(lowered("colsum", matrix(337, 80, "fp32"))) ==
          Launches{"2x1x1 16x8x1 registers=54 shared=2064"});
}

TEST_CASE("softmax, norms and scans launch what an H100 recorded") {
    CHECK(launches(lowered("softmax", matrix(16384, 1000, "bf16"))) ==
          Launches{"4096x1x1 32x4x1 registers=48 shared=0"});
    CHECK(launches(lowered("softmax", matrix(1000, 4097, "fp32"))) ==
          Launches{"1000x1x1 1024x1x1 registers=30 shared=128"});
    CHECK(launches(lowered("softmax", matrix(151, 10576, "fp32"))) ==
          Launches{"151x1x1 1024x1x1 registers=30 shared=42432"});
    CHECK(launches(lowered("softmax", matrix(64, 131072, "fp32"))) ==
          Launches{"64x1x1 1024x1x1 registers=32 shared=128"});
    CHECK(launches(lowered("softmax_backward", matrix(121, 1792, "fp32"))) ==
          Launches{"212x1x1 128x1x1 registers=32 shared=0", "121x1x1 256x1x1 registers=23 shared=7200"});
    CHECK(launches(lowered("softmax_backward", matrix(37697, 1500, "bf16"))) ==
          Launches{"55221x1x1 128x1x1 registers=40 shared=0", "37697x1x1 128x1x1 registers=40 shared=512"});
    CHECK(launches(lowered("layernorm", matrix(1024, 1024, "fp32"))) ==
          Launches{"1024x1x1 32x4x1 registers=39 shared=24"});
    CHECK(launches(lowered("layernorm", matrix(333, 32003, "bf16"))) ==
          Launches{"333x1x1 512x1x1 registers=28 shared=768", "333x1x1 256x1x1 registers=23 shared=0"});
    CHECK(launches(lowered("layernorm_backward", matrix(128, 1024, "bf16"))) ==
          Launches{"128x1x1 128x1x1 registers=32 shared=16", "32x1x1 32x16x1 registers=32 shared=4224"});
    CHECK(launches(lowered("rmsnorm_backward", matrix(131072, 512, "bf16"))) ==
          Launches{"131072x1x1 128x1x1 registers=32 shared=16", "16x2048x1 32x1x1 registers=64 shared=0",
                   "memset 16", "4x32x1 32x4x1 registers=54 shared=2064"});
    CHECK(launches(lowered("cross_entropy", matrix(2797, 2304, "bf16"))) ==
          Launches{"2797x1x1 1024x1x1 registers=26 shared=128", "1x1x1 128x1x1 registers=32 shared=1024"});
    CHECK(launches(lowered("cumsum", matrix(128, 1024, "bf16"))) ==
          Launches{"16x1x1 64x8x1 registers=32 shared=2048"});
    CHECK(launches(lowered("cumsum", matrix(239, 14780, "bf16"))) ==
          Launches{"60x1x1 128x4x1 registers=32 shared=2048"});
    CHECK(launches(lowered("histogram", {{"n", "1048579"}})) ==
          Launches{"1x1x1 128x1x1 registers=16 shared=0", "228x1x1 512x1x1 registers=40 shared=1032"});
}

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

TEST_CASE("more than a few selected values are written where they are found and sorted by a CTA a row") {
    CHECK(rc::check("bytes and launches", [] {
        const auto rows = *rc::gen::inRange<std::int64_t>(1, 40);
        const auto cols = *rc::gen::inRange<std::int64_t>(1100, 2400);
        const auto k = *rc::gen::inRange<std::int64_t>(33, 1024);
        const std::string dtype = fixture::word({"bf16", "fp32"});
        auto given = matrix(rows, cols, dtype);
        given["k"] = std::to_string(k);
        const auto program = lowered("topk", given);
        RC_ASSERT(program.kernel_count == 2U);
        const double element = dtype == "fp32" ? 4.0 : 2.0;
        const double selected = static_cast<double>(rows * k) * (element + 8.0);
        RC_ASSERT(moved(program.kernels[0], Direction::write) == selected);
        RC_ASSERT(moved(program.kernels[1], Direction::write) == selected);
        // A CTA of 32 threads holds 128 elements, or 1024.
        RC_ASSERT(program.kernels[1].cta.volume() == 32);
        RC_ASSERT(program.kernels[1].grid.volume() == rows);
        RC_ASSERT(program.kernels[1].static_shared == (k <= 128 ? 1184 : 8464));
    }));
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

TEST_CASE("every element of a matrix is read, and each result written once") {
    CHECK(rc::check("bytes in closed form", [] {
        const auto rows = *rc::gen::inRange<std::int64_t>(1, 40);
        const auto cols = *rc::gen::inRange<std::int64_t>(260, 6000);
        const std::string dtype = fixture::word({"bf16", "fp32"});
        const double element = dtype == "fp32" ? 4.0 : 2.0;
        const double whole = static_cast<double>(rows * cols) * element;
        const auto softmax = lowered("softmax", matrix(rows, cols, dtype));
        RC_ASSERT(moved(softmax.kernels[0], Direction::write) == whole);
        RC_ASSERT(moved(softmax.kernels[0], Direction::read) >= whole);
        RC_ASSERT(moved(softmax.kernels[0], Direction::read) <= 3.0 * whole);
        const auto sums = lowered("rowsum", matrix(rows, cols, dtype));
        RC_ASSERT(moved(sums.kernels[0], "in", Direction::read) >= whole);
        RC_ASSERT(moved(sums.kernels[0], "out", Direction::write) >= static_cast<double>(rows) * element);
        const auto columns = lowered("colsum", matrix(rows, cols, dtype));
        RC_ASSERT(moved(columns.kernels[0], "in", Direction::read) == whole);
        const auto scan = lowered("cumsum", matrix(rows, cols, dtype));
        RC_ASSERT(moved(scan.kernels[0], Direction::write) == whole);
        const auto norm = lowered("layernorm", matrix(rows, cols, dtype));
        RC_ASSERT(moved(norm.kernels[norm.kernel_count - 1], "out", Direction::write) == whole);
        for (const char* op : {"softmax", "rmsnorm", "layernorm"}) {
            auto ideal = matrix(rows, cols, dtype);
            ideal["implementation"] = "ideal";
            const auto program = lowered(op, ideal);
            const double reads = moved(program.kernels[0], "in0", Direction::read);
            RC_ASSERT(reads >= whole && reads <= 2.0 * whole);
            RC_ASSERT(moved(program.kernels[0], "out", Direction::write) == whole);
        }
    }));
}

TEST_CASE("a total takes a vector or a matrix, and not both") {
    const auto vector = lowered("sum", {{"n", "65536"}});
    const auto both = lowered("sum", {{"rows", "256"}, {"cols", "256"}});
    CHECK(launches(vector) == launches(both));
    CHECK(fixture::refused("sum", {{"n", "64"}, {"rows", "8"}, {"cols", "8"}}) != "");
    CHECK(fixture::refused("sum", {{"rows", "8"}}) == "sum rows");
    CHECK(fixture::refused("sum", {{"n", "8"}, {"cols", "8"}}) == "sum cols");
    CHECK(fixture::refused("sum", {}) == "sum n");
}

TEST_CASE("what cannot run is refused by name") {
    auto few = matrix(16, 4, "bf16");
    CHECK(fixture::refused("topk", few) == "topk k");
    auto many = matrix(16, 8192, "bf16");
    many["k"] = "4097";
    CHECK(fixture::refused("topk", many) == "topk k");
    CHECK(fixture::refused("histogram", {{"n", "64"}, {"bins", "4294967296"}}) == "histogram bins");
    CHECK(fixture::refused("histogram", {{"n", "64"}, {"bins", "8193"}, {"implementation", "ideal"}}) ==
          "histogram bins");
    CHECK(fixture::refused("softmax", matrix(1000000, 1000000, "bf16")) == "softmax size");
    CHECK(fixture::refused("softmax", matrix(16, 16, "int8")) == "softmax dtype");
}
