// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/recorded_kernel.hpp"

#include "workloads/gemm/vendor_choice.hpp"

#include <algorithm>
#include <regex>
#include <string>

namespace warptime::workloads::gemm {

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

std::int64_t grid_volume(const std::string& text, std::size_t from) {
    static const std::regex pattern("grid=([0-9]+)x([0-9]+)x([0-9]+)");
    std::smatch found;
    if (!std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), found, pattern)) {
        return 0;
    }
    return std::stoll(found[1]) * std::stoll(found[2]) * std::stoll(found[3]);
}

/// CUTLASS 2 names: cutlass_<arch>_tensorop_..._<N>x<M>[_<K>x<stages>]_<layouts>_align<elements>.
std::optional<Config> config_of_cutlass(const std::string& text, const Problem& problem,
                                        const std::vector<libraries::GemmFamily>& families,
                                        const hw::Gpu<double>& gpu) {
    static const std::regex pattern("cutlass_([0-9]+)_tensorop_[a-z0-9_]*gemm_[a-z0-9]+_([0-9]+)x([0-9]+)_");
    static const std::regex grid("grid=[0-9]+x[0-9]+x([0-9]+)");
    std::smatch found;
    if (!std::regex_search(text, found, pattern)) {
        return std::nullopt;
    }
    const std::string prefix = "cutlass_" + found[1].str();
    const int along_n = std::stoi(found[2]);
    const int along_m = std::stoi(found[3]);
    for (const libraries::GemmFamily& family : families) {
        if (family.compute_major != gpu.compute_major || family.name.rfind(prefix, 0) != 0) {
            continue;
        }
        for (const libraries::Tile& tile : family.tiles) {
            if (tile.n != along_n || tile.m != along_m) {
                continue;
            }
            Config config = vendor_config(problem, family, tile, {1, 1}, gpu);
            std::smatch splits;
            if (std::regex_search(found[0].second, text.cend(), splits, grid)) {
                config.split_k = std::max(1, std::stoi(splits[1]));
            }
            return config;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Config> config_of_recorded(std::string_view steps, const Problem& problem,
                                         const std::vector<libraries::GemmFamily>& families,
                                         const hw::Gpu<double>& gpu) {
    const std::string text(steps);
    static const std::regex pattern(
        "nvjet_sm90_[a-z0-9]+_([0-9]+)x([0-9]+)_[0-9]+x([0-9]+)_([0-9]+)x([0-9]+)_[hv]_bz(_coop[AB])?(_"
        "splitK)?(?:_algo[0-9]+)?_[A-Z][A-Z]([A-Z])");
    std::smatch found;
    if (!std::regex_search(text, found, pattern)) {
        return config_of_cutlass(text, problem, families, gpu);
    }
    const auto family = std::find_if(families.begin(), families.end(), [&](const libraries::GemmFamily& f) {
        return f.compute_major == gpu.compute_major && f.instruction == "wgmma";
    });
    if (family == families.end()) {
        return std::nullopt;
    }
    libraries::Tile tile;
    tile.n = std::stoi(found[1]);
    tile.m = std::stoi(found[2]);
    tile.cooperative = found[6].matched;
    // The last letter says along which side the instruction's M runs, where the tile leaves a choice (names
    // of fp8 kernels carry it though it does not).
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

}  // namespace warptime::workloads::gemm
