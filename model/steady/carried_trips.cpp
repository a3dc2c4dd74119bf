// Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/carried_trips.hpp"

#include "model/kernel/predicate_operands.hpp"

#include <algorithm>
#include <tuple>

namespace warptime::model::steady {

namespace {

/// Trips that are replayed, and the last ones of which the mean is taken: cycles over up to four trips fit
/// in.
constexpr std::size_t replayed = 24, averaged = 12;
/// Farther dependences are taken as ones at this distance.
constexpr std::size_t farthest = 16;

/// Part of its issue that an op is spared where it waits for itself: each of its chains waits for its own
/// last instruction, and not for the last one of all.
double behind_own(const kernel::Op& op) {
    const auto count = static_cast<double>(std::max<std::int64_t>(1, op.count));
    return 1.0 - std::clamp(static_cast<double>(op.chain) / count, 1.0 / count, 1.0);
}

}  // namespace

std::pair<std::size_t, std::size_t> ops_of(const kernel::Kernel& kernel, std::size_t first,
                                           std::size_t last) {
    std::size_t low = kernel.ops.size();
    std::size_t high = 0;
    for (std::size_t n = first; n < last; ++n) {
        if (kernel.nodes[n].kind != kernel::NodeKind::op) continue;
        low = std::min<std::size_t>(low, kernel.nodes[n].payload);
        high = std::max<std::size_t>(high, kernel.nodes[n].payload + 1);
    }
    return {std::min(low, high), high};
}

void CarriedTrips::begin(const kernel::Kernel& kernel, std::size_t first_node, std::size_t last_node) {
    described = kernel.loops[kernel.nodes[first_node - 1].payload].overlap;
    events.clear();
    if (described) std::tie(first, last) = ops_of(kernel, first_node, last_node);
}

void CarriedTrips::take_in_part(std::size_t from, const hw::Cycles& end, double taken) {
    if (from == events.size()) return;
    // The warp leaves the branch when all that was done in it is complete.
    events.back().held = events.back().held + (end - std::min(events.back().issued, end));
    for (std::size_t e = from; e < events.size(); ++e) {
        events[e].stall = events[e].stall * taken;
        events[e].held = events[e].held * taken;
        events[e].ready = events[e].ready * taken;
        events[e].waited = events[e].waited * taken;
        events[e].queued = events[e].queued * taken;
        events[e].taken *= taken;
    }
}

SteadyTrip CarriedTrips::steady(const kernel::Kernel& kernel, const hw::Cycles& operands_lead) const {
    const std::size_t ops = last - first;
    std::size_t window = 1;
    for (std::size_t op = first; op < last; ++op) {
        for (const kernel::Dep& dep : kernel.deps_of(kernel.ops[op])) {
            window =
                std::max(window, std::min<std::size_t>(farthest, static_cast<std::size_t>(dep.distance)) + 1);
        }
    }
    std::vector<double> complete(window * ops, 0.0);  // By trip and op.
    std::vector<bool> loads(ops, false);
    for (const TripEvent& event : events) {
        if (event.loads) loads[event.first - first] = true;
    }
    const std::size_t trips = replayed + window - 1;
    double issued = 0.0;
    double served = 0.0;  // When the tensor cores have done what was issued.
    double begun = 0.0;
    double waited = 0.0;
    for (std::size_t trip = 0; trip < trips; ++trip) {
        if (trip + averaged == trips) {
            begun = issued;
            waited = 0.0;
        }
        for (const TripEvent& event : events) {
            double start = issued;
            double loaded = 0.0;
            for (std::size_t op = event.first; op < event.last; ++op) {
                for (const kernel::Dep& dep : kernel.deps_of(kernel.ops[op])) {
                    const auto from = static_cast<std::size_t>(dep.op);
                    const bool own = event.last - event.first > 1 && from >= event.first && from < event.last;
                    const std::size_t back =
                        std::min<std::size_t>(farthest, static_cast<std::size_t>(dep.distance));
                    if (from < first || from >= last || own || back > trip) continue;
                    double there = complete[(trip - back) % window * ops + (from - first)];
                    if (kernel::reads_as_operand(kernel.ops[from].cls, kernel.ops[op].cls))
                        there -= operands_lead.value() * kernel.ops[from].enabled;
                    if (from == op) there -= behind_own(kernel.ops[op]) * event.held.value();
                    (loads[from - first] ? loaded : start) =
                        std::max(loads[from - first] ? loaded : start, there);
                }
            }
            start = issued + (start - issued) * event.taken;
            if (start < loaded) {
                waited += (loaded - start) * event.taken;
                start += (loaded - start) * event.taken;
            }
            waited += event.waited.value();
            start += event.stall.value();
            issued = start + event.held.value();
            double ready = start + event.ready.value();
            if (hw::Cycles{} < event.queued) {
                const double behind = std::max(0.0, served - start);
                ready += behind * event.taken;
                served = std::max(served, start) + event.queued.value();
            }
            for (std::size_t op = event.first; op < event.last; ++op) {
                complete[trip % window * ops + (op - first)] = ready;
            }
        }
    }
    const auto count = static_cast<double>(averaged);
    return {hw::Cycles((issued - begun) / count), hw::Cycles(waited / count)};
}

}  // namespace warptime::model::steady
