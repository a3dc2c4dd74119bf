// Names of recorded kernels: their tile, cluster, stages and split, and the grid that follows.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/recorded_kernel.hpp"

#include "workloads/csv.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

using namespace warptime::workloads::choice;
using namespace warptime::workloads::gemm;
using fixture::gpu;
using fixture::problem_of;
namespace workloads = warptime::workloads;

namespace {

const workloads::libraries::Libraries& data() {
    static const auto loaded = workloads::libraries::load_libraries();
    return loaded;
}

Config config_of(const std::string& steps, const Problem& problem) {
    const auto config = config_of_recorded(steps, problem, data().gemm_families, gpu());
    REQUIRE(config.has_value());
    return *config;
}

/// Reads "a=1 b=2" as parameters of gemm.
workloads::Operation operation_of(const std::string& params) {
    std::map<std::string, std::string, std::less<>> parameters;
    std::istringstream words(params);
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        parameters[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return workloads::make_operation("gemm", parameters);
}

}  // namespace

TEST_CASE("sizes along n come first, and the cluster's likewise") {
    const Config c = config_of(
        "Memset_(Device) bytes=4 us=0.8 | nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT "
        "grid=2x66x1 block=384x1x1",
        problem_of(8192, 14336, 4096));
    CHECK(c.cta_n == 320);
    CHECK(c.cta_m == 128);
    CHECK(c.cta_k == 64);
    CHECK(c.stages == 3);
    CHECK(c.cluster_n == 1);
    CHECK(c.cluster_m == 2);
    CHECK(c.specialization == Specialization::cooperative);
    CHECK(c.split_k == 1);
    const Config other =
        config_of("nvjet_sm90_tst_64x128_64x8_2x1_v_bz_TNN grid=2x63x1", problem_of(1152, 832, 7488));
    CHECK(other.cluster_n == 2);
    CHECK(other.cluster_m == 1);
    CHECK(other.stages == 8);
    CHECK(other.specialization == Specialization::pingpong);
    // The last letter of the layouts is C's, which transposes the product.
    CHECK(other.transposed != c.transposed);
}

TEST_CASE("splits follow from the grid over the tiles") {
    CHECK(
        config_of(
            "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_splitK_TNT grid=2x64x1 us=46.9 | splitKreduce grid=99x1x1",
            problem_of(256, 4096, 14336))
            .split_k == 2);
    CHECK(config_of("nvjet_sm90_tst_64x16_64x16_1x1_h_bz_splitK_TNT grid=1x51x1", problem_of(16, 16, 65536))
              .split_k == 51);
}

TEST_CASE("earlier families are known by their names, others are not guessed") {
    const Config c = config_of(
        "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_64x3_tn_align2>() "
        "grid=20x1x8 block=256x1x1",
        problem_of(1171, 380, 14128));
    CHECK(c.cta_n == 128);
    CHECK(c.cta_m == 256);
    CHECK(c.split_k == 8);
    CHECK(c.mma == MatrixInstruction::mma_sync);
    const auto unknown = [](const char* steps) {
        return !config_of_recorded(steps, problem_of(64, 64, 64), data().gemm_families, gpu()).has_value();
    };
    CHECK(unknown("volta_sgemm_128x64_nn grid=8x8x1"));
    CHECK(unknown(""));
    CHECK(unknown("cutlass_99_tensorop_bf16_gemm_bf16_128x256_64x3 grid=1x1x1"));
    // On a GPU without that family the same name means nothing.
    CHECK_FALSE(config_of_recorded("nvjet_sm90_tst_64x128_64x8_2x1_v_bz_TNN grid=2x63x1",
                                   problem_of(64, 64, 64), data().gemm_families, gpu("l40s"))
                    .has_value());
}

TEST_CASE("every recorded nvjet kernel is lowered to the grid that ran, with its memset and its reduction") {
    const std::string path = std::string(WARPTIME_SOURCE_DIR) + "/validate/recorded/h200-sxm/gemm_bf16.csv";
    std::ifstream file(path);
    REQUIRE(file.good());
    workloads::CsvTable table(file, "gemm_bf16.csv");
    const std::size_t params = table.require("params");
    const std::size_t steps = table.require("steps");
    const std::regex nvjet("nvjet_sm90_[^ ]* grid=([0-9]+)x([0-9]+)x([0-9]+)");
    workloads::CsvRecord record;
    int rows = 0;
    int grid_mismatches = 0;
    int memset_mismatches = 0;
    int reduction_mismatches = 0;
    fixture::mk::Program program;
    while (table.next(record)) {
        std::smatch found;
        if (!std::regex_search(record[steps], found, nvjet)) {
            continue;
        }
        ++rows;
        CAPTURE(record[params]);
        REQUIRE(workloads::choice::lower_recorded(operation_of(record[params]), record[steps], data(), gpu(),
                                                  program));
        const std::int64_t ran = std::stoll(found[1]) * std::stoll(found[2]) * std::stoll(found[3]);
        const bool grid = program.kernels[0].grid.volume() == ran;
        const bool memset = program.memsets.empty() != (record[steps].find("Memset") != std::string::npos);
        const bool reduces =
            (program.kernel_count == 2) == (record[steps].find("splitKreduce") != std::string::npos);
        if (!grid) {
            MESSAGE("grid of " << record[params] << ": ran " << ran << ", lowered "
                               << program.kernels[0].grid.volume() << "; " << found[0].str());
        }
        if (!memset) {
            MESSAGE("memset of " << record[params] << ": " << record[steps]);
        }
        if (!reduces) {
            MESSAGE("reduction of " << record[params] << ": " << record[steps]);
        }
        grid_mismatches += grid ? 0 : 1;
        memset_mismatches += memset ? 0 : 1;
        reduction_mismatches += reduces ? 0 : 1;
    }
    CHECK(rows > 300);
    CHECK(grid_mismatches == 0);
    CHECK(memset_mismatches == 0);
    CHECK(reduction_mismatches == 0);
}

TEST_CASE("kernels of CUTLASS 2 and xmma: type, alignment, stages and K of the name decide") {
    Problem p = problem_of(1024, 1024, 4096);
    p.a = p.b = Dtype::int8;
    p.out = p.accumulator = Dtype::int32;
    const Config three =
        config_of("cutlass_80_tensorop_i16832gemm_s8_128x64_128x3_tn_align16 grid=64x1x1 block=128x1x1", p);
    CHECK(three.cta_n == 128);
    CHECK(three.cta_m == 64);
    CHECK(three.cta_k == 128);
    CHECK(three.stages == 3);
    CHECK(three.registers == 150);
    CHECK(three.mma_k == 32);
    CHECK(three.copy_bytes == 16);
    const Config six =
        config_of("cutlass_80_tensorop_i16832gemm_s8_128x64_128x6_tn_align4 grid=64x1x1 block=128x1x1", p);
    CHECK(six.stages == 6);
    CHECK(six.copy_bytes == 4);
    p.a = p.b = Dtype::tf32;
    p.out = p.accumulator = Dtype::fp32;
    const Config short_k =
        config_of("cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4 grid=64x1x5 block=128x1x1", p);
    CHECK(short_k.cta_k == 16);
    CHECK(short_k.stages == 6);
    CHECK(short_k.split_k == 5);
    const Config hopper = config_of(
        "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x256x32_warpgroupsize2x1x1_execute_segment_k_off_"
        "kernel__5x_cublas grid=66x2x1 block=384x1x1",
        p);
    CHECK(hopper.cta_m == 128);
    CHECK(hopper.cta_n == 256);
    CHECK(hopper.mma == MatrixInstruction::wgmma);
}
