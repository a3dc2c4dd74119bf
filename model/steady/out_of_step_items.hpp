// Time of one item after another when the CTAs of an SM are at different places of their items.
// While one CTA computes addresses, fills its stages or stores, the others have the main loop's servers for
// themselves. CTAs in their main loops at the same time share these servers.
// Ignores: which CTAs overlap; only the mean is followed.
// Source: mean field; each CTA is in each part of its item for that part's share of the time. Evidence:
// docs/mechanisms/evidence.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace warptime::model::steady {

/// Times of an item when some CTAs of the SM are in the same part of their items.
struct ItemTogether {
    double aside = 0.0;  ///< time before and after its main loop
    double loop = 0.0;
};

/// Mean time of an item. `alone`: times of one CTA by itself. `some_loop`: main loop of `some` CTAs, 2 to
/// resident - 1, where more than two reside. `all`: times with all `resident` at once. `vacant`: time until
/// the SM's next CTA has begun.
[[nodiscard]] inline double time_out_of_step(std::int64_t resident, const ItemTogether& alone,
                                             std::int64_t some, double some_loop, const ItemTogether& all,
                                             double vacant) {
    constexpr int rounds = 4;  // each round brings it ten times nearer
    double time = vacant + all.aside + all.loop;
    if (resident < 2 || !(0.0 < time)) return time;
    const bool middle = some > 1 && some < resident;
    const double at = middle ? static_cast<double>(some - 1) / static_cast<double>(resident - 1) : 1.0;
    const double then = middle ? some_loop : all.loop;
    ItemTogether mean = all;
    for (int round = 0; round < rounds; ++round) {
        // The other CTAs are in this part for the part's share of an item.
        const double beside = std::min(1.0, mean.aside / time);
        const double looping = std::min(1.0, mean.loop / time);
        mean.aside = alone.aside + (all.aside - alone.aside) * beside;
        mean.loop = looping < at || !middle ? alone.loop + (then - alone.loop) * (looping / at)
                                            : then + (all.loop - then) * ((looping - at) / (1.0 - at));
        time = vacant + mean.aside + mean.loop;
    }
    return time;
}

}  // namespace warptime::model::steady
