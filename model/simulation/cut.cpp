// Choice of the part that is run. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/cut.hpp"

#include "model/machine/occupancy/work_items.hpp"
#include "model/simulation/work.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warptime::model::simulation {

namespace {

/// Whole waves between the first and the last one are left out; `steady` waves stand for them.
void skip_waves(Cut& cut, std::int64_t resident, std::int64_t steady) {
    const std::int64_t skipped = cut.groups / resident - 2 - steady;
    if (skipped <= 0) return;
    cut.first = resident;
    cut.steady = steady * resident;
    cut.skipped = skipped * resident;
}

/// Clusters are run whole.
void run_sms(Cut& cut, std::int64_t sms, std::int64_t ctas, std::int64_t cluster) {
    cut.sms = sms;
    const std::int64_t rest = ctas % cut.of_sms;
    const std::int64_t rest_of_part = (rest * sms + cut.of_sms - 1) / cut.of_sms;
    cut.rest = (rest_of_part + cluster - 1) / cluster * cluster;
    if (cut.rest > 0) cut.rest_sms = static_cast<double>(rest) / static_cast<double>(cut.rest);
}

}  // namespace

std::int64_t Cut::id(std::int64_t run) const {
    std::int64_t group = run / sms;
    if (skipped > 0 && group >= first + steady) group += skipped;
    return group * of_sms + run % sms;
}

double Cut::stands_for(std::int64_t run) const {
    const std::int64_t group = run / sms;
    const bool stretched = skipped > 0 && first <= group && group < first + steady;
    return stretched ? static_cast<double>(steady + skipped) / static_cast<double>(steady) : 1.0;
}

kernel::LoopPasses Cut::passes(std::int64_t of_loop, std::int64_t period) const {
    if (trips == 0 || of_loop <= trips) return {of_loop};
    const std::int64_t ends = trips / 4;
    std::int64_t left_out = of_loop - trips;
    left_out -= left_out % std::max<std::int64_t>(1, period);
    return {of_loop, ends, trips - ends, left_out};
}

Cut cut_of(const kernel::Kernel& kernel, std::int64_t sms, std::int64_t resident, double most, double aim,
           bool loops) {
    const std::int64_t ctas = kernel.grid.volume();
    const std::int64_t cluster = kernel.cluster.volume();
    Cut cut;
    cut.of_sms = std::max(cluster, std::min(sms, ctas) / cluster * cluster);
    cut.groups = ctas / cut.of_sms;
    run_sms(cut, cut.of_sms, ctas, cluster);
    const double all = events_of(kernel);
    // CTAs that ask for their items share one counter.
    if (all <= most) return cut;
    if (machine::WorkItems(kernel).on_demand()) {
        require_feasible(kernel, all);
        return cut;
    }
    const auto events = [&] {
        return events_of(kernel, cut.trips) * static_cast<double>(cut.ctas()) / static_cast<double>(ctas);
    };
    struct Bounds {
        std::int64_t sms, waves, trips;
    };
    // From what hardly matters to what matters most. Pairs of SMs share the requests of a TPC.
    constexpr std::array<Bounds, 7> steps{
        {{8, 0, 0}, {8, 4, 0}, {8, 4, 64}, {4, 2, 32}, {2, 2, 16}, {2, 2, 8}, {1, 1, 8}}};
    for (const Bounds& bounds : steps) {
        if (bounds.trips > 0 && loops) cut.trips = bounds.trips;
        if (bounds.waves > 0) skip_waves(cut, std::max<std::int64_t>(1, resident), bounds.waves);
        const std::int64_t least = (bounds.sms + cluster - 1) / cluster * cluster;
        if (least < cut.sms) {
            const auto fitting =
                static_cast<std::int64_t>(aim / events() * static_cast<double>(cut.sms)) / cluster * cluster;
            run_sms(cut, std::clamp(fitting, least, cut.sms), ctas, cluster);
        }
        if (events() <= aim * 1.01) break;
    }
    require_feasible(kernel, events());
    return cut;
}

}  // namespace warptime::model::simulation
