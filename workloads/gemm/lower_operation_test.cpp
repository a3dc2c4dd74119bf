// gemm from its parameters: problem, tiling, and the name in each refusal.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/operations_fixture_test.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using fixture::Parameters;

namespace {

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

mk::Program lowered(const Operation& operation) {
    static const auto data = libraries::load_libraries();
    mk::Program program;
    choice::lower(
        operation, data, gpu(), [](const mk::Program&, double) { return 1.0; }, program);
    return program;
}

mk::Kernel kernel_of(const Parameters& more) {
    return lowered(fixture::gemm(1024, 2048, 4096, more)).kernels[0];
}

std::string refused(const Parameters& more) {
    try {
        (void)lowered(fixture::gemm(1024, 2048, 4096, more));
    } catch (const warptime::Error& error) {
        return error.parameter();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("sizes, types and layouts reach the buffers") {
    const mk::Kernel kernel = kernel_of({{"cta_tile", "128x64x32"},
                                         {"dtype", "fp16"},
                                         {"out_dtype", "fp32"},
                                         {"a_major", "m"},
                                         {"b_major", "n"},
                                         {"batch", "3"},
                                         {"lda", "1040"}});
    CHECK(kernel.buffers[0].extent == std::array<std::int64_t, 5>{1024, 4096, 3, 1, 1});
    CHECK(kernel.buffers[0].stride[1] == 1040);
    CHECK(kernel.buffers[1].extent == std::array<std::int64_t, 5>{2048, 4096, 3, 1, 1});
    CHECK(kernel.buffers[2].extent == std::array<std::int64_t, 5>{2048, 1024, 3, 1, 1});
    CHECK(kernel.buffers[0].dtype == hw::Dtype::fp16);
    CHECK(kernel.buffers[2].dtype == hw::Dtype::fp32);
}

TEST_CASE("the tiling reaches the kernel") {
    const mk::Kernel kernel = kernel_of({{"cta_tile", "128x64x32"},
                                         {"stages", "4"},
                                         {"warps", "4"},
                                         {"group_m", "8"},
                                         {"registers", "96"},
                                         {"raster", "along_m"},
                                         {"implementation", "triton"},
                                         {"cluster", "2x1"}});
    CHECK(kernel.schedule.tiles == std::array<std::int64_t, 4>{8, 32, 1, 1});
    CHECK(kernel.schedule.k_iterations == 128);
    CHECK(kernel.schedule.group == 8);
    CHECK(kernel.schedule.raster == mk::Raster::along_m);
    CHECK(kernel.cta.x == 128);
    CHECK(kernel.registers_per_thread == 96);
    CHECK(kernel.dynamic_shared >= 4 * (128 + 64) * 32 * 2);
    CHECK(kernel.cluster.volume() == 2);
    CHECK(kernel_of({{"cta_tile", "128x64x32"}, {"schedule", "persistent"}}).schedule.kind ==
          mk::ScheduleKind::static_stride);
    CHECK(kernel_of({{"cta_tile", "128x64x32"}, {"shared_bytes", "50000"}}).dynamic_shared == 50000);
}

TEST_CASE("shared memory that is given holds the stages to the last byte") {
    const auto given = [](const char* bytes) {
        return Parameters{
            {"cta_tile", "128x64x32"}, {"stages", "2"}, {"pipeline", "cp.async"}, {"shared_bytes", bytes}};
    };
    CHECK(kernel_of(given("24576")).dynamic_shared == 2 * (128 + 64) * 32 * 2);
    CHECK_THROWS_WITH_AS(static_cast<void>(kernel_of(given("24575"))),
                         "gemm shared_bytes: got '24575', expected at least 24576, which stages=2 of "
                         "cta_tile=128x64x32 need",
                         warptime::Error);
    CHECK_THROWS_WITH_AS(static_cast<void>(kernel_of(given("232449"))),
                         "gemm shared_bytes: got '232449', expected at most 232448 for a CTA of h200-sxm",
                         warptime::Error);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(kernel_of({{"cta_tile", "256x256x128"}, {"stages", "4"}})),
        doctest::Contains("gemm cta_tile: got '256x256x128', expected a smaller tile or fewer "
                          "stages: stages=4 need 524288 bytes"),
        warptime::Error);
}

TEST_CASE("Triton sums splits by atomics, the others in a workspace") {
    const auto kernels = [](const char* implementation, const char* reduction) {
        Parameters more{{"cta_tile", "128x64x32"}, {"split_k", "4"}, {"implementation", implementation}};
        if (*reduction != 0) {
            more["reduction"] = reduction;
        }
        return lowered(fixture::gemm(1024, 1024, 4096, more)).kernel_count;
    };
    CHECK(kernels("triton", "") == 1);
    CHECK(kernels("cutlass", "") == 2);
    CHECK(kernels("triton", "workspace") == 2);
    CHECK(kernels("cutlass", "atomic") == 1);
}

TEST_CASE("what cannot be is refused by its parameter") {
    CHECK(refused({{"lda", "4095"}}) == "gemm lda");
    CHECK(refused({{"ldb", "10"}}) == "gemm ldb");
    CHECK(refused({{"ldc", "2047"}}) == "gemm ldc");
    CHECK(refused({{"ldc", "2048"}}) == "accepted");
    CHECK(refused({{"cta_tile", "128x64x32"}, {"schedule", "stream_k"}}) == "accepted");
    CHECK(refused({{"cta_tile", "128x64x32"}, {"schedule", "stream_k"}, {"split_k", "2"}}) == "gemm split_k");
    CHECK(refused({{"cta_tile", "128x64x32"}, {"schedule", "stream_k"}, {"cluster", "2x1"}}) ==
          "gemm cluster");
    CHECK(refused({{"cta_tile", "128x64x64"}, {"schedule", "stream_k"}, {"specialization", "pingpong"}}) ==
          "gemm specialization");
    CHECK(refused({{"cta_tile", "128x128x64"},
                   {"schedule", "stream_k_hybrid"},
                   {"specialization", "cooperative"}}) == "accepted");
    CHECK(refused({{"cta_tile", "128x64x32"}, {"mma", "tcgen05"}}) == "gemm mma");
    CHECK(refused({{"dtype", "fp64"}}) == "accepted");
    CHECK(refused({{"cta_tile", "128x64x64"}, {"cluster", "4x5"}}) == "gemm cluster");
    // More CTAs than an int holds.
    CHECK(refused({{"cta_tile", "128x64x64"}, {"cluster", "2x1409644096"}}) == "gemm cluster");
    CHECK(refused({{"cta_tile", "128x64x32"}, {"stages", "9000000"}}) == "gemm stages");
    CHECK(refused({{"cta_tile", "256x256x128"}, {"stages", "3"}}) != "accepted");
}
