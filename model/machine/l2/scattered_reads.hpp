// DRAM reads of buffers that SMs read at scattered places: how much the L2 holds while other lines pass.
// A line has room for all its sectors, however few of them have been asked for. It stands in its home
// partition, and in each other partition whose SMs have read it.
// Ignores: sets, places that a kernel prefers, an order in the places but for those that come again soon
// (`far`, counted by a whole run), and places that come again by chance.
// Source: least recently used lines stay for a characteristic time, in which the lines that come in fill the
// cache (Che, Tung and Wang, IEEE JSAC 20(7), 2002). Sizes: keys l2.capacity and l2.partition_usable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/demand/expected_distinct.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace warptime::model::machine {

/// One buffer and the visits of a whole kernel to it, each to a part of one line.
struct ScatteredSet {
    double visits = 0.0;
    double lines = 0.0;  ///< among which the visits fall
    double parts = 1.0;  ///< in a line; a visit that misses brings one
    double once = 0.0;   ///< parts that are visited at all
};

/// Bytes of a line that visits ever ask for. `sectors`: one bit for each sector that they do.
[[nodiscard]] inline double bytes_of_sectors(std::uint32_t sectors, const hw::Gpu& gpu) {
    return gpu.l1.sector.value() * std::popcount(sectors);
}

/// Parts of a line where a visit brings `part` bytes of it.
[[nodiscard]] inline double parts_of_line(double part, std::uint32_t sectors, const hw::Gpu& gpu) {
    return std::max(
        1.0, std::min(gpu.l1.line.value() / part, bytes_of_sectors(sectors, gpu) / gpu.l1.sector.value()));
}

/// Parts that are visited at all, of `parts` with `words` each. Places that a kernel visits about once are
/// mostly a list without repetitions: rows, edges or a permutation. So words are drawn without replacement: a
/// part stays unvisited with (1 - share)^words, where `share` of all words is drawn.
[[nodiscard]] inline double parts_visited(double parts, double words, double share) {
    return parts * (1.0 - std::pow(1.0 - std::clamp(share, 0.0, 1.0), std::max(1.0, words)));
}

/// Lines that pass in order. They come at even times, and each stays for the characteristic time.
struct PassingLines {
    double read = 0.0, written = 0.0;  ///< in a whole kernel; read lines with their copies
};

struct ScatteredHold {
    double lines = 0.0;   ///< of the set that all partitions hold
    double missed = 0.0;  ///< share of the visits that go to DRAM
};

/// Share of the visits that find their part: the line has been there since somebody brought that part. Each
/// visit before was to this part with the chance 1 / `parts`.
[[nodiscard]] inline double part_there(double line_there, double parts) {
    return line_there / (parts - (parts - 1.0) * line_there);
}

/// Steady state where lines stay for the share `window` of the kernel.
[[nodiscard]] inline ScatteredHold hold_of(const ScatteredSet& set, double window, double partitions) {
    // Visits to a line by the SMs of one partition, in the time that the line stays.
    const double each = set.visits / set.lines * window / partitions;
    const double copy = 1.0 - std::exp(-each);
    const double copied = part_there(copy, set.parts);
    // The home serves its own SMs, and those of the others that find no copy.
    const double asked = 1.0 + (partitions - 1.0) * (1.0 - copied);
    const double home = 1.0 - std::exp(-each * asked);
    ScatteredHold hold;
    hold.lines = set.lines * (home + (partitions - 1.0) * copy);
    hold.missed = asked / partitions * (1.0 - part_there(home, set.parts));
    return hold;
}

/// Share of the kernel for which lines stay; 1 where nothing is lost.
[[nodiscard]] inline double stay_of(std::span<const ScatteredSet> sets, const PassingLines& passing,
                                    const hw::Gpu& gpu) {
    const double partitions = std::max(1.0, gpu.l2.partitions.value());
    const double room = gpu.l2.capacity.value() * gpu.l2.partition_usable.value() / gpu.l1.line.value();
    const auto held = [&](double window) {
        double lines = (passing.read + passing.written) * window;
        for (const ScatteredSet& set : sets) lines += hold_of(set, window, partitions).lines;
        return lines;
    };
    if (held(1.0) <= room) return 1.0;
    double low = 0.0;
    double high = 1.0;
    constexpr int halvings = 30;
    for (int i = 0; i < halvings; ++i) {
        const double middle = 0.5 * (low + high);
        (held(middle) > room ? high : low) = middle;
    }
    return low;
}

/// Visits of a set that go to DRAM: first ones, and those whose part has left since, at most the `far` ones.
[[nodiscard]] inline double visits_to_dram(const ScatteredSet& set, double far, double stay,
                                           const hw::Gpu& gpu) {
    const double cells = set.lines * set.parts;
    const double once = std::min(set.visits, set.once);
    if (stay >= 1.0) return once;
    const double first = std::min(once, expected_distinct(set.visits * stay, cells));
    const double later =
        (1.0 - stay) * set.visits * hold_of(set, stay, std::max(1.0, gpu.l2.partitions.value())).missed;
    return std::clamp(first + later, once, std::max(once, std::min(set.visits, once + far)));
}

}  // namespace warptime::model::machine
