// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/problem.hpp"

#include <numeric>

namespace warptime::workloads::gemm {

int Problem::row_alignment() const {
    constexpr std::int64_t widest = 16;
    const auto pitch = [](std::int64_t given, std::int64_t dense, Dtype dtype) {
        return (given > 0 ? given : dense) * hw::bytes_of(dtype);
    };
    std::int64_t common = widest;
    const std::int64_t row_of_a = pitch(lda, a_major == Major::k ? k : m, a);
    const std::int64_t row_of_b = pitch(ldb, b_major == Major::k ? k : n, b);
    common = std::gcd(common, a_major == Major::k ? stored_along_k(row_of_a, true) : row_of_a);
    common = std::gcd(common, packed_b || b_major == Major::k ? stored_along_k(row_of_b, false) : row_of_b);
    common = std::gcd(common, pitch(ldc, n, out));
    return static_cast<int>(common);
}

double Problem::bytes() const {
    const auto d = [](std::int64_t v) { return static_cast<double>(v); };
    const double fused = epilogue == Epilogue::bias       ? d(n) * hw::bytes_of(out)
                         : epilogue == Epilogue::residual ? d(batch) * d(m) * d(n) * hw::bytes_of(out)
                                                          : 0.0;
    const double of_scales = scale_block > 0 ? (d(m) + d(n)) * d(ceil_div(k, elements_of_scale())) : 0.0;
    const double packing = a == Dtype::mxfp6 ? 4.0 / 3.0 : 1.0;
    return fused + d(batch) * (d(m) * d(k) * hw::bytes_of(a) / packing +
                               d(k) * d(n) * hw::bytes_of(b) / packing / d(packing_of_b()) +
                               d(m) * d(n) * hw::bytes_of(out) + of_scales);
}

std::string_view Problem::name_of_type() const {
    if (a != Dtype::fp4x2) return hw::to_string(a);
    constexpr int block_of_nvfp4 = 16;
    return scale_block == block_of_nvfp4 ? "nvfp4" : "mxfp4";
}

std::int64_t tile_bytes(const Problem& problem, const Config& config, bool is_a) {
    if (is_a) return std::int64_t{config.cta_m} * config.cta_k * hw::bytes_of(problem.a);
    return std::int64_t{config.cta_n} * config.cta_k * hw::bytes_of(problem.b) / problem.packing_of_b();
}

std::int64_t scale_bytes(const Problem& problem, const Config& config, bool is_a) {
    if (problem.scale_block == 0) return 0;
    return std::int64_t{is_a ? config.cta_m : config.cta_n} * config.cta_k / problem.elements_of_scale();
}

std::int64_t stage_bytes(const Problem& problem, const Config& config) {
    return tile_bytes(problem, config, true) / (config.pair ? 2 : 1) + tile_bytes(problem, config, false) +
           scale_bytes(problem, config, true) + scale_bytes(problem, config, false);
}

model::kernel::Raster heuristic_raster(const Problem& problem, const Config& config) {
    const std::int64_t tiles_m = (problem.m + config.cta_m - 1) / config.cta_m;
    const std::int64_t tiles_n = (problem.n + config.cta_n - 1) / config.cta_n;
    return tiles_n <= tiles_m ? model::kernel::Raster::along_n : model::kernel::Raster::along_m;
}

}  // namespace warptime::workloads::gemm
