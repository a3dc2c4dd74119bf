// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/store_merging.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <set>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {

namespace {

/// Lines that wait for further stores: more than 8 and fewer than 16 by the rows that the header names.
constexpr std::size_t waiting_lines = 12;
/// CTAs looked at: enough for shares of a percent.
constexpr std::size_t usual_ctas = 3;

using Lines = std::map<std::uint64_t, std::set<std::uint64_t>>;  // sectors of each line

Lines lines_of(const AccessEvent& event, const model::machine::CacheGeometry& cache) {
    Lines lines;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        if (((event.lanes >> lane) & 1U) != 0) {
            lines[event.address[lane] / static_cast<std::uint64_t>(cache.line)].insert(
                event.address[lane] / static_cast<std::uint64_t>(cache.sector));
        }
    }
    return lines;
}

/// The lines that wait, the one stored to last at the end.
class Waiting {
  public:
    /// Sectors of the store that are there already. The store's own lines are there from now on.
    std::size_t store(const Lines& lines) {
        std::size_t found = 0;
        for (const auto& [line, sectors] : lines) {
            const auto known =
                std::ranges::find(lines_, line, &std::pair<std::uint64_t, std::set<std::uint64_t>>::first);
            std::set<std::uint64_t> all = sectors;
            if (known != lines_.end()) {
                for (const std::uint64_t sector : sectors) found += known->second.contains(sector) ? 1U : 0U;
                all.insert(known->second.begin(), known->second.end());
                lines_.erase(known);
            }
            lines_.emplace_back(line, std::move(all));
            if (lines_.size() > waiting_lines) lines_.pop_front();
        }
        return found;
    }

  private:
    std::deque<std::pair<std::uint64_t, std::set<std::uint64_t>>> lines_;
};

struct Totals {
    std::size_t sectors = 0, merged = 0;
};

/// Stores of one instruction by each warp, in the order of the warps' code.
using ByWarp = std::vector<std::vector<const AccessEvent*>>;

std::map<std::uint32_t, ByWarp> stores_of(const CtaTrace& cta) {
    std::map<std::uint32_t, ByWarp> stores;
    for (std::size_t w = 0; w < cta.warps.size(); ++w) {
        for (const TracedAccess& access : cta.warps[w].accesses) {
            const AccessEvent& event = access.event;
            if (event.kind != AccessKind::store || event.space != AccessSpace::global || event.lanes == 0) {
                continue;
            }
            ByWarp& by_warp = stores[event.instruction];
            by_warp.resize(cta.warps.size());
            by_warp[w].push_back(&event);
        }
    }
    return stores;
}

}  // namespace

std::map<std::uint32_t, double> merged_stores(const TraceRecorder& trace,
                                              const model::machine::CacheGeometry& cache) {
    std::map<std::uint32_t, Totals> totals;
    std::size_t looked_at = 0;
    for (const CtaTrace* const cta : trace.ctas_from_middle()) {
        if (looked_at++ == usual_ctas) break;
        for (const auto& [instruction, by_warp] : stores_of(*cta)) {
            Totals& total = totals[instruction];
            Waiting waiting;
            bool more = true;
            for (std::size_t round = 0; more; ++round) {
                more = false;
                for (const std::vector<const AccessEvent*>& own : by_warp) {
                    if (round >= own.size()) continue;
                    more = true;
                    const Lines lines = lines_of(*own[round], cache);
                    total.merged += waiting.store(lines);
                    for (const auto& [line, sectors] : lines) total.sectors += sectors.size();
                }
            }
        }
    }
    std::map<std::uint32_t, double> shares;
    for (const auto& [instruction, total] : totals) {
        if (total.merged > 0) {
            shares[instruction] = static_cast<double>(total.merged) / static_cast<double>(total.sectors);
        }
    }
    return shares;
}

}  // namespace warptime::workloads::frontends::machine
