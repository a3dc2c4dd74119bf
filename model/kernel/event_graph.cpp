// Words for a path through an event graph.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/event_graph.hpp"

#include <fmt/format.h>

namespace warptime::model::kernel {

std::string describe(const Kernel& kernel, const EventTopology& topology,
                     std::span<const std::int16_t> edges) {
    std::string words;
    for (const std::int16_t e : edges) {
        const TopologyEdge& edge = topology.edges[static_cast<std::size_t>(e)];
        if (words.empty()) {
            words = describe(kernel, topology.nodes[static_cast<std::size_t>(edge.from)]);
        }
        words += fmt::format(" -> {}", describe(kernel, topology.nodes[static_cast<std::size_t>(edge.to)]));
        if (edge.distance > 0) {
            words += fmt::format(" ({} later)", edge.distance);
        }
    }
    return words;
}

}  // namespace warptime::model::kernel
