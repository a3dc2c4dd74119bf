// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/loops.hpp"

#include <utility>

namespace warptime::advice {

namespace mk = model::kernel;

std::vector<std::vector<std::size_t>> loops_around(const mk::Kernel& kernel) {
    std::vector<std::vector<std::size_t>> around(kernel.ops.size());
    std::vector<std::pair<std::size_t, std::size_t>> open;  // loop, end
    for (std::size_t n = 0; n < kernel.nodes.size(); ++n) {
        while (!open.empty() && open.back().second <= n) open.pop_back();
        const mk::Node& node = kernel.nodes[n];
        if (node.kind == mk::NodeKind::loop) open.emplace_back(node.payload, node.end);
        if (node.kind != mk::NodeKind::op) continue;
        for (const auto& loop : open) around[node.payload].push_back(loop.first);
    }
    return around;
}

double trips_of(const mk::Loop& loop) {
    if (loop.trips.expected) return loop.trips.mean;
    return loop.trips.index.is_constant() ? static_cast<double>(loop.trips.index.constant) : 0.0;
}

bool divide_trips(mk::Loop& loop, std::int64_t times) {
    const auto n = static_cast<double>(times);
    if (loop.trips.expected) {
        for (double* trips : {&loop.trips.mean, &loop.trips.max_over_lanes, &loop.trips.max_over_warps,
                              &loop.slowest.of_cta, &loop.slowest.of_grid}) {
            if (*trips > 0.0) *trips /= n;
        }
        return true;
    }
    if (!loop.trips.index.is_constant()) return false;
    const std::int64_t whole = loop.trips.index.constant;
    if (whole < times) {
        // Less than a trip: so much of a trip's work, on average.
        loop.trips.expected = true;
        loop.trips.mean = loop.trips.max_over_lanes = loop.trips.max_over_warps =
            static_cast<double>(whole) / n;
        loop.trips.index = {};
        loop.slowest = {};
        return true;
    }
    loop.trips.index.constant = (whole + times - 1) / times;
    for (double* trips : {&loop.slowest.of_cta, &loop.slowest.of_grid}) {
        if (*trips > 0.0) *trips /= n;
    }
    return true;
}

bool depends_on_itself(const mk::Kernel& kernel, std::size_t op) {
    for (const mk::Dep& dep : kernel.deps_of(kernel.ops[op])) {
        if (static_cast<std::size_t>(dep.op) == op) return true;
    }
    return false;
}

}  // namespace warptime::advice
