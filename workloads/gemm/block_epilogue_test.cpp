// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/block_epilogue.hpp"

#include "workloads/gemm/lane_block.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads::gemm;
namespace mk = warptime::model::kernel;
using warptime::hw::InstructionClass;

namespace {

std::int64_t count_of(const mk::Kernel& kernel, InstructionClass cls) {
    std::int64_t count = 0;
    for (const mk::Op& op : kernel.ops) count += op.cls == cls ? op.count : 0;
    return count;
}

}  // namespace

TEST_CASE("a lane keeps the outputs of its tile that no other lane does") {
    for (const auto [m, n, warps] : {std::array{128, 128, 8}, {64, 64, 4}, {256, 64, 8}, {32, 32, 2}}) {
        Config c;
        c.cta_m = m;
        c.cta_n = n;
        c.warps = warps;
        const LaneBlock block = lane_block(c);
        CAPTURE(m);
        CHECK(block.rows * block.columns * 32 * warps == m * n);
    }
}

TEST_CASE(
    "an element takes a load, two multiply-adds, its clamps and comparisons, its addresses and a store") {
    mk::Kernel kernel;
    mk::Builder build(kernel);
    build.role("warps", 4);
    add_element_stores(build, 64, 2, mk::no_id);
    CHECK(count_of(kernel, InstructionClass::st_shared) == 16);  // 16 bytes a lane
    CHECK(count_of(kernel, InstructionClass::ld_shared) == 64);
    CHECK(count_of(kernel, InstructionClass::fma_f32) == 128);
    CHECK(count_of(kernel, InstructionClass::compare_select) == 256);
    CHECK(count_of(kernel, InstructionClass::add_s32) == 192);
    CHECK(count_of(kernel, InstructionClass::bar_sync) == 4);  // before and after each pass
    CHECK(kernel.ops.back().cls == InstructionClass::st_global);
    CHECK(kernel.ops.back().count == 64);
    CHECK_FALSE(kernel.ops.back().returns);
}

TEST_CASE("splits are fetched one after another, four elements at a time, and each is added") {
    mk::Kernel kernel;
    mk::Builder build(kernel);
    build.role("warps", 4);
    Config c;
    c.cta_m = 128;
    c.split_k = 5;
    add_sum_of_splits(build, 32, c, mk::Access{}, mk::no_id);
    CHECK(count_of(kernel, InstructionClass::ld_global) == 40);
    CHECK(count_of(kernel, InstructionClass::add_f32) == 160);
    CHECK(kernel.ops.front().chain == 5);
    // A chain has no more links than accesses, also with three splits and a single access.
    mk::Kernel small;
    mk::Builder few(small);
    few.role("warps", 4);
    c.split_k = 3;
    add_sum_of_splits(few, 1, c, mk::Access{}, mk::no_id);
    CHECK(small.ops.front().count == 1);
    CHECK(small.ops.front().chain == 1);
    // In tiles with one warp along M, the loads of 64 elements go out in three rounds.
    const auto chain_of = [&c](int rows, std::int64_t elements) {
        mk::Kernel sums;
        mk::Builder with(sums);
        with.role("warps", 4);
        c.cta_m = rows;
        add_sum_of_splits(with, elements, c, mk::Access{}, mk::no_id);
        return sums.ops.front().chain;
    };
    CHECK(chain_of(64, 64) == 9);
    CHECK(chain_of(128, 64) == 3);
    CHECK(chain_of(64, 32) == 3);
}
