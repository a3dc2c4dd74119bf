// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/library_kernel.hpp"

#include "model/machine/occupancy/placement.hpp"
#include "workloads/gemm/footprint.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using libraries::ClusterShape;
using libraries::GemmFamily;
using libraries::Tile;

namespace {

MatrixInstruction instruction_of(const std::string& text) {
    if (text == "wgmma") {
        return MatrixInstruction::wgmma;
    }
    if (text == "tcgen05") {
        return MatrixInstruction::tcgen05;
    }
    if (text == "mma.sync") {
        return MatrixInstruction::mma_sync;
    }
    return MatrixInstruction::simt;  // also for dot products
}

Pipeline pipeline_of(const std::string& text) {
    if (text == "tma") {
        return Pipeline::tma;
    }
    return text == "cp.async" ? Pipeline::cp_async : Pipeline::sync;
}

int stages_of(const Problem& problem, const GemmFamily& family, const Tile& tile) {
    const std::int64_t k_elements = family.k_bytes / hw::bytes_of(problem.a);
    const std::int64_t scales =
        problem.scale_block > 0 ? (tile.m + tile.n) * k_elements / problem.elements_of_scale() : 0;
    const std::int64_t bytes =
        scales + k_elements * (tile.m * hw::bytes_of(problem.a) / (family.pairs ? 2 : 1) +
                               tile.n * hw::bytes_of(problem.b));
    return static_cast<int>(std::clamp<std::int64_t>(family.shared_limit / bytes, 1, family.stages_max));
}

/// The order of the tiles. Clusters follow one another across their longer side, as the letters h and v in
/// kernel names say. A band holds `band_clusters` clusters; then the next line of clusters begins. A schedule
/// cannot express this order for a grid wider than a band: CTAs of one cluster are items in a row. There,
/// clusters follow one another along their longer side instead, in bands of the same number. The waves then
/// have the same shape with its sides exchanged. Without bands the shorter side of the grid runs fastest
/// (CUTLASS's heuristic order). The longer operand is then read only once.
void set_order(const Problem& problem, const GemmFamily& family, const Tile& tile,
               const ClusterShape& cluster, Config& config) {
    const std::int64_t tiles_m = ceil_div(problem.m, tile.m);
    const std::int64_t tiles_n = ceil_div(problem.n, tile.n);
    if (family.band_tiles > 0) {
        // A band may be only three quarters full (GemmIdentityThreadblockSwizzle::get_log_tile).
        int band = family.band_tiles;
        while (band > 1 && tiles_n < (3 * band + 3) / 4) band /= 2;
        config.raster = mk::Raster::along_m;
        config.group = band;
        config.whole_bands = true;
        return;
    }
    if (family.band_clusters > 0) {
        // Where a cluster has more than one row and column, its shorter side counts.
        const bool wide = cluster.n > cluster.m;
        const int shorter = std::min(cluster.m, cluster.n);
        const int longer = std::max(cluster.m, cluster.n);
        const bool whole = (wide ? tiles_m : tiles_n) <= family.band_clusters;
        config.raster = wide == (shorter == 1) ? mk::Raster::along_m : mk::Raster::along_n;
        config.group = shorter > 1 ? shorter : longer * (whole ? 1 : family.band_clusters);
        return;
    }
    config.raster = tiles_n <= tiles_m ? mk::Raster::along_n : mk::Raster::along_m;
}

/// Divides K into turns of one length. Shared memory holds one sum for each lane and a pad for each warp.
void stream_columns(const Problem& problem, Config& config) {
    constexpr std::int64_t lanes = 32, sum_bytes = 4;
    const std::int64_t turns = ceil_div(problem.k, config.cta_k);
    config.cta_k = static_cast<int>(ceil_div(ceil_div(problem.k, turns), lanes) * lanes);
    config.shared_bytes = sum_bytes * (lanes + 1) * config.cta_n;
}

}  // namespace

std::int64_t largest_grid(const hw::Gpu& gpu, int cluster_size) {
    if (cluster_size == 1) return static_cast<std::int64_t>(gpu.sm.count.value());
    return cluster_size * model::machine::clusters_at_once(gpu, cluster_size, 1);
}

bool takes_columns(const GemmFamily& family) {
    return family.instruction == "dot" || family.instruction == "streamed dot";
}

