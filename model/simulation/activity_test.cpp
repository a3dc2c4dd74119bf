// Activity of a run, averaged over the whole chip.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/activity.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::simulation;
using warptime::model::prediction::Limiter;
using warptime::model::prediction::OperandData;

namespace {

const warptime::hw::Gpu& gpu() {
    static const warptime::hw::Gpu loaded = warptime::hw::load_gpu("h200-sxm");
    return loaded;
}

/// Half of the SMs take part, each with its fp32 pipes busy for 1000 cycles.
Run half_busy() {
    Run run;
    run.sms = static_cast<std::int64_t>(gpu().sm.count.value()) / 2;
    run.ctas = 10 * run.sms;
    run.instructions = 4000.0 * gpu().sm.count.value();
    run.busy.push_back({Limiter::fp32, 2000 * ticks_per_cycle, 1000.0 * ticks_per_cycle});
    run.busy.push_back({Limiter::fp32, 1, 1.0});
    run.traffic.dram_read = 3e6;
    run.traffic.dram_written = 1e6;
    return run;
}

}  // namespace

TEST_CASE("cycles on half of the SMs count half") {
    const machine::Activity activity = activity_of(half_busy(), {}, gpu(), OperandData::zeros);
    CHECK(activity.fp32 == doctest::Approx(500.0));
    CHECK(activity.issue == doctest::Approx(4000.0 / gpu().sm.sub_partitions.value()));
    CHECK(activity.dram.value() == 4e6);
    CHECK(activity.tensor == 0.0);
    CHECK(activity.data == OperandData::zeros);
}

TEST_CASE("tensor work counts at the dense rate of its type") {
    kernel::Kernel kernel;
    kernel::Builder build(kernel);
    build.role("warps", 4);
    kernel::examples::add_op(build, kernel::examples::matrix_op(warptime::hw::InstructionClass::wgmma,
                                                                warptime::hw::Dtype::fp16, {64, 64, 16}, 1));
    build.finish();
    Run run = half_busy();
    run.uses_tensor = true;
    run.tensor_rate = 8192.0;
    run.tensor_flop = 8192.0 * gpu().sm.count.value() * 250.0;
    const machine::Activity activity = activity_of(run, kernel, gpu(), OperandData::random);
    CHECK(activity.tensor == doctest::Approx(250.0));
    CHECK(activity.tensor_dtype == warptime::hw::Dtype::fp16);
}
