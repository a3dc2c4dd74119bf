// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_resources.hpp"

#include "workloads/gemm/stage_copies.hpp"
#include "workloads/gemm/triton_instructions.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace {

constexpr int lanes = 32;

/// 32-bit registers of A and B that a thread holds for one step along K.
int fragments(const Config& c) {
    const int warps_m = std::clamp(c.cta_m / 16, 1, c.warps);
    const int warps_n = std::max(1, c.warps / warps_m);
    return std::max(16, c.cta_m / warps_m) / 16 * 4 + std::max(8, c.cta_n / warps_n) / 8 * 2;
}

}  // namespace

bool copies_as_triton(const Config& config) {
    return config.strides_by_16 && config.pipeline == Pipeline::cp_async;
}

int triton_buffers(const Config& config) {
    return config.mma == MatrixInstruction::mma_sync ? std::max(1, config.stages - 1) : config.stages;
}

int triton_registers(const Problem& problem, const Config& config) {
    constexpr int pointer = 2;
    constexpr int rest_of_wgmma = 22;
    constexpr int rest_of_mma_sync = 25;
    // Half of all registers in accumulators: ptxas gives them what they can have.
    constexpr int many_accumulators = 128;
    constexpr int with_many = 8;
    const int accumulators = config.cta_m * config.cta_n / (lanes * config.warps);
    const auto copied =
        static_cast<int>(copies_of(problem, config, true) + copies_of(problem, config, false));
    // Both operands of 8-bit types lie along K, so that one offset serves several copies (the kernels of
    // triton_fp8: within 5 registers up to ten copies a lane).
    if (hw::bytes_of(problem.a) == 1 && config.mma == MatrixInstruction::wgmma) {
        return accumulators + 23 + 3 * copied / 2;
    }
    const auto values = [&](bool is_a) {
        return loaded_in_its_trip(config, is_a) ? static_cast<int>(copies_of(problem, config, is_a)) : 0;
    };
    const int pointers = pointer * copied + values(true) + values(false);
    const int aside = accumulators < many_accumulators ? 0 : with_many;
    return accumulators + pointers + aside +
           (config.mma == MatrixInstruction::mma_sync ? fragments(config) + rest_of_mma_sync : rest_of_wgmma);
}

}  // namespace warptime::workloads::gemm
