// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_instructions.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

std::int64_t copies_per_warp(std::int64_t tile_bytes, const Config& config) {
    return std::max<std::int64_t>(1, tile_bytes / (std::int64_t{32} * config.copy_bytes * config.warps));
}

std::int64_t copies_of(const Problem& problem, const Config& config, bool is_a) {
    const std::int64_t extent = is_a ? config.cta_m : config.cta_n;
    const std::int64_t tile_bytes = extent * config.cta_k * hw::bytes_of(is_a ? problem.a : problem.b);
    return std::max<std::int64_t>(
        1, tile_bytes / (std::int64_t{32} * copy_bytes_of(config, is_a) * config.warps));
}

TritonInstructions triton_instructions(const Problem& problem, const Config& config) {
    const std::int64_t a = copies_of(problem, config, true);
    const std::int64_t b = copies_of(problem, config, false);
    const std::int64_t outputs =
        std::int64_t{config.cta_m} * config.cta_n / (std::int64_t{32} * config.warps);
    const std::int64_t after = 36 + outputs / 2;
    if (config.mma == MatrixInstruction::wgmma) {
        // Descriptors of each of a warp's products are computed between them: N of up to 256 and K of 32
        // bytes at a time.
        const std::int64_t rows =
            std::max<std::int64_t>(1, config.cta_m / 64 / std::max(1, config.warps / 4));
        const std::int64_t products = rows * std::max(1, config.cta_k * hw::bytes_of(problem.a) / 32);
        return {180 + 18 * a + 10 * b + outputs, 14 + 17 * (a + b) / 10,
                48 + (6 * a + 42 * b + 34 * products) / 10, after};
    }
    // Without a stage to spare nothing counts the places of stages.
    const std::int64_t places = config.stages > 2 ? 9 : 0;
    if (config.strides_known) {
        // Distances between a lane's copies are constants in the instructions.
        return {72 + 9 * (a + b) + outputs / 2, 12, 9 + places + 24 * (a + b) / 10, after};
    }
    return {170 + 26 * a + 9 * b + outputs / 2, 21 + 5 * (a + b) / 2, 23 + places + (96 * a + 38 * b) / 10,
            after};
}

}  // namespace warptime::workloads::gemm
