// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/reuse.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <unordered_map>
#include <vector>

namespace warptime::workloads::frontends::machine {

namespace {

namespace mk = model::kernel;

/// CTAs looked at, from the middle of the grid, and lines that each may touch: enough for shares of a
/// percent. Further CTAs count only for loads that none of those executed.
constexpr std::size_t usual_ctas = 3;
constexpr std::size_t most_touches = 300'000;

/// Marks on a line of times, and how many lie behind one of them (a Fenwick tree).
class Marks {
  public:
    explicit Marks(std::size_t times) : sums_(times + 1) {}
    void add(std::size_t time, int change) {
        for (std::size_t i = time + 1; i < sums_.size(); i += i & (~i + 1)) {
            sums_[i] += change;
        }
    }
    [[nodiscard]] int up_to(std::size_t time) const {
        int sum = 0;
        for (std::size_t i = time + 1; i > 0; i -= i & (~i + 1)) {
            sum += sums_[i];
        }
        return sum;
    }

  private:
    std::vector<int> sums_;
};

struct Totals {
    std::array<double, mk::Reuse::distances> sectors{}, whole{};  ///< at each distance or a shorter one
    double all_sectors = 0.0, all = 0.0, beside = 0.0, together = 0.0;

    void add(const Totals& others) {
        for (std::size_t i = 0; i < mk::Reuse::distances; ++i) {
            sectors[i] += others.sectors[i];
            whole[i] += others.whole[i];
        }
        all_sectors += others.all_sectors;
        all += others.all;
        beside += others.beside;
        together += others.together;
    }
};

/// The lines that one CTA's L1 would hold, most recent first, if it had room for all.
class Stack {
  public:
    Stack(const model::machine::CacheGeometry& cache)
        : cache_(cache),
          of_line_(static_cast<std::size_t>(cache.line / cache.sector)),
          marks_(most_touches) {}

    [[nodiscard]] bool full() const { return now_ + lanes_per_warp >= most_touches; }

    /// All warps have made a load; the next one of each follows.
    void next_turn() { ++turn_; }

    /// `weight`: accesses that this one stands for.
    void load(const AccessEvent& event, double weight, Totals& totals) {
        std::map<std::uint64_t, std::uint32_t> lines;  // Sectors of each, as bits.
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            if (((event.lanes >> lane) & 1U) == 0) {
                continue;
            }
            const auto sector_bytes = static_cast<std::uint64_t>(cache_.sector);
            const std::uint64_t sector = event.address[lane] / sector_bytes;
            lines[sector / of_line_ + (event.space == AccessSpace::local ? local_lines : 0U)] |=
                1U << (sector % of_line_);
        }
        // What a thread stores in local memory, it finds there.
        if (event.kind != AccessKind::load) {
            store(lines, weight, totals);
            return;
        }
        std::size_t furthest = 0;
        bool under_way = false;
        for (const auto& [line, sectors] : lines) {
            const auto known = lines_.find(line);
            const std::uint32_t before = known == lines_.end() ? 0U : known->second.sectors;
            const std::size_t bucket =
                known == lines_.end() ? mk::Reuse::distances : bucket_of(known->second.time, lines.size());
            const std::uint32_t again = sectors & before;
            totals.all_sectors += weight * std::popcount(sectors);
            totals.beside += weight * std::popcount(sectors & brought_with(before) & ~before);
            count(bucket, totals.sectors, weight * std::popcount(again));
            under_way = under_way ||
                        (again != 0 && known->second.turn == turn_ && (again & known->second.fresh) != 0);
            furthest = again == sectors ? std::max(furthest, bucket) : mk::Reuse::distances;
        }
        totals.all += weight;
        count(furthest, totals.whole, weight);
        totals.together += under_way && furthest < mk::Reuse::distances ? weight : 0.0;
        touch(lines);
    }

  private:
    struct Line {
        std::size_t time = 0, turn = 0;
        std::size_t first = 0;  ///< of its sectors in `stored_`
        std::uint32_t sectors = 0;
        std::uint32_t fresh = 0;  ///< sectors that nobody had touched before this turn
    };
    /// Lines of local memory have numbers of their own.
    static constexpr std::uint64_t local_lines = std::uint64_t{1} << 60U;

