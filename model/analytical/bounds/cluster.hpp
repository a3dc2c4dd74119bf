// The way between the SMs of a cluster: bytes that loads bring from the shared memory of other CTAs.
// Ignores: the distance (recorded latencies and rates differ by 4 % over clusters of 2 to 8), and the banks
// of the SM that is read, which deliver several times as much. Source: recorded rows of microbench_dsmem
// dsmem_read (key shared.cluster_bandwidth): words of 4, 8 and 16 bytes all reach the same bytes a cycle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::analytical {

template <class S>
[[nodiscard]] hw::Cycles<S> cluster_cycles(const S& bytes, const hw::Gpu<S>& gpu) {
    return hw::Bytes<S>(bytes) / gpu.shared.cluster_bandwidth;
}

}  // namespace warptime::model::analytical
