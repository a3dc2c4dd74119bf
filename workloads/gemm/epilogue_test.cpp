// The end of a tile: conversion of narrow outputs, staging through shared memory, one store of the tile.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::hw::InstructionClass;

namespace {

mk::WalkTotals totals(const Problem& p, const Config& c) {
    const mk::Program program = lowered(p, c);
    return mk::walk_totals(program.kernels[0], item_at(program.kernels[0], 0));
}

}  // namespace

TEST_CASE("narrow outputs are packed two at a time, wide ones are not converted") {
    Config c = tile_of(128, 64, 64);
    c.warps = 4;
    Problem p = problem_of(256, 256, 256);
    CHECK(totals(p, c).instructions_of(InstructionClass::convert_pack) == 128.0 * 64 / 32 / 2);
    p.out = Dtype::fp32;
    CHECK(totals(p, c).instructions_of(InstructionClass::convert_pack) == 0.0);
}

TEST_CASE("the tile passes shared memory once each way in 16-byte pieces") {
    Config c = tile_of(128, 64, 64);
    c.warps = 4;
    for (const Dtype out : {Dtype::bf16, Dtype::fp32}) {
        Problem p = problem_of(256, 256, 256);
        p.out = out;
        const double pieces = 128.0 * 64 * warptime::hw::bytes_of(out) / 16 / 32;
        const auto walk = totals(p, c);
        CHECK(walk.instructions_of(InstructionClass::st_shared) == pieces);
        CHECK(walk.instructions_of(InstructionClass::ld_shared) == pieces);
        CHECK(walk.instructions_of(InstructionClass::st_global) == pieces);
    }
}

TEST_CASE("specialised kernels store by a bulk copy, atomic ones by reductions") {
    Config c = tile_of(128, 64, 64);
    c.warps = 8;
    c.specialization = Specialization::cooperative;
    const auto bulk = totals(problem_of(256, 256, 256), c);
    CHECK(bulk.instructions_of(InstructionClass::st_global) == 0.0);
    CHECK(bulk.instructions_of(InstructionClass::cp_async_bulk_store) > 0.0);
    CHECK(bulk.instructions_of(InstructionClass::stmatrix) > 0.0);
    Config atomic = tile_of(128, 64, 64);
    atomic.warps = 4;
    atomic.split_k = 2;
    atomic.reduction = Reduction::atomic;
    const auto sums = totals(problem_of(256, 256, 256), atomic);
    // One reduction of 32 lanes for every 32 outputs.
    CHECK(sums.instructions_of(InstructionClass::red_global) == 128.0 * 64 / 32);
    CHECK(sums.instructions_of(InstructionClass::st_global) == 0.0);
}

TEST_CASE("rows that are not aligned are stored in narrower pieces, and staged the same way") {
    Config c = tile_of(128, 64, 64);
    c.warps = 4;
    const Problem p = problem_of(256, 256, 256);
    const double aligned = totals(p, c).instructions_of(InstructionClass::st_global);
    c.store_bytes = 2;
    const auto walk = totals(p, c);
    CHECK(walk.instructions_of(InstructionClass::st_global) == 8.0 * aligned);
    CHECK(walk.instructions_of(InstructionClass::ld_shared) == 8.0 * aligned);
    CHECK(walk.instructions_of(InstructionClass::st_shared) == aligned);
    c.store_bytes = 4;
    CHECK(totals(p, c).instructions_of(InstructionClass::st_global) == 4.0 * aligned);
}
