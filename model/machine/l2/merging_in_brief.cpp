// Closed forms of merged requests, from lengths of runs and bands. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/merging_in_brief.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

namespace {

/// Requests that `readers` of one GPC leave; linear between whole numbers.
double requests_of(double readers, double most) noexcept {
    const double below = std::floor(readers);
    const double of_below = std::ceil(below / most);
    return of_below + (readers - below) * (std::ceil((below + 1.0) / most) - of_below);
}

/// Sum of `requests_of` over one to `count` readers.
double requests_up_to(double count, double most) noexcept {
    const double whole = std::floor(count / most);
    return most * 0.5 * whole * (whole + 1.0) + (count - whole * most) * (whole + 1.0);
}

/// `left_anywhere` without a sum over many readers.
double left_on_groups(double readers, std::int64_t groups, std::int64_t most) noexcept {
    constexpr double many = 24.0;
    if (readers <= many) {
        return left_anywhere(std::max<std::int64_t>(1, std::lround(readers)), groups, most);
    }
    // The last request of each GPC is half full on average.
    const auto full = static_cast<double>(most);
    return 1.0 / full + static_cast<double>(groups) / readers * 0.5 * (1.0 - 1.0 / full);
}

/// Dependence on the coordinate that bands cut (minor) and on the one along a band (major).
struct Along {
    bool minor, major;
};
Along along(const TileOrder& order, Dependence slices) noexcept {
    const bool along_n = order.raster == Raster::along_n;
    return along_n ? Along{slices.along_m, slices.along_n} : Along{slices.along_n, slices.along_m};
}

}  // namespace

double run_of_slice(const TileOrder& order, Dependence slices) noexcept {
    const Along by = along(order, slices);
    if (by.minor && by.major) return 1.0;
    if (!by.minor && !by.major) return static_cast<double>(order.plane());
    if (by.major) return static_cast<double>(order.band());
    return order.band() > 1 ? 1.0 : static_cast<double>(order.major());
}

double left_in_order_in_brief(double readers, double run, double most) noexcept {
    if (readers <= 1.0) return 1.0;
    if (readers > run) {
        // Whole runs; the last request at both ends is half full on average.
        return 1.0 / most + (1.0 / run + 1.0 / readers) * 0.5 * (1.0 - 1.0 / most);
    }
    // Readers that begin anywhere in a GPC's run are cut where that run ends.
    const double unbroken = requests_of(readers, most);
    const double cuts = std::max(1.0, std::round(readers) - 1.0);
    const double broken = 2.0 * requests_up_to(cuts, most) / cuts;
    const double chance = (readers - 1.0) / run;
    return (unbroken + chance * std::max(0.0, broken - unbroken)) / readers;
}

MergingInBrief::MergingInBrief(const TileOrder& order, const GroupRuns& runs, std::int64_t groups,
                               bool stay) noexcept
    : order_(order),
      runs_(runs),
      items_(static_cast<double>(order.items())),
      wave_(std::clamp(runs.wave, 1.0, items_)),
      groups_(groups),
      stay_(stay) {
    // Two GPCs, far apart where the chip has enough GPCs.
    const std::array<double, 2> sampled{0.0, static_cast<double>(std::min<std::int64_t>(5, groups - 1))};
    const TileRuns tiles(order);
    for (std::size_t i = 0; i < sampled.size(); ++i) {
        const double begin = std::ceil(sampled[i] * runs.length);
        const double count = std::ceil((sampled[i] + 1.0) * runs.length) - begin;
        first_[i] = tiles.touched(begin, count);
        lengths_[i] = std::clamp(items_ - begin, 0.0, count);
    }
    if (wave_ < items_ && !stay) second_ = tiles.touched(wave_, wave_);
}

/// Items of one GPC in the first wave per slice that it reads.
double MergingInBrief::readers_of_first(Dependence slices) const noexcept {
    const double of_runs = first_[0].distinct(slices) + first_[1].distinct(slices);
    const double length = lengths_[0] + lengths_[1];
    if (runs_.count <= 1.0) return std::max(1.0, length / std::max(1.0, of_runs));
    const Along by = along(order_, slices);
    const double each = of_runs * runs_.length / length;
    const auto band = static_cast<double>(order_.band());
    const auto columns = static_cast<double>(order_.major());
    double all = each * runs_.count;
    if (by.major && !by.minor) {
        // Columns come back with every band; the next run begins `step` items further.
        const double shift = std::fmod(runs_.step / band, columns);
        const double apart = std::min({each, shift, columns - shift});
        all = std::min(columns, each + (runs_.count - 1.0) * apart);
    } else if (by.minor && !by.major) {
        // Rows belong to the band until the next band.
        all = std::min(all, each * (1.0 + (runs_.count - 1.0) * runs_.step / (band * columns)));
    } else if (!by.minor) {
        all = std::min(all, 1.0 + (runs_.count - 1.0) * runs_.step / static_cast<double>(order_.plane()));
    }
    return std::max(1.0, runs_.length * runs_.count / std::max(1.0, all));
}

double MergingInBrief::merged_later(Dependence slices, const MergingLaw& law) const noexcept {
    const double neighbours = std::min(run_of_slice(order_, slices), items_ - wave_);
    double left = 1.0;
    if (neighbours > 1.0) {
        left =
            law.in_place * left_in_order_in_brief(neighbours, runs_.length, static_cast<double>(law.most)) +
            (1.0 - law.in_place) * left_on_groups(neighbours, groups_, law.most);
    }
    const double of_slice = std::min(wave_, items_ - wave_) / std::max(1.0, second_.distinct(slices));
    const double all = left_on_groups(of_slice, groups_, law.most);
    return 1.0 - left + law.strangers * std::max(0.0, left - all);
}

double MergingInBrief::merged_share(Dependence slices, const MergingLaw& law) const noexcept {
    const double together = readers_of_first(slices);
    const double first = 1.0 - requests_of(together, static_cast<double>(law.most)) / together;
    const double share = wave_ / items_;
    if (share >= 1.0) return first;
    // Persistent CTAs stay in place, though fewer stay in step.
    const double later = stay_ ? law.in_place * first : merged_later(slices, law);
    return share * first + (1.0 - share) * later;
}

}  // namespace warptime::model::machine