    /// Sectors of a line that come from DRAM with those given.
    [[nodiscard]] std::uint32_t brought_with(std::uint32_t sectors) const {
        const std::int64_t together = std::max<std::int64_t>(1, cache_.granule / cache_.sector);
        const std::uint32_t granule = together < 32 ? (1U << together) - 1U : ~0U;
        std::uint32_t brought = 0;
        for (std::int64_t first = 0; first < cache_.line / cache_.sector; first += together) {
            const std::uint32_t here = granule << first;
            brought |= (sectors & here) != 0 ? here : 0U;
        }
        return brought;
    }

    template <class Do>
    static void for_each_of(std::uint32_t sectors, const Do& act) {
        for (; sectors != 0; sectors &= sectors - 1) {
            act(static_cast<std::size_t>(std::countr_zero(sectors)));
        }
    }

    static void count(std::size_t bucket, std::array<double, mk::Reuse::distances>& sums, double found) {
        for (std::size_t i = bucket; i < mk::Reuse::distances; ++i) {
            sums[i] += found;
        }
    }

    /// A store comes back to the one before: what has been loaded meanwhile leaves the sector as it was.
    void store(const std::map<std::uint64_t, std::uint32_t>& lines, double weight, Totals& totals) {
        totals.all += weight;
        for (const auto& [line, sectors] : lines) {
            totals.all_sectors += weight * std::popcount(sectors);
            const auto known = lines_.find(line);
            if (known == lines_.end()) continue;
            for_each_of(sectors, [&](std::size_t sector) {
                const std::size_t stored = stored_[known->second.first + sector];
                if (stored == 0) return;
                // The line itself is among those touched since where a load has come to it.
                const std::int64_t own = known->second.time >= stored ? 0 : 1;
                const auto together = static_cast<std::int64_t>(lines.size());
                count(bucket_of_lines(std::max(touched_since(stored - 1) + own, together)), totals.sectors,
                      weight);
            });
        }
        touch(lines);
        for (const auto& [line, sectors] : lines) {
            const std::size_t first = lines_[line].first;
            for_each_of(sectors, [&](std::size_t sector) { stored_[first + sector] = now_; });
        }
    }

    /// The instruction's own lines come together: none of them pushes another one out.
    void touch(const std::map<std::uint64_t, std::uint32_t>& lines) {
        for (const auto& [line, sectors] : lines) {
            Line& own = lines_[line];
            if (own.sectors != 0) {
                marks_.add(own.time, -1);
            } else {
                own.first = stored_.size();
                stored_.resize(stored_.size() + of_line_);
            }
            own.time = now_;
            own.fresh = (own.turn == turn_ ? own.fresh : 0U) | (sectors & ~own.sectors);
            own.turn = turn_;
            own.sectors |= sectors;
            marks_.add(now_++, 1);
        }
    }

    [[nodiscard]] std::int64_t touched_since(std::size_t time) const {
        return static_cast<std::int64_t>(lines_.size()) - marks_.up_to(time);
    }

    /// Index of the least distance that holds a line touched last at `time`, the lines touched since, and
    /// those of the access itself, `together`.
    [[nodiscard]] std::size_t bucket_of(std::size_t time, std::size_t together) const {
        return bucket_of_lines(std::max(touched_since(time) + 1, static_cast<std::int64_t>(together)));
    }

    [[nodiscard]] std::size_t bucket_of_lines(std::int64_t lines) const {
        std::int64_t room = mk::Reuse::least_distance;
        for (std::size_t i = 0; i < mk::Reuse::distances; ++i, room *= 2) {
            if (lines * cache_.line <= room) {
                return i;
            }
        }
        return mk::Reuse::distances;
    }

