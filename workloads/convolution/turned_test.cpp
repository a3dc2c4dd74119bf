// Convolutions of turned images: every element is turned once, and the product between has no padding.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/turned.hpp"

#include "hw/sheet.hpp"
#include "workloads/convolution/lower.hpp"
#include "workloads/convolution/lowered_fixture_test.hpp"
#include "workloads/gemm/library_kernel.hpp"
#include "workloads/libraries/library.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <utility>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using convolution::fixture::lowered;
using convolution::fixture::sizes;

TEST_CASE("fp32 without tf32 is multiplied between kernels that turn images, filters and results") {
    const mk::Program program =
        lowered(sizes("2", "33", "70", "20", "3", {{"dtype", "fp32"}, {"stride", "2"}}));
    REQUIRE(program.kernel_count == 4);
    const auto moved = [](const mk::Kernel& kernel, mk::Id buffer, mk::Direction direction) {
        double bytes = 0.0;
        const auto& tiles = kernel.schedule.tiles;
        for (std::int64_t m = 0; m < tiles[0]; ++m) {
            for (std::int64_t n = 0; n < tiles[1]; ++n) {
                for (std::int64_t image = 0; image < tiles[2]; ++image) {
                    mk::WorkItem item;
                    item.tile = {m, n, image, 0};
                    item.end = kernel.schedule.k_iterations;
                    bytes += mk::walk_totals(kernel, item).traffic_of_buffer(buffer, direction).inside_bytes;
                }
            }
        }
        return bytes;
    };
    const double image = 2.0 * 20 * 20 * 33 * 4, filters = 70.0 * 9 * 33 * 4, result = 2.0 * 10 * 10 * 70 * 4;
    const std::array<double, 4> turned{image, filters, 0.0, result};
    for (const std::size_t k : {0U, 1U, 3U}) {
        CHECK(moved(program.kernels[k], 0, mk::Direction::read) == turned[k]);
        CHECK(moved(program.kernels[k], 1, mk::Direction::write) == turned[k]);
        CHECK(program.kernels[k].cta.x == 256);
        CHECK(program.kernels[k].static_shared == 4224);
    }
    // Fit row: 98 x 2 tiles of 32 x 32 an image.
    const mk::Program plain = lowered(sizes("32", "64", "64", "56", "1", {{"dtype", "fp32"}}));
    REQUIRE(plain.kernel_count == 3);
    CHECK(plain.kernels[0].schedule.tiles == std::array<std::int64_t, 4>{98, 2, 32, 1});
    CHECK(plain.kernels[1].buffers[0].extent[0] == 32 * 56 * 56);
    CHECK(plain.kernels[1].buffers[0].extent[1] == 64);
    CHECK(moved(program.kernels[2], 2, mk::Direction::write) == result);
}

TEST_CASE("the product of turned images has no padding, and a step of K any channels") {
    convolution::Problem p;
    p.batch = 2;
    p.channels = 33;
    p.out_channels = 70;
    p.size = 20;
    p.kernel = 3;
    p.dtype = warptime::hw::Dtype::fp32;
    CHECK(p.turned());
    const gemm::Problem product = convolution::as_product(p);
    CHECK(product.n == 70);
    CHECK(product.k == 33 * 9);
    CHECK(convolution::as_tiled_product(p, 8).k == 33 * 9);
    CHECK(product.flop() == p.flop());
}

TEST_CASE("each copied element of a turned image has instructions for its place") {
    // Counted on an H100 a trip and warp, beside multiply-adds, copies and reads of operands, by tile
    // (validate/recorded/h100-sxm/ladders/conv2d_counters.csv).
    const std::map<std::pair<int, int>, double> counted{{{256, 64}, 320}, {{128, 32}, 183}, {{32, 32}, 214}};
    convolution::Problem problem;
    problem.batch = 32;
    problem.channels = problem.out_channels = 64;
    problem.size = 28;
    problem.kernel = 3;
    problem.dtype = warptime::hw::Dtype::fp32;
    const auto gpu = warptime::hw::load_gpu("h100-sxm");
    const auto data = libraries::load_libraries();
    std::size_t tiles = 0;
    for (const libraries::GemmFamily& family : data.convolution_families) {
        if (family.instruction != "simt" || !family.runs_on(gpu)) continue;
        for (const libraries::Tile& tile : family.tiles) {
            CAPTURE(tile.m);
            mk::Program program;
            convolution::lower_convolution(problem,
                                           gemm::vendor_config(convolution::as_product(problem), family, tile,
                                                               family.clusters.front(), gpu),
                                           gpu, program);
            REQUIRE(program.kernel_count == 4);
            const mk::Kernel& product = program.kernels[2];
            std::int64_t places = 0;
            for (std::size_t loop = 0; loop < product.nodes.size(); ++loop) {
                if (product.nodes[loop].kind != mk::NodeKind::loop) continue;
                for (std::size_t i = loop + 1; i < product.nodes[loop].end; ++i) {
                    if (product.nodes[i].kind != mk::NodeKind::op) continue;
                    const mk::Op& op = product.ops[product.nodes[i].payload];
                    if (op.cls == mk::InstructionClass::mad_s32 || op.cls == mk::InstructionClass::add_s32) {
                        places += op.count;
                    }
                }
            }
            CHECK(static_cast<double>(places) == doctest::Approx(counted.at({tile.m, tile.n})).epsilon(0.01));
            ++tiles;
        }
    }
    CHECK(tiles == counted.size());
}

TEST_CASE("a turned matrix is read along its columns and written along its rows") {
    mk::Kernel kernel;
    convolution::lower_turn("turn", 3, 70, 33, kernel);
    mk::check(kernel);
    CHECK(kernel.grid.x == 3 * 3 * 2);
    CHECK(kernel.buffers[0].extent[0] == 33);
    CHECK(kernel.buffers[0].extent[1] == 70);
    CHECK(kernel.buffers[1].extent[0] == 70);
    CHECK(kernel.buffers[1].extent[1] == 33);
    // A tile of 32 x 32 lies in full in the first CTA: 32 rows of 128 bytes each way.
    const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
    CHECK(walk.traffic_of_buffer(0, mk::Direction::read).inside_bytes == 32 * 32 * 4);
    CHECK(walk.traffic_of_buffer(1, mk::Direction::write).inside_bytes == 32 * 32 * 4);
    // The last tile along both has 6 rows and one column.
    mk::WorkItem last;
    last.tile = {2, 1, 2, 0};
    const mk::WalkTotals corner = mk::walk_totals(kernel, last);
    CHECK(corner.traffic_of_buffer(0, mk::Direction::read).inside_bytes == 6 * 4);
    CHECK(corner.traffic_of_buffer(1, mk::Direction::write).inside_bytes == 6 * 4);
}
