// How long one item of a CTA takes after another when the CTAs of its SM are at different places of theirs:
// while one computes addresses, fills its stages or stores, the others have the servers of the main loop for
// themselves, and while several are in their main loops these take as long as they do together. Ignores:
// which of them overlap, of which only the mean is followed. Source: mean field of CTAs that are in each part
// of their items for its share of the time; after the first wave CTAs begin when others end (triton_bf16,
// triton_bf16_second, triton_bf16_third, more than three waves of up to twelve trips: 10 to 15 % too fast
// with two to four CTAs an SM as long as only the busiest server was shared out among them).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"

#include <cstdint>

namespace warptime::model::analytical {

/// What an item takes when so many CTAs of the SM are in the same part of theirs.
template <class S>
struct ItemTogether {
    S aside = S(0.0);  ///< before and after its main loop
    S loop = S(0.0);
};

/// `alone`: by itself; `some_loop`: the main loop of `some` CTAs, 2 to resident - 1 of them, where there are
/// more than two; `all`: all `resident` at once; `vacant`: until the SM's next CTA has begun.
template <class S>
[[nodiscard]] S time_out_of_step(std::int64_t resident, const ItemTogether<S>& alone, std::int64_t some,
                                 const S& some_loop, const ItemTogether<S>& all, const S& vacant) {
    constexpr int rounds = 4;  // each brings it ten times nearer
    S time = vacant + all.aside + all.loop;
    if (resident < 2 || !(S(0.0) < time)) return time;
    const bool middle = some > 1 && some < resident;
    const S at(middle ? static_cast<double>(some - 1) / static_cast<double>(resident - 1) : 1.0);
    const S then = middle ? some_loop : all.loop;
    ItemTogether<S> mean = all;
    for (int round = 0; round < rounds; ++round) {
        // Of the others, as large a share is in this part as an item is of its time.
        const S beside = hw::min(S(1.0), mean.aside / time);
        const S looping = hw::min(S(1.0), mean.loop / time);
        mean.aside = alone.aside + (all.aside - alone.aside) * beside;
        mean.loop = looping < at || !middle ? alone.loop + (then - alone.loop) * (looping / at)
                                            : then + (all.loop - then) * ((looping - at) / (S(1.0) - at));
        time = vacant + mean.aside + mean.loop;
    }
    return time;
}

}  // namespace warptime::model::analytical
