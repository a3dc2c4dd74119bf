// Movements: recorded launches, bytes against closed forms, and what is refused.
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

TEST_CASE("launches are those that an H100 recorded") {
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
    CHECK(launches(lowered("gather_rows", matrix(7086, 384, "bf16"))) ==
          Launches{"7086x1x1 64x1x1 registers=32 shared=0"});
    CHECK(launches(lowered("gather_rows", matrix(333, 32003, "fp32"))) ==
          Launches{"10408x1x1 128x1x1 registers=32 shared=0"});
    CHECK(launches(lowered("embedding", matrix(239, 11456, "bf16"))) ==
          Launches{"8192x6x1 256x1x1 registers=32 shared=0"});
    CHECK(launches(lowered("scatter_add_rows", matrix(992, 1984, "fp32"))) ==
          Launches{"1056x1x1 128x1x1 registers=32 shared=0"});
    CHECK(launches(lowered("index_add", matrix(128, 1024, "bf16"))) ==
          Launches{"1024x1x1 128x1x1 registers=32 shared=0"});
    CHECK(launches(lowered("embedding_backward", matrix(4096, 4096, "fp32", {{"indices", "1024"}}))) ==
          Launches{"16384x1x1 128x1x1 registers=16 shared=0", "128x1x1 32x32x1 registers=27 shared=8192"});
}

TEST_CASE("every element is written once, for any size") {
    CHECK(rc::check("bytes in closed form", [] {
        const auto rows = *rc::gen::inRange<std::int64_t>(1, 90);
        const auto cols = 2 * *rc::gen::inRange<std::int64_t>(1, 300);
        const std::string dtype = fixture::word({"bf16", "fp32", "int8"});
        const double element = dtype == "fp32" ? 4.0 : dtype == "bf16" ? 2.0 : 1.0;
        const double whole = static_cast<double>(rows * cols) * element;
        for (const char* op : {"transpose", "pad", "permute"}) {
            const auto program =
                lowered(op, matrix(rows, cols, dtype,
                                   op == std::string("permute") ? fixture::Parameters{{"heads", "2"}}
                                                                : fixture::Parameters{}));
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
        const auto gather = lowered("gather_rows", matrix(rows, cols, dtype));
        RC_ASSERT(moved(gather.kernels[0], "out", Direction::write) == whole);
    }));
}

TEST_CASE("a stencil reads its neighbours and writes each point once") {
    for (const char* radius : {"1", "3"}) {
        const auto flat = lowered("stencil2d", {{"size", "100"}, {"radius", radius}});
        CHECK(moved(flat.kernels[0], Direction::write) == 100.0 * 100 * 4);
        CHECK(moved(flat.kernels[0], Direction::read) > 100.0 * 100 * 4 * 3);
        const auto cube = lowered("stencil3d", {{"size", "20"}, {"radius", radius}});
        CHECK(moved(cube.kernels[0], Direction::write) == 20.0 * 20 * 20 * 4);
    }
}

TEST_CASE("what cannot run is refused by name") {
    CHECK(fixture::refused("permute", matrix(8, 100, "bf16", {{"heads", "3"}})) == "permute heads");
    CHECK(fixture::refused("stencil2d", {{"size", "8"}, {"radius", "8"}}) == "stencil radius");
    CHECK(fixture::refused("stencil3d", {{"size", "1000000"}}) == "stencil3d size");
    CHECK(fixture::refused("cat", matrix(1 << 20, 1 << 20, "bf16")) == "cat size");
    CHECK(fixture::refused("scatter_add_rows", matrix(8, 8, "int8")) == "scatter_add_rows dtype");
}
