// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/vendor_choice.hpp"

#include "hw/error.hpp"
#include "workloads/choice/library_picks.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/library_kernel.hpp"
#include "workloads/gemm/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace warptime::workloads::choice {

using gemm::ceil_div;
using gemm::Config;
using gemm::Major;
using gemm::Problem;
using gemm::vendor_config;
using hw::Dtype;
using libraries::ClusterShape;
using libraries::GemmFamily;
using libraries::Tile;

namespace {

bool serves(const GemmFamily& family, const Problem& problem, const hw::Gpu& gpu) {
    const bool rows = family.rows_max == 0 || problem.m <= family.rows_max;
    const bool along_k =
        !gemm::takes_columns(family) || (problem.a_major == Major::k && problem.b_major == Major::k);
    return rows && along_k && family.runs_on(gpu) && problem.row_alignment() % family.row_alignment == 0 &&
           problem.a == problem.b &&
           std::find(family.dtypes.begin(), family.dtypes.end(), problem.a) != family.dtypes.end();
}

/// A family for ragged N serves only ragged N, and is then the only family.
bool fits_n(const GemmFamily& family, const Problem& problem, bool ragged) {
    return ragged ? family.ragged_n > 0 && problem.n % family.ragged_n != 0 : family.ragged_n == 0;
}

/// Whether a cluster is wider than the grid of tiles, so that some of its CTAs have no work. The library does
/// not take such clusters. Two cases are exceptions: problems of a single tile, where every cluster is too
/// wide, and families with one cluster.
bool wasteful(const Problem& problem, const Tile& tile, const ClusterShape& cluster) {
    const std::int64_t tiles_m = ceil_div(problem.m, tile.m);
    const std::int64_t tiles_n = ceil_div(problem.n, tile.n);
    return tiles_m * tiles_n > 1 && (tiles_m < cluster.m || tiles_n < cluster.n);
}

/// Whether the problem has too many rows for dot products, which need one row of tiles.
bool too_few_rows(const Problem& problem, const GemmFamily& family, const Tile& tile) {
    return family.rows_max > 0 && problem.m > tile.m;
}

/// Whether a grid of several waves excludes this cluster or tile. The library launches such grids in clusters
/// of one size: 216 of 236 recorded grids have clusters of two (gemm_bf16, gemm_bf16_second and gemm_fp16,
/// fit and development rows). In fp8 the consumers share the tiles of such grids: 102 of 111, and 6 of the
/// others have a side below 64 (gemm_fp8, the same kinds of rows).
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

/// Whether the library splits a problem so often. It does not split tiles that already fill many waves, nor a
/// short K in few parts.
bool splits(const Problem& problem, const GemmFamily& family, const Config& config, const hw::Gpu& gpu) {
    if (config.split_k < 2) return true;
    if (problem.k * config.split_k < family.split_work_min) return false;
    const double per_sm =
        std::floor(gpu.sm.registers.value() / static_cast<double>(config.registers * family.threads));
    const auto tiles = static_cast<double>(ceil_div(problem.m, config.cta_m) *
                                           ceil_div(problem.n, config.cta_n) * problem.batch);
    return family.split_waves_max == 0.0 ||
           tiles <= family.split_waves_max * std::max(1.0, per_sm) * gpu.sm.count.value();
}

/// Whether a CTA of the GPU may have the shared memory of a tile. Some tiles are for chips with more of it.
bool fits_shared(const Problem& problem, const Config& config, const hw::Gpu& gpu) {
    return static_cast<double>(gemm::shared_bytes(problem, config)) <= gpu.shared.per_cta_optin.value();
}

/// Throws Error where kernels of the type are known, but none for rows of this alignment. The error names the
/// size that determines the rows of a matrix.
void refuse_rows(const Problem& problem, const std::vector<GemmFamily>& families, const hw::Gpu& gpu) {
    int narrowest = 0;
    for (const GemmFamily& family : families) {
        const bool type =
            std::find(family.dtypes.begin(), family.dtypes.end(), problem.a) != family.dtypes.end();
        if (!type || !family.runs_on(gpu)) continue;
        narrowest = narrowest == 0 ? family.row_alignment : std::min(narrowest, family.row_alignment);
    }
    if (narrowest == 0 || problem.row_alignment() % narrowest == 0) return;
    struct Rows {
        const char* pitch_name;
        std::int64_t pitch;
        const char* size_name;
        std::int64_t size;
        Dtype dtype;
    };
    const bool a_along_k = problem.a_major == Major::k, b_along_k = problem.b_major == Major::k;
    for (const Rows& rows :
         {Rows{"lda", problem.lda, a_along_k ? "k" : "m", a_along_k ? problem.k : problem.m, problem.a},
          Rows{"ldb", problem.ldb, b_along_k ? "k" : "n", b_along_k ? problem.k : problem.n, problem.b},
          Rows{"ldc", problem.ldc, "n", problem.n, problem.out}}) {
        const std::int64_t elements = rows.pitch > 0 ? rows.pitch : rows.size;
        if (elements * hw::bytes_of(rows.dtype) % narrowest == 0) continue;
        throw Error(
            fmt::format("gemm {}", rows.pitch > 0 ? rows.pitch_name : rows.size_name),
            fmt::format("{}", elements),
            fmt::format("rows of a multiple of {} bytes ({} elements of {}), as the known library "
                        "kernels on {} take, or an explicit cta_tile",
                        narrowest, narrowest / hw::bytes_of(rows.dtype), hw::to_string(rows.dtype), gpu.id));
    }
}

/// Throws Error with the missing item: the type, any kernel of the architecture, of the type, or for such
/// rows.
[[noreturn]] void refuse_choice(const Problem& problem, const std::vector<GemmFamily>& families,
                                const hw::Gpu& gpu) {
    if (problem.a != problem.b) {
        throw Error(
            "gemm dtype_b", problem.packed_b ? "int4" : std::string(hw::to_string(problem.b)),
            fmt::format("{}, as A, or an explicit cta_tile: the library's kernels multiply operands of "
                        "one type",
                        hw::to_string(problem.a)));
    }
    if (problem.a != Dtype::fp32 && problem.a != Dtype::fp64) {
        gemm::require_tensor_dtype(problem, gpu);
    }
    const bool recorded = std::any_of(families.begin(), families.end(),
                                      [&gpu](const GemmFamily& family) { return family.runs_on(gpu); });
    if (!recorded) {
        throw Error("gemm cta_tile", "none",
                    fmt::format("an explicit tile on {}: the library's kernels for compute capability {}.{} "
                                "are not known",
                                gpu.id, gpu.compute_major, gpu.compute_minor));
    }
    refuse_rows(problem, families, gpu);
    throw Error(
        "gemm dtype", std::string(problem.name_of_type()),
        fmt::format("a dtype whose library kernels are known on {}, or an explicit cta_tile", gpu.id));
}

struct TimedConfig {
    Config config;
    double time = std::numeric_limits<double>::infinity();
    std::size_t call = 0;  ///< of the score
};

/// Seconds that a pick takes at least, as Score::least; 0 where nothing is known of it yet.
double least_of(const BoundedPick& pick, const Problem& problem, const Score& score, double limit) {
    if (score.least == nullptr || pick.known == nullptr ||
        pick.known->body == model::prediction::unknown_body) {
        return 0.0;
    }
    const bool counts = pick.config.schedule == model::kernel::ScheduleKind::dynamic_counter;
    const double before = counts && score.clear != nullptr ? score.clear(gemm::bytes_of_tile_counter) : 0.0;
    return before + score.least(pick.known->body, ChoiceMemory::sizes_of(*pick.known, problem, pick.config),
                                limit - before);
}

/// Picks of a list that `memory` has not had yet and that may take less than `limit`.
void bound_picks(const Problem& problem, std::span<const int> numbers, double limit,
                 const libraries::Libraries& libraries, const libraries::PickTable& table, const hw::Gpu& gpu,
                 const Score& score, ChoiceMemory& memory) {
    std::vector<BoundedPick>& picks = memory.bounded_picks;
    picks.clear();
    for (const int number : numbers) {
        const libraries::KernelPick& pick = table.picks[static_cast<std::size_t>(number)];
        if (pick.family < 0 || !memory.add_pick(number)) continue;
        const GemmFamily& family = libraries.gemm_families[static_cast<std::size_t>(pick.family)];
        BoundedPick& bounded = picks.emplace_back();
        bounded.config = config_of_pick(problem, pick, table, family, gpu);
        bounded.known = memory.body_of(number, problem, bounded.config);
        bounded.least = least_of(bounded, problem, score, limit);
        if (!(bounded.least < limit)) picks.pop_back();
    }
}

/// The fastest of the picks that `memory` has not yet in its list, the first one of equals. Only times below
/// `limit` count. The time stays infinite where no pick is known or all take at least the limit.
TimedConfig fastest_pick(const Problem& problem, std::span<const int> numbers, double limit,
                         const libraries::Libraries& libraries, const libraries::PickTable& table,
                         const hw::Gpu& gpu, const Score& score, ChoiceMemory& memory) {
    bound_picks(problem, numbers, limit, libraries, table, gpu, score, memory);
    const std::vector<BoundedPick>& picks = memory.bounded_picks;
    // The sooner a fast pick has been predicted, the fewer others are. Picks of which nothing is known come
    // last: their descriptions give a bound, which then has a limit to meet.
    std::vector<std::size_t>& order = memory.order;
    order.resize(picks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&picks](std::size_t one, std::size_t other) {
        const bool known = 0.0 < picks[one].least;
        if (known != (0.0 < picks[other].least)) return known;
        return picks[one].least != picks[other].least ? picks[one].least < picks[other].least : one < other;
    });
    TimedConfig best;
    std::size_t place = 0;  // of the best
    for (const std::size_t at : order) {
        const BoundedPick& pick = picks[at];
        // A pick that comes before the best one in the list is taken at the same time, too.
        const double below =
            std::min(limit, at < place ? std::nextafter(best.time, std::numeric_limits<double>::infinity())
                                       : best.time);
        if (!(pick.least < below) || !(least_of(pick, problem, score, below) < below)) continue;
        const bool bounded = 0.0 < pick.least;
        const model::kernel::Program& program = memory.lower(problem, pick.config, pick.known);
        memory.count_call();
        const auto body = pick.known == nullptr ? model::prediction::unknown_body : pick.known->body;
        const double time = score.time({program, body, bounded}, below);
        if (!(time < below)) continue;
        best = {pick.config, time, memory.calls() - 1};
        place = at;
    }
    return best;
}

}  // namespace

