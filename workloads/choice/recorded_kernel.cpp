// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/recorded_kernel.hpp"

#include "model/machine/occupancy/placement.hpp"
#include "workloads/gemm/from_parameters.hpp"
#include "workloads/gemm/library_kernel.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/parameters.hpp"

#include <algorithm>
#include <regex>
#include <string>

namespace warptime::workloads::choice {

using gemm::ceil_div;
using gemm::Config;
using gemm::Pipeline;
using gemm::Problem;
using gemm::vendor_config;

namespace {

std::int64_t grid_volume(const std::string& text, std::size_t from) {
    static const std::regex pattern("grid=([0-9]+)x([0-9]+)x([0-9]+)");
    std::smatch found;
    if (!std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), found, pattern)) {
        return 0;
    }
    return std::stoll(found[1]) * std::stoll(found[2]) * std::stoll(found[3]);
}

/// The tile of a family with this size. Where several tiles have the size, `stages` and `k` decide.
const libraries::Tile* find_tile(const libraries::GemmFamily& family, int m, int n, int k, int stages) {
    const libraries::Tile* found = nullptr;
    for (const libraries::Tile& tile : family.tiles) {
        if (tile.m == m && tile.n == n &&
            (found == nullptr || (tile.stages == stages && tile.k == k) ||
             (tile.stages == stages && found->stages != stages))) {
            found = &tile;
        }
    }
    return found;
}

std::int64_t padded(std::int64_t tiles, std::int64_t cluster) {
    return ceil_div(tiles, cluster) * cluster;
}

/// The cluster of Hopper's xmma kernels, whose names do not tell it. The side along M is the grid's y (14051
/// of 14051 launches whose cluster was asked for). Several sides along N may explain the grid, whole or with
/// as many clusters as the GPU holds at once. The smallest with more than one CTA is taken, which is right
/// for two thirds of those launches. Recorded steps may also say the cluster ("cluster=2x1x1").
libraries::ClusterShape cluster_of_grid(const std::string& text, std::size_t from, const Problem& problem,
                                        const libraries::Tile& tile, const hw::Gpu& gpu) {
    static const std::regex grid("grid=([0-9]+)x([0-9]+)x[0-9]+(?: cluster=([0-9]+)x([0-9]+)x)?");
    std::smatch found;
    if (!std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), found, grid)) {
        return {1, 1};
    }
    if (found[3].matched) return {std::stoi(found[4]), std::stoi(found[3])};
    const std::int64_t x = std::stoll(found[1]);
    const std::int64_t along_m = std::stoll(found[2]);
    constexpr std::int64_t most = 16;
    if (along_m > most) return {1, 1};
    for (std::int64_t along_n = 2; along_m * along_n <= most; ++along_n) {
        const std::int64_t size = along_m * along_n;
        const std::int64_t tiles = padded(ceil_div(problem.m, tile.m), along_m) *
                                   padded(ceil_div(problem.n, tile.n), along_n) * problem.batch;
        const std::int64_t at_once = size * model::machine::clusters_at_once(gpu, size, 1);
        if (x % along_n == 0 && x * along_m == std::min(tiles, at_once)) {
            return {static_cast<int>(along_m), static_cast<int>(along_n)};
        }
    }
    return {static_cast<int>(along_m), 1};
}

int splits_of(const std::string& text, std::size_t from) {
    static const std::regex grid("grid=[0-9]+x[0-9]+x([0-9]+)");
    std::smatch splits;
    return std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), splits, grid)
               ? std::max(1, std::stoi(splits[1]))
               : 1;
}

