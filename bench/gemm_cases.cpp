// Crosses shapes with tilings and keeps the cases that lower.
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm_cases.hpp"

#include "hw/error.hpp"
#include "workloads/gemm/lower.hpp"

#include <cstddef>
#include <cstdint>

namespace warptime::bench {

namespace {

namespace gemm = workloads::gemm;

std::vector<gemm::Problem> problems() {
    std::vector<gemm::Problem> shapes;
    for (const std::int64_t m : {128, 1000, 2048, 4096}) {
        for (const std::int64_t n : {512, 3072, 4096}) {
            for (const std::int64_t k : {256, 1024, 4096, 11008}) {
                gemm::Problem shape;
                shape.m = m;
                shape.n = n;
                shape.k = k;
                shapes.push_back(shape);
            }
        }
    }
    return shapes;
}

gemm::Config tiling(int m, int n, int k, int stages, int warps, int group) {
    gemm::Config config;
    config.cta_m = m;
    config.cta_n = n;
    config.cta_k = k;
    config.stages = stages;
    config.warps = warps;
    config.group = group;
    return config;
}

std::vector<gemm::Config> tilings() {
    std::vector<gemm::Config> configs;
    for (const int m : {64, 128, 256}) {
        for (const int n : {64, 128, 256}) {
            for (const int stages : {2, 3, 4}) {
                gemm::Config plain = tiling(m, n, 64, stages, m * n >= 16384 ? 8 : 4, 8);
                configs.push_back(plain);
                plain.split_k = 4;
                configs.push_back(plain);
                gemm::Config specialized = tiling(m, n, 64, stages, 8, 1);
                specialized.specialization = gemm::Specialization::cooperative;
                specialized.cluster_m = 2;
                configs.push_back(specialized);
            }
        }
    }
    return configs;
}

bool can_run(const GemmCase& tried, const hw::Gpu& gpu, model::kernel::Program& program) {
    program.clear();
    try {
        gemm::lower(tried.problem, tried.config, gpu, program);
    } catch (const Error&) {
        return false;
    }
    return true;
}

}  // namespace

std::vector<GemmCase> gemm_cases(const hw::Gpu& gpu) {
    const std::vector<gemm::Problem> shapes = problems();
    const std::vector<gemm::Config> configs = tilings();
    std::vector<GemmCase> cases;
    model::kernel::Program program;
    for (std::size_t shift = 0; shift < configs.size(); ++shift) {
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            const GemmCase tried{shapes[i], configs[(i + shift) % configs.size()]};
            if (can_run(tried, gpu, program)) {
                cases.push_back(tried);
            }
        }
    }
    return cases;
}

}  // namespace warptime::bench
