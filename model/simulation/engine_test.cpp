// Engine behind the common signature: both answers, refusals, and the sums of its full answer.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/engine.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/small_kernels.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
namespace examples = warptime::model::kernel::examples;
namespace prediction = warptime::model::prediction;
using namespace warptime::model::simulation;

namespace {

mk::Program program_of_three() {
    mk::Program program;
    program.add_memset(1 << 26);
    examples::cp_async_gemm(program.add_kernel(), {1024, 1024, 1024});
    program.add_memcpy(mk::Memcpy{1 << 26});
    return program;
}

}  // namespace

TEST_CASE("each kind of step has the same time, band and limiter in both answers; shares add up") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    CHECK(engine->name() == "simulation");
    const auto stages = engine->make_stages(gpu);
    const mk::Program program = program_of_three();
    for (const mk::Step& step : program.steps) {
        const auto hot = stages->evaluate(program, step, {});
        const auto full = engine->explain(program, step, gpu, {});
        CHECK(full.time == hot.time);
        CHECK(full.low == hot.low);
        CHECK(full.high == hot.high);
        CHECK(full.limiter == hot.limiter);
        CHECK(full.status == prediction::Status::extrapolated);
        CHECK(full.band_source.find("prior") != std::string::npos);
        double sum = 0.0;
        for (const auto& share : full.shares) {
            CHECK(share.second >= 0.0);
            sum += share.second;
        }
        CHECK(sum == doctest::Approx(1.0));
        for (const auto& bound : full.bounds) {
            CHECK(bound.time <= full.time * (1.0 + 1e-9));
        }
    }
}

TEST_CASE("counters of a GEMM: instructions, bytes and resident warps") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const mk::Program program = program_of_three();
    const auto answer = make_engine()->explain(program, program.steps[1], gpu, {});
    const std::map<std::string, double> counters(answer.counters.begin(), answer.counters.end());
    // 64 CTAs of 4 warps, all resident: at most a sixteenth of the warps that an SM can hold.
    CHECK(counters.at("sm__warps_active.avg.pct_of_peak_sustained_active") <= 6.25);
    CHECK(counters.at("sm__warps_active.avg.pct_of_peak_sustained_active") > 5.0);
    // DRAM delivers a little more than what is asked for (dram.access_bytes).
    CHECK(counters.at("dram__bytes_read.sum") == doctest::Approx(4.0 * 1024 * 1024).epsilon(0.001));
    CHECK(counters.at("l1tex__m_xbar2l1tex_read_bytes.sum") == doctest::Approx(64.0 * 2 * 128 * 1024 * 2));
    CHECK(answer.flops_per_s * answer.time == doctest::Approx(2.0 * 1024 * 1024 * 1024));
    CHECK(answer.waves == doctest::Approx(64.0 / (132.0 * answer.occupancy.ctas_per_sm)));
}

TEST_CASE("tensor work settles at the clock that its own load leaves") {
    const auto gpu = hw::load_gpu("h200-sxm");
    mk::Kernel kernel;
    examples::cp_async_gemm(kernel, {1024, 1024, 1024});
    const KernelTime t = simulate(kernel, gpu, {});
    const double load = t.run.tensor_flop / (t.time * t.clock_hz * gpu.tensor.bf16.value() * 132.0);
    const double clock =
        gpu.clock.boost.value() * (gpu.clock.tensor_base.value() - gpu.clock.tensor_slope.value() * load);
    CHECK(t.clock_hz == doctest::Approx(clock).epsilon(1e-3));
    prediction::Conditions given;
    given.clock_hz = 1e9;
    CHECK(simulate(kernel, gpu, given).clock_hz == 1e9);
}

TEST_CASE("what is not modelled is refused by name") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    mk::Program program = program_of_three();
    program.memcpys[0].link = mk::Link::peer;
    CHECK_THROWS_WITH_AS((void)engine->explain(program, program.steps[2], gpu, {}), doctest::Contains("peer"),
                         warptime::Error);
}
