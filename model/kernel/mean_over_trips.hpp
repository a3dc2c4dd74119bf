// Means of an expression over the trips of the loops around it and over the warps of its role.
// Ignores: that trips of inner loops may depend on those of outer ones. Of long loops, trips at equal
// distances stand for all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/collective.hpp"
#include "model/kernel/description.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/kernel/lane_share.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace warptime::model::kernel {

/// Bit d: the expression depends on loop d.
[[nodiscard]] inline unsigned loops_in(const Kernel& kernel, const Index& index) {
    unsigned loops = 0;
    for (std::size_t t = index.first; t < index.first + std::size_t{index.count}; ++t) {
        const Term& term = kernel.terms[t];
        if (term.variable == Variable::loop) loops |= 1U << term.position;
        for (std::uint32_t n = 0; n < nested_count(term.variable); ++n) {
            loops |= loops_in(kernel, kernel.nested[term.position + n]);
        }
    }
    return loops;
}

/// Coordinates of warp `w` of a role whose first warp is `first_warp` of the CTA.
inline void place_warp(const Kernel& kernel, const Role& role, int first_warp, int w, Coordinates& at) {
    at.instance = w / std::max(1, role.warps);
    at.warp = w % std::max(1, role.warps);
    const std::int64_t thread = (std::int64_t{first_warp} + w) * 32;
    at.thread[0] = thread % kernel.cta.x;
    at.thread[1] = thread / kernel.cta.x % kernel.cta.y;
    at.thread[2] = thread / kernel.cta.x / kernel.cta.y;
}

namespace detail {

template <class Visit>
void visit_trips(unsigned loops, std::span<const double> trips, std::size_t depth, double most,
                 Coordinates& at, Visit& visit) {
    if (depth == trips.size()) {
        visit(at);
        return;
    }
    const double here = (loops >> depth & 1U) != 0 ? std::max(1.0, std::round(trips[depth])) : 1.0;
    const double looked_at = std::min(here, most);
    const auto count = static_cast<std::int64_t>(std::ceil(looked_at));
    for (std::int64_t i = 0; i < count; ++i) {
        at.loop[depth] = static_cast<std::int64_t>((static_cast<double>(i) + 0.5) * here / looked_at);
        visit_trips(loops, trips, depth + 1, most, at, visit);
    }
    at.loop[depth] = 0;
}

}  // namespace detail

/// Calls `visit` with the coordinates of the trips and warps that an expression tells apart. `trips` are
/// those of the loops around it, the outermost first.
template <class Visit>
void for_each_place(const Kernel& kernel, const Index& index, const Role& role, int first_warp,
                    const Coordinates& item, std::span<const double> trips, Visit visit) {
    const VariableSet variables = variables_of(kernel, index);
    const bool by_warp = variables.tells_warps() || variables.has(Variable::instance);
    const int warps = by_warp ? std::max(1, role.warps * role.instances) : 1;
    const unsigned loops = loops_in(kernel, index);
    int depth = 0;
    for (unsigned left = loops; left != 0; left &= left - 1U) ++depth;
    const double most = depth <= 1 ? 4096.0 : depth == 2 ? 64.0 : 8.0;
    Coordinates at = item;
    for (int w = 0; w < warps; ++w) {
        place_warp(kernel, role, first_warp, w, at);
        detail::visit_trips(loops, trips, 0, most, at, visit);
    }
}

/// `taken`: share of the executions in which a lane is active; `lanes`: mean share of the lanes in those.
struct MeanLanes {
    double taken = 1.0, lanes = 1.0;
};
[[nodiscard]] inline MeanLanes mean_lanes(const Kernel& kernel, Id lanes, const Role& role, int first_warp,
                                          const Coordinates& item, std::span<const double> trips) {
    double places = 0.0;
    double taken = 0.0;
    double active = 0.0;
    for_each_place(kernel, kernel.lane_counts[static_cast<std::size_t>(lanes)], role, first_warp, item, trips,
                   [&](const Coordinates& at) {
                       const double share = lane_share(kernel, lanes, at);
                       places += 1.0;
                       taken += share > 0.0 ? 1.0 : 0.0;
                       active += share;
                   });
    return {taken / places, taken > 0.0 ? active / taken : 0.0};
}

/// Mean trips of a loop whose trips depend on the loops or the warps around it.
[[nodiscard]] inline double mean_trips_around(const Kernel& kernel, const Loop& loop, const Role& role,
                                              int first_warp, const Coordinates& item,
                                              std::span<const double> trips) {
    double places = 0.0;
    double sum = 0.0;
    for_each_place(kernel, loop.trips.index, role, first_warp, item, trips, [&](const Coordinates& at) {
        places += 1.0;
        sum += std::max(0.0, static_cast<double>(evaluate(kernel, loop.trips.index, at)));
    });
    return sum / places;
}

}  // namespace warptime::model::kernel
