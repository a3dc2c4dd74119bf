// Resources of a tiling, the completed configuration, and the combinations that a GPU lacks.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/footprint.hpp"

#include "hw/error.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads::gemm;
using fixture::gpu;
using fixture::problem_of;
using fixture::tile_of;

namespace {

Config completed(Config config, const char* on = "h200-sxm", Problem problem = problem_of(4096, 4096, 4096)) {
    complete(problem, gpu(on), config);
    return config;
}

}  // namespace

TEST_CASE("a stage holds a tile of each operand") {
    CHECK(stage_bytes(problem_of(1, 1, 1), tile_of(128, 256, 64)) == (128 + 256) * 64 * 2);
    Problem mixed = problem_of(1, 1, 1);
    mixed.b = Dtype::fp8;
    CHECK(stage_bytes(mixed, tile_of(128, 256, 64)) == 128 * 64 * 2 + 256 * 64);
}

TEST_CASE("shared memory is stages and their barriers, unless it is given") {
    Config c = tile_of(128, 128, 64);
    c.stages = 4;
    c.pipeline = Pipeline::cp_async;
    CHECK(shared_bytes(problem_of(1, 1, 1), c) == 4 * 32768);
    c.pipeline = Pipeline::tma;
    CHECK(shared_bytes(problem_of(1, 1, 1), c) == 4 * 32768 + 4 * 16);
    c.shared_bytes = 77;
    CHECK(shared_bytes(problem_of(1, 1, 1), c) == 77);
    CHECK(least_shared_bytes(problem_of(1, 1, 1), c) == 4 * 32768 + 4 * 16);
}

TEST_CASE("Triton turns the tile of results where the stages were") {
    Config c = tile_of(64, 64, 16);
    c.stages = 2;
    c.warps = 4;
    c.mma = MatrixInstruction::mma_sync;
    c.pipeline = Pipeline::cp_async;
    c.strides_by_16 = true;
    CHECK(shared_bytes(problem_of(1, 1, 1), c) == 64 * 64 * 2);  // as compiled; one stage has 4096
    c.cta_k = 64;
    c.stages = 3;
    CHECK(shared_bytes(problem_of(1, 1, 1), c) == 32768);
    // An operand whose elements are loaded has one buffer (64x64x64 with rows of 201 elements, as compiled).
    c.strides_known = true;
    c.copy_bytes_b = 2;
    CHECK(shared_bytes(problem_of(1, 1, 1), c) == 24576);
}

TEST_CASE("specialised CTAs have a producer warpgroup beside the consumers") {
    Config c = tile_of(128, 128, 64);
    c.warps = 8;
    CHECK(threads(c) == 256);
    c.specialization = Specialization::cooperative;
    CHECK(threads(c) == 384);
}

TEST_CASE("registers hold at least the accumulators, in whole units, and a given count wins") {
    CHECK(rc::check("any tile of any GPU", [] {
        const Problem problem = fixture::any_problem();
        Config c = fixture::any_config();
        try {
            complete(problem, gpu(*rc::gen::element<std::string>("h200-sxm", "l40s")), c);
        } catch (const warptime::Error&) {
            RC_DISCARD("refused");
        }
        const int registers = registers_per_thread(problem, c, 255, 65536);
        RC_ASSERT(registers % 8 == 0 || registers == 255);
        RC_ASSERT(registers <= 255);
        if (c.specialization == Specialization::none) {
            RC_ASSERT(registers >= std::min(255, c.cta_m * c.cta_n / (32 * c.warps)));
        }
        c.registers = 99;
        RC_ASSERT(registers_per_thread(problem, c, 255, 65536) == 99);
    }));
}

TEST_CASE("a CTA of many threads gets no more registers than it can have") {
    Config c = completed(tile_of(256, 256, 64));
    c.warps = 16;
    const Problem problem{.m = 512, .n = 512, .k = 512};
    REQUIRE(registers_wanted(problem, c) > 65536 / 512);
    CHECK(registers_per_thread(problem, c, 255, 65536) == 65536 / 512);
}

