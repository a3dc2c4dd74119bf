// Triton's loop over tensor descriptors: the instructions of an iteration, and the kernel's resources.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/checks.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/footprint.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::hw::InstructionClass;

namespace {

Config descriptors(int m, int n, int k, int stages, int warps) {
    Config c = tile_of(m, n, k);
    c.pipeline = Pipeline::tma;
    c.stages = stages;
    c.warps = warps;
    c.mma = MatrixInstruction::wgmma;
    return c;
}

mk::Kernel kernel_of(const Config& c) {
    return lowered(problem_of(512, 512, 1024), c).kernels[0];
}

}  // namespace

TEST_CASE("an iteration has four barriers, one look at the stage and a box of each operand") {
    const mk::Kernel kernel = kernel_of(descriptors(128, 128, 64, 3, 4));
    const auto walk = mk::walk_totals(kernel, item_at(kernel, 0));
    const double iterations = 1024.0 / 64.0;
    CHECK(walk.instructions_of(InstructionClass::mbarrier_try_wait) == iterations * 4);
    // Further barriers: one for each stage's mbarrier, one before the first box, and one after staging the
    // epilogue's tile.
    CHECK(walk.instructions_of(InstructionClass::bar_sync) == (iterations * 4 + 3 + 1 + 1) * 4);
    CHECK(walk.instructions_of(InstructionClass::cp_async_bulk_tensor) == iterations * 2 * 4);
    // Each iteration has two pieces of 64 rows and four steps of 16 along K.
    CHECK(walk.instructions_of(InstructionClass::wgmma) == iterations * 8 * 4);
    CHECK_NOTHROW(mk::check(kernel));
}

TEST_CASE("sums are set to zero two at a time before the first box") {
    const auto additions = [](int m, int warps) {
        const mk::Kernel kernel = kernel_of(descriptors(m, 128, 64, 3, warps));
        return mk::walk_totals(kernel, item_at(kernel, 0)).instructions_of(InstructionClass::add_s32) / warps;
    };
    // A lane has 64 or 128 sums.
    CHECK(additions(128, 4) - additions(64, 4) == 32.0);
    CHECK(additions(128, 8) == additions(64, 4));
}

TEST_CASE("registers are those of the accumulators and 26 more, in whole units") {
    // Recorded registers are 58, 90 and 154, which the GPU allocates as 64, 96 and 160.
    CHECK(kernel_of(descriptors(64, 64, 64, 4, 4)).registers_per_thread == 64);
    CHECK(kernel_of(descriptors(128, 128, 64, 4, 8)).registers_per_thread == 96);
    CHECK(kernel_of(descriptors(128, 256, 64, 3, 8)).registers_per_thread == 160);
}

TEST_CASE("the stages and a barrier for each are all of its shared memory") {
    CHECK(kernel_of(descriptors(128, 128, 32, 3, 4)).dynamic_shared == 49176);
}

TEST_CASE("warps of their own for the copies are another kernel") {
    Config c = descriptors(128, 128, 64, 4, 8);
    CHECK(copies_by_descriptor(c));
    c.specialization = Specialization::cooperative;
    CHECK_FALSE(copies_by_descriptor(c));
    c.specialization = Specialization::none;
    c.pipeline = Pipeline::cp_async;
    CHECK_FALSE(copies_by_descriptor(c));
}
