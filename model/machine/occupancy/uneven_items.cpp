// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/uneven_items.hpp"

#include "hw/error.hpp"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <tuple>
#include <vector>

namespace warptime::model::machine {

namespace {

/// What is left of an item, as a share of it; at full pace it takes `whole`.
struct Left {
    double fixed = 0.0, trips = 0.0;
};

struct Sm {
    std::vector<Left> items;
    double at = 0.0;  ///< time of the figures in `items`
    double busy = 0.0;
};

/// Time that an item still takes at a pace.
double rest(const Left& left, const ItemPace& pace) {
    return left.fixed * pace.fixed + left.trips * pace.trip;
}

/// Lets the items of an SM progress until `time`, each by the same share of its rest.
void advance(Sm& sm, double time, std::span<const ItemPace> paces) {
    if (!sm.items.empty()) {
        const ItemPace& pace = paces[sm.items.size() - 1];
        const double span = time - sm.at;
        sm.busy += span;
        for (Left& left : sm.items) {
            const double all = rest(left, pace);
            const double share = all > 0.0 ? std::max(0.0, 1.0 - span / all) : 0.0;
            left.fixed *= share;
            left.trips *= share;
        }
    }
    sm.at = time;
}

}  // namespace

UnevenMakespan uneven_makespan(std::int64_t items, const std::function<double(std::int64_t)>& trips,
                               std::int64_t sms, std::span<const ItemPace> paces) {
    if (sms < 1 || paces.empty()) {
        throw Error("uneven items", "no SM", "at least one SM that holds an item");
    }
    std::vector<Sm> all(static_cast<std::size_t>(std::min(sms, std::max<std::int64_t>(1, items))));
    // Time of the next end, SM, and a number that tells outdated entries.
    using Event = std::tuple<double, std::size_t, std::size_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> ends;
    std::vector<std::size_t> version(all.size(), 0);
    std::int64_t next = 0;
    const auto announce = [&](std::size_t s) {
        const Sm& sm = all[s];
        if (sm.items.empty()) return;
        double least = rest(sm.items.front(), paces[sm.items.size() - 1]);
        for (const Left& left : sm.items) least = std::min(least, rest(left, paces[sm.items.size() - 1]));
        ends.emplace(sm.at + least, s, ++version[s]);
    };
    // Breadth first, as CTAs are handed out.
    for (std::size_t round = 0; round < paces.size(); ++round) {
        for (std::size_t s = 0; s < all.size() && next < items; ++s)
            all[s].items.push_back({1.0, trips(next++)});
    }
    for (std::size_t s = 0; s < all.size(); ++s) announce(s);
    UnevenMakespan result;
    std::vector<std::size_t> ready;
    while (!ends.empty()) {
        const double time = std::get<0>(ends.top());
        const double same = time * (1.0 + 1e-9);
        ready.clear();
        while (!ends.empty() && std::get<0>(ends.top()) <= same) {
            const auto [at, s, number] = ends.top();
            ends.pop();
            if (number == version[s]) ready.push_back(s);
        }
        for (const std::size_t s : ready) {
            Sm& sm = all[s];
            const ItemPace& pace = paces[sm.items.size() - 1];
            advance(sm, time, paces);
            std::erase_if(sm.items,
                          [&](const Left& left) { return rest(left, pace) <= same - time + 1e-12; });
            result.makespan = std::max(result.makespan, time);
        }
        // SMs that are ready together share the next items evenly.
        for (std::size_t round = 0; round < paces.size() && next < items; ++round) {
            for (const std::size_t s : ready) {
                if (all[s].items.size() <= round && next < items)
                    all[s].items.push_back({1.0, trips(next++)});
            }
        }
        for (const std::size_t s : ready) announce(s);
    }
    for (const Sm& sm : all) result.busy += sm.busy / static_cast<double>(all.size());
    return result;
}

}  // namespace warptime::model::machine
