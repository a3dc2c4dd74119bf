// Loops of load, add and compare-and-swap on words of one bank of shared memory.
// The result is how often a warp goes round for one addition by each of its lanes.
// Ignores: warps that fall into step.
// Source: counted tries and passes of atomics.cu (smsp__inst_executed_op_shared_atom, l1tex wavefronts).
// Of a warp's lanes in one bank, the first lane swaps.
// Of eight-byte words, one lane of each half of the warp swaps. The second swap is in vain where both are at
// one word. Counted: 17 tries on 2 to 16 words, 16 tries on 32 words, 32 tries on one word. A load passes
// once for each word that is left.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace warptime::validate::microbench {

struct SwapLoop {
    double tries = 0.0;   ///< of a warp, for a success of each of its lanes
    double passes = 0.0;  ///< over the banks, by the load of a try on average
};

/// The loop of a warp alone. The lanes add to words 0, 1, ... `distinct` - 1 in turn, and all words lie in
/// one bank. `groups` is the number of parts of the warp that each have a lane that swaps.
[[nodiscard]] inline SwapLoop swaps_alone(std::int64_t distinct, int groups) {
    constexpr int lanes = 32;
    const int part = lanes / groups;
    std::array<int, lanes> first{};  // lane of each group that is next
    for (int g = 0; g < groups; ++g) first[static_cast<std::size_t>(g)] = g * part;
    const auto word = [&](int lane) { return lane % std::min<std::int64_t>(distinct, lanes); };
    SwapLoop loop;
    for (int left = lanes; left > 0;) {
        loop.tries += 1.0;
        std::int64_t won = -1;
        for (int g = 0; g < groups; ++g) {
            int& next = first[static_cast<std::size_t>(g)];
            const int end = (g + 1) * part;
            loop.passes += static_cast<double>(std::min<std::int64_t>(end - next, distinct));
            if (next == end || word(next) == won) continue;
            won = word(next++);
            --left;
        }
    }
    loop.passes /= loop.tries;
    return loop;
}

/// The cycles of a warp's try.
struct SwapTimes {
    double round = 0.0;   ///< without other warps
    double bank = 0.0;    ///< the bank's share of the round
    double before = 0.0;  ///< from the load until the swap, without waiting
};

/// Factor on the tries that a warp needs alone, with `warps` warps at the same words. After a success on a
/// word, another warp has to load the word before that warp can swap. So the distance of two successes is at
/// least the age of a load when its swap comes. That age is `before` and half of the warps' wait for the
/// bank.
[[nodiscard]] inline double tries_among(std::int64_t warps, std::int64_t distinct, int groups,
                                        const SwapLoop& alone, const SwapTimes& times) {
    if (warps * groups <= distinct || warps <= 1) return 1.0;
    const auto n = static_cast<double>(warps);
    const double turn = std::max(times.round, n * times.bank);
    const double age = times.before + (turn - times.round) / 2.0;
    constexpr double lanes = 32.0;
    const double success = turn / n * alone.tries / lanes;
    return 1.0 + age / static_cast<double>(distinct) / success;
}

}  // namespace warptime::validate::microbench
