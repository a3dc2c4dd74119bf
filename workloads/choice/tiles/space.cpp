// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/space.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/from_parameters.hpp"
#include "workloads/gemm/triton_alignment.hpp"

#include <algorithm>
#include <array>

namespace warptime::workloads::choice::tiles {

namespace {

namespace mk = model::kernel;

/// Elements of K in `bytes` bytes of the wider operand.
int k_elements(const gemm::Problem& problem, int bytes) {
    return bytes / std::max(hw::bytes_of(problem.a), hw::bytes_of(problem.b));
}

bool wgmma_multiplies(hw::Dtype dtype) {
    return dtype != hw::Dtype::fp32 && dtype != hw::Dtype::fp64;
}

/// Stages that fit beside the epilogue's staged tile, taken as 64 rows of the output tile. CUTLASS's
/// StageCountAutoCarveout (include/cutlass/gemm/collective/builders/sm90_common.inl) subtracts the shared
/// storage of the compiled epilogue.
int stages_that_fit(const gemm::Problem& problem, const gemm::Config& config, const hw::Gpu& gpu) {
    const std::int64_t epilogue =
        std::int64_t{config.cta_m} * config.cta_n * hw::bytes_of(problem.out) / (config.cta_m / 64);
    const std::int64_t barriers_of_stage = 16;
    const auto capacity = static_cast<std::int64_t>(gpu.shared.per_cta_optin.value());
    return static_cast<int>((capacity - epilogue) / (gemm::stage_bytes(problem, config) + barriers_of_stage));
}

void add_hopper(const gemm::Problem& problem, const hw::Gpu& gpu, std::vector<Candidate>& space) {
    constexpr std::array<std::array<int, 2>, 3> clusters{{{1, 1}, {2, 1}, {1, 2}}};
    for (const int m : {64, 128, 256}) {
        for (const int n : {16, 32, 64, 128, 192, 256}) {
            for (const auto specialization :
                 {gemm::Specialization::cooperative, gemm::Specialization::pingpong}) {
                // Cooperative consumers divide a tile of 128 rows or more; ping-pong consumers own a tile of
                // 64 or 128 rows.
                if (specialization == gemm::Specialization::cooperative ? m < 128 : m > 128) {
                    continue;
                }
                for (const auto& cluster : clusters) {
                    Candidate candidate;
                    candidate.implementation = Implementation::cutlass;
                    gemm::Config& c = candidate.config;
                    c.cta_m = m;
                    c.cta_n = n;
                    c.cta_k = k_elements(problem, 128);
                    c.cluster_m = cluster[0];
                    c.cluster_n = cluster[1];
                    c.warps = 8;
                    c.specialization = specialization;
                    c.schedule = mk::ScheduleKind::static_stride;
                    c.stages = std::max(2, stages_that_fit(problem, c, gpu));
                    c.raster = gemm::heuristic_raster(problem, c);
                    space.push_back(candidate);
                }
            }
        }
    }
}

void add_multistage(const gemm::Problem& problem, std::vector<Candidate>& space) {
    for (const int m : {64, 128, 256}) {
        for (const int n : {64, 128, 256}) {
            for (const int k_bytes : {64, 128}) {
                for (const int stages : {2, 3, 4, 5}) {
                    for (const int warps : {4, 8}) {
                        Candidate candidate;
                        candidate.implementation = Implementation::cutlass;
                        gemm::Config& c = candidate.config;
                        c.cta_m = m;
                        c.cta_n = n;
                        c.cta_k = k_elements(problem, k_bytes);
                        c.stages = stages;
                        c.warps = warps;
                        c.raster = gemm::heuristic_raster(problem, c);
                        space.push_back(candidate);
                    }
                }
            }
        }
    }
}

/// Whether Triton's kernels for these rows copy ahead. If they do not, every number of stages gives the same
/// code.
bool copies_ahead(const gemm::Problem& problem) {
    gemm::Config config;
    config.cta_m = config.cta_n = config.cta_k = 64;
    gemm::respect_triton_alignment(problem, config);
    return config.pipeline != gemm::Pipeline::sync;
}

}  // namespace

std::vector<Candidate> triton_space(const gemm::Problem& problem, const hw::Gpu& gpu) {
    std::vector<Candidate> space;
    const bool ahead = gpu.instructions[hw::InstructionClass::cp_async].supported && copies_ahead(problem);
    const int most_stages = ahead ? 5 : 2;
    for (const int m : {16, 32, 64, 128, 256}) {
        for (const int n : {16, 32, 64, 128, 256}) {
            for (const int k_bytes : {64, 128, 256}) {
                for (int stages = 2; stages <= most_stages; ++stages) {
                    for (const int warps : {4, 8}) {
                        for (const int group : {1, 8}) {
                            Candidate candidate;
                            gemm::Config& c = candidate.config;
                            c.cta_m = m;
                            c.cta_n = n;
                            c.cta_k = k_elements(problem, k_bytes);
                            c.stages = stages;
                            c.warps = warps;
                            c.group = group;
                            c.reduction = gemm::Reduction::atomic;
                            c.strides_by_16 = true;
                            space.push_back(candidate);
                        }
                    }
                }
            }
        }
    }
    return space;
}

std::vector<Candidate> cutlass_space(const gemm::Problem& problem, const hw::Gpu& gpu) {
    std::vector<Candidate> space;
    if (gpu.instructions[hw::InstructionClass::wgmma].supported && wgmma_multiplies(problem.multiplied())) {
        add_hopper(problem, gpu, space);
    } else {
        add_multistage(problem, space);
    }
    return space;
}

std::vector<Candidate> space_named(std::string_view name, const Operation& problem, const hw::Gpu& gpu) {
    if (name == "triton") {
        return triton_space(gemm::problem_of(problem), gpu);
    }
    if (name == "cutlass") {
        return cutlass_space(gemm::problem_of(problem), gpu);
    }
    if (name.ends_with(".json") || name.find('/') != std::string_view::npos) {
        return space_from_file(name, problem);
    }
    throw Error("space", std::string(name), "triton, cutlass, or the path of a JSON list of tiles");
}

}  // namespace warptime::workloads::choice::tiles
