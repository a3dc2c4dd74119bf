// Elasticities of a predicted time against a bandwidth, a clock or the launch floor.
// The elasticities are central differences.
// SPDX-License-Identifier: Apache-2.0
#include "hw/key.hpp"
#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model::analytical;

namespace {

/// Relative change of the time for a relative change of one key.
double elasticity(const mk::Kernel& kernel, const char* name) {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const std::size_t key = hw::key_index(name);
    const warptime::model::prediction::Conditions conditions;
    const auto time_at = [&](double factor) {
        hw::Gpu changed = gpu;
        hw::set_key_value(changed, key, factor * hw::key_value(gpu, key));
        return analyse(kernel, changed, conditions).time.value();
    };
    constexpr double step = 1e-5;
    return (time_at(1.0 + step) - time_at(1.0 - step)) / (2.0 * step) / time_at(1.0);
}

void check_signs(const mk::Kernel& kernel) {
    CAPTURE(kernel.name);
    for (const char* rate : {"dram.bandwidth", "l2.port_bandwidth", "clock.boost"}) {
        CAPTURE(rate);
        const double by_rate = elasticity(kernel, rate);
        CHECK(by_rate <= 1e-9);
        CHECK(by_rate >= -1.0 - 1e-6);
    }
    const double by_floor = elasticity(kernel, "launch.floor");
    CHECK(by_floor > 0.0);
    CHECK(by_floor < 1.0);
}

}  // namespace

TEST_CASE("a faster part never slows a kernel, and a longer floor always does") {
    check_signs(fixture::arithmetic(1234, 500));
    check_signs(fixture::stream(3000, 2));
    check_signs(fixture::stream(100, 1));
    for (const std::int64_t size : {256, 1024, 4096, 6144}) {
        mk::Kernel kernel;
        mk::examples::cp_async_gemm(kernel, {size, size, size});
        check_signs(kernel);
        for (const bool pingpong : {false, true}) {
            mk::examples::WarpSpecializedGemm problem{size, size, size, 3};
            problem.pingpong = pingpong;
            mk::examples::warp_specialized_gemm(kernel, problem);
            check_signs(kernel);
        }
    }
}

TEST_CASE("a kernel bound by one server has elasticity close to one there and small elsewhere") {
    CHECK(elasticity(fixture::arithmetic(50000, 500), "clock.boost") < -0.9);
    CHECK(elasticity(fixture::arithmetic(50000, 500), "dram.bandwidth") == doctest::Approx(0.0));
    CHECK(elasticity(fixture::stream(100000, 3), "dram.bandwidth") < -0.5);
}