int next_split(const GemmFamily& family, const Config& config, std::int64_t k_iterations, int split) {
    if (!family.split_searched || config.split_k > family.split_max) {
        return 0;
    }
    // Between two large numbers of splits the time changes little, so the step grows.
    const int next = split + std::max(1, split / 8);
    return next <= family.split_max && k_iterations / next >= family.split_min_iterations ? next : 0;
}

Config choose_vendor_kernel(const Problem& problem, const std::vector<GemmFamily>& families,
                            const hw::Gpu& gpu, const Score& score, ChoiceMemory& memory) {
    Config best;
    double best_time = std::numeric_limits<double>::infinity();
    // The library takes the widest copies that the alignment of rows allows.
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
        memory.count_call();
        const double time = score.time({memory.lower(problem, config, nullptr)}, best_time);
        if (time < best_time) {
            best_time = time;
            memory.choose_call(memory.calls() - 1);
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
                const std::int64_t grid = gemm::largest_grid(gpu, cluster.m * cluster.n);
                if (grid == 0 || too_few_rows(problem, family, tile) || problem.k < tile.k_least ||
                    (family.clusters.size() > 1 && wasteful(problem, tile, cluster)) ||
                    too_many_waves(problem, family, tile, cluster, grid)) {
                    continue;
                }
                Config config = vendor_config(problem, family, tile, cluster, gpu);
                const std::int64_t k_iterations = ceil_div(problem.k, config.cta_k);
                // With fewer tiles than fill the SMs, the rule gives the number of splits. Otherwise the
                // search tries several numbers.
                const bool by_rule = config.split_k > 1;
                for (int split = config.split_k; split > 0;
                     split = by_rule ? 0 : next_split(family, config, k_iterations, split)) {
                    config.split_k = split;
                    if (!splits(problem, family, config, gpu)) {
                        if (!by_rule) continue;
                        config.split_k = 1;
                    }
                    config.reduction = gemm::vendor_reduction(problem, family, config);
                    if (fits_shared(problem, config, gpu)) consider(config);
                }
            }
        }
    }
    if (best_time == std::numeric_limits<double>::infinity()) {
        refuse_choice(problem, families, gpu);
    }
    return best;
}

