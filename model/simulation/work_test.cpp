// Events of a run: counted by hand, and against the steps of the reference walk.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/work.hpp"

#include "hw/error.hpp"
#include "model/kernel/examples/small_kernels.hpp"
#include "model/kernel/walk.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace warptime::model;
namespace examples = kernel::examples;

namespace {

struct Steps : kernel::WalkVisitor {
    void on_op(const kernel::WalkPlace&, kernel::Id, std::int64_t) override { ++count; }
    void on_wait(const kernel::WalkPlace&, kernel::Id, std::int64_t) override { ++count; }
    double count = 0.0;
};

kernel::Kernel looped(std::int64_t trips) {
    kernel::Kernel kernel;
    kernel.name = "looped";
    kernel.grid = {132, 1, 1};
    kernel.schedule.tiles = {132, 1, 1, 1};
    kernel.cta = {128, 1, 1};
    kernel::Builder build(kernel);
    build.role("warps", 4);
    build.loop(trips);
    examples::add_op(build, examples::make_op(warptime::hw::InstructionClass::fma_f32, 8));
    examples::add_op(build, examples::make_op(warptime::hw::InstructionClass::branch));
    build.end();
    build.finish();
    return kernel;
}

}  // namespace

TEST_CASE("events are ops, waits and signals of all warps and trips") {
    CHECK(simulation::events_of(looped(10)) == 132.0 * 4 * 10 * 2);
    CHECK(simulation::events_of(looped(0)) == 0.0);
    kernel::Kernel softmax;
    examples::softmax(softmax, 8, 4096);
    Steps steps;
    kernel::WorkItem item;
    const std::array<kernel::WorkItem, 1> one{item};
    kernel::walk(softmax, one, steps);
    const double signals = 2.0 * 8;  // of two barriers, by eight warps
    CHECK(simulation::events_of(softmax) == 8.0 * (steps.count + signals));
}

TEST_CASE("a run that would not end is refused before it begins") {
    CHECK_NOTHROW(simulation::require_feasible(looped(1000000), simulation::events_of(looped(1000000))));
    CHECK_THROWS_WITH_AS(
        simulation::require_feasible(looped(1000000000), simulation::events_of(looped(1000000000))),
        "kernel 'looped' simulation: got '1.06e+12 events', expected at most 4e+11; the "
        "analytical engine has no such limit",
        warptime::Error);
}
