// The ops that a stage's copies become: instructions, guards and bank conflicts.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/stage_copies.hpp"

#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/triton_instructions.hpp"
#include "workloads/gemm/triton_turning.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::hw::InstructionClass;

namespace {

/// A role that copies one stage of 128x64x32, two iterations ahead. With `behind` the copies wait for an op.
mk::Kernel copied(Config c, bool guarded, bool behind = false) {
    const Problem p = problem_of(1024, 1024, 1024);
    complete(p, gpu(), c);
    mk::Kernel kernel;
    mk::Builder builder(kernel);
    Parts parts{p, c, builder};
    parts.k_iterations = 32;
    add_buffers(parts);
    add_indices(parts);
    const StageTokens tokens = add_stage_tokens(parts);
    builder.role("warps", c.warps);
    mk::Id first = mk::no_id;
    if (behind) {
        builder.op(InstructionClass::move);
        first = builder.last_op();
    }
    builder.loop(parts.trips);
    add_copies(parts, tokens.group, 2, guarded, first);
    builder.end();
    builder.finish();
    return kernel;
}

Config lanes_copy() {
    Config c = tile_of(128, 64, 32);
    c.warps = 4;
    c.stages = 3;
    c.mma = MatrixInstruction::mma_sync;
    c.pipeline = Pipeline::cp_async;
    return c;
}

std::int64_t count_of(const mk::Kernel& kernel, InstructionClass cls) {
    std::int64_t sum = 0;
    for (const mk::Op& op : kernel.ops) sum += op.cls == cls ? op.count : 0;
    return sum;
}

}  // namespace

TEST_CASE("lanes copy both tiles of a stage in pieces of 16 bytes, and complete one group") {
    const mk::Kernel kernel = copied(lanes_copy(), false);
    // 128 lanes copy (128 + 64) rows of 32 elements of two bytes.
    CHECK(count_of(kernel, InstructionClass::cp_async) == (128 + 64) * 64 / 16 / 128);
    for (const mk::Op& op : kernel.ops) {
        CHECK(op.completes != mk::no_id);
        CHECK_FALSE(op.when.active);
        CHECK(op.dep_count == 0);
    }
    CHECK(kernel.signals.size() == 1);
}

TEST_CASE("copies ahead run only while there is something to copy, and wait for what they stand behind") {
    const mk::Kernel kernel = copied(lanes_copy(), true, true);
    REQUIRE(kernel.ops.size() == 3);
    for (std::size_t i = 1; i < kernel.ops.size(); ++i) {
        CHECK(kernel.ops[i].when.active);
        REQUIRE(kernel.ops[i].dep_count == 1);
        CHECK(kernel.ops[i].deps[0].op == 0);
    }
}

TEST_CASE("without asynchronous copies lanes load") {
    Config c = lanes_copy();
    c.pipeline = Pipeline::sync;
    const mk::Kernel kernel = copied(c, false);
    CHECK(count_of(kernel, InstructionClass::cp_async) == 0);
    CHECK(count_of(kernel, InstructionClass::ld_global) > 0);
}

TEST_CASE("an operand of narrow rows is loaded in its trip while the other is copied ahead") {
    const Problem p = problem_of(1024, 1001, 1024);
    for (const bool triton : {false, true}) {
        Config c = lanes_copy();
        c.strides_by_16 = triton;
        c.copy_bytes_b = 2;
        CHECK(loaded_in_its_trip(c, false) == triton);
        CHECK_FALSE(loaded_in_its_trip(c, true));
        const mk::Kernel kernel = lowered(p, c).kernels[0];
        const std::int64_t elements = 64 * 32 / 128;  // of B by each lane
        CHECK(count_of(kernel, InstructionClass::ld_global) == (triton ? elements : 0));
    }
}

TEST_CASE("elements of B wait for one another where pointers to them are spilled") {
    Problem p = problem_of(1024, 1001, 1024);
    p.b_major = Major::other;
    Config c = tile_of(128, 128, 64);
    c.strides_by_16 = true;
    c.stages = 3;
    c.warps = 4;
    const auto chain_of = [&] {
        std::int64_t longest = 0;
        const mk::Program program = lowered(p, c);
        for (const mk::Op& op : program.kernels[0].ops) {
            if (op.cls == InstructionClass::ld_global) longest = std::max<std::int64_t>(longest, op.chain);
        }
        return longest;
    };
    CHECK(chain_of() > 3);
    c.warps = 8;  // half as many elements a lane, for which registers suffice
    CHECK(chain_of() <= 1);
}

TEST_CASE("lanes that write to one bank take passes of their own") {
    Config c = lanes_copy();
    CHECK(count_of(copied(c, false), InstructionClass::st_shared) == 0);
    c.copy_conflicts = 16;
    const std::int64_t some = count_of(copied(c, false), InstructionClass::st_shared);
    c.copy_conflicts = 32;
    CHECK(some > 0);
    CHECK(count_of(copied(c, false), InstructionClass::st_shared) == 2 * some);
}

TEST_CASE("arithmetic before the copies is a chain as long as it is said to be") {
    const Problem p = problem_of(256, 256, 256);
    const Config c = lanes_copy();
    mk::Kernel kernel;
    mk::Builder builder(kernel);
    Parts parts{p, c, builder};
    builder.role("warps", 4);
    add_arithmetic(parts, 40, 7);
    add_iterators(parts);
    builder.finish();
    REQUIRE(kernel.ops.size() == 2);
    CHECK(kernel.ops[0].count == 40);
    CHECK(kernel.ops[0].chain == 7);
    CHECK(kernel.ops[1].count > kernel.ops[1].chain);
}
