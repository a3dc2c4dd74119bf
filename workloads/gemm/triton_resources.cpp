// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_resources.hpp"

#include "model/machine/demand/lane_addresses.hpp"
#include "workloads/compilers/triton.hpp"
#include "workloads/gemm/triton_instructions.hpp"
#include "workloads/gemm/triton_turning.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace {

using model::machine::lanes_per_warp;

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

bool multiplies_by_tcgen05(const Problem& problem, const Config& config) {
    const compilers::Triton::TensorMemory& law = compilers::triton().tensor_memory;
    const Dtype dtype = problem.multiplied();
    return config.strides_by_16 && dtype != Dtype::int8 && config.cta_m % law.rows == 0 &&
           config.cta_n % law.columns == 0 && config.warps % 4 == 0 && config.warps <= law.warps_max;
}

int triton_buffers(const Config& config) {
    return config.mma == MatrixInstruction::mma_sync || config.mma == MatrixInstruction::simt
               ? std::max(1, config.stages - compilers::triton().pipeline.buffers_less_of_mma_sync)
               : config.stages;
}

int triton_registers(const Problem& problem, const Config& config) {
    const compilers::Triton::Registers& law = compilers::triton().registers;
    const int accumulators = config.cta_m * config.cta_n / (lanes_per_warp * config.warps);
    const auto copied =
        static_cast<int>(copies_of(problem, config, true) + copies_of(problem, config, false));
    if (config.mma == MatrixInstruction::tcgen05) {
        // The sums lie in tensor memory until the end, when a lane brings so many at once.
        const compilers::Triton::TensorMemory& memory = compilers::triton().tensor_memory;
        const int held = std::min(accumulators, memory.sums_held);
        return held + held / memory.sums_over + memory.rest;
    }
    // Both operands of 8-bit types lie along K, so one offset serves several copies.
    if (hw::bytes_of(problem.a) == 1 && config.mma == MatrixInstruction::wgmma) {
        return accumulators + law.eight_bit_rest + law.eight_bit_copies * copied / law.eight_bit_over;
    }
    const auto values = [&](bool is_a) {
        return loaded_in_its_trip(config, is_a) ? static_cast<int>(copies_of(problem, config, is_a)) : 0;
    };
    const int pointers = law.pointer * copied + values(true) + values(false);
    // Where the sums fill half of all registers, ptxas gives the other values the remaining registers.
    const int aside = accumulators < law.many_sums ? 0 : law.with_many_sums;
    return accumulators + pointers + aside +
           (config.mma == MatrixInstruction::mma_sync ? fragments(config) + law.rest_of_mma_sync
                                                      : law.rest_of_wgmma);
}

}  // namespace warptime::workloads::gemm