TEST_CASE("fewer than four warps multiply by mma.sync on Hopper, too") {
    Config c = tile_of(128, 128, 64);
    c.warps = 2;
    CHECK(completed(c).mma == MatrixInstruction::mma_sync);
    c.mma = MatrixInstruction::wgmma;
    CHECK_THROWS_AS((void)completed(c), warptime::Error);
}

TEST_CASE("warps of Triton's kernels are a power of two") {
    Config c = tile_of(64, 64, 32);
    c.strides_by_16 = true;
    for (const int warps : {1, 2, 16}) {
        c.warps = warps;
        CHECK_NOTHROW((void)completed(c));
    }
    for (const int warps : {3, 12}) {
        c.warps = warps;
        CHECK_THROWS_WITH_AS((void)completed(c), doctest::Contains("power of two"), warptime::Error);
    }
}

TEST_CASE("what is not given follows from the GPU, and what is given stays") {
    const Config hopper = completed(tile_of(128, 128, 64));
    CHECK(hopper.mma == MatrixInstruction::wgmma);
    CHECK(hopper.stages > 0);
    CHECK(hopper.warps % 4 == 0);
    const Config ada = completed(tile_of(128, 128, 64), "l40s");
    CHECK(ada.mma == MatrixInstruction::mma_sync);
    CHECK(ada.pipeline == Pipeline::cp_async);
    Config given = tile_of(128, 128, 64);
    given.mma = MatrixInstruction::mma_sync;
    given.pipeline = Pipeline::sync;
    given.stages = 5;
    given.warps = 2;
    const Config kept = completed(given);
    CHECK(kept.mma == MatrixInstruction::mma_sync);
    CHECK(kept.pipeline == Pipeline::sync);
    CHECK(kept.stages == 5);
    CHECK(kept.warps == 2);
    Problem single = problem_of(512, 512, 512);
    single.a = single.b = single.out = Dtype::fp32;
    CHECK(completed(tile_of(128, 128, 8), "h200-sxm", single).mma == MatrixInstruction::simt);
    Config specialized = tile_of(128, 128, 64);
    specialized.specialization = Specialization::pingpong;
    CHECK(completed(specialized).pipeline == Pipeline::tma);
}

TEST_CASE("combinations that the GPU lacks are refused by parameter") {
    const auto refused = [](const Config& config, const char* on, const char* parameter) {
        try {
            (void)completed(config, on);
            FAIL_CHECK("not refused: " << parameter);
        } catch (const warptime::Error& error) {
            CHECK(error.parameter() == std::string("gemm ") + parameter);
            CHECK_FALSE(error.expected().empty());
        }
    };
    Config c = tile_of(128, 128, 64);
    c.mma = MatrixInstruction::wgmma;
    refused(c, "a100-sxm-80gb", "mma");
    c.mma = MatrixInstruction::tcgen05;
    refused(c, "h200-sxm", "mma");
    c = tile_of(128, 128, 64);
    c.pipeline = Pipeline::tma;
    refused(c, "l40s", "pipeline");
    c = tile_of(100, 128, 64);
    c.mma = MatrixInstruction::wgmma;
    refused(c, "h200-sxm", "cta_tile");
    c = tile_of(24, 128, 64);
    c.mma = MatrixInstruction::mma_sync;
    refused(c, "h200-sxm", "cta_tile");
    refused(tile_of(0, 128, 64), "h200-sxm", "cta_tile");
    refused(tile_of(128, -8, 64), "h200-sxm", "cta_tile");
    c = tile_of(128, 128, 64);
    c.mma = MatrixInstruction::wgmma;
    c.warps = 6;
    refused(c, "h200-sxm", "warps");
    c.warps = 4;
    c.specialization = Specialization::pingpong;
    refused(c, "h200-sxm", "warps");
    // Specialised main loops are written for bulk tensor copies and wgmma only.
    c.warps = 8;
    c.mma = MatrixInstruction::mma_sync;
    refused(c, "h200-sxm", "specialization");
    c.mma = MatrixInstruction::automatic;
    c.pipeline = Pipeline::cp_async;
    refused(c, "a100-sxm-80gb", "specialization");
}
