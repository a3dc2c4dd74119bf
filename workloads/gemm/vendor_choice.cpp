// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/vendor_choice.hpp"

#include "hw/error.hpp"
#include "model/occupancy/placement.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/library_picks.hpp"
#include "workloads/gemm/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using libraries::ClusterShape;
using libraries::GemmFamily;
using libraries::Tile;

namespace {

/// Bytes beside the stages: a staging buffer for stores, and barriers (shared sizes of the recorded kernels).
constexpr std::int64_t staged_epilogue_bytes = 16640;

std::int64_t largest_grid(const hw::Gpu<double>& gpu, int cluster_size) {
    switch (cluster_size) {
        case 1:
            return static_cast<std::int64_t>(gpu.sm.count.value());
        case 2:
            return 2 * static_cast<std::int64_t>(gpu.cluster.active_max_2.value());
        case 4:
            return 4 * static_cast<std::int64_t>(gpu.cluster.active_max_4.value());
        case 8:
            return 8 * static_cast<std::int64_t>(gpu.cluster.active_max_8.value());
        default:
            return cluster_size * model::occupancy::clusters_in_groups(gpu.cluster.groups, cluster_size, 1);
    }
}

MatrixInstruction instruction_of(const std::string& text) {
    if (text == "wgmma") {
        return MatrixInstruction::wgmma;
    }
    if (text == "mma.sync") {
        return MatrixInstruction::mma_sync;
    }
    return MatrixInstruction::simt;  // also of dot products
}

Pipeline pipeline_of(const std::string& text) {
    if (text == "tma") {
        return Pipeline::tma;
    }
    return text == "cp.async" ? Pipeline::cp_async : Pipeline::sync;
}

bool takes_columns(const GemmFamily& family) {
    return family.instruction == "dot" || family.instruction == "streamed dot";
}

bool serves(const GemmFamily& family, const Problem& problem, const hw::Gpu<double>& gpu) {
    const bool rows = family.rows_max == 0 || problem.m <= family.rows_max;
    const bool along_k =
        !takes_columns(family) || (problem.a_major == Major::k && problem.b_major == Major::k);
    return rows && along_k && family.compute_major == gpu.compute_major &&
           gpu.compute_minor >= family.compute_minor_min &&
           problem.row_alignment() % family.row_alignment == 0 && problem.a == problem.b &&
           std::find(family.dtypes.begin(), family.dtypes.end(), problem.a) != family.dtypes.end();
}

/// A family for ragged N serves those alone, and then is the only one.
bool fits_n(const GemmFamily& family, const Problem& problem, bool ragged) {
    return ragged ? family.ragged_n > 0 && problem.n % family.ragged_n != 0 : family.ragged_n == 0;
}

/// A cluster that is wider than the grid of tiles runs CTAs without work; the library does not pick those,
/// but for problems of a single tile, where every cluster is, and where there is no other cluster.
bool wasteful(const Problem& problem, const Tile& tile, const ClusterShape& cluster) {
    const std::int64_t tiles_m = ceil_div(problem.m, tile.m);
    const std::int64_t tiles_n = ceil_div(problem.n, tile.n);
    return tiles_m * tiles_n > 1 && (tiles_m < cluster.m || tiles_n < cluster.n);
}

/// Dot products are one row of tiles.
bool too_few_rows(const Problem& problem, const GemmFamily& family, const Tile& tile) {
    return family.rows_max > 0 && problem.m > tile.m;
}

/// Grids of several waves come in clusters of one size: 216 of the 236 recorded ones in clusters of two
/// (gemm_bf16, gemm_bf16_second and gemm_fp16, fit and development rows). In fp8 they come in tiles that the
/// consumers share: 102 of 111, and 6 of the rest have a side below 64 (gemm_fp8, likewise).
bool too_many_waves(const Problem& problem, const GemmFamily& family, const Tile& tile,
                    const ClusterShape& cluster, std::int64_t grid) {
    const int size = cluster.m * cluster.n;
    const std::int64_t clusters = ceil_div(ceil_div(problem.m, tile.m), cluster.m) *
                                  ceil_div(ceil_div(problem.n, tile.n), cluster.n) * problem.batch;
    if (clusters * size <= grid) {
        return false;
    }
    constexpr int narrow = 64;
    return (family.cluster_above_one_wave > 0 && size != family.cluster_above_one_wave) ||
           (family.cooperative_above_one_wave && !tile.cooperative && std::min(tile.m, tile.n) >= narrow);
}

/// Whether the library splits a problem of so many tiles so often: not where they are many waves already, nor
/// a short K in few parts.
bool splits(const Problem& problem, const GemmFamily& family, const Config& config,
            const hw::Gpu<double>& gpu) {
    if (config.split_k < 2) return true;
    if (problem.k * config.split_k < family.split_work_min) return false;
    const double per_sm =
        std::floor(gpu.sm.registers.value() / static_cast<double>(config.registers * family.threads));
    const auto tiles = static_cast<double>(ceil_div(problem.m, config.cta_m) *
                                           ceil_div(problem.n, config.cta_n) * problem.batch);
    return family.split_waves_max == 0.0 ||
           tiles <= family.split_waves_max * std::max(1.0, per_sm) * gpu.sm.count.value();
}

int stages_of(const Problem& problem, const GemmFamily& family, const Tile& tile) {
    const std::int64_t k_elements = family.k_bytes / hw::bytes_of(problem.a);
    const std::int64_t bytes =
        k_elements * (tile.m * hw::bytes_of(problem.a) + tile.n * hw::bytes_of(problem.b));
    return static_cast<int>(std::clamp<std::int64_t>(family.shared_limit / bytes, 1, family.stages_max));
}

/// Says what is missing: the type, any kernel of the architecture, or one of this type.
[[noreturn]] void refuse_choice(const Problem& problem, const std::vector<GemmFamily>& families,
                                const hw::Gpu<double>& gpu) {
    if (problem.a != problem.b) {
        throw Error(
            "gemm dtype_b", std::string(hw::to_string(problem.b)),
            fmt::format("{}, as A, or an explicit cta_tile: the library's kernels multiply operands of "
                        "one type",
                        hw::to_string(problem.a)));
    }
    if (problem.a != Dtype::fp32 && problem.a != Dtype::fp64) {
        require_tensor_dtype(problem, gpu);
    }
    const bool recorded = std::any_of(families.begin(), families.end(), [&gpu](const GemmFamily& family) {
        return family.compute_major == gpu.compute_major;
    });
    if (!recorded) {
        throw Error("gemm cta_tile", "none",
                    fmt::format("an explicit tile on {}: the library's kernels for compute capability {}.{} "
                                "are not known{}",
                                gpu.id, gpu.compute_major, gpu.compute_minor,
                                gpu.compute_major == 10 ? " (they use tcgen05, which is not modelled yet; a "
                                                          "given tile runs as mma.sync)"
                                                        : ""));
    }
    throw Error(
        "gemm dtype", std::string(hw::to_string(problem.a)),
        fmt::format("a dtype whose library kernels are known on {}, or an explicit cta_tile", gpu.id));
}

/// The order of the tiles. Clusters follow one another across their longer side, as the letters h and v of
/// the kernels' names say, in bands of so many of them; then comes the next line of clusters. A schedule
/// cannot say that of a grid that is wider than a band, since CTAs of one cluster are items in a row: there
/// clusters follow one another along their longer side in bands of as many, whose waves have the same shape
/// the other way round. Without bands the shorter side of the grid runs fastest, so that the longer operand
/// is read once (CUTLASS's heuristic order).
void set_order(const Problem& problem, const GemmFamily& family, const Tile& tile,
               const ClusterShape& cluster, Config& config) {
    const std::int64_t tiles_m = ceil_div(problem.m, tile.m);
    const std::int64_t tiles_n = ceil_div(problem.n, tile.n);
    if (family.band_tiles > 0) {
        // A band may be three quarters full (GemmIdentityThreadblockSwizzle::get_log_tile).
        int band = family.band_tiles;
        while (band > 1 && tiles_n < (3 * band + 3) / 4) band /= 2;
        config.raster = mk::Raster::along_m;
        config.group = band;
        config.whole_bands = true;
        return;
    }
    if (family.band_clusters > 0) {
        // Of clusters that are no line, the shorter side of one.
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

}  // namespace

namespace {

struct TimedConfig {
    Config config;
    double time = std::numeric_limits<double>::infinity();
};

/// Picks by their numbers, but for those that were timed already, which take less than `limit`.
struct Sought {
    std::span<const int> numbers, timed;
    double limit = std::numeric_limits<double>::infinity();
};

/// No time where none of them is known or takes less than the limit.
TimedConfig fastest_pick(const Problem& problem, const Sought& sought, const libraries::Libraries& libraries,
                         const libraries::PickTable& table, const hw::Gpu<double>& gpu, const Score& score,
                         mk::Program& program) {
    const auto [numbers, timed, limit] = sought;
    TimedConfig best;
    for (auto number = numbers.begin(); number != numbers.end(); ++number) {
        const libraries::KernelPick& pick = table.picks[static_cast<std::size_t>(*number)];
        if (pick.family < 0 || std::find(numbers.begin(), number, *number) != number ||
            std::find(timed.begin(), timed.end(), *number) != timed.end()) {
            continue;
        }
        const GemmFamily& family = libraries.gemm_families[static_cast<std::size_t>(pick.family)];
        const Config config = config_of_pick(problem, pick, table, family, gpu);
        program.clear();
        lower_vendor(problem, config, gpu, program);
        const double time = score(program, std::min(best.time, limit));
        if (time < best.time) best = {config, time};
    }
    return best;
}

/// K goes in turns of one length; shared memory holds a sum of each lane and a pad for each warp.
void stream_columns(const Problem& problem, Config& config) {
    constexpr std::int64_t lanes = 32, sum_bytes = 4;
    const std::int64_t turns = ceil_div(problem.k, config.cta_k);
    config.cta_k = static_cast<int>(ceil_div(ceil_div(problem.k, turns), lanes) * lanes);
    config.shared_bytes = sum_bytes * (lanes + 1) * config.cta_n;
}

}  // namespace

Config vendor_config(const Problem& problem, const GemmFamily& family, const Tile& tile,
                     const ClusterShape& cluster, const hw::Gpu<double>& gpu) {
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
    config.registers = tile.registers > 0 ? tile.registers : family.registers;
    config.copy_bytes = family.copy_bytes > 0 ? family.copy_bytes : family.row_alignment;
    config.mma_k = family.mma_k;
    config.square_warp_tiles = true;
    config.fragments_ahead = true;
    config.copy_conflicts = family.copy_conflicts;
    config.dot_products = family.instruction == "dot";
    config.streamed_columns = family.instruction == "streamed dot";
    if (config.mma == MatrixInstruction::simt) {
        // Elements go to shared memory one by one, transposed.
        config.lane_bytes_a = config.lane_bytes_b = config.copy_bytes;
    }
    config.store_bytes = family.copy_bytes > 0 ? family.copy_bytes : family.row_alignment;
    config.shared_bytes = config.pipeline == Pipeline::tma
                              ? config.stages * stage_bytes(problem, config) + staged_epilogue_bytes
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

void lower_vendor(const Problem& problem, const Config& config, const hw::Gpu<double>& gpu,
                  mk::Program& program) {
    constexpr std::int64_t tile_counter_bytes = 4;
    if (config.schedule == mk::ScheduleKind::dynamic_counter) {
        program.add_memset(tile_counter_bytes);
    }
    if (config.split_k > 1 && config.reduction == Reduction::last_cta) {
        constexpr std::int64_t of_tile = 8;
        program.add_memset(of_tile * ceil_div(problem.m, config.cta_m) * ceil_div(problem.n, config.cta_n) *
                           problem.batch);
    }
    lower(problem, config, gpu, program);
}

int next_split(const GemmFamily& family, const Config& config, std::int64_t k_iterations, int split) {
    if (!family.split_searched || config.split_k > family.split_max) {
        return 0;
    }
    // Time changes little from one to the next of many splits.
    const int next = split + std::max(1, split / 8);
    return next <= family.split_max && k_iterations / next >= family.split_min_iterations ? next : 0;
}

Config choose_vendor_kernel(const Problem& problem, const std::vector<GemmFamily>& families,
                            const hw::Gpu<double>& gpu, const Score& score, mk::Program& program) {
    Config best;
    double best_time = std::numeric_limits<double>::infinity();
    // The library takes the widest copies that the rows allow.
    int widest = 0;
    bool ragged = false;
    for (const GemmFamily& family : families) {
        if (serves(family, problem, gpu)) {
            widest = std::max(widest, family.row_alignment);
            ragged = ragged || fits_n(family, problem, true);
        }
    }
    const bool few_rows = std::any_of(families.begin(), families.end(), [&](const GemmFamily& family) {
        return serves(family, problem, gpu) && family.row_alignment == widest &&
               problem.m <= family.rows_always;
    });
    const auto consider = [&](const Config& config) {
        program.clear();
        lower_vendor(problem, config, gpu, program);
        const double time = score(program, best_time);
        if (time < best_time) {
            best_time = time;
            best = config;
        }
    };
    for (const GemmFamily& family : families) {
        if (!serves(family, problem, gpu) || family.row_alignment != widest ||
            !fits_n(family, problem, ragged) || (few_rows && problem.m > family.rows_always)) {
            continue;
        }
        for (const Tile& tile : family.tiles) {
            for (const ClusterShape& cluster : family.clusters) {
                const std::int64_t grid = largest_grid(gpu, cluster.m * cluster.n);
                if (grid == 0 || too_few_rows(problem, family, tile) || problem.k < tile.k_least ||
                    (family.clusters.size() > 1 && wasteful(problem, tile, cluster)) ||
                    too_many_waves(problem, family, tile, cluster, grid)) {
                    continue;
                }
                Config config = vendor_config(problem, family, tile, cluster, gpu);
                const std::int64_t k_iterations = ceil_div(problem.k, config.cta_k);
                // Fewer tiles than fill the SMs follow that rule; of others the number of splits is tried
                // out.
                const bool by_rule = config.split_k > 1;
                for (int split = config.split_k; split > 0;
                     split = by_rule ? 0 : next_split(family, config, k_iterations, split)) {
                    config.split_k = split;
                    if (!splits(problem, family, config, gpu)) {
                        if (!by_rule) continue;
                        config.split_k = 1;
                    }
                    config.reduction = vendor_reduction(problem, family, config);
                    consider(config);
                }
            }
        }
    }
    if (best_time == std::numeric_limits<double>::infinity()) {
        refuse_choice(problem, families, gpu);
    }
    program.clear();
    lower_vendor(problem, best, gpu, program);
    return best;
}

Config choose_vendor_kernel(const Problem& problem, const libraries::Libraries& libraries,
                            const hw::Gpu<double>& gpu, const Score& score, mk::Program& program) {
    for (const libraries::PickTable& table : libraries.pick_tables) {
        const LikelyPicks picks = picks_of(problem, table, libraries.gemm_families, gpu);
        const auto likely = fastest_pick(problem, {.numbers = picks.likely, .timed = {}}, libraries, table,
                                         gpu, score, program);
        if (likely.time == std::numeric_limits<double>::infinity()) continue;
        // Only what is so much faster matters; a little more allows for how the product is rounded.
        const double limit = likely.time / too_slow_to_be_picked * (1.0 + 1e-12);
        const auto around =
            fastest_pick(problem, {picks.around, picks.likely, limit}, libraries, table, gpu, score, program);
        const bool too_slow = likely.time > too_slow_to_be_picked * around.time;
        const Config& best = too_slow ? around.config : likely.config;
        program.clear();
        lower_vendor(problem, best, gpu, program);
        return best;
    }
    return choose_vendor_kernel(problem, libraries.gemm_families, gpu, score, program);
}

}  // namespace warptime::workloads::gemm
