// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/reuse_in_shares.hpp"

#include "model/machine/occupancy/work_items.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <vector>

namespace warptime::model::machine {

namespace {

constexpr std::int64_t sampled_rows = 12, sampled_iterations = 8;

/// Visits of sampled blocks of one operand.
struct Visits {
    double block_bytes = 0.0;  ///< what all CTAs read of the operand in one iteration, if nothing is shared
    double blocks = 0.0;       ///< sampled
    std::vector<double> gaps;  ///< iterations since the visit before, of all but a block's first; ascending
    std::vector<double> sums;  ///< of the gaps up to each
    [[nodiscard]] double count() const { return blocks + static_cast<double>(gaps.size()); }
    /// Bytes of the operand that were visited in the last `window` iterations.
    [[nodiscard]] double working_set(double window) const {
        if (!(blocks > 0.0)) return 0.0;
        const auto within = std::ranges::upper_bound(gaps, window) - gaps.begin();
        const double shorter = within > 0 ? sums[static_cast<std::size_t>(within - 1)] : 0.0;
        return block_bytes * (shorter + window * (count() - static_cast<double>(within))) / count();
    }
};

/// Probability that a line is lost when `share` of the L2's lines were visited since: its set of `ways` lines
/// has had as many visits, which fall into sets at random.
double lost_after(double share, double ways) {
    const double visits = ways * share;
    if (!(visits > 0.0)) return 0.0;
    return 0.5 * std::erfc((ways - 0.5 - visits) / std::sqrt(2.0 * visits));
}

/// When each item begins, in iterations since the kernel's start. CTAs beyond `at_once` wait for a free
/// place.
std::vector<double> starts_of(const kernel::Kernel& kernel, std::int64_t at_once) {
    const WorkItems work(kernel);
    const std::vector<kernel::WorkItem>& items = kernel.schedule.items;
    const std::int64_t ctas = kernel.grid.volume();
    std::vector<double> starts(items.size());
    std::priority_queue<double, std::vector<double>, std::greater<>> free;
    for (std::int64_t place = 0; place < std::min(ctas, at_once); ++place) free.push(0.0);
    // Does items, one after another, in the place that is free first.
    const auto take = [&](std::span<const std::int64_t> positions) {
        double now = free.top();
        free.pop();
        for (const std::int64_t position : positions) {
            const auto i = static_cast<std::size_t>(position);
            starts[i] = now;
            now += static_cast<double>(items[i].end - items[i].begin);
        }
        free.push(now);
    };
    if (work.on_demand()) {
        for (std::int64_t i = 0; i < work.count(); ++i) take(std::span(&i, 1));
        return starts;
    }
    std::vector<std::int64_t> own;
    for (std::int64_t cta = 0; cta < ctas; ++cta) {
        own.clear();
        work.append_of_cta(cta, own);
        take(own);
    }
    return starts;
}

/// Share of the iterations that begin at another place of K than whole tiles that follow one another.
double share_apart(const kernel::Schedule& schedule, std::span<const double> starts) {
    double apart = 0.0, all = 0.0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const kernel::WorkItem& item = schedule.items[i];
        const auto length = static_cast<double>(item.end - item.begin);
        all += length;
        const auto begun = static_cast<std::int64_t>(starts[i]) - item.begin;
        if (begun % schedule.k_iterations != 0) apart += length;
    }
    return all > 0.0 ? apart / all : 0.0;
}

/// Which of an operand's rows of tiles an item reads.
std::int64_t row_of(const kernel::WorkItem& item, const Operand& operand, const kernel::Schedule& schedule,
                    const TileOrder& order) {
    std::int64_t row = 0;
    if (operand.along_batch) row = item.tile[3] * schedule.tiles[2] + item.tile[2];
    if (operand.along_n) row = row * order.n + item.tile[1];
    if (operand.along_m) row = row * order.m + item.tile[0];
    return row;
}

std::int64_t rows_of(const Operand& operand, const TileOrder& order) {
    return (operand.along_m ? order.m : 1) * (operand.along_n ? order.n : 1) *
           (operand.along_batch ? order.batch : 1);
}

Visits visits_of(const kernel::Kernel& kernel, std::span<const double> starts, const Operand& operand,
                 const TileOrder& order) {
    const kernel::Schedule& list = kernel.schedule;
    const std::int64_t rows = rows_of(operand, order);
    std::vector<std::vector<std::size_t>> readers(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < list.items.size(); ++i) {
        readers[static_cast<std::size_t>(row_of(list.items[i], operand, list, order))].push_back(i);
    }
    Visits result;
    result.block_bytes = operand.total_bytes / static_cast<double>(rows) /
                         static_cast<double>(list.k_iterations) * static_cast<double>(kernel.grid.volume());
    std::vector<double> times;
    for (std::int64_t s = 0; s < std::min(rows, sampled_rows); ++s) {
        const std::vector<std::size_t>& own = readers[static_cast<std::size_t>(
            rows > sampled_rows ? (2 * s + 1) * rows / (2 * sampled_rows) : s)];
        for (std::int64_t j = 0; j < sampled_iterations; ++j) {
            const std::int64_t k = (2 * j + 1) * list.k_iterations / (2 * sampled_iterations);
            times.clear();
            for (const std::size_t i : own) {
                const kernel::WorkItem& item = list.items[i];
                if (item.begin <= k && k < item.end) {
                    times.push_back(starts[i] + static_cast<double>(k - item.begin));
                }
            }
            if (times.empty()) continue;
            std::ranges::sort(times);
            result.blocks += 1.0;
            for (std::size_t v = 1; v < times.size(); ++v) result.gaps.push_back(times[v] - times[v - 1]);
        }
    }
    std::ranges::sort(result.gaps);
    double sum = 0.0;
    for (const double gap : result.gaps) result.sums.push_back(sum += gap);
    return result;
}

}  // namespace

