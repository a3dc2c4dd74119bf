// CUTLASS 2's multistage loops: a trip's instructions against SASS, and the order of copies and waits.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::hw::InstructionClass;

namespace {

Config multistage(int m, int n, int k, int warps, int stages, int copy_bytes, int mma_k) {
    Config c = tile_of(m, n, k);
    c.pipeline = Pipeline::cp_async;
    c.mma = MatrixInstruction::mma_sync;
    c.fragments_ahead = c.square_warp_tiles = true;
    c.warps = warps;
    c.stages = stages;
    c.copy_bytes = copy_bytes;
    c.mma_k = mma_k;
    return c;
}

Problem operands(Dtype dtype, std::int64_t k) {
    Problem p = problem_of(512, 512, k);
    p.a = p.b = dtype;
    return p;
}

/// Instructions of a warp in each trip that a longer K adds.
double of_trip(Dtype dtype, const Config& c, std::initializer_list<InstructionClass> classes) {
    double counts[2]{};
    for (const int longer : {0, 1}) {
        const mk::Program program = lowered(operands(dtype, c.cta_k * (8 + 4 * longer)), c);
        const mk::WalkTotals totals = mk::walk_totals(program.kernels[0], item_at(program.kernels[0], 0));
        counts[longer] = 0.0;
        for (const InstructionClass cls : classes) counts[longer] += totals.instructions_of(cls);
    }
    return (counts[1] - counts[0]) / 4.0 / c.warps;
}

}  // namespace

TEST_CASE("a trip issues what the machine code of the library's loops has") {
    struct Loop {
        Dtype dtype;
        Config config;
        int products, loads, copies, all;
    };
    for (const Loop& loop : {Loop{Dtype::int8, multistage(64, 64, 128, 4, 6, 16, 32), 32, 16, 8, 126},
                             Loop{Dtype::int8, multistage(64, 128, 128, 4, 3, 16, 32), 64, 24, 12, 187},
                             Loop{Dtype::int8, multistage(128, 128, 128, 4, 5, 16, 32), 128, 32, 16, 262},
                             Loop{Dtype::int8, multistage(256, 128, 128, 8, 3, 16, 32), 128, 32, 12, 247},
                             Loop{Dtype::int8, multistage(64, 128, 128, 4, 3, 4, 32), 64, 24, 48, 242},
                             Loop{Dtype::bf16, multistage(128, 128, 64, 4, 3, 4, 16), 128, 32, 64, 334},
                             Loop{Dtype::bf16, multistage(64, 256, 64, 4, 4, 4, 16), 128, 32, 80, 398},
                             Loop{Dtype::bf16, multistage(256, 128, 32, 8, 3, 4, 16), 64, 16, 24, 156},
                             Loop{Dtype::tf32, multistage(64, 64, 16, 4, 6, 16, 8), 16, 8, 4, 104},
                             Loop{Dtype::tf32, multistage(64, 128, 32, 4, 6, 16, 8), 64, 24, 12, 276}}) {
        CAPTURE(loop.config.cta_m);
        CAPTURE(loop.config.cta_n);
        CAPTURE(loop.all);
        CHECK(of_trip(loop.dtype, loop.config, {InstructionClass::mma_sync}) == loop.products);
        CHECK(of_trip(loop.dtype, loop.config, {InstructionClass::ldmatrix}) == loop.loads);
        CHECK(of_trip(loop.dtype, loop.config, {InstructionClass::cp_async}) == loop.copies);
        const double all =
            of_trip(loop.dtype, loop.config,
                    {InstructionClass::mma_sync, InstructionClass::ldmatrix, InstructionClass::cp_async,
                     InstructionClass::add_s32, InstructionClass::convert_pack, InstructionClass::bar_sync});
        CHECK(all == doctest::Approx(loop.all).epsilon(0.1));
    }
}

TEST_CASE("a trip has one barrier, and waits behind its copies for those of an earlier one") {
    const Config c = multistage(128, 128, 128, 4, 5, 16, 32);
    CHECK(of_trip(Dtype::int8, c, {InstructionClass::bar_sync}) == 1.0);
    const mk::Program program = lowered(operands(Dtype::int8, 4096), c);
    const mk::Kernel& kernel = program.kernels[0];
    bool copied = false;
    bool behind = false;
    for (const mk::Node& node : kernel.nodes) {
        if (node.kind == mk::NodeKind::loop) copied = false;
        copied = copied || (node.kind == mk::NodeKind::op &&
                            kernel.ops[node.payload].cls == InstructionClass::cp_async);
        behind = behind || (copied && node.kind == mk::NodeKind::wait);
    }
    CHECK(behind);
}

TEST_CASE("two stages, and plain loads, keep the other order") {
    for (const int stages : {2, 3}) {
        Config c = multistage(128, 128, 128, 4, stages, 16, 32);
        CHECK(of_trip(Dtype::int8, c, {InstructionClass::bar_sync}) == (stages == 2 ? 2.0 : 1.0));
    }
}

TEST_CASE("slices along K multiply as much, read more rows a product, and add their sums in shared memory") {
    const Problem p = problem_of(512, 512, 1024);
    Config c = multistage(64, 64, 64, 4, 4, 16, 16);
    const mk::Program whole = lowered(p, c);
    c.slice_k = 2;
    const mk::Program sliced = lowered(p, c);
    const mk::WalkTotals one = mk::walk_totals(whole.kernels[0], item_at(whole.kernels[0], 0));
    const mk::WalkTotals two = mk::walk_totals(sliced.kernels[0], item_at(sliced.kernels[0], 0));
    CHECK(two.matrix_flop == one.matrix_flop);
    // Of two warps that share M and N, one has 64 x 32 and half of K: 4 + 2 ldmatrix for each of two steps.
    // Four warps have 32 x 32: 2 + 2 for each of four steps.
    const double trips = 16.0;
    CHECK(one.instructions_of(InstructionClass::ldmatrix) == 4 * trips * 16);
    CHECK(two.instructions_of(InstructionClass::ldmatrix) == 4 * trips * 12);
    // 32 sums of a lane and place, of two slices: 16 words of 16 bytes each way, and 32 additions.
    CHECK(two.instructions_of(InstructionClass::st_shared) == 4 * 16);
    CHECK(two.instructions_of(InstructionClass::ld_shared) == 4 * 16);
    CHECK(two.instructions_of(InstructionClass::add_f32) == 4 * 32);
    const auto refused = [&](const Config& config) {
        try {
            (void)lowered(p, config);
        } catch (const warptime::Error& error) {
            return error.parameter();
        }
        return std::string("accepted");
    };
    c.slice_k = 3;
    CHECK(refused(c) == "gemm slice_k");
    c.slice_k = 4;
    CHECK(refused(c) == "accepted");
    c.mma = MatrixInstruction::simt;
    CHECK(refused(c) == "gemm slice_k");
}
