// Derivatives of the time through the whole analysis, against finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "hw/dual.hpp"
#include "hw/key.hpp"
#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/examples/triton_gemm.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model::analytical;
using Dual = hw::Dual<4>;

namespace {

constexpr const char* keys[4] = {"dram.bandwidth", "l2.port_bandwidth", "clock.boost", "launch.floor"};

void compare(const mk::Kernel& kernel) {
    const hw::Gpu<double> plain = hw::load_gpu("h200-sxm");
    hw::Gpu<Dual> dual = hw::convert<Dual>(plain);
    for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t key = hw::key_index(keys[i]);
        hw::set_key_value(dual, key, Dual::variable(hw::key_value(plain, key), i));
    }
    const warptime::model::prediction::Conditions conditions;
    const Dual time = analyse(kernel, dual, conditions).time.value();
    CHECK(time.value() == analyse(kernel, plain, conditions).time.value());
    for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(kernel.name);
        CAPTURE(keys[i]);
        const std::size_t key = hw::key_index(keys[i]);
        const double at = hw::key_value(plain, key);
        const double step = 1e-5 * at;
        hw::Gpu<double> up = plain;
        hw::Gpu<double> down = plain;
        hw::set_key_value(up, key, at + step);
        hw::set_key_value(down, key, at - step);
        const double slope =
            (analyse(kernel, up, conditions).time.value() - analyse(kernel, down, conditions).time.value()) /
            (2.0 * step);
        // Elasticities, so that all keys compare on one scale.
        const double scale = at / time.value();
        CHECK(std::abs(time.derivative(i) - slope) * scale < 1e-5);
        if (i < 3) {
            CHECK(time.derivative(i) <= 0.0);
        } else {
            // Nearly one: a longer floor also lowers the use of the tensor cores, which raises the clock.
            CHECK(time.derivative(i) <= 1.0 + 1e-12);
            CHECK(time.derivative(i) > 0.8);
        }
    }
}

}  // namespace

TEST_CASE("slopes by bandwidths, clock and floor are those of finite differences, and have the right sign") {
    compare(fixture::arithmetic(1234, 500));
    compare(fixture::stream(3000, 2));
    compare(fixture::stream(100, 1));
    for (const std::int64_t size : {256, 1024, 4096, 6144}) {
        mk::Kernel kernel;
        mk::examples::triton_gemm(kernel, {size, size, size});
        compare(kernel);
        for (const bool pingpong : {false, true}) {
            mk::examples::WarpSpecializedGemm problem{size, size, size, 3};
            problem.pingpong = pingpong;
            mk::examples::warp_specialized_gemm(kernel, problem);
            compare(kernel);
        }
    }
}

TEST_CASE("a kernel bound by one server has elasticity close to one there and small elsewhere") {
    const hw::Gpu<double> plain = hw::load_gpu("h200-sxm");
    hw::Gpu<Dual> dual = hw::convert<Dual>(plain);
    dual.dram.bandwidth = hw::BytesPerSecond<Dual>(Dual::variable(plain.dram.bandwidth.value(), 0));
    dual.clock.boost = hw::Frequency<Dual>(Dual::variable(plain.clock.boost.value(), 1));
    const auto elasticity = [&](const mk::Kernel& kernel, std::size_t i, double at) {
        const Dual t = analyse(kernel, dual, warptime::model::prediction::Conditions{}).time.value();
        return t.derivative(i) * at / t.value();
    };
    const double dram = plain.dram.bandwidth.value();
    const double clock = plain.clock.boost.value();
    CHECK(elasticity(fixture::arithmetic(50000, 500), 1, clock) < -0.9);
    CHECK(elasticity(fixture::arithmetic(50000, 500), 0, dram) == doctest::Approx(0.0));
    CHECK(elasticity(fixture::stream(100000, 3), 0, dram) < -0.5);
}
