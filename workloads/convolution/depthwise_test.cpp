// Depthwise convolutions: launches as recorded, and products of every output by the walk.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/depthwise.hpp"

#include "workloads/convolution/lowered_fixture_test.hpp"

#include <doctest/doctest.h>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using convolution::fixture::Given;
using convolution::fixture::lowered;
using convolution::fixture::sizes;
using warptime::hw::InstructionClass;

TEST_CASE("grids, blocks and registers are those of cuDNN's direct kernels") {
    struct Case {
        const char *batch, *channels, *size, *kernel, *stride, *dtype;
        std::int64_t ctas, threads;
        int registers;
    };
    for (const Case& c : {Case{"32", "384", "14", "3", "1", "bf16", 480, 128, 80},
                          Case{"32", "32", "112", "3", "1", "bf16", 2128, 128, 80},
                          Case{"64", "768", "7", "7", "1", "bf16", 576, 128, 255},
                          Case{"32", "96", "112", "3", "2", "bf16", 2352, 128, 80},
                          Case{"32", "96", "56", "7", "1", "bf16", 1596, 128, 255},
                          Case{"32", "32", "112", "3", "1", "fp32", 12544, 256, 42},
                          Case{"32", "96", "56", "7", "1", "tf32", 9408, 256, 128}}) {
        CAPTURE(std::string(c.channels));
        CAPTURE(std::string(c.dtype));
        const mk::Program program =
            lowered(sizes(c.batch, c.channels, c.channels, c.size, c.kernel,
                          {{"groups", c.channels}, {"stride", c.stride}, {"dtype", c.dtype}}));
        REQUIRE(program.kernel_count == 1);
        CHECK(program.kernels[0].grid.x == c.ctas);
        CHECK(program.kernels[0].cta.x == c.threads);
        CHECK(program.kernels[0].registers_per_thread == c.registers);
    }
}

TEST_CASE("a thread multiplies each of its outputs by every tap") {
    struct Case {
        const char *dtype, *stride;
        double products;  ///< of a lane
    };
    // Two rows of three or two pixels of eight channels; four pixels of one channel.
    for (const Case& c : {Case{"bf16", "1", 6.0 * 8 * 9}, Case{"bf16", "2", 4.0 * 8 * 9},
                          Case{"fp32", "1", 4.0 * 9}, Case{"fp32", "2", 4.0 * 9}}) {
        CAPTURE(std::string(c.dtype));
        CAPTURE(std::string(c.stride));
        const mk::Program program = lowered(sizes(
            "32", "32", "32", "112", "3", {{"groups", "32"}, {"stride", c.stride}, {"dtype", c.dtype}}));
        const mk::Kernel& kernel = program.kernels[0];
        const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
        const double warps = static_cast<double>(kernel.cta.x) / 32;
        CHECK(walk.instructions_of(InstructionClass::fma_f32) == warps * c.products);
    }
}