double reuse_in_shares(const kernel::Kernel& kernel, const ReuseCase& reuse, double partitions,
                       std::span<const Operand> operands, std::span<OperandTraffic> traffic) {
    const kernel::Schedule& list = kernel.schedule;
    const std::vector<double> starts = starts_of(kernel, reuse.concurrent);
    const double apart = share_apart(list, starts);
    if (!(apart > 0.0)) return 0.0;
    const auto ctas = static_cast<double>(kernel.grid.volume());
    double iterations = 0.0;
    for (const kernel::WorkItem& item : list.items) iterations += static_cast<double>(item.end - item.begin);
    // Other bytes pass through the L2 in step with the items.
    const double streamed = reuse.streamed_bytes_per_item * static_cast<double>(list.items.size()) /
                            std::max(1.0, iterations) * ctas;
    std::vector<Visits> visits;
    visits.reserve(operands.size());
    // Parts of sums are no blocks of K: their slices have other sizes.
    const double tile_share =
        iterations / (static_cast<double>(list.items.size()) * static_cast<double>(list.k_iterations));
    for (const Operand& operand : operands) {
        const double slice =
            operand.total_bytes / static_cast<double>(rows_of(operand, reuse.order)) * tile_share;
        const bool along_k = 0.5 * slice < operand.slice_bytes && operand.slice_bytes < 2.0 * slice;
        visits.push_back(along_k ? visits_of(kernel, starts, operand, reuse.order) : Visits{});
    }
    // DRAM is asked for what has left its home, so each line counts once.
    const double capacity = reuse.capacity_bytes * partitions;
    const auto lost = [&](double gap) {
        double bytes = streamed * gap;
        for (std::size_t i = 0; i < operands.size(); ++i) bytes += visits[i].working_set(gap);
        return lost_after(bytes / capacity, reuse.ways);
    };
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Visits& own = visits[i];
        if (!(own.blocks > 0.0)) continue;
        double missed = own.blocks;
        for (const double gap : own.gaps) missed += lost(gap);
        const double total = operands[i].total_bytes;
        const double requested = own.block_bytes / ctas * iterations;
        const double waves = std::lerp(traffic[i].wave_bytes, requested, apart);
        traffic[i] = {requested, std::max(total, waves), total,
                      std::max(total, requested * missed / own.count())};
    }
    return apart;
}

}  // namespace warptime::model::machine
