// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_instructions.hpp"

#include "workloads/compilers/triton.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

std::int64_t copies_per_warp(std::int64_t tile_bytes, const Config& config) {
    return std::max<std::int64_t>(1, tile_bytes / (std::int64_t{32} * config.copy_bytes * config.warps));
}

std::int64_t copies_of(const Problem& problem, const Config& config, bool is_a) {
    return std::max<std::int64_t>(1, tile_bytes(problem, config, is_a) /
                                         (std::int64_t{32} * copy_bytes_of(config, is_a) * config.warps));
}

TritonInstructions triton_instructions(const Problem& problem, const Config& config) {
    const std::int64_t a = copies_of(problem, config, true);
    const std::int64_t b = copies_of(problem, config, false);
    const std::int64_t outputs =
        std::int64_t{config.cta_m} * config.cta_n / (std::int64_t{32} * config.warps);
    const compilers::Triton::Instructions& law = compilers::triton().instructions;
    const std::int64_t after = law.after + outputs / law.outputs_after_over;
    if (config.mma == MatrixInstruction::wgmma) {
        // The descriptors of each product of a warp are computed between the products. A product takes N of
        // up to 256 and 32 bytes of K.
        const std::int64_t rows =
            std::max<std::int64_t>(1, config.cta_m / 64 / std::max(1, config.warps / 4));
        const std::int64_t products = rows * std::max(1, config.cta_k * hw::bytes_of(problem.a) / 32);
        const auto& w = law.wgmma;
        return {w.before + w.before_a * a + w.before_b * b + outputs,
                w.stage + w.stage_copies * (a + b) / w.stage_over,
                w.trip + (w.trip_a * a + w.trip_b * b + w.trip_products * products) / w.trip_over, after};
    }
    if (config.mma == MatrixInstruction::tcgen05) {
        const auto& t = law.tcgen05;
        return {t.before + t.before_copies * (a + b), t.stage + t.stage_copies * (a + b) / t.stage_over,
                t.trip + t.trip_copies * (a + b), after};
    }
    // Without a spare stage no instruction counts the places of stages.
    const auto& s = law.mma_sync;
    const std::int64_t places = config.stages >= s.places_from_stages ? s.places : 0;
    if (config.strides_known) {
        // Distances between a lane's copies are constants in the instructions.
        const auto& known = law.known_strides;
        return {known.before + known.before_copies * (a + b) + outputs / known.before_outputs_over,
                known.stage, known.trip + places + known.trip_copies * (a + b) / known.trip_over, after};
    }
    return {s.before + s.before_a * a + s.before_b * b + outputs / s.before_outputs_over,
            s.stage + s.stage_copies * (a + b) / s.stage_over,
            s.trip + places + (s.trip_a * a + s.trip_b * b) / s.trip_over, after};
}

}  // namespace warptime::workloads::gemm