Config vendor_config(const Problem& problem, const GemmFamily& family, const Tile& tile,
                     const ClusterShape& cluster, const hw::Gpu& gpu) {
    Config config;
    config.cta_m = tile.m;
    config.cta_n = tile.n;
    config.cta_k = tile.k > 0 ? tile.k : family.k_bytes / hw::bytes_of(problem.a);
    config.cluster_m = cluster.m;
    config.cluster_n = cluster.n;
    config.stages = tile.stages > 0 ? tile.stages : stages_of(problem, family, tile);
    config.mma = instruction_of(family.instruction);
    config.pipeline = pipeline_of(family.pipeline);
    config.transposed = tile.transposed;
    config.pair = family.pairs;
    config.registers = tile.registers > 0 ? tile.registers : family.registers;
    config.copy_bytes = family.copy_bytes > 0 ? family.copy_bytes : family.row_alignment;
    config.trip_places = family.trip_places;
    config.copy_places = family.copy_places;
    config.mma_k = family.mma_k;
    config.square_warp_tiles = true;
    // Multiply-adds of kernels before asynchronous copies take the classical loop.
    config.fragments_ahead = config.mma != MatrixInstruction::simt || config.pipeline != Pipeline::sync;
    config.copy_conflicts = family.copy_conflicts;
    config.dot_products = family.instruction == "dot";
    config.streamed_columns = family.instruction == "streamed dot";
    if (config.mma == MatrixInstruction::simt) {
        // Elements go to shared memory one by one and are transposed.
        config.lane_bytes_a = config.lane_bytes_b = config.copy_bytes;
    }
    config.store_bytes = family.copy_bytes > 0 ? family.copy_bytes : family.row_alignment;
    config.shared_bytes = config.pipeline == Pipeline::tma
                              ? config.stages * stage_bytes(problem, config) + family.epilogue_bytes
                              : 0;
    if (takes_columns(family)) {
        config.copy_bytes = hw::bytes_of(problem.a);  // element by element
        config.lane_bytes_a = config.lane_bytes_b = config.copy_bytes;
    }
    const bool specialized = config.pipeline == Pipeline::tma;
    if (config.streamed_columns) stream_columns(problem, config);
    config.warps = config.streamed_columns ? config.cta_n
                   : specialized           ? (family.threads - 128) / 32
                                           : family.threads / 32;
    config.specialization = !specialized       ? Specialization::none
                            : tile.cooperative ? Specialization::cooperative
                                               : Specialization::pingpong;
    const int cluster_size = cluster.m * cluster.n;
    const std::int64_t clusters = ceil_div(ceil_div(problem.m, tile.m), cluster.m) *
                                  ceil_div(ceil_div(problem.n, tile.n), cluster.n) * problem.batch;
    const std::int64_t slots = std::max<std::int64_t>(1, largest_grid(gpu, cluster_size) / cluster_size);
    const std::int64_t k_iterations = ceil_div(problem.k, config.cta_k);
    set_order(problem, family, tile, cluster, config);
    const bool small_enough = family.split_elements_max == 0 || tile.m * tile.n <= family.split_elements_max;
    if (!family.split_searched && small_enough && family.split_max > 1 && 2 * clusters <= slots &&
        k_iterations / 2 >= family.split_min_iterations) {
        config.split_k = static_cast<int>(std::min(
            {slots / clusters, k_iterations / family.split_min_iterations, std::int64_t{family.split_max}}));
    }
    const std::int64_t filled = family.split_fills * largest_grid(gpu, 1);
    if (2 * clusters <= filled) {
        config.split_k = static_cast<int>(std::clamp<std::int64_t>(
            std::min(filled / clusters, k_iterations / family.split_min_iterations), 1, family.split_max));
    }
    if (family.persistent) {
        config.max_ctas = slots * cluster_size;
        const double waves = static_cast<double>(clusters * config.split_k) / static_cast<double>(slots);
        const bool dynamic = family.dynamic_above_waves > 0 && waves > family.dynamic_above_waves;
        config.schedule = dynamic ? mk::ScheduleKind::dynamic_counter : mk::ScheduleKind::static_stride;
    }
    return config;
}

Reduction vendor_reduction(const Problem& problem, const GemmFamily& family, const Config& config) {
    if (family.blocks_up_to_bytes == 0) return Reduction::workspace;
    const std::int64_t tiles =
        ceil_div(problem.m, config.cta_m) * ceil_div(problem.n, config.cta_n) * problem.batch;
    const std::int64_t bytes =
        tiles * config.split_k * config.cta_m * config.cta_n * hw::bytes_of(Dtype::fp32);
    const bool many = config.split_k == 2 && tiles > family.blocks_of_pairs_up_to;
    return many || bytes > family.blocks_up_to_bytes ? Reduction::last_cta : Reduction::blocks;
}

}  // namespace warptime::workloads::gemm
