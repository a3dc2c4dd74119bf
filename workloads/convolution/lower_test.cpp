// Convolutions: sizes against a count one by one, the product's shape, launches, work by the walk.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/lower.hpp"

#include "workloads/convolution/lowered_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using convolution::fixture::lowered;
using convolution::fixture::sizes;

TEST_CASE("output sizes are those of a filter that is moved step by step") {
    CHECK(rc::check("any size, kernel and stride", [] {
        convolution::Problem p;
        p.size = *rc::gen::inRange<std::int64_t>(1, 40);
        p.kernel = *rc::gen::inRange<std::int64_t>(1, 12);
        p.stride = *rc::gen::inRange<std::int64_t>(1, 5);
        if (p.kernel > p.size + 2 * p.padding()) return;
        std::int64_t outputs = 0;
        for (std::int64_t at = -p.padding(); at + p.kernel <= p.size + p.padding(); at += p.stride) ++outputs;
        RC_ASSERT(p.out_size() == outputs);
    }));
}

TEST_CASE("a convolution's product has a row a pixel and K over taps and channels") {
    convolution::Problem p;
    p.batch = 2;
    p.channels = 64;
    p.out_channels = 96;
    p.size = 8;
    p.kernel = 3;
    p.stride = 2;
    const gemm::Problem product = convolution::as_product(p);
    CHECK(product.m == 2 * 4 * 4);
    CHECK(product.n == 96);
    CHECK(product.k == 64 * 9);
    CHECK(product.flop() == p.flop());
    // A step along K holds one tap's channels only.
    CHECK(convolution::as_tiled_product(p, 48).k == 96 * 9);
    // Few channels a group: eight groups of eight make a product of 64 columns.
    p.channels = p.out_channels = 256;
    p.groups = 32;
    const gemm::Problem packed = convolution::as_product(p);
    CHECK(packed.batch == 4);
    CHECK(packed.n == 64);
    CHECK(packed.k == 64 * 9);
    CHECK(packed.flop() == 8 * p.flop());
}

TEST_CASE("an implicit product reads the image once from memory, though once for each tap") {
    const mk::Program program = lowered(sizes("4", "64", "128", "32", "3"));
    REQUIRE(program.kernel_count == 1);
    const mk::Kernel& kernel = program.kernels[0];
    CHECK(kernel.buffers[0].elements() == 4 * 32 * 32 * 64);
    double flop = 0.0;
    double read = 0.0;
    for (std::int64_t m = 0; m < kernel.schedule.tiles[0]; ++m) {
        for (std::int64_t n = 0; n < kernel.schedule.tiles[1]; ++n) {
            mk::WorkItem item;
            item.tile = {m, n, 0, 0};
            item.end = kernel.schedule.k_iterations;
            const mk::WalkTotals walk = mk::walk_totals(kernel, item);
            flop += walk.matrix_flop;
            read += walk.traffic_of_buffer(0, mk::Direction::read).inside_bytes;
        }
    }
    CHECK(flop == 2.0 * 4 * 32 * 32 * 128 * 64 * 9);
    CHECK(read == static_cast<double>(9 * 4 * 32 * 32 * 64 * 2 * kernel.schedule.tiles[1]));
}

TEST_CASE("patches of three channels fill words, and every tap a step along K") {
    const mk::Program program =
        lowered(sizes("64", "3", "768", "224", "16", {{"stride", "16"}, {"padding", "none"}}));
    REQUIRE(program.kernel_count == 3);  // images and filters get their eighth channel
    const mk::Kernel& product = program.kernels[2];
    CHECK(product.schedule.k_iterations == 256);
    // With padding there is a result more on each side.
    const mk::Program padded = lowered(sizes("64", "3", "768", "224", "16", {{"stride", "16"}}));
    CHECK(padded.kernels[2].buffers[0].extent[1] == 64 * 15 * 15);
    CHECK(product.buffers[0].extent[1] == 64 * 14 * 14);
    CHECK(convolution::fixture::refused(sizes("1", "8", "8", "4", "5", {{"padding", "none"}})) ==
          "conv2d kernel");
}

TEST_CASE("one tap is the library's matrix product") {
    const mk::Program program = lowered(sizes("32", "256", "64", "56", "1"));
    REQUIRE(program.kernel_count == 1);
    CHECK(program.kernels[0].buffers[0].extent[0] == 256);
    CHECK(program.kernels[0].buffers[0].extent[1] == 32 * 56 * 56);
}

TEST_CASE("channels that are no whole words are padded, and results cut") {
    const mk::Program first = lowered(sizes("32", "3", "64", "224", "7", {{"stride", "2"}}));
    CHECK(first.kernel_count == 3);
    REQUIRE(first.memsets.size() >= 2);
    CHECK(first.memsets[0].bytes == 32 * 224 * 224 * 8 * 2);
    CHECK(first.memsets[1].bytes == 64 * 49 * 8 * 2);
    // Fit and development rows: weights of 4 rows become 8, and the result loses them again.
    const mk::Program last = lowered(sizes("2", "320", "4", "64", "3"));
    CHECK(last.memsets[0].bytes == 46080);
    CHECK(last.kernel_count == 3);
}
