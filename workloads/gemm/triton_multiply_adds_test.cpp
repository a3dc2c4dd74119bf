// Lanes, loads and multiply-adds of Triton's fp32 loops, against compiled ones, and the passes of their
// loads.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_multiply_adds.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/analysis.hpp"
#include "model/machine/shared/bank_conflicts.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/triton_loop_fixture_test.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads::gemm;

namespace {

Config tile(int m, int n, int k, int warps, int stages = 3) {
    Config c = fixture::loop_of(m, n, k, stages, warps);
    c.mma = MatrixInstruction::simt;
    return c;
}

Problem fp32_problem(Major b_major) {
    Problem p = fixture::problem_of(1024, 1024, 1024);
    p.a = p.b = p.out = Dtype::fp32;
    p.b_major = b_major;
    return p;
}

}  // namespace

TEST_CASE("loads and multiply-adds of a trip are those of the machine code") {
    struct Compiled {
        int m, n, k, warps;
        Major b_major;
        std::int64_t loads, multiply_adds;
    };
    // LDS and FFMA in loops of Triton 3.4 for sm_80 and sm_90, A along K.
    for (const Compiled& c : {Compiled{64, 64, 32, 4, Major::k, 96, 1024},
                              {64, 64, 32, 4, Major::other, 96, 1024},
                              {128, 128, 32, 8, Major::k, 160, 2048},
                              {128, 64, 16, 4, Major::k, 80, 1024},
                              {32, 128, 32, 4, Major::k, 96, 1024},
                              {32, 32, 32, 4, Major::other, 64, 256},
                              {32, 32, 64, 4, Major::k, 96, 512},
                              {16, 64, 32, 2, Major::k, 64, 512},
                              {16, 64, 64, 8, Major::other, 96, 256},
                              {128, 16, 32, 4, Major::k, 64, 512}}) {
        const Config config = tile(c.m, c.n, c.k, c.warps);
        const Problem problem = fp32_problem(c.b_major);
        CAPTURE(c.m);
        CAPTURE(c.n);
        CAPTURE(c.warps);
        CHECK(blocked_reads(problem, config, true).count + blocked_reads(problem, config, false).count ==
              c.loads);
        const BlockedLanes lanes = blocked_lanes(config);
        CHECK(std::int64_t{lanes.rows.held} * lanes.columns.held * c.k == c.multiply_adds);
    }
}

TEST_CASE("lanes stand along N first, four outputs by four where there are enough") {
    const BlockedLanes square = blocked_lanes(tile(64, 64, 32, 4));
    CHECK(square.rows.neighbours == 4);
    CHECK(square.rows.lanes == 2);
    CHECK(square.columns.lanes == 16);
    const BlockedLanes wide = blocked_lanes(tile(128, 128, 32, 8));
    CHECK(wide.rows.lanes == 1);
    CHECK(wide.columns.lanes == 32);
    CHECK(blocked_lanes(tile(32, 32, 32, 4)).columns.neighbours == 2);
    CHECK(blocked_lanes(tile(16, 16, 32, 4)).columns.neighbours == 1);
}

TEST_CASE("lanes that read columns along K all meet in the same banks, along N they take the least passes") {
    const auto gpu = warptime::hw::load_gpu("a100-sxm-80gb");
    const auto time_of = [&gpu](Major b_major) {
        mk::Program program;
        lower(fp32_problem(b_major), tile(32, 128, 32, 4), gpu, program);
        return warptime::model::analytical::analyse(program.kernels.front(), gpu, {}).time.value();
    };
    CHECK(time_of(Major::k) > 1.5 * time_of(Major::other));
    const auto loads_of = [](Major b_major) {
        const BlockedReads reads = blocked_reads(fp32_problem(b_major), tile(32, 128, 32, 4), false);
        return warptime::model::machine::shared_passes_strided(reads.apart * 4, reads.elements * 4, {32, 4},
                                                               warptime::model::machine::SharedUse::load);
    };
    CHECK(loads_of(Major::k) == 32);
    CHECK(loads_of(Major::other) == 4);
}

TEST_CASE("registers are those of ptxas within what they are off in the mean") {
    // ptxas gives 222 for the larger tile, and 56 or 62 for the smaller one.
    CHECK(std::abs(multiply_add_registers(tile(64, 64, 32, 2)) - 222) <= 12);
    for (const int compiled : {56, 62}) {
        CHECK(std::abs(multiply_add_registers(tile(32, 32, 32, 4)) - compiled) <= 12);
    }
}

TEST_CASE("a stage less than asked for lies in shared memory") {
    const auto gpu = warptime::hw::load_gpu("a100-sxm-80gb");
    mk::Program program;
    lower(fp32_problem(Major::k), tile(64, 64, 32, 4), gpu, program);
    CHECK(program.kernels.front().dynamic_shared == 32768);
}
