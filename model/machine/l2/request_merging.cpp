// Items of a GPC that read the same slice, from runs of the tile order. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/request_merging.hpp"

#include <array>
#include <cstddef>

namespace warptime::model::machine {

double readers_in_group(const TileOrder& order, Dependence dependence, const GroupRuns& runs) {
    constexpr std::array<double, 2> samples{0.25, 0.75};
    const TileRuns tiles(order);
    const auto items = static_cast<double>(order.items());
    const double length = std::min(runs.length, items);
    double slices = 0.0;
    for (const double at : samples) {
        slices += tiles.touched(std::floor(at * (items - length)), length).distinct(dependence) /
                  static_cast<double>(samples.size());
    }
    // Runs of one GPC read no more than the whole wave does.
    const double begin = std::floor(0.5 * std::max(0.0, items - runs.wave));
    const double of_wave = tiles.touched(begin, runs.wave).distinct(dependence);
    return length * runs.count / std::max(1.0, std::min(slices * runs.count, of_wave));
}

double readers_of_repeated(double repeat, const GroupRuns& runs) {
    const double shift = std::fmod(runs.step, repeat);
    const double apart = std::min({runs.length, shift, repeat - shift});
    const double slices = std::min(repeat, runs.length + (runs.count - 1.0) * apart);
    return runs.length * runs.count / std::max(1.0, slices);
}

}  // namespace warptime::model::machine
