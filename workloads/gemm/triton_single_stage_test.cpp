// Triton's loops of one stage, against compiled kernels.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_single_stage.hpp"

#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/footprint.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace warptime::workloads::gemm;
using namespace fixture;

namespace {

Config of(int m, int n, int k, int stages, int warps) {
    Config config = tile_of(m, n, k);
    config.stages = stages;
    config.warps = warps;
    config.strides_by_16 = true;
    return config;
}

Problem problem_along_n(std::int64_t n, std::int64_t k) {
    Problem p = problem_of(1024, n, k);
    p.b_major = Major::other;
    return p;
}

Config done(Config config, std::int64_t n = 1024) {
    complete(problem_along_n(n, n), gpu(), config);
    return config;
}

/// The loads of B in the kernel's loop, which are its last loads.
mk::Op load_of_b(const Config& config) {
    const mk::Program program = lowered(problem_along_n(1024, 1024), config);
    const auto& ops = program.kernels[0].ops;
    const auto found = std::find_if(ops.rbegin(), ops.rend(), [](const mk::Op& op) {
        return op.cls == warptime::hw::InstructionClass::ld_global;
    });
    REQUIRE(found != ops.rend());
    return *found;
}

}  // namespace

TEST_CASE("loads go together as far as there are registers for what they bring") {
    // Machine code of these tiles: 32x32x64, 128x16x64 and 16x64x128 with eight warps, 16x256x32 with two,
    // 64x64x64 with four.
    CHECK(turns_of_loads(1, 1) == 1);
    CHECK(turns_of_loads(4, 1) == 1);
    CHECK(turns_of_loads(1, 4) == 3);
    CHECK(turns_of_loads(1, 16) == 4);
    CHECK(turns_of_loads(4, 4) == 2);
}

TEST_CASE("a single stage passes through registers, and more are copied ahead") {
    const Config one = done(of(64, 64, 64, 1, 4));
    CHECK(loads_stage_in_turns(one));
    CHECK_FALSE(loads_stage_in_turns(done(of(64, 64, 64, 3, 4))));
    CHECK(shared_bytes(problem_along_n(1024, 1024), one) == 2 * 64 * 64 * 2);
    CHECK(load_of_b(of(64, 64, 64, 1, 4)).chain == 2);
    CHECK(load_of_b(of(32, 32, 64, 1, 8)).chain == 1);
    // Unaligned rows are loaded element by element.
    CHECK_FALSE(loads_stage_in_turns(done(of(64, 64, 64, 1, 4), 1001)));
}
