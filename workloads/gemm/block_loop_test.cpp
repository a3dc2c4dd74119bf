// Loops that multiply blocks of registers, against the SASS that they describe.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/lower.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads::gemm;
namespace mk = warptime::model::kernel;
namespace hw = warptime::hw;
using hw::InstructionClass;

namespace {

mk::Program lowered(int m, int n, int warps, int stages) {
    Problem p;
    p.m = p.n = 1024;
    p.k = 256;
    p.a = p.b = p.out = p.accumulator = hw::Dtype::fp32;
    Config c;
    c.cta_m = m;
    c.cta_n = n;
    c.cta_k = 8;
    c.warps = warps;
    c.stages = stages;
    c.registers = 128;
    c.mma = MatrixInstruction::simt;
    c.pipeline = Pipeline::cp_async;
    c.copy_bytes = c.lane_bytes_a = c.lane_bytes_b = c.store_bytes = 4;
    c.fragments_ahead = true;
    mk::Program program;
    lower(p, c, hw::load_gpu("h200-sxm"), program);
    return program;
}

struct Place {
    std::int64_t products = 0;          ///< before the last copy of a trip
    std::int64_t products_to_wait = 0;  ///< before the wait
    std::int64_t all = 0;
    int barriers = 0;
};

/// Places in the main loop, which is the last loop of the kernel.
Place places(const mk::Kernel& kernel) {
    std::size_t main = 0;
    for (std::size_t n = 0; n < kernel.nodes.size(); ++n) {
        if (kernel.nodes[n].kind == mk::NodeKind::loop) main = n;
    }
    Place place;
    for (std::size_t n = main + 1; n < kernel.nodes[main].end; ++n) {
        const mk::Node& node = kernel.nodes[n];
        if (node.kind == mk::NodeKind::wait) {
            const mk::Token& token =
                kernel.tokens[static_cast<std::size_t>(kernel.waits[node.payload].token)];
            if (token.kind == mk::TokenKind::async_group) place.products_to_wait = place.all;
        }
        if (node.kind != mk::NodeKind::op) continue;
        const mk::Op& op = kernel.ops[node.payload];
        if (op.cls == InstructionClass::cp_async) place.products = place.all;
        if (op.cls == InstructionClass::fma_f32) place.all += op.count;
        if (op.cls == InstructionClass::bar_sync) place.barriers += static_cast<int>(op.count);
    }
    return place;
}

}  // namespace

TEST_CASE("copies stand behind most products, the wait right behind them, and one barrier a trip") {
    // SASS of 64x64: LDGSTS up to 72 % of 256 FFMA, DEPBAR at 80 %. 32x32: up to 46 % of 128, DEPBAR at 77.
    const Place large = places(lowered(64, 64, 4, 3).kernels[0]);
    CHECK(large.all == 256);
    CHECK(large.products == 192);
    CHECK(large.products_to_wait == 192);
    CHECK(large.barriers == 1);
    const Place small = places(lowered(32, 32, 2, 3).kernels[0]);
    CHECK(small.all == 128);
    CHECK(small.products == 64);
    CHECK(small.products_to_wait == 96);
}

TEST_CASE("every tile is copied once and multiplied once, however many stages there are") {
    for (const int stages : {3, 5}) {
        const mk::Program program = lowered(64, 128, 4, stages);
        const mk::Kernel& kernel = program.kernels[0];
        CHECK_NOTHROW(mk::check(kernel));
        const mk::WalkTotals counted = mk::walk_totals(kernel, fixture::item_at(kernel, 0));
        // The epilogue scales each element twice.
        CHECK(counted.vector_flop == doctest::Approx(2.0 * 64 * 128 * (256 + 2)));
        CHECK(counted.instructions_of(InstructionClass::cp_async) == (64 + 128) * 256 / 32);
    }
}

TEST_CASE("splits that the library adds up by blocks take steps of K in turns, others a piece each") {
    for (const Reduction reduction : {Reduction::blocks, Reduction::last_cta, Reduction::workspace}) {
        for (const int splits : {1, 4}) {
            Problem p;
            p.m = p.n = 128;
            p.k = 1024;
            p.a = p.b = p.out = p.accumulator = hw::Dtype::fp32;
            Config c;
            c.cta_m = c.cta_n = 64;
            c.cta_k = 8;
            c.warps = 4;
            c.stages = 3;
            c.registers = 128;
            c.mma = MatrixInstruction::simt;
            c.pipeline = Pipeline::cp_async;
            c.fragments_ahead = true;
            c.split_k = splits;
            c.reduction = reduction;
            mk::Program program;
            lower(p, c, hw::load_gpu("h200-sxm"), program);
            const mk::Kernel& kernel = program.kernels[0];
            const bool turns = splits > 1 && reduction != Reduction::workspace;
            int copies = 0;
            for (const mk::Op& op : kernel.ops) {
                if (op.cls != InstructionClass::cp_async) continue;
                for (const mk::Access& access : kernel.accesses_of(op)) {
                    ++copies;
                    CHECK(access.window == (turns ? 8 * splits : 0));
                }
            }
            CHECK(copies > 0);
        }
    }
}
