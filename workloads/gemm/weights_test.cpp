// Weights of few bits: bytes of B and instructions of a trip against the machine code, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/weights.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads::gemm;
namespace mk = warptime::model::kernel;
using warptime::hw::InstructionClass;

namespace {

Problem weights_of(int bits, std::int64_t m, std::int64_t n, std::int64_t k) {
    Problem p = fixture::problem_of(m, n, k);
    p.b = Dtype::int8;
    p.packed_b = bits == 4;
    return p;
}

Config triton_tile(int m, int n, int k, int stages, int warps) {
    Config c = fixture::tile_of(m, n, k);
    c.stages = stages;
    c.warps = warps;
    c.strides_by_16 = true;
    return c;
}

/// Of one trip of the main loop, a warp.
double of_trip(const mk::Kernel& kernel, InstructionClass cls, int warps) {
    mk::WorkItem longer, shorter;
    longer.end = kernel.schedule.k_iterations;
    shorter.end = longer.end - 1;
    return (mk::walk_totals(kernel, longer).instructions_of(cls) -
            mk::walk_totals(kernel, shorter).instructions_of(cls)) /
           warps;
}

std::string refused(const Problem& p, const Config& c) {
    try {
        (void)fixture::lowered(p, c);
    } catch (const warptime::Error& error) {
        return error.parameter();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("weights take their own bytes, and products are those of 16 bits") {
    CHECK(rc::check("any whole tiles", [] {
        const int bits = *rc::gen::element(8, 4);
        const auto m = *rc::gen::inRange<std::int64_t>(1, 4) * 128;
        const auto n = *rc::gen::inRange<std::int64_t>(1, 4) * 128;
        const auto k = *rc::gen::inRange<std::int64_t>(2, 9) * 64;
        const Problem p = weights_of(bits, m, n, k);
        const mk::Program program = fixture::lowered(p, triton_tile(128, 128, 64, 3, 8));
        const mk::Kernel& kernel = program.kernels[0];
        mk::check(kernel);
        double flop = 0.0, of_b = 0.0;
        for (std::int64_t i = 0; i < kernel.schedule.item_count(); ++i) {
            const mk::WalkTotals walk = mk::walk_totals(kernel, fixture::item_at(kernel, i));
            flop += walk.matrix_flop;
            of_b += walk.traffic_of_buffer(1, mk::Direction::read).inside_bytes;
        }
        RC_ASSERT(flop == p.flop());
        // Every row of tiles reads B once.
        RC_ASSERT(of_b == static_cast<double>(n * k * bits / 8 * (m / 128)));
        const double expected =
            2.0 * static_cast<double>(m * k + m * n) + static_cast<double>(n * k * bits / 8);
        RC_ASSERT(p.bytes() == expected);
    }));
}

TEST_CASE("a trip converts as the machine code does") {
    // gemm_weights_kernel of 128x128x64 and 64x128x64 for sm_90: 48 and 96 LOP3 and PRMT, 16 and 32 HADD2, 2
    // and 4 LDS.128, 4 and 8 STS.128.
    const mk::Program wide = fixture::lowered(weights_of(8, 128, 128, 1024), triton_tile(128, 128, 64, 3, 8));
    CHECK(of_trip(wide.kernels[0], InstructionClass::logic, 8) == 48);
    CHECK(of_trip(wide.kernels[0], InstructionClass::fma_f16x2, 8) == 16);
    CHECK(of_trip(wide.kernels[0], InstructionClass::ld_shared, 8) == 2);
    CHECK(of_trip(wide.kernels[0], InstructionClass::st_shared, 8) == 4);
    const mk::Program flat = fixture::lowered(weights_of(8, 64, 128, 1024), triton_tile(64, 128, 64, 4, 4));
    CHECK(of_trip(flat.kernels[0], InstructionClass::logic, 4) == 96);
    CHECK(of_trip(flat.kernels[0], InstructionClass::st_shared, 4) == 8);
    // Shared memory of both, and of 4 bits in 16x64x128.
    CHECK(wide.kernels[0].dynamic_shared == 81920);
    CHECK(flat.kernels[0].dynamic_shared == 73728);
    const mk::Program rows = fixture::lowered(weights_of(4, 16, 64, 1024), triton_tile(16, 64, 128, 4, 4));
    CHECK(rows.kernels[0].dynamic_shared == 24576);
    CHECK(of_trip(rows.kernels[0], InstructionClass::mma_sync, 4) == 16);
    CHECK(of_trip(rows.kernels[0], InstructionClass::ld_shared, 4) == 16);
    CHECK(of_trip(rows.kernels[0], InstructionClass::logic, 4) == 336);
    // Both halves of a stage are stored and multiplied.
    const mk::Program pairs =
        fixture::lowered(weights_of(4, 128, 128, 1024), triton_tile(128, 128, 64, 3, 8));
    CHECK(of_trip(pairs.kernels[0], InstructionClass::st_shared, 8) == 4);
    CHECK(of_trip(pairs.kernels[0], InstructionClass::wgmma, 8) ==
          of_trip(wide.kernels[0], InstructionClass::wgmma, 8));
}

TEST_CASE("4-bit weights that no kernel is known for are refused by name") {
    const Config tile = triton_tile(128, 128, 64, 3, 8);
    CHECK(refused(weights_of(4, 128, 128, 256), tile) == "accepted");
    Config other = tile;
    other.strides_by_16 = false;
    CHECK(refused(weights_of(4, 128, 128, 256), other) == "gemm dtype_b");
    CHECK(refused(weights_of(4, 128, 128, 255), tile) == "gemm dtype_b");
    Problem across = weights_of(4, 128, 128, 256);
    across.b_major = Major::other;
    CHECK(refused(across, tile) == "gemm dtype_b");
    Problem wide = weights_of(4, 128, 128, 256);
    wide.a = wide.out = Dtype::fp32;
    CHECK(refused(wide, tile) == "gemm dtype_b");
}