    model::machine::CacheGeometry cache_;
    std::size_t of_line_;  ///< sectors
    Marks marks_;
    std::vector<std::size_t> stored_;  ///< time behind the last store of each sector; 0: none
    std::unordered_map<std::uint64_t, Line> lines_;
    std::size_t now_ = 0, turn_ = 1;
};

bool is_kept_by_l1(const AccessEvent& event) {
    const bool local = event.space == AccessSpace::local;
    return event.lanes != 0 &&
           (local || (event.kind == AccessKind::load && event.space == AccessSpace::global));
}

bool executes_others(const CtaTrace& cta, const std::map<std::uint32_t, Totals>& known) {
    return std::ranges::any_of(cta.warps, [&](const WarpTrace& warp) {
        return std::ranges::any_of(warp.accesses, [&](const TracedAccess& access) {
            return is_kept_by_l1(access.event) && !known.contains(access.event.instruction);
        });
    });
}

/// Constants have a cache of their own, whose lines come whole. Warps take turns as they do elsewhere.
void walk_constants(const CtaTrace& cta, const model::machine::CacheGeometry& cache,
                    std::map<std::uint32_t, Totals>& totals) {
    std::size_t most = 0;
    for (const WarpTrace& warp : cta.warps) most = std::max(most, warp.constants.size());
    if (most == 0 || cache.constant_line <= 0) return;
    Stack stack({cache.constant_line, cache.constant_line});
    AccessEvent event;
    event.lanes = 1;
    for (std::size_t i = 0; i < most && !stack.full(); ++i, stack.next_turn()) {
        for (const WarpTrace& warp : cta.warps) {
            if (i >= warp.constants.size() || stack.full()) continue;
            event.address[0] = warp.constants[i].offset;
            stack.load(event, 1.0, totals[warp.constants[i].instruction]);
        }
    }
}

/// Accesses of an instruction of a warp that a trace does not keep are like the later half of those that it
/// keeps. The first half has the touches that find nothing.
class Weights {
  public:
    explicit Weights(const WarpTrace& warp)
        : kept_(warp.made.size()), looked_at_(warp.made.size()), next_(warp.made.size()), made_(&warp.made) {
        for (const TracedAccess& access : warp.accesses) {
            ++kept_[access.event.instruction];
            if (is_kept_by_l1(access.event)) ++looked_at_[access.event.instruction];
        }
    }

    /// Weight of the next access of an instruction that the L1 may keep.
    [[nodiscard]] double next(std::uint32_t instruction) {
        const std::uint32_t first = looked_at_[instruction] / 2;
        if (next_[instruction]++ < first) return 1.0;
        const double lost = static_cast<double>((*made_)[instruction]) / kept_[instruction] - 1.0;
        return 1.0 + lost * looked_at_[instruction] / (looked_at_[instruction] - first);
    }

  private:
    std::vector<std::uint32_t> kept_, looked_at_, next_;
    const std::vector<std::uint32_t>* made_;
};

}  // namespace

std::map<std::uint32_t, mk::Reuse> reuse_of(const TraceRecorder& trace,
                                            const model::machine::CacheGeometry& cache) {
    std::map<std::uint32_t, Totals> totals;
    std::size_t looked_at = 0;
    for (const CtaTrace* const one : trace.ctas_from_middle()) {
        const CtaTrace& cta = *one;
        const bool usual = looked_at++ < usual_ctas;
        if (!usual && !executes_others(cta, totals)) continue;
        std::map<std::uint32_t, Totals> of_cta;
        Stack stack(cache);
        std::vector<std::size_t> next(cta.warps.size());
        std::vector<Weights> weights;
        for (const WarpTrace& warp : cta.warps) weights.emplace_back(warp);
        for (bool more = true; more && !stack.full(); stack.next_turn()) {
            more = false;
            for (std::size_t w = 0; w < cta.warps.size() && !stack.full(); ++w) {
                const std::vector<TracedAccess>& own = cta.warps[w].accesses;
                while (next[w] < own.size() && !is_kept_by_l1(own[next[w]].event)) {
                    ++next[w];
                }
                if (next[w] < own.size()) {
                    const AccessEvent& event = own[next[w]++].event;
                    stack.load(event, weights[w].next(event.instruction), of_cta[event.instruction]);
                    more = true;
                }
            }
        }
        if (usual) walk_constants(cta, cache, of_cta);
        for (const auto& [instruction, counted] : of_cta) {
            if (usual || !totals.contains(instruction)) totals[instruction].add(counted);
        }
    }
    std::map<std::uint32_t, mk::Reuse> result;
    for (const auto& [instruction, sum] : totals) {
        if (sum.sectors.back() <= 0.0 && sum.beside <= 0.0) {
            continue;
        }
        mk::Reuse& reuse = result[instruction];
        for (std::size_t i = 0; i < mk::Reuse::distances; ++i) {
            reuse.sectors[i] = std::min(1.0, sum.sectors[i] / sum.all_sectors);
            reuse.whole[i] = std::min(1.0, sum.whole[i] / sum.all);
        }
        reuse.beside = std::min(1.0, sum.beside / sum.all_sectors);
        reuse.together = std::min(1.0, sum.together / sum.all);
    }
    return result;
}

}  // namespace warptime::workloads::frontends::machine
