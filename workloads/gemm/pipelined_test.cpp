// Pipelined main loops of all warps: copies ahead, their groups, and the number of matrix instructions.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/checks.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>

using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::hw::InstructionClass;

namespace {

Config pipelined(Pipeline pipeline, int stages, MatrixInstruction mma = MatrixInstruction::mma_sync) {
    Config c = tile_of(128, 128, 32);
    c.pipeline = pipeline;
    c.stages = stages;
    c.warps = 4;
    c.mma = mma;
    return c;
}

mk::WalkTotals walk_of(const Problem& p, const Config& c) {
    const mk::Program program = lowered(p, c);
    return mk::walk_totals(program.kernels[0], item_at(program.kernels[0], 0));
}

}  // namespace

TEST_CASE("each k-iteration is copied once, however many stages run ahead") {
    const Problem p = problem_of(512, 512, 1024);
    for (const int stages : {1, 2, 3, 6}) {
        const auto asynchronous = walk_of(p, pipelined(Pipeline::cp_async, stages));
        // Two operands of 128 x 32 bf16, copied by 4 warps of 32 lanes with 16 bytes each: 4 copies a warp
        // and operand.
        CHECK(asynchronous.instructions_of(InstructionClass::cp_async) == 32.0 * 2 * 4 * 4);
        CHECK(asynchronous.instructions_of(InstructionClass::ld_global) == 0.0);
        const auto plain = walk_of(p, pipelined(Pipeline::sync, stages));
        CHECK(plain.instructions_of(InstructionClass::ld_global) == 32.0 * 2 * 4 * 4);
        CHECK(plain.instructions_of(InstructionClass::cp_async) == 0.0);
    }
}

TEST_CASE("narrow copies take more instructions for the same bytes") {
    Config c = pipelined(Pipeline::cp_async, 3);
    c.copy_bytes = 4;
    const auto narrow = walk_of(problem_of(512, 512, 1024), c);
    CHECK(narrow.instructions_of(InstructionClass::cp_async) == 32.0 * 2 * 16 * 4);
}

TEST_CASE("warps share the tile out as in Triton's compiled loops") {
    struct Loop {
        int m, n, k, warps, ldmatrix, mma;  // of a warp and a trip, from the machine code
    };
    for (const Loop& loop : {Loop{16, 32, 32, 4, 3, 2}, Loop{16, 128, 128, 4, 24, 32},
                             Loop{32, 32, 32, 4, 4, 4}, Loop{32, 64, 32, 4, 6, 8}, Loop{32, 64, 32, 8, 4, 4},
                             Loop{32, 128, 64, 8, 12, 16}, Loop{32, 256, 128, 4, 48, 128}}) {
        CAPTURE(loop.m);
        CAPTURE(loop.n);
        CAPTURE(loop.warps);
        Config c = tile_of(loop.m, loop.n, loop.k);
        c.pipeline = Pipeline::cp_async;
        c.mma = MatrixInstruction::mma_sync;
        c.warps = loop.warps;
        const auto walk = walk_of(problem_of(512, 512, 1024), c);
        const double trips = 1024.0 / loop.k * loop.warps;
        CHECK(walk.instructions_of(InstructionClass::ldmatrix) == trips * loop.ldmatrix);
        CHECK(walk.instructions_of(InstructionClass::mma_sync) == trips * loop.mma);
    }
}

TEST_CASE("square warp tiles read as little, whatever K one instruction has") {
    Config c = pipelined(Pipeline::cp_async, 3);
    const Problem p = problem_of(512, 512, 1024);
    // 4 warps of 64 x 64. A load takes 16 rows of 32 bytes, and a stage of 32 along K has two such steps.
    CHECK(walk_of(p, c).instructions_of(InstructionClass::ldmatrix) == 32.0 * 4 * 2 * (4 + 4));
    c.square_warp_tiles = true;
    CHECK(walk_of(p, c).instructions_of(InstructionClass::ldmatrix) == 32.0 * 4 * 2 * (4 + 4));
    c.mma_k = 8;
    CHECK(walk_of(p, c).instructions_of(InstructionClass::ldmatrix) == 32.0 * 4 * 2 * (4 + 4));
}

