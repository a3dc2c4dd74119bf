// Lowers gemm: with the configuration given, or one that the library chooses.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/defaults.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/recorded_kernel.hpp"
#include "workloads/gemm/vendor_choice.hpp"
#include "workloads/gemm_from_parameters.hpp"
#include "workloads/operators.hpp"
#include "workloads/recorded_kernel.hpp"

namespace warptime::workloads {

namespace mk = model::kernel;

void lower_gemm_operation(const Operation& operation, const libraries::Libraries& libraries,
                          const hw::Gpu<double>& gpu, const Score& score, mk::Program& program) {
    const gemm::Problem problem = gemm_problem_of(operation);
    require_memory(operation, gpu, problem.bytes());
    if (value_or_default(operation, "cta_tile").empty()) {
        gemm::choose_vendor_kernel(problem, libraries, gpu, score, program);
        return;
    }
    gemm::lower(problem, gemm_config_of(operation, problem), gpu, program);
}

bool lower_recorded(const Operation& operation, std::string_view steps, const libraries::Libraries& libraries,
                    const hw::Gpu<double>& gpu, mk::Program& program) {
    if (operation.op != "gemm") {
        return false;
    }
    const gemm::Problem problem = gemm_problem_of(operation);
    const auto config = gemm::config_of_recorded(steps, problem, libraries.gemm_families, gpu);
    if (!config) {
        return false;
    }
    program.clear();
    gemm::lower_vendor(problem, *config, gpu, program);
    return true;
}

}  // namespace warptime::workloads