/// Reads two kinds of names. CUTLASS 2:
/// cutlass_<arch>_<tensorop|simt>_..._<N>x<M>[_<K>x<stages>]_<layouts>_align<elements>.
/// xmma: <arch>_xmma_..._tilesize<M>x<N>x<K>[_stage<stages>]_...
std::optional<Config> config_of_tile(const std::string& text, const Problem& problem,
                                     const std::vector<libraries::GemmFamily>& families, const hw::Gpu& gpu) {
    static const std::regex cutlass(
        "(cutlass_[0-9]+)_[a-z0-9_]*gemm[a-z0-9_]*?_([0-9]+)x([0-9]+)(?:_([0-9]+)x([0-9]+))?_[tn]+_align([0-"
        "9]"
        "+)");
    static const std::regex xmma(
        "(sm[0-9]+_xmma)_[a-z0-9_]*tilesize([0-9]+)x([0-9]+)x([0-9]+)(?:_stage([0-9]+))?");
    std::smatch found;
    if (!std::regex_search(text, found, cutlass) && !std::regex_search(text, found, xmma)) {
        return std::nullopt;
    }
    const auto number = [&found](std::size_t group) {
        return found.size() > group && found[group].matched ? std::stoi(found[group]) : 0;
    };
    const bool is_xmma = found[1].str().front() == 's';
    const std::string prefix = is_xmma ? "xmma_" + found[1].str().substr(0, 4) : found[1].str();
    const int along_m = number(is_xmma ? 2 : 3);
    const int along_n = number(is_xmma ? 3 : 2);
    const int alignment = number(6) * hw::bytes_of(problem.a);
    const int along_k = number(4);
    const int stages = number(5);
    for (const libraries::GemmFamily& family : families) {
        const bool type =
            std::find(family.dtypes.begin(), family.dtypes.end(), problem.a) != family.dtypes.end();
        if (!family.runs_on(gpu) || family.name.rfind(prefix, 0) != 0 || !type ||
            (alignment > 0 && family.row_alignment != alignment)) {
            continue;
        }
        const libraries::Tile* tile = find_tile(family, along_m, along_n, along_k, stages);
        if (tile == nullptr) {
            continue;
        }
        const auto at = static_cast<std::size_t>(found.position(0));
        const libraries::ClusterShape cluster = family.persistent
                                                    ? cluster_of_grid(text, at, problem, *tile, gpu)
                                                    : libraries::ClusterShape{1, 1};
        Config config = vendor_config(problem, family, *tile, cluster, gpu);
        if (config.pipeline == Pipeline::cp_async && stages > 0) {
            config.stages = stages;
            config.cta_k = along_k;
        }
        if (!family.persistent) {
            config.split_k = splits_of(text, at);
            config.reduction = gemm::vendor_reduction(problem, family, config);
        }
        return config;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Config> config_of_recorded(std::string_view steps, const Problem& problem,
                                         const std::vector<libraries::GemmFamily>& families,
                                         const hw::Gpu& gpu) {
    const std::string text(steps);
    static const std::regex pattern(
        "nvjet_sm90_[a-z0-9]+_([0-9]+)x([0-9]+)_[0-9]+x([0-9]+)_([0-9]+)x([0-9]+)_[hv]_bz(_coop[AB])?(?:_"
        "algo[0-9]+)?(_"
        "splitK)?(?:_algo[0-9]+)?_[A-Z][A-Z]([A-Z])");
    std::smatch found;
    if (!std::regex_search(text, found, pattern)) {
        return config_of_tile(text, problem, families, gpu);
    }
    const auto family = std::find_if(families.begin(), families.end(), [&](const libraries::GemmFamily& f) {
        return f.runs_on(gpu) && f.instruction == "wgmma";
    });
    if (family == families.end()) {
        return std::nullopt;
    }
    libraries::Tile tile;
    tile.n = std::stoi(found[1]);
    tile.m = std::stoi(found[2]);
    tile.cooperative = found[6].matched;
    // The last letter gives the side along which the instruction's M runs, where the tile leaves a choice.
    // Names of fp8 kernels have this letter without a choice.
    constexpr int instruction_m = 64;
    tile.transposed = tile.m % instruction_m != 0 || (tile.n % instruction_m == 0 && found[8] == "T");
    const libraries::ClusterShape cluster{std::stoi(found[5]), std::stoi(found[4])};
    Config config = vendor_config(problem, *family, tile, cluster, gpu);
    config.stages = std::stoi(found[3]);
    const std::int64_t tiles = ceil_div(ceil_div(problem.m, tile.m), cluster.m) * cluster.m *
                               ceil_div(ceil_div(problem.n, tile.n), cluster.n) * cluster.n * problem.batch;
    const std::int64_t ctas = grid_volume(text, static_cast<std::size_t>(found.position(0)));
    config.split_k =
        found[7].matched ? static_cast<int>(std::max<std::int64_t>(1, (ctas + tiles / 2) / tiles)) : 1;
    return config;
}

bool lower_recorded(const Operation& operation, std::string_view steps, const libraries::Libraries& libraries,
                    const hw::Gpu& gpu, model::kernel::Program& program) {
    if (operation.op != gemm::operator_name) {
        return false;
    }
    const Problem problem = gemm::problem_of(operation);
    const auto config = config_of_recorded(steps, problem, libraries.gemm_families, gpu);
    if (!config) {
        return false;
    }
    program.clear();
    gemm::lower(problem, *config, gpu, program);
    return true;
}

}  // namespace warptime::workloads::choice
