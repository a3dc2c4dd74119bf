// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/gemm/library_kernel.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/libraries/library.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace warptime::workloads::gemm {

namespace {

namespace mk = model::kernel;

struct Lowered {
    Config config;
    mk::Program program;
};

Lowered lowered(std::int64_t n, std::int64_t k) {
    Problem problem;
    problem.m = 1;
    problem.n = n;
    problem.k = k;
    problem.a = problem.b = problem.out = Dtype::fp16;
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto libraries = libraries::load_libraries();
    const auto family =
        std::find_if(libraries.gemm_families.begin(), libraries.gemm_families.end(),
                     [](const libraries::GemmFamily& f) { return f.name == "gemvx_half_align2"; });
    REQUIRE(family != libraries.gemm_families.end());
    Lowered result;
    result.config = vendor_config(problem, *family, family->tiles[0], {1, 1}, gpu);
    lower(problem, result.config, gpu, result.program);
    return result;
}

/// Elements of the columns that a lane loads at once: the last loads of the kernel.
std::int64_t elements_at_once(const mk::Kernel& kernel) {
    std::int64_t count = 0;
    for (const mk::Op& op : kernel.ops) {
        if (op.cls == hw::InstructionClass::ld_global) count = op.count;
    }
    return count;
}

}  // namespace

TEST_CASE("a warp takes a column, in turns of one length of at most 64 elements a lane") {
    // Recorded rows of these products have grid=253x1x1 and 668x1x1.
    for (const auto& [n, k, ctas, turns, elements] :
         {std::array<std::int64_t, 5>{1009, 576, 253, 1, 18}, {2669, 4288, 668, 3, 45}}) {
        const Lowered one = lowered(n, k);
        const mk::Kernel& kernel = one.program.kernels[0];
        CHECK(kernel.grid.x == ctas);
        CHECK(kernel.cta.x == 128);
        CHECK(kernel.schedule.k_iterations == turns);
        CHECK(elements_at_once(kernel) == elements);
        CHECK(kernel.dynamic_shared == 528);
    }
}

TEST_CASE("nothing is staged: warps meet for their sums alone") {
    const Lowered one = lowered(1280, 4173);
    const mk::Kernel& kernel = one.program.kernels[0];
    std::int64_t stores = 0, barriers = 0;
    for (const mk::Op& op : kernel.ops) {
        stores += op.cls == hw::InstructionClass::st_shared ? 1 : 0;
        barriers += op.cls == hw::InstructionClass::bar_sync ? 1 : 0;
    }
    CHECK(stores == 2);  // of sums and of results
    CHECK(barriers == 2);
}

}  // namespace warptime::workloads::gemm
