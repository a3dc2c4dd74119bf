// A convolution as a request: refusals by name, and which of them wait for a tile.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/request.hpp"

#include "workloads/convolution/lowered_fixture_test.hpp"

#include <doctest/doctest.h>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using convolution::fixture::refused;
using convolution::fixture::sizes;

TEST_CASE("what cannot run is refused by the parameter's name") {
    CHECK(refused(sizes("1", "64", "64", "32", "3")) == "accepted");
    CHECK(refused(sizes("1", "64", "64", "32", "3", {{"groups", "3"}})) == "conv2d groups");
    CHECK(refused(sizes("1", "64", "62", "32", "3", {{"groups", "4"}})) == "conv2d groups");
    CHECK(refused(sizes("1", "64", "64", "1", "4")) == "accepted");
    CHECK(refused(sizes("1", "64", "64", "32", "3", {{"dtype", "fp32"}})) == "accepted");
    CHECK(refused(sizes("1", "64", "64", "32", "3", {{"dtype", "tf32"}})) == "accepted");
    CHECK(refused(sizes("1", "64", "64", "32", "3", {{"dtype", "int8"}})) == "conv2d dtype");
    CHECK(refused(sizes("1", "64", "64", "32", "3", {{"dtype", "fp32"}}), "a100-sxm-80gb") == "accepted");
    CHECK(refused(sizes("1", "64", "64", "32", "1"), "t4") == "conv2d dtype");
    CHECK(refused(sizes("4096", "4096", "4096", "256", "3")) != "accepted");
    CHECK(refused(sizes("1", "64", "64", "32", "3"), "t4") == "conv2d gpu");
    CHECK(refused(sizes("1", "64", "64", "32", "3"), "a100-sxm-80gb") == "accepted");
}

TEST_CASE("only a depthwise convolution needs no tile") {
    convolution::Problem p;
    p.channels = p.out_channels = 32;
    p.size = 16;
    p.kernel = 3;
    CHECK(convolution::ConvolutionRequest(p).is_open());
    CHECK_FALSE(convolution::ConvolutionRequest(p, gemm::Config{}).is_open());
    p.groups = 32;
    CHECK_FALSE(convolution::ConvolutionRequest(p).is_open());
    p.groups = 1;
    mk::Program program;
    CHECK_THROWS_AS(convolution::ConvolutionRequest(p).lower(libraries::load_libraries(),
                                                             warptime::hw::load_gpu("h200"), program),
                    warptime::Error);
}

TEST_CASE("a depthwise convolution in tf32 is one in fp32") {
    convolution::Problem p;
    p.batch = 2;
    p.channels = p.out_channels = p.groups = 32;
    p.size = 16;
    p.kernel = 3;
    const auto lowered = [&](warptime::hw::Dtype dtype) {
        p.dtype = dtype;
        mk::Program program;
        convolution::ConvolutionRequest(p).lower(libraries::load_libraries(), warptime::hw::load_gpu("h200"),
                                                 program);
        return program.kernels[0];
    };
    CHECK(lowered(warptime::hw::Dtype::tf32) == lowered(warptime::hw::Dtype::fp32));
    CHECK_FALSE(lowered(warptime::hw::Dtype::bf16) == lowered(warptime::hw::Dtype::fp32));
}

TEST_CASE("a filter wider than the padded image is refused with the padded size") {
    convolution::Problem p;
    p.size = 3;
    p.kernel = 10;  // 3 + 2 x 5 pixels hold it
    const auto gpu = warptime::hw::load_gpu("h200");
    CHECK_NOTHROW(convolution::ConvolutionRequest(p).check(gpu));
    p.size = 1;
    p.kernel = 5;
    CHECK_NOTHROW(convolution::ConvolutionRequest(p).check(gpu));
    p.channels = 6;
    p.out_channels = 9;
    p.groups = 3;
    CHECK_NOTHROW(convolution::ConvolutionRequest(p).check(gpu));
    p.groups = 2;
    CHECK_THROWS_AS(convolution::ConvolutionRequest(p).check(gpu), warptime::Error);
}
