// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/library_picks.hpp"

#include "workloads/gemm/library_kernel.hpp"

#include <algorithm>

namespace warptime::workloads::choice {

using gemm::ceil_div;
using gemm::Config;
using gemm::Major;
using gemm::Problem;
using gemm::Reduction;
using gemm::vendor_config;
using gemm::vendor_reduction;

using libraries::GemmFamily;
using libraries::KernelPick;
using libraries::PickNode;
using libraries::PickTable;
using libraries::SplitOfK;

namespace {

/// The picks of all leaves below a node.
std::span<const int> picks_below(const PickTable& table, std::size_t node) {
    return std::span(table.leaf_picks)
        .subspan(static_cast<std::size_t>(table.nodes[node].first),
                 static_cast<std::size_t>(table.nodes[node].count));
}

/// The number of picks to which the trees narrow a choice among persistent kernels; predicted times decide
/// the rest. These kernels have so many tiles and clusters that one leaf holds a random few. Evidence: fit
/// and development rows, with trees that had not seen the shapes of the rows. With 6, 9, 12, 16 and 30 picks
/// gemm_bf16 has errors of 4.25, 3.83, 3.69, 3.70 and 3.78 %. Those of gemm_fp16 are 4.92, 4.91, 4.51, 4.50
/// and 4.58 %. Where times decided among six picks of any kernels, gemm_fp32 was 20 and gemm_int8 2 points
/// worse.
constexpr std::size_t few = 16;
/// The number of picks whose times tell whether the likely picks are slow.
constexpr std::size_t around = 100;

/// The number of splits that a pick means.
int splits_of(const Problem& problem, const KernelPick& pick, const Config& config, int sms) {
    if (pick.split == SplitOfK::whole) return 1;
    if (pick.split == SplitOfK::each) {
        const std::int64_t iterations = ceil_div(problem.k, config.cta_k);
        return static_cast<int>(
            std::max<std::int64_t>(1, (2 * iterations + pick.number) / (2 * std::int64_t{pick.number})));
    }
    const std::int64_t tiles =
        ceil_div(problem.m, config.cta_m) * ceil_div(problem.n, config.cta_n) * problem.batch;
    return static_cast<int>(std::max<std::int64_t>(1, std::int64_t{pick.number} * sms / tiles));
}

}  // namespace

std::array<double, feature_count> features_of(const Problem& problem, int sms) {
    const auto m = static_cast<double>(problem.m);
    const auto n = static_cast<double>(problem.n);
    const auto k = static_cast<double>(problem.k);
    const double layout =
        (problem.a_major == Major::k ? 0.0 : 2.0) + (problem.b_major == Major::k ? 0.0 : 1.0);
    std::array<double, feature_count> features{m,
                                               n,
                                               k,
                                               static_cast<double>(problem.batch),
                                               m * n,
                                               m * k,
                                               n * k,
                                               m * n * k,
                                               m / n,
                                               m * n / k,
                                               layout,
                                               static_cast<double>(problem.m % 8),
                                               static_cast<double>(problem.n % 16),
                                               static_cast<double>(problem.k % 64)};
    std::size_t at = feature_count - 2 * asked_tiles.size();
    for (const auto& [tile_m, tile_n] : asked_tiles) {
        const std::int64_t tiles = ceil_div(problem.m, tile_m) * ceil_div(problem.n, tile_n) * problem.batch;
        features[at++] = static_cast<double>(tiles);
        features[at++] = static_cast<double>((tiles - 1) % sms);
    }
    return features;
}

LikelyPicks picks_of(const Problem& problem, const PickTable& table, const hw::Gpu& gpu) {
    const bool known = std::find(table.gpus.begin(), table.gpus.end(), gpu.id) != table.gpus.end();
    if (problem.a != problem.b || !known) return {};
    const libraries::PickGroup* group = nullptr;
    for (const libraries::PickGroup& one : table.groups) {
        const bool type = std::find(one.dtypes.begin(), one.dtypes.end(), problem.a) != one.dtypes.end();
        if (type && problem.row_alignment() >= one.row_alignment &&
            (group == nullptr || one.row_alignment > group->row_alignment)) {
            group = &one;
        }
    }
    if (group == nullptr) return {};
    const auto features = features_of(problem, table.sms);
    auto at = static_cast<std::size_t>(group->root);
    LikelyPicks picks;
    for (;;) {
        picks.likely = picks_below(table, at);
        const bool times_decide = picks.likely.size() <= around && table.nodes[at].persistent;
        if (times_decide && picks.around.empty()) picks.around = picks.likely;
        if (table.nodes[at].feature < 0 || (times_decide && picks.likely.size() <= few)) return picks;
        const PickNode& node = table.nodes[at];
        const bool below = features[static_cast<std::size_t>(node.feature)] <= node.threshold;
        at = below ? at + 1 : static_cast<std::size_t>(node.above);
    }
}

Config config_of_pick(const Problem& problem, const KernelPick& pick, const PickTable& table,
                      const GemmFamily& family, const hw::Gpu& gpu) {
    const auto size = static_cast<std::size_t>(pick.cluster.m) * static_cast<std::size_t>(pick.cluster.n);
    Config config = vendor_config(problem, family, pick.tile, pick.cluster, gpu);
    if (family.persistent) {
        const std::int64_t tiles = ceil_div(ceil_div(problem.m, pick.tile.m), pick.cluster.m) *
                                   ceil_div(ceil_div(problem.n, pick.tile.n), pick.cluster.n) *
                                   problem.batch * static_cast<std::int64_t>(size);
        // A pick says whether K is split; the family's rule says how often. With `segments` the whole grid
        // shares out K.
        if (pick.split == SplitOfK::whole) config.split_k = 1;
        if (pick.split == SplitOfK::segments) {
            config.split_k = static_cast<int>(std::max<std::int64_t>(1, config.max_ctas / tiles));
        }
        const bool dynamic = family.dynamic_above_waves > 0 &&
                             static_cast<double>(tiles * config.split_k) >
                                 family.dynamic_above_waves * static_cast<double>(config.max_ctas);
        config.schedule = dynamic ? model::kernel::ScheduleKind::dynamic_counter
                                  : model::kernel::ScheduleKind::static_stride;
    } else {
        config.split_k = splits_of(problem, pick, config, table.sms);
    }
    config.reduction =
        pick.split == SplitOfK::segments ? Reduction::last_cta : vendor_reduction(problem, family, config);
    return config;
}

}  // namespace warptime::workloads::choice
