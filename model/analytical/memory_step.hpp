// Time of a program's memsets and copies, which the driver runs as kernels or on a copy engine; those to and
// from the host by the law of the link. Ignores: copies to a peer (NVLink). Source: recorded cudaMemcpy and
// memset durations (fitted keys launch.memset, launch.memcpy*); the bytes follow the DRAM and write-back laws
// of any other kernel. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/limiter.hpp"

namespace warptime::model::analytical {

template <class S>
struct MemoryStepTime {
    hw::Seconds<S> floor{};
    hw::Seconds<S> dram{};
    hw::Seconds<S> link{};  ///< of a copy to or from the host, in place of `dram`
    hw::Seconds<S> time{};
    hw::Bytes<S> dram_read{};
    hw::Bytes<S> dram_written{};
};

template <class S>
[[nodiscard]] MemoryStepTime<S> memset_time(const kernel::Memset& step, const hw::Gpu<S>& gpu,
                                            const prediction::Conditions& conditions);

/// Throws Error for a copy to a peer.
template <class S>
[[nodiscard]] MemoryStepTime<S> memcpy_time(const kernel::Memcpy& step, const hw::Gpu<S>& gpu,
                                            const prediction::Conditions& conditions);

/// What such a step is held back by.
template <class S>
[[nodiscard]] prediction::Limiter limiter_of(const MemoryStepTime<S>& t) {
    if (t.floor < t.link) return prediction::Limiter::bytes_in_flight;
    return t.floor < t.dram ? prediction::Limiter::dram : prediction::Limiter::launch;
}

}  // namespace warptime::model::analytical
