// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/store_merging.hpp"

#include "workloads/frontends/machine/lowering/meetings.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <vector>

namespace warptime::workloads::frontends::machine {

namespace {

/// Lines that wait for further stores. Stores of 16 lines by each of eight warps send 0.68 of their sectors,
/// which a room of ten lines does.
constexpr double waiting_lines = 10.0;
/// A line that is less likely than this to wait still changes no share by a percent.
constexpr double hardly = 1e-3;
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

/// The lines that wait, each with its probability. A new line takes the room of any other one.
class Waiting {
  public:
    /// Expected sectors of the store that are there already. The store's own lines are there from now on.
    double store(const Lines& lines) {
        double found = 0.0;
        for (const auto& [line, sectors] : lines) {
            Line& here = lines_[line];
            for (const std::uint64_t sector : sectors) {
                found += here.sectors.contains(sector) ? here.waits : 0.0;
            }
            if (here.waits < hardly) here.sectors.clear();
            here.sectors.insert(sectors.begin(), sectors.end());
            waiting_ += 1.0 - here.waits;
            here.waits = 1.0;
            make_room(line);
        }
        return found;
    }

  private:
    struct Line {
        double waits = 0.0;
        std::set<std::uint64_t> sectors;
    };

    void make_room(std::uint64_t newest) {
        if (waiting_ <= waiting_lines) return;
        const double left = (waiting_lines - 1.0) / (waiting_ - 1.0);
        waiting_ = 1.0;
        for (auto line = lines_.begin(); line != lines_.end();) {
            if (line->first != newest) {
                line->second.waits *= left;
                if (line->second.waits < hardly) {
                    line = lines_.erase(line);
                    continue;
                }
                waiting_ += line->second.waits;
            }
            ++line;
        }
    }

    std::map<std::uint64_t, Line> lines_;
    double waiting_ = 0.0;  ///< sum of the probabilities
};

struct Totals {
    double sectors = 0.0, merged = 0.0;
    double stores = 0.0, in_step = 0.0;
};

/// A store, and whether the warps of its CTA are in step there.
struct Store {
    const AccessEvent* event = nullptr;
    bool in_step = true;
};

/// Stores of one instruction by each warp, in the order of the warps' code.
using ByWarp = std::vector<std::vector<Store>>;

/// Whether a warp waits for what the access brings, each for a time of its own.
bool parts_warps(const AccessEvent& event) {
    return event.space == AccessSpace::global &&
           (event.kind == AccessKind::load || event.kind == AccessKind::atomic ||
            event.kind == AccessKind::asynchronous_copy);
}

/// Follows a warp from access to access: has it waited for memory since it last met the others?
class Steps {
  public:
    Steps(const WarpTrace& warp, const std::vector<std::uint32_t>& meetings)
        : warp_(warp), meetings_(meetings) {}

    bool in_step(const TracedAccess& access) {
        parted_ = parted_ && !meets_until(access);
        last_ = &access;
        parted_ = parted_ || parts_warps(access.event);
        return !parted_;
    }

  private:
    /// Whether the warp meets the others between its last access and this one.
    [[nodiscard]] bool meets_until(const TracedAccess& access) const {
        for (std::uint32_t s = last_->stretch; s <= access.stretch; ++s) {
            const Stretch& stretch = warp_.stretches[s];
            const std::uint32_t first = s == last_->stretch ? last_->event.instruction : stretch.first;
            const std::uint32_t end =
                s == access.stretch ? access.event.instruction : stretch.first + stretch.count;
            const auto next = std::ranges::lower_bound(meetings_, first);
            if (next != meetings_.end() && *next < end) return true;
        }
        return false;
    }

    const WarpTrace& warp_;
    const std::vector<std::uint32_t>& meetings_;
    const TracedAccess* last_ = nullptr;
    bool parted_ = false;
};

std::map<std::uint32_t, ByWarp> stores_of(const CtaTrace& cta, const std::vector<std::uint32_t>& meetings) {
    std::map<std::uint32_t, ByWarp> stores;
    for (std::size_t w = 0; w < cta.warps.size(); ++w) {
        Steps steps(cta.warps[w], meetings);
        for (const TracedAccess& access : cta.warps[w].accesses) {
            const AccessEvent& event = access.event;
            const bool in_step = steps.in_step(access);
            if (event.kind != AccessKind::store || event.space != AccessSpace::global || event.lanes == 0) {
                continue;
            }
            ByWarp& by_warp = stores[event.instruction];
            by_warp.resize(cta.warps.size());
            by_warp[w].push_back({&event, in_step});
        }
    }
    return stores;
}

}  // namespace

std::map<std::uint32_t, MergedStores> merged_stores(const TraceRecorder& trace, const Code& code,
                                                    const model::machine::CacheGeometry& cache) {
    const std::vector<std::uint32_t> meet_at = meetings(code);
    std::map<std::uint32_t, Totals> totals;
    std::size_t looked_at = 0;
    for (const CtaTrace* const cta : trace.ctas_from_middle()) {
        if (looked_at++ == usual_ctas) break;
        for (const auto& [instruction, by_warp] : stores_of(*cta, meet_at)) {
            Totals& total = totals[instruction];
            Waiting waiting;
            bool more = true;
            for (std::size_t round = 0; more; ++round) {
                more = false;
                for (const std::vector<Store>& own : by_warp) {
                    if (round >= own.size()) continue;
                    more = true;
                    const Lines lines = lines_of(*own[round].event, cache);
                    if (own[round].in_step) total.merged += waiting.store(lines);
                    total.stores += 1.0;
                    if (own[round].in_step && by_warp.size() > 1) total.in_step += 1.0;
                    for (const auto& [line, sectors] : lines)
                        total.sectors += static_cast<double>(sectors.size());
                }
            }
        }
    }
    std::map<std::uint32_t, MergedStores> stores;
    for (const auto& [instruction, total] : totals) {
        const double share = total.merged > hardly * total.sectors ? total.merged / total.sectors : 0.0;
        stores[instruction] = {share, 2.0 * total.in_step > total.stores};
    }
    return stores;
}

JoinedSectors joined_sectors(const AccessEvent& before, const AccessEvent& store, bool in_step,
                             const model::machine::CacheGeometry& cache) {
    Waiting waiting;
    (void)waiting.store(lines_of(before, cache));
    JoinedSectors sectors;
    const Lines lines = lines_of(store, cache);
    if (in_step) {
        Lines others;
        std::uint64_t elsewhere = std::numeric_limits<std::uint64_t>::max();
        for (const auto& [line, own] : lines) others[elsewhere--] = own;
        (void)waiting.store(others);
    }
    sectors.joined = waiting.store(lines);
    for (const auto& [line, own] : lines) sectors.all += static_cast<double>(own.size());
    return sectors;
}

}  // namespace warptime::workloads::frontends::machine
