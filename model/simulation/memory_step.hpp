// Memsets and device-to-device copies, piece by piece through DRAM behind the driver's fixed cost.
// Copies to and from the host and exchanges between GPUs follow the laws of their links.
// Ignores: copies to a peer, and the copy kernels' work in the SMs.
// Source: keys launch.floor, launch.memcpy, launch.memcpy_pass; write-back by
// model/machine/dram/write_back.hpp for the bytes so far.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/limiter.hpp"

namespace warptime::model::simulation {

struct MemoryStep {
    double floor = 0.0;  ///< seconds
    double dram = 0.0;   ///< seconds
    double link = 0.0;   ///< seconds of a copy to or from the host
    double read_bytes = 0.0, written_bytes = 0.0;
    [[nodiscard]] prediction::Limiter limiter() const {
        if (floor < link) return prediction::Limiter::bytes_in_flight;
        return floor < dram ? prediction::Limiter::dram : prediction::Limiter::launch;
    }
    [[nodiscard]] double time() const { return floor + dram + link; }
};

[[nodiscard]] MemoryStep run_memset(const kernel::Memset& step, const hw::Gpu& gpu,
                                    const prediction::Conditions& conditions);
/// Start and hops are the floor, bytes the link's time.
[[nodiscard]] MemoryStep run_exchange(const kernel::Exchange& exchange);
/// Throws Error for a copy to a peer.
[[nodiscard]] MemoryStep run_memcpy(const kernel::Memcpy& step, const hw::Gpu& gpu,
                                    const prediction::Conditions& conditions);

}  // namespace warptime::model::simulation
