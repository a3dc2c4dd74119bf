// Times of one kernel from both engines on a teaching GPU, compared with a closed form.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/examples/parts.hpp"
#include "model/simulation/engine.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warptime::model::agreement {

namespace mk = kernel;
using hw::InstructionClass;
using mk::examples::add_access;
using mk::examples::add_op;
using mk::examples::Draft;
using mk::examples::make_op;
using prediction::Conditions;

inline constexpr double clock_hz = 1.5e9;
inline constexpr double rounding = 1e-6;

/// An H200 on which effects do not mix. The largest of several bounds counts alone (overlap.exponent), and
/// loads do not queue in DRAM (dram.queue). All rounds of loads take the same time (round_spread). CTAs are
/// handed out and follow one another at once (launch.*). A pipelined loop has no least period
/// (pipeline.step_floor). A test that needs one of these numbers restores it.
inline hw::Gpu teaching_gpu() {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    gpu.overlap.exponent = hw::Number(1e7);
    gpu.dram.queue = hw::Cycles(0.0);
    gpu.dram.round_spread = gpu.l2.round_spread = hw::Cycles(0.0);
    gpu.launch.cold = hw::Seconds(0.0);
    gpu.launch.cta_interval = hw::Cycles(0.0);
    gpu.launch.cta_turnaround = hw::Cycles(0.0);
    gpu.launch.warp_turnaround = hw::Cycles(0.0);
    gpu.pipeline.step_floor = hw::Cycles(0.0);
    gpu.code.near_instructions = gpu.code.far_instructions = hw::Number(1e12);
    return gpu;
}

/// The clock is given and the instruction caches are warm; operands are where `cache` says.
inline Conditions at_fixed_clock(prediction::Cache cache = prediction::Cache::cold) {
    Conditions conditions;
    conditions.cache = cache;
    conditions.clock_hz = clock_hz;
    return conditions;
}

struct Times {
    double analytical = 0.0, simulation = 0.0;
};

inline Times times_of(const mk::Program& program, const hw::Gpu& gpu, const Conditions& conditions) {
    const auto one = [&](const prediction::Engine& engine) {
        const auto stages = engine.make_stages(gpu);
        const double time = stages->evaluate(program, program.steps[0], conditions).time;
        CHECK(engine.explain(program, program.steps[0], gpu, conditions).time == time);
        return time;
    };
    return {one(*analytical::make_engine()), one(*simulation::make_engine())};
}

inline Times times_of(const mk::Kernel& kernel, const hw::Gpu& gpu, const Conditions& conditions) {
    mk::check(kernel);
    mk::Program program;
    program.add_kernel() = kernel;
    return times_of(program, gpu, conditions);
}

/// Seconds of the launch before and after the work of a kernel without bulk copies.
inline double floor_of(const hw::Gpu& gpu) {
    return gpu.launch.floor.value();
}

inline void check_near(double value, double expected) {
    CHECK_MESSAGE(std::abs(value - expected) <= rounding * expected,
                  fmt::format("{:.12g} against {:.12g}", value, expected));
}

/// Checks that both engines give the floor plus `cycles`.
inline void check_cycles(const mk::Kernel& kernel, double cycles, const hw::Gpu& gpu = teaching_gpu(),
                         prediction::Cache cache = prediction::Cache::cold) {
    const Times times = times_of(kernel, gpu, at_fixed_clock(cache));
    const double expected = floor_of(gpu) + cycles / clock_hz;
    CAPTURE(cycles);
    CAPTURE(times.analytical);
    CAPTURE(times.simulation);
    check_near(times.analytical, expected);
    check_near(times.simulation, expected);
}

/// Checks that both engines give `period` cycles for each further trip of the main loop. The fill at the
/// start cancels.
template <class Make>
void check_period(Make make, std::int64_t trips, double period, const hw::Gpu& gpu = teaching_gpu(),
                  prediction::Cache cache = prediction::Cache::cold) {
    const Times one = times_of(make(trips), gpu, at_fixed_clock(cache));
    const Times two = times_of(make(2 * trips), gpu, at_fixed_clock(cache));
    const double expected = period * static_cast<double>(trips) / clock_hz;
    CAPTURE(period);
    CAPTURE(two.analytical - one.analytical);
    check_near(two.analytical - one.analytical, expected);
    check_near(two.simulation - one.simulation, expected);
}

/// Grid with one work item a CTA, without roles.
inline mk::Kernel grid_of(std::int64_t ctas, int warps) {
    mk::Kernel kernel;
    kernel.name = "closed_form";
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {std::int64_t{32} * warps, 1, 1};
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    return kernel;
}

/// `warps` warps of one role, each with `trips` times one op.
inline mk::Kernel repeated(const Draft& op, std::int64_t trips, int warps, std::int64_t ctas = 1) {
    mk::Kernel kernel = grid_of(ctas, warps);
    mk::Builder build(kernel);
    build.role("warps", warps);
    build.loop(trips);
    add_op(build, op);
    build.end();
    build.finish();
    return kernel;
}

/// Shared memory with which `resident` CTAs, and no more, fit on an SM of the H200.
inline std::int64_t shared_for(int resident) {
    return resident == 1 ? 200 << 10 : 100 << 10;
}

}  // namespace warptime::model::agreement
