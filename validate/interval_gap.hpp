// Time between two launches in a row that was timed from call to call.
// Ignores: that the host may be late with the next launch of a graph.
// Source: keys launch.stream_gap, launch.graph_gap and call.gap.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/system.hpp"
#include "model/system/program.hpp"
#include "validate/recorded_case.hpp"
#include "workloads/registry/registry.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::validate {

/// Mean seconds between two launches; 0 for a row of another quantity than `interval_us`. A graph with the
/// launches runs again and again in a stream, so that one gap in its number of nodes is a stream's. Between
/// exchanges of several GPUs the box's gap counts. Throws hw::Error where the row's system is unknown.
[[nodiscard]] inline double interval_gap(const RecordedRow& row, const hw::Gpu& gpu) {
    using model::system::Between;
    if (row.quantity != interval_quantity) return 0.0;
    if (workloads::find_parameter(workloads::find_operator(row.op), "system") != nullptr) {
        return hw::system_of_gpu(row.gpu, row.op + " system").call.gap;
    }
    const auto nodes = static_cast<double>(std::max<std::int64_t>(1, row.graph_nodes));
    return (model::system::launch_gap(Between::stream, gpu) +
            (nodes - 1.0) * model::system::launch_gap(Between::graph, gpu)) /
           nodes;
}

}  // namespace warptime::validate
