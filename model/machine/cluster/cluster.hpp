// Path between the SMs of a cluster: cycles for bytes that loads bring from other CTAs' shared memory.
// Ignores: distance within the cluster, and the banks of the SM that is read, which deliver several times as
// much.
// Source: microbench_dsmem dsmem_read (key shared.cluster_bandwidth).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::machine {

[[nodiscard]] inline hw::Cycles cluster_cycles(double bytes, const hw::Gpu& gpu) {
    return hw::Bytes(bytes) / gpu.shared.cluster_bandwidth;
}

}  // namespace warptime::model::machine