TEST_CASE("a Triton kernel computes its addresses before the first copy") {
    Config c = pipelined(Pipeline::cp_async, 3);
    const Problem p = problem_of(512, 512, 1024);
    const double without = walk_of(p, c).instructions_of(InstructionClass::add_s32);
    c.strides_by_16 = true;
    const double with = walk_of(p, c).instructions_of(InstructionClass::add_s32);
    // Each warp has some four hundred additions more. To these come the loop's, which are multiply-adds in
    // the other kernel.
    CHECK(with - without > 4 * 300.0);
    CHECK(with - without < 4 * 500.0 + 32.0 * 4 * 100);
}

TEST_CASE("Triton's loops of mma.sync copy behind the reads of their operands, all others before") {
    const Problem p = problem_of(512, 512, 1024);
    const auto reads_first = [&p](const Config& config) {
        const mk::Program program = lowered(p, config);
        const auto& ops = program.kernels[0].ops;
        const auto is = [](InstructionClass cls) {
            return [cls](const mk::Op& op) { return op.cls == cls; };
        };
        const auto read = std::find_if(ops.begin(), ops.end(), is(InstructionClass::ldmatrix));
        const auto copy = std::find_if(ops.rbegin(), ops.rend(), is(InstructionClass::cp_async));
        return read < copy.base() - 1;
    };
    Config c = pipelined(Pipeline::cp_async, 3);
    CHECK_FALSE(reads_first(c));
    c.strides_by_16 = true;
    CHECK(reads_first(c));
}

TEST_CASE("a lane that loads in pieces stores to shared memory at once what it holds") {
    Config c = pipelined(Pipeline::sync, 2);
    c.copy_bytes = 2;
    const auto walk = walk_of(problem_of(512, 512, 1024), c);
    CHECK(walk.instructions_of(InstructionClass::ld_global) == 8.0 * 32 * 2 * 4 * 4);
    CHECK(walk.instructions_of(InstructionClass::st_shared) >= 32.0 * 2 * 4 * 4);
    c.lane_bytes_a = c.lane_bytes_b = 2;
    CHECK(walk_of(problem_of(512, 512, 1024), c).instructions_of(InstructionClass::st_shared) >=
          8.0 * 32 * 2 * 4 * 4);
}

TEST_CASE("warps share the tile's matrix instructions and load their fragments") {
    const auto walk = walk_of(problem_of(512, 512, 1024), pipelined(Pipeline::cp_async, 3));
    // m16n8k16: 8 x 16 x 2 products a stage of 128 x 128 x 32.
    CHECK(walk.instructions_of(InstructionClass::mma_sync) == 32.0 * 8 * 16 * 2);
    CHECK(walk.instructions_of(InstructionClass::ldmatrix) > 0.0);
    Config c = pipelined(Pipeline::cp_async, 3);
    c.mma_k = 8;
    CHECK(walk_of(problem_of(512, 512, 1024), c).instructions_of(InstructionClass::mma_sync) ==
          32.0 * 8 * 16 * 4);
    const auto group =
        walk_of(problem_of(512, 512, 1024), pipelined(Pipeline::cp_async, 3, MatrixInstruction::wgmma));
    CHECK(group.instructions_of(InstructionClass::mma_sync) == 0.0);
    CHECK(group.instructions_of(InstructionClass::wgmma) == 32.0 * 2 * 2 * 4);
}

TEST_CASE("the group of copies is as deep as there are stages") {
    for (const int stages : {1, 2, 5}) {
        const mk::Kernel kernel =
            lowered(problem_of(512, 512, 1024), pipelined(Pipeline::cp_async, stages)).kernels[0];
        CHECK_NOTHROW(mk::check(kernel));
        CHECK(kernel.tokens[0].depth == stages);
        CHECK(kernel.tokens[0].kind == mk::TokenKind::async_group);
        REQUIRE(kernel.waits.size() >= 1);
        CHECK(kernel.waits[0].lag == std::max(0, stages - 2));
    }
}

