// Runs between waits, and their time for warps in step.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/issue/issue_runs.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {

namespace {

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

kernel::Op op_of(hw::InstructionClass cls, std::int64_t count) {
    kernel::Op op;
    op.cls = cls;
    op.count = count;
    return op;
}

constexpr hw::Cycles slot(1.0);

}  // namespace

TEST_CASE("a run ends where its warp waits, branches or leaves slots free, and short ones do not count") {
    using hw::InstructionClass;
    const kernel::Op adds = op_of(InstructionClass::add_f32, 8);
    const auto runs_of = [&](auto&& between) {
        IssueRuns runs;
        Part part;
        runs.issue(adds, false, slot, 3.0, gpu(), part);
        between(runs, part);
        runs.close(gpu(), part);
        return part;
    };
    Part part = runs_of([&](auto& runs, auto& of) { runs.issue(adds, false, slot, 3.0, gpu(), of); });
    CHECK(part.runs == 3.0);
    CHECK(part.run_slots == 48.0);
    part = runs_of([&](auto& runs, auto& of) { runs.issue(adds, true, slot, 3.0, gpu(), of); });
    CHECK(part.runs == 6.0);
    CHECK(part.run_slots == 48.0);
    part = runs_of([&](auto& runs, auto& of) {
        runs.issue(op_of(InstructionClass::branch, 1), false, slot, 3.0, gpu(), of);
        runs.issue(op_of(InstructionClass::add_f32, 4), false, slot, 3.0, gpu(), of);
    });
    CHECK(part.runs == 3.0);
    CHECK(part.run_slots == 27.0);
    part = runs_of([&](auto& runs, auto& of) {
        runs.issue(op_of(InstructionClass::logic, 40), false, slot * 2.0, 3.0, gpu(), of);
    });
    CHECK(part.run_slots == 24.0);
    kernel::Op links = adds;
    links.chain = 8;
    part = runs_of([&](auto& runs, auto& of) { runs.issue(links, false, slot, 3.0, gpu(), of); });
    CHECK(part.run_slots == 24.0);
}

TEST_CASE("each further warp adds the runs, and the gap behind a branch is filled once") {
    Part part;
    part.runs = 2.0;
    part.run_slots = 100.0;
    const hw::Cycles chain(300.0);
    const double gap = branch_gap(gpu()).value();
    CHECK(pass_in_step(part, chain, 1, gpu()).value() == 300.0);
    CHECK(pass_in_step(part, chain, 2, gpu()).value() == 400.0 - gap);
    CHECK(pass_in_step(part, chain, 3, gpu()).value() == 500.0 - 2.0 * gap);
    CHECK(pass_in_step(part, chain, 8, gpu()).value() == 1000.0 - 2.0 * gap);
}

}  // namespace warptime::model::machine
