// A candidate equals the kernel of its parameters, and Triton's names have Triton's meaning.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/candidate.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "workloads/choice/tiles/space.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace warptime::workloads;
using namespace warptime::workloads::choice::tiles;

namespace {

Operation problem() {
    return make_operation("gemm", {{"m", "1000"}, {"n", "3000"}, {"k", "512"}, {"dtype", "bf16"}});
}

std::string refused(const Parameters& chosen) {
    try {
        static_cast<void>(candidate_of(problem(), chosen));
    } catch (const warptime::Error& error) {
        return error.parameter() + " | " + error.value() + " | " + error.expected();
    }
    return "";
}

}  // namespace

TEST_CASE("every candidate of the spaces reads back from its parameters") {
    for (const char* id : {"h200-sxm", "a100-sxm-80gb"}) {
        const auto gpu = warptime::hw::load_gpu(id);
        for (const char* name : {"triton", "cutlass"}) {
            for (const Candidate& candidate : space_named(name, problem(), gpu)) {
                CHECK(candidate_of(problem(), parameters_of(candidate)) == candidate);
            }
        }
    }
}

TEST_CASE("choices outside the spaces read back too") {
    for (const Parameters& extra :
         {Parameters{{"split_k", "4"}, {"reduction", "serial"}}, Parameters{{"mma", "mma.sync"}},
          Parameters{{"schedule", "cluster_launch_control"}, {"cluster", "2x1"}},
          Parameters{{"registers", "128"}, {"shared_bytes", "65536"}}, Parameters{{"pipeline", "tma"}},
          Parameters{{"implementation", "inductor"}, {"group_m", "8"}},
          Parameters{{"implementation", "triton"}, {"raster", "along_m"}},
          Parameters{{"implementation", "triton"}, {"split_k", "4"}, {"reduction", "workspace"}}}) {
        Parameters chosen = extra;
        chosen["cta_tile"] = "128x64x32";
        const Candidate candidate = candidate_of(problem(), chosen);
        CHECK(candidate_of(problem(), parameters_of(candidate)) == candidate);
        for (const auto& [name, value] : extra) {
            CHECK(parameters_of(candidate)[name] == value);
        }
    }
}

TEST_CASE("Triton's names") {
    const Candidate candidate = candidate_of(problem(), {{"BLOCK_M", "128"},
                                                         {"BLOCK_N", "64"},
                                                         {"BLOCK_SIZE_K", "32"},
                                                         {"GROUP_SIZE_M", "8"},
                                                         {"num_warps", "4"},
                                                         {"num_stages", "3"},
                                                         {"num_ctas", "1"},
                                                         {"SPLIT_K", "2"}});
    CHECK(candidate.implementation == Implementation::triton);
    CHECK(candidate.config.cta_m == 128);
    CHECK(candidate.config.cta_n == 64);
    CHECK(candidate.config.cta_k == 32);
    CHECK(candidate.config.group == 8);
    CHECK(candidate.config.warps == 4);
    CHECK(candidate.config.stages == 3);
    CHECK(candidate.config.split_k == 2);
    CHECK(candidate.config.reduction == gemm::Reduction::atomic);
}

TEST_CASE("errors name the parameter, the value and the form") {
    CHECK(refused({{"cta_tile", "128x128"}}) == "gemm cta_tile | 128x128 | MxNxK, as 128x256x64");
    CHECK(refused({{"BLOCK_M", "128"}, {"BLOCK_N", "64"}}).find("tile BLOCK_K") == 0);
    CHECK(refused({{"stages", "3"}}).find("tile |  | cta_tile") == 0);
    CHECK(refused({{"BLOK_M", "128"}}).find("BLOCK_M") != std::string::npos);
    CHECK(refused({{"cta_tile", "128x128x64"}, {"m", "5"}}).find("the problem is the same for all") !=
          std::string::npos);
    CHECK(refused({{"cta_tile", "128x128x64"}, {"num_ctas", "2"}}).find("tile num_ctas | 2") == 0);
    CHECK(refused({{"cta_tile", "128x128x64"}, {"stages", "0"}}).find("gemm stages | 0") == 0);
}
