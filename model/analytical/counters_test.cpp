// Counters against closed forms: bytes, sectors, instructions, waves and active warps.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/counters.hpp"

#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"
#include "model/kernel/walk.hpp"
#include "model/machine/l2/l2.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model;
using namespace warptime::model::analytical;

namespace {

std::map<std::string, double> counters(const mk::Kernel& kernel, const hw::Gpu& gpu) {
    warptime::model::prediction::Conditions cold;
    cold.cache = warptime::model::prediction::Cache::cold;
    const auto list = counters_of(kernel, analyse(kernel, gpu, cold), gpu, cold);
    std::map<std::string, double> result(list.begin(), list.end());
    REQUIRE(result.size() == list.size());
    return result;
}

}  // namespace

TEST_CASE("a stream's bytes, sectors and instructions are those of its vectors") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const mk::Kernel kernel = fixture::stream(40000, 2);
    const auto c = counters(kernel, gpu);
    const double vector = 40000.0 * fixture::stream_bytes_per_cta;
    const double visits = machine::slice_visits(gpu);
    CHECK(c.at("dram__bytes_read.sum") == doctest::Approx(2.0 * vector));
    CHECK(c.at("l1tex__m_xbar2l1tex_read_bytes.sum") == doctest::Approx(2.0 * vector));
    CHECK(c.at("lts__t_sectors_op_write.sum") == doctest::Approx(visits * vector / 32.0));
    const double at_start =
        (gpu.l2.kernel_bytes.value() + gpu.sm.count.value() * gpu.l2.start_bytes.value()) / 32.0;
    const double own = c.at("lts__t_sectors_op_read.sum") + c.at("lts__t_sectors_op_write.sum");
    // More comes in than a partition holds.
    const double beside = gpu.l2.beside.value() * gpu.l2.capacity.value() / gpu.l2.partitions.value() / 32.0;
    CHECK(own > gpu.l2.capacity.value() / gpu.l2.partitions.value() / 32.0);
    CHECK(c.at("lts__t_sectors.sum") == doctest::Approx(own + at_start + beside));
    CHECK(c.at("lts__t_sectors_op_read.sum") == doctest::Approx(visits * 2.0 * vector / 32.0));
    const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
    double instructions = 0.0;
    for (std::size_t i = 0; i < walk.instructions.size(); ++i) {
        instructions += 40000.0 * walk.instructions[i] * gpu.instructions.costs[i].machine.value();
    }
    CHECK(c.at("smsp__inst_executed.sum") == doctest::Approx(instructions));
}

TEST_CASE("waves and active warps follow from the grid") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const std::string active = "sm__warps_active.avg.pct_of_peak_sustained_active";
    const std::string waves = "launch__waves_per_multiprocessor";
    // 8 CTAs of 8 warps fill the 64 warps of an SM.
    const auto full = counters(fixture::arithmetic(132 * 8, 10), gpu);
    CHECK(full.at(waves) == doctest::Approx(1.0));
    CHECK(full.at(active) == doctest::Approx(100.0));
    const auto one = counters(fixture::arithmetic(132, 10), gpu);
    CHECK(one.at(waves) == doctest::Approx(0.125));
    CHECK(one.at(active) == doctest::Approx(12.5));
    const auto two_and_a_half = counters(fixture::arithmetic(132 * 20, 10), gpu);
    CHECK(two_and_a_half.at(waves) == doctest::Approx(2.5));
    CHECK(two_and_a_half.at(active) <= 100.0);
}

TEST_CASE("boxes that are stored inside of sectors write some of these twice") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto written = [&gpu](std::int64_t pitch) {
        mk::Kernel kernel;
        mk::examples::warp_specialized_gemm(kernel, {.m = 2048, .n = 2048, .k = 512, .stages = 3});
        kernel.buffers[2].stride[1] = pitch;
        return counters(kernel, gpu).at("lts__t_sectors_op_write.sum");
    };
    CHECK(written(2048) == doctest::Approx(machine::slice_visits(gpu) * 2048.0 * 2048.0 * 2.0 / 32.0));
    CHECK(written(2064) == doctest::Approx(written(2048)));
    CHECK(written(2056) == doctest::Approx(written(2048) * 144.0 / 128.0));
}
