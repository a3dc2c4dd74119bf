// Rows taken from a table or added to it: recorded launches, and bytes against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/movement/rows.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using namespace warptime::workloads::fixture;

TEST_CASE("launches of gathers and additions of rows are those that an H100 recorded") {
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

TEST_CASE("rows that are taken are read and written whole, whatever order they come in") {
    CHECK(rc::check("bytes in closed form", [] {
        const auto [rows, cols, dtype, element, whole] = drawn_matrix(89, 1, 599);
        const auto gather = lowered("gather_rows", matrix(rows, cols, dtype));
        RC_ASSERT(moved(gather.kernels[0], "out", Direction::write) == whole);
        const auto ideal = lowered("gather_rows", matrix(rows, cols, dtype, {{"implementation", "ideal"}}));
        RC_ASSERT(moved(ideal.kernels[0], "rows", Direction::write) == whole);
    }));
}

TEST_CASE("more indices move more bytes, and a row is a row") {
    const auto written = [](std::int64_t indices) {
        const auto program =
            lowered("embedding", matrix(1000, 512, "bf16", {{"indices", std::to_string(indices)}}));
        return moved(program.kernels[0], "out", Direction::write);
    };
    CHECK(written(64) == 64.0 * 512 * 2);
    CHECK(written(128) == 2.0 * written(64));
}

TEST_CASE("additions of rows change as many elements as are added") {
    const auto added = [](const char* op, const Parameters& given) {
        double bytes = 0.0;
        const auto program = lowered(op, given);
        for (std::size_t k = 0; k < program.kernel_count; ++k) {
            bytes += moved(program.kernels[k], Direction::atomic);
        }
        return bytes;
    };
    // 512 rows of 256 floats are added, each by an atomic of its own.
    CHECK(added("scatter_add_rows", matrix(512, 256, "fp32")) >= 512.0 * 256 * 4);
    // Whole turns of the CTAs that walk over the elements are at most so many more.
    CHECK(added("scatter_add_rows", matrix(512, 256, "fp32")) <= 512.0 * 256 * 4 + 1056 * 128 * 4);
}

TEST_CASE("long rows that are taken again and again come in turn, so that each is read once") {
    const auto pattern = [](const char* rows, const char* cols) {
        const auto program =
            lowered("embedding", {{"rows", rows}, {"cols", cols}, {"indices", "1000"}, {"dtype", "fp32"}});
        const auto& kernel = program.kernels[0];
        for (const walked::Access& access : kernel.accesses) {
            if (kernel.buffers[static_cast<std::size_t>(access.buffer)].name.view() == "table")
                return access.pattern;
        }
        return walked::PatternKind::chase;
    };
    CHECK(pattern("64", "8192") == walked::PatternKind::contiguous);
    // A row of one part, a row that is mostly taken once, and parts that the L2 does not hold.
    CHECK(pattern("64", "1024") == walked::PatternKind::listed);
    CHECK(pattern("4000", "8192") == walked::PatternKind::listed);
}

TEST_CASE("threads beyond a row's end take and write nothing") {
    // 48 vectors of 16 bytes, for which two warps are launched.
    const auto program = lowered("gather_rows", matrix(7086, 384, "bf16"));
    const auto& kernel = program.kernels[0];
    const auto walk = walked::walk_totals(kernel, walked::WorkItem{});
    CHECK(walk.traffic(walked::Space::global, Direction::write).inside_bytes == 384.0 * 2);
    // A warp and a half; each of the two reads the row's index, too.
    CHECK(walk.traffic(walked::Space::global, Direction::read).requested_bytes <= 384.0 * 2 + 2 * 32 * 8);
}

TEST_CASE("the last of several CTAs a row writes what is left of it") {
    // 320 vectors by two CTAs of 256 threads.
    const auto program = lowered("gather_rows", matrix(90, 1280, "fp32"));
    const auto& kernel = program.kernels[0];
    CHECK(kernel.grid.y == 2);
    CHECK(moved(kernel, "out", Direction::write) == doctest::Approx(90.0 * 1280 * 4));
}

TEST_CASE("few indices are read once into shared memory, not in each trip") {
    const auto program = lowered("embedding_backward", matrix(64, 256, "fp32", {{"indices", "1024"}}));
    const auto& kernel = program.kernels[1];
    // Eight CTAs of 32 columns read all indices, and 32 rows of gradients a trip.
    CHECK(moved(kernel, "numbers", Direction::read) == 8.0 * 1024 * 8);
    CHECK(moved(kernel, "rows_gradient", Direction::read) == 1024.0 * 256 * 4);
}
