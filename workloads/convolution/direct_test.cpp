// cuDNN's common kernel: when it runs, launches as recorded, and instructions as counted.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/direct.hpp"

#include "workloads/convolution/lowered_fixture_test.hpp"

#include <doctest/doctest.h>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using convolution::fixture::Given;
using convolution::fixture::lowered;
using convolution::fixture::sizes;

TEST_CASE("grids are those of recorded launches: 32 pixels by 32 channels a CTA of 64 threads") {
    struct Case {
        const char *batch, *channels, *out, *size, *kernel, *stride, *dtype;
        std::int64_t ctas;
    };
    for (const Case& c : {Case{"1", "3", "64", "224", "7", "2", "fp32", 392 * 2},
                          Case{"1", "3", "64", "224", "7", "2", "bf16", 392 * 2},
                          Case{"3", "17", "31", "61", "3", "2", "fp32", 91},
                          Case{"4", "4", "320", "64", "3", "1", "fp32", 512 * 10}}) {
        CAPTURE(std::string(c.channels));
        const mk::Program program = lowered(
            sizes(c.batch, c.channels, c.out, c.size, c.kernel, {{"stride", c.stride}, {"dtype", c.dtype}}));
        REQUIRE(program.kernel_count == 1);
        const mk::Kernel& kernel = program.kernels[0];
        CHECK(kernel.grid.x == c.ctas);
        CHECK(kernel.cta == mk::Dim3{8, 8, 1});
        CHECK(kernel.static_shared == 2304);
    }
}

TEST_CASE("a warp runs the instructions that Nsight Compute counted, within a hundredth") {
    const mk::Program program =
        lowered(sizes("1", "3", "64", "224", "7", {{"stride", "2"}, {"dtype", "fp32"}}));
    const mk::WalkTotals walk = mk::walk_totals(program.kernels[0], mk::WorkItem{});
    double all = 0.0;
    for (std::size_t i = 0; i < warptime::hw::instruction_class_count; ++i) {
        all += walk.instructions_of(static_cast<warptime::hw::InstructionClass>(i));
    }
    CHECK(all / 2 == doctest::Approx(6144.0).epsilon(0.01));
}

TEST_CASE("more channels, more products or groups take other kernels") {
    convolution::Problem p;
    p.channels = 3;
    p.out_channels = 64;
    p.size = 224;
    p.kernel = 7;
    p.stride = 2;
    CHECK(convolution::is_direct(p));
    p.batch = 32;
    CHECK_FALSE(convolution::is_direct(p));
    p.dtype = warptime::hw::Dtype::fp32;
    CHECK(convolution::is_direct(p));
    p.channels = 64;
    CHECK_FALSE(convolution::is_direct(p));
    p.channels = p.groups = 4;
    CHECK_FALSE(convolution::is_direct(p));
}
