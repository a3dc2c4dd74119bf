// Predicated ops, lanes that follow the trips, and many inputs: both engines agree with closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "model/agreement/both_engines_test.hpp"

#include <vector>

namespace {

using namespace warptime::model::agreement;
using warptime::hw::Dtype;

/// Each warp reads 512 bytes `trips` times from each of `inputs` buffers; every byte once.
mk::Kernel reads(int inputs, double enabled, std::int64_t ctas, std::int64_t trips) {
    constexpr int warps = 8;
    constexpr std::int64_t row = 128;
    mk::Kernel kernel = grid_of(ctas, warps);
    mk::Builder build(kernel);
    std::vector<mk::Id> buffers;
    for (int b = 0; b < inputs; ++b) {
        buffers.push_back(
            build.buffer(mk::examples::vector_of("x", Dtype::fp32, ctas * trips * warps * row)));
    }
    build.role("warps", warps);
    build.loop(trips);
    for (const mk::Id x : buffers) {
        Draft load = make_op(InstructionClass::ld_global);
        load.enabled = enabled;
        add_access(load,
                   mk::examples::lanes(x, mk::Direction::read,
                                       build.index(0, {mk::term(mk::Variable::tile, trips * warps * row),
                                                       mk::term(mk::Variable::loop, warps * row),
                                                       mk::term(mk::Variable::warp, row)}),
                                       16));
        add_op(build, load);
    }
    Draft sum = make_op(InstructionClass::add_f32);
    add_op(build, sum);
    for (int b = 0; b < inputs; ++b) build.dep({b, 0});
    build.end();
    build.finish();
    return kernel;
}

/// Seconds that a kernel's reads take beyond its launch, by both engines.
Times reading(const mk::Kernel& kernel) {
    const auto gpu = teaching_gpu();
    Times times = times_of(kernel, gpu, at_fixed_clock());
    times.analytical -= floor_of(gpu);
    times.simulation -= floor_of(gpu);
    return times;
}

}  // namespace

TEST_CASE("the bytes of every buffer come from DRAM, however many buffers there are") {
    const Times two = reading(reads(2, 1.0, 792, 4));
    for (const int inputs : {6, 12, 20}) {
        const Times many = reading(reads(inputs, 1.0, 792, 4));
        CHECK(many.analytical / two.analytical == doctest::Approx(inputs / 2.0).epsilon(0.06));
        CHECK(many.simulation / two.simulation == doctest::Approx(inputs / 2.0).epsilon(0.06));
    }
}

TEST_CASE("hundreds of buffers are all told apart") {
    const Times half = reading(reads(150, 1.0, 132, 1));
    const Times all = reading(reads(300, 1.0, 132, 1));
    CHECK(all.analytical / half.analytical == doctest::Approx(2.0).epsilon(0.06));
    CHECK(all.simulation / half.simulation == doctest::Approx(2.0).epsilon(0.06));
}

TEST_CASE("a predicate that holds in a quarter of the executions moves a quarter of the bytes") {
    const Times all = reading(reads(4, 1.0, 528, 32));
    const Times quarter = reading(reads(4, 0.25, 528, 32));
    CHECK(quarter.analytical / all.analytical == doctest::Approx(0.25).epsilon(0.06));
    CHECK(quarter.simulation / all.simulation == doctest::Approx(0.25).epsilon(0.06));
}

TEST_CASE("a predicate that never holds leaves the issue slots") {
    for (const bool by_lanes : {false, true}) {
        const auto make = [by_lanes](std::int64_t trips) {
            mk::Kernel kernel = grid_of(132, 4);
            mk::Builder build(kernel);
            const mk::Id x = build.buffer(mk::examples::vector_of("x", Dtype::fp32, 1 << 24));
            build.role("warps", 4);
            build.loop(trips);
            Draft load = make_op(InstructionClass::ld_global, 8);
            load.enabled = by_lanes ? 1.0 : 0.0;
            add_access(load, mk::examples::lanes(x, mk::Direction::read, mk::Builder::constant(0), 4, 32));
            const mk::Id loaded = add_op(build, load);
            if (by_lanes) build.lanes(build.index(-1, {mk::term(mk::Variable::warp, -32)}));
            add_op(build, make_op(InstructionClass::add_f32, 1, {{loaded, 0}}));
            build.end();
            build.finish();
            return kernel;
        };
        // Eight loads of a warp hold the load and store unit for 4 cycles each.
        const auto gpu = teaching_gpu();
        const Times one = times_of(make(1000), gpu, at_fixed_clock());
        const Times two = times_of(make(2000), gpu, at_fixed_clock());
        const double latency = gpu.latency.l2_near.value();
        for (const double further : {two.analytical - one.analytical, two.simulation - one.simulation}) {
            const double cycles = further * clock_hz / 1000.0;
            CHECK(cycles >= 32.0 - 1e-6);
            CHECK(cycles < 32.0 + 16.0);
            CHECK(cycles < latency);
        }
    }
}

TEST_CASE(
    "lanes that halve from trip to trip compute their sum, and a branch that no lane takes costs nothing") {
    const auto steps = [](bool by_branch) {
        mk::Kernel kernel = grid_of(132, 8);
        mk::Builder build(kernel);
        build.role("warps", 8);
        build.loop(2000);
        build.loop(8);
        const mk::Index threads =
            build.power(build.sum(mk::Builder::constant(7), build.variable(mk::Variable::loop, -1, 1)));
        const mk::Index lanes = build.sum(threads, build.variable(mk::Variable::warp, -32));
        if (by_branch) {
            build.branch({});
            build.lanes(lanes);
        }
        add_op(build, make_op(InstructionClass::mufu, 16));
        if (!by_branch) build.lanes(lanes);
        if (by_branch) build.end();
        build.end();
        build.end();
        build.finish();
        return kernel;
    };
    const auto gpu = teaching_gpu();
    const Times issued = times_of(steps(false), gpu, at_fixed_clock());
    const Times branched = times_of(steps(true), gpu, at_fixed_clock());
    // All eight warps issue in each of eight steps; with the branch 4 + 2 + 1 + 5 x 1 of 64 do.
    CHECK(branched.analytical / issued.analytical < 0.5);
    CHECK(branched.simulation / issued.simulation < 0.75);
    CHECK(issued.analytical == doctest::Approx(issued.simulation).epsilon(0.05).scale(1e-6));
}
