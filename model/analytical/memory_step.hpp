// Time of a program's memsets and copies, which the driver runs as kernels or on a copy engine.
// Copies to and from the host follow the law of the link.
// Ignores: copies to a peer (NVLink).
// Source: recorded cudaMemcpy and memset durations (keys launch.floor, launch.memcpy*). The bytes
// follow the DRAM and write-back laws of any other kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/limiter.hpp"
#include "model/prediction/prediction.hpp"

namespace warptime::model::analytical {

struct MemoryStepTime {
    hw::Seconds floor{};
    hw::Seconds dram{};
    hw::Seconds link{};  ///< of a copy to or from the host, in place of `dram`
    hw::Seconds time{};
    hw::Bytes dram_read{};
    hw::Bytes dram_written{};
};

[[nodiscard]] MemoryStepTime memset_time(const kernel::Memset& step, const hw::Gpu& gpu,
                                         const prediction::Conditions& conditions);

/// Throws Error for a copy to a peer.
[[nodiscard]] MemoryStepTime memcpy_time(const kernel::Memcpy& step, const hw::Gpu& gpu,
                                         const prediction::Conditions& conditions);

/// Time of an exchange between GPUs with the band that its description states.
[[nodiscard]] prediction::Estimate exchange_estimate(const kernel::Exchange& exchange);

/// Limiter of a memory step.
[[nodiscard]] inline prediction::Limiter limiter_of(const MemoryStepTime& t) {
    if (t.floor < t.link) return prediction::Limiter::bytes_in_flight;
    return t.floor < t.dram ? prediction::Limiter::dram : prediction::Limiter::launch;
}

}  // namespace warptime::model::analytical