TEST_CASE(
    "Triton's products of 256 columns in fp8 by two warpgroups wait for each other and are copied behind") {
    Problem p = problem_of(4096, 4096, 4096);
    p.a = p.b = warptime::hw::Dtype::fp8;
    Config c = tile_of(128, 256, 64);
    c.pipeline = Pipeline::cp_async;
    c.mma = MatrixInstruction::wgmma;
    c.stages = 3;
    c.warps = 8;
    c.strides_by_16 = true;
    const auto products = [&p](const Config& config) {
        const mk::Program program = lowered(p, config);
        for (const mk::Op& op : program.kernels[0].ops) {
            if (op.cls == InstructionClass::wgmma) return op;
        }
        return mk::Op{};
    };
    CHECK(products(c).count == 2);
    CHECK(products(c).chain == 2);
    c.cta_n = 128;
    CHECK(products(c).chain < products(c).count);
    c.cta_n = 256;
    p.a = p.b = warptime::hw::Dtype::bf16;
    CHECK(products(c).chain < products(c).count);
}

TEST_CASE("Triton's products of 128 columns by two warpgroups wait for each other where K is split") {
    const Problem p = problem_of(512, 512, 16384);
    Config c = tile_of(128, 128, 64);
    c.pipeline = Pipeline::cp_async;
    c.mma = MatrixInstruction::wgmma;
    c.stages = 4;
    c.warps = 8;
    c.strides_by_16 = true;
    const auto in_series = [&p](const Config& config) {
        const mk::Program program = lowered(p, config);
        const auto& ops = program.kernels[0].ops;
        const auto product = std::find_if(ops.begin(), ops.end(),
                                          [](const mk::Op& op) { return op.cls == InstructionClass::wgmma; });
        REQUIRE(product != ops.end());
        return product->chain == product->count;
    };
    CHECK_FALSE(in_series(c));
    c.split_k = 4;
    CHECK_FALSE(in_series(c));
    c.reduction = Reduction::atomic;
    CHECK(in_series(c));
    c.warps = 4;
    CHECK_FALSE(in_series(c));
    c.warps = 8;
    c.cta_n = 64;
    CHECK_FALSE(in_series(c));
}

TEST_CASE("what is gathered beside copies comes behind their wait, and the next copies behind the products") {
    Problem p = problem_of(512, 512, 1001);  // A's rows are not aligned
    p.b_major = Major::other;
    for (const int cta_m : {32, 64}) {
        Config c = tile_of(cta_m, 64, 32);
        c.strides_by_16 = true;
        c.stages = 4;
        c.warps = 4;
        const mk::Program program = lowered(p, c);
        const mk::Kernel& kernel = program.kernels[0];
        const auto at = [&](InstructionClass cls) {
            const auto last = std::find_if(kernel.ops.rbegin(), kernel.ops.rend(),
                                           [&](const mk::Op& op) { return op.cls == cls; });
            REQUIRE(last != kernel.ops.rend());
            return std::distance(last, kernel.ops.rend());
        };
        const auto products = at(cta_m < 64 ? InstructionClass::mma_sync : InstructionClass::wgmma);
        CHECK(at(InstructionClass::ld_global) < products);
        CHECK(products < at(InstructionClass::cp_async));
        const auto walk = mk::walk_totals(kernel, item_at(kernel, 0));
        // 32 trips of four warps: single elements of A, pieces of 16 bytes of B.
        CHECK(walk.instructions_of(InstructionClass::ld_global) == 32.0 * cta_m * 32 / 32);
        CHECK(walk.instructions_of(InstructionClass::cp_async) == 32.0 * 64 * 32 * 2 / (32 * 16));
    }
}
