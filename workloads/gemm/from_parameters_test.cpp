// A GEMM read from text: every word reaches its field, and missing words stay open for the lowering.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/from_parameters.hpp"

#include "hw/error.hpp"
#include "workloads/operations_fixture_test.hpp"

#include <doctest/doctest.h>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using fixture::Parameters;
using warptime::hw::Dtype;

namespace {

gemm::Config config_of(Parameters more) {
    more.emplace("cta_tile", "128x64x32");
    const Operation operation = fixture::gemm(4096, 512, 1024, more);
    return gemm::config_of(operation, gemm::problem_of(operation));
}

std::string refused(const Parameters& more) {
    try {
        (void)gemm::problem_of(fixture::gemm(100, 200, 300, more));
    } catch (const warptime::Error& error) {
        return error.parameter();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("sizes, types and layouts of a problem") {
    const gemm::Problem dense = gemm::problem_of(fixture::gemm(100, 200, 300));
    CHECK(dense.m == 100);
    CHECK(dense.n == 200);
    CHECK(dense.k == 300);
    CHECK(dense.batch == 1);
    CHECK(dense.lda == 0);
    CHECK(dense.a_major == gemm::Major::k);
    const gemm::Problem given = gemm::problem_of(fixture::gemm(100, 200, 300,
                                                               {{"dtype", "fp8"},
                                                                {"out_dtype", "fp32"},
                                                                {"a_major", "m"},
                                                                {"b_major", "n"},
                                                                {"ldb", "208"},
                                                                {"batch", "7"}}));
    CHECK(given.a == Dtype::fp8);
    CHECK(given.b == Dtype::fp8);
    CHECK(given.accumulator == Dtype::fp32);
    CHECK(given.out == Dtype::fp32);
    CHECK(given.a_major == gemm::Major::other);
    CHECK(given.b_major == gemm::Major::other);
    CHECK(given.ldb == 208);
    CHECK(given.batch == 7);
}

TEST_CASE("a row is as long as the contiguous index, so that pitches differ by layout") {
    CHECK(refused({{"lda", "299"}}) == "gemm lda");
    CHECK(refused({{"lda", "299"}, {"a_major", "m"}}) == "accepted");
    CHECK(refused({{"lda", "99"}, {"a_major", "m"}}) == "gemm lda");
    CHECK(refused({{"ldb", "200"}}) == "gemm ldb");
    CHECK(refused({{"ldb", "200"}, {"b_major", "n"}}) == "accepted");
    CHECK(refused({{"ldc", "199"}}) == "gemm ldc");
}

TEST_CASE("what a tiling leaves open stays open") {
    const gemm::Config open = config_of({});
    CHECK(open.cta_m == 128);
    CHECK(open.cta_n == 64);
    CHECK(open.cta_k == 32);
    CHECK(open.stages == 0);
    CHECK(open.warps == 0);
    CHECK(open.registers == 0);
    CHECK(open.shared_bytes == 0);
    CHECK(open.split_k == 1);
    CHECK(open.pipeline == gemm::Pipeline::automatic);
    CHECK(open.mma == gemm::MatrixInstruction::automatic);
    CHECK(open.schedule == mk::ScheduleKind::one_per_cta);
    CHECK(open.raster == mk::Raster::along_n);  // 32 x 8 tiles: the shorter side first
}

TEST_CASE("every word of a tiling reaches its field") {
    CHECK(config_of({{"pipeline", "sync"}}).pipeline == gemm::Pipeline::sync);
    CHECK(config_of({{"pipeline", "cp.async"}}).pipeline == gemm::Pipeline::cp_async);
    CHECK(config_of({{"pipeline", "tma"}}).pipeline == gemm::Pipeline::tma);
    CHECK(config_of({{"mma", "simt"}}).mma == gemm::MatrixInstruction::simt);
    CHECK(config_of({{"mma", "mma.sync"}}).mma == gemm::MatrixInstruction::mma_sync);
    CHECK(config_of({{"mma", "wgmma"}}).mma == gemm::MatrixInstruction::wgmma);
    CHECK(config_of({{"mma", "tcgen05"}}).mma == gemm::MatrixInstruction::tcgen05);
    CHECK(config_of({{"specialization", "cooperative"}}).specialization == gemm::Specialization::cooperative);
    CHECK(config_of({{"specialization", "pingpong"}}).specialization == gemm::Specialization::pingpong);
    CHECK(config_of({{"schedule", "cluster_launch_control"}}).schedule ==
          mk::ScheduleKind::cluster_launch_control);
    CHECK(config_of({{"raster", "along_m"}}).raster == mk::Raster::along_m);
    CHECK(config_of({{"reduction", "serial"}}).reduction == gemm::Reduction::serial);
    CHECK(config_of({}).reduction == gemm::Reduction::workspace);
    const gemm::Config clustered = config_of({{"cluster", "2x4"}, {"group_m", "8"}});
    CHECK(clustered.cluster_m == 2);
    CHECK(clustered.cluster_n == 4);
    CHECK(clustered.group == 8);
}

TEST_CASE("Triton's ways: sums by atomics, one persistent program an SM, strides that 16 divides") {
    const gemm::Config triton = config_of({{"implementation", "triton"}, {"schedule", "persistent"}});
    CHECK(triton.reduction == gemm::Reduction::atomic);
    CHECK(triton.strides_by_16);
    CHECK(triton.one_cta_per_sm);
    CHECK_FALSE(config_of({{"schedule", "persistent"}}).one_cta_per_sm);
    CHECK_FALSE(config_of({{"implementation", "triton"}}).one_cta_per_sm);
}

TEST_CASE("stream-K is a persistent schedule, of all tiles or of the last waves") {
    const gemm::Config all = config_of({{"schedule", "stream_k"}});
    CHECK(all.stream_k == gemm::StreamK::all);
    CHECK(all.schedule == warptime::model::kernel::ScheduleKind::static_stride);
    CHECK(config_of({{"schedule", "stream_k_hybrid"}}).stream_k == gemm::StreamK::hybrid);
    CHECK(config_of({{"schedule", "persistent"}}).stream_k == gemm::StreamK::none);
}

TEST_CASE("numbers beyond any tile are refused by name") {
    CHECK_THROWS_AS((void)config_of({{"warps", "1000001"}}), warptime::Error);
    CHECK(config_of({{"warps", "1000000"}}).warps == 1000000);  // the lowering decides whether this runs
}