Config choose_vendor_kernel(const Problem& problem, const libraries::Libraries& libraries, const hw::Gpu& gpu,
                            const Score& score, ChoiceMemory& memory) {
    memory.begin_choice();
    for (const libraries::PickTable& table : libraries.pick_tables) {
        const LikelyPicks picks = picks_of(problem, table, gpu);
        if (picks.likely.empty()) continue;
        constexpr double infinity = std::numeric_limits<double>::infinity();
        memory.begin_picks(table);
        const TimedConfig likely =
            fastest_pick(problem, picks.likely, infinity, libraries, table, gpu, score, memory);
        if (likely.time == infinity) continue;
        // Only picks faster by this factor matter. The last factor allows for rounding of the product.
        const double limit = likely.time / too_slow_to_be_picked * (1.0 + 1e-12);
        const TimedConfig nearby =
            fastest_pick(problem, picks.around, limit, libraries, table, gpu, score, memory);
        const bool too_slow = likely.time > too_slow_to_be_picked * nearby.time;
        const TimedConfig& best = too_slow ? nearby : likely;
        memory.choose_call(best.call);
        return best.config;
    }
    return choose_vendor_kernel(problem, libraries.gemm_families, gpu, score, memory);
}

std::string caution_of_choice(const Problem& problem, const std::vector<GemmFamily>& families,
                              const hw::Gpu& gpu) {
    const bool named = std::any_of(families.begin(), families.end(), [&](const GemmFamily& family) {
        return family.named && serves(family, problem, gpu);
    });
    if (named && problem.scale_block > 0) {
        return fmt::format(
            "no kernel of the library is known for {} on {}: kernels with the tiles of its other types are "
            "assumed, and the predicted time chooses among them",
            problem.name_of_type(), gpu.id);
    }
    return named ? fmt::format(
                       "no launch of the library was recorded for {} on {}: its kernels are read off "
                       "public names, and the predicted time chooses among them",
                       problem.name_of_type(), gpu.id)
                 : "";
}

}  // namespace warptime::workloads::choice
