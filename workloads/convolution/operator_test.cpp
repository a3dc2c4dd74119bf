// The record of conv2d: useful work counted tap by tap, numbers that sweeps set, and defaults.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/operator.hpp"

#include "workloads/convolution/lowered_fixture_test.hpp"
#include "workloads/convolution/request.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace warptime::workloads;
using convolution::fixture::sizes;

TEST_CASE("useful work is a multiply-add for each tap and channel of every output, and each array once") {
    const Operation operation =
        make_operation("conv2d", sizes("2", "6", "9", "7", "3", {{"stride", "2"}, {"groups", "3"}}));
    const UsefulWork work = convolution::conv2d_operator().work(operation);
    constexpr int channels_of_group = 6 / 3;
    double products = 0.0;
    for (int image = 0; image < 2; ++image) {
        for (int y = -1; y + 3 <= 8; y += 2) {
            for (int x = -1; x + 3 <= 8; x += 2) products += 9.0 * 3 * 3 * channels_of_group;
        }
    }
    CHECK(work.operations.value() == 2 * products);
    CHECK(work.bytes == 2 * (2.0 * 6 * 7 * 7 + 9.0 * 2 * 3 * 3 + 2.0 * 9 * 4 * 4));
    CHECK(work.memory == work.bytes);
}

TEST_CASE("a number set on a request is the parameter of the same name") {
    const OperatorInfo& info = convolution::conv2d_operator();
    for (const char* name : {"batch", "channels", "out_channels", "size", "kernel", "stride", "groups"}) {
        CAPTURE(std::string(name));
        const SetNumber set = info.number(name);
        REQUIRE((set != nullptr));
        auto changed = info.read(make_operation("conv2d", sizes("2", "32", "64", "28", "3")));
        REQUIRE(set(*changed, 4));
        auto more = sizes("2", "32", "64", "28", "3");
        more[name] = "4";
        const auto written = info.read(make_operation("conv2d", more));
        const auto numbers = [](Request& request) {
            const convolution::Problem& p = static_cast<convolution::ConvolutionRequest&>(request).problem;
            return std::array{p.batch, p.channels, p.out_channels, p.size, p.kernel, p.stride, p.groups};
        };
        CHECK(numbers(*changed) == numbers(*written));
    }
    CHECK((info.number("dtype") == nullptr));
}

TEST_CASE("library data is counted for products, not for a direct kernel") {
    const auto library = libraries::load_libraries();
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const auto counted = [&](const convolution::fixture::Given& given) {
        return convolution::conv2d_operator().data(make_operation("conv2d", given), library, gpu).library;
    };
    CHECK(counted(sizes("2", "32", "32", "28", "3", {{"groups", "32"}})) == 0);
    CHECK(counted(sizes("2", "32", "32", "28", "3")) > 0);
    // One tap is a product of the GEMM library, which has more data.
    CHECK(counted(sizes("2", "32", "32", "28", "1")) > counted(sizes("2", "32", "32", "28", "3")));
}
