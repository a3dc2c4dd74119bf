// The cycles that one SM spends on a region that all its CTAs run.
// For probes whose CTAs share an SM.
// Each CTA notes the number of its SM.
// It also notes, on the SM's clock, when its first warp began and its last warp ended.
// The region of an SM runs from the earliest beginning to the latest end of its CTAs.
// Ignores: that CTAs are launched one after another; regions much longer than a launch hide the difference.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness.cuh"

#include <climits>

namespace probe {

struct Region {
    long long begin, end;
    unsigned sm;
};

__device__ inline unsigned sm_id() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

/// Called by all threads of a CTA at the region's end. The region began at a barrier of these threads.
__device__ inline void close_region(Region* regions, long long begin) {
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) regions[blockIdx.x] = {begin, end, sm_id()};
}

/// Cycles of the region on each SM that held exactly `ctas_per_sm` CTAs. `launch` runs once to warm up and
/// then `samples` times. Each sample is the median over the SMs.
inline std::vector<double> region_cycles(const Buffer<Region>& regions, int grid, int ctas_per_sm,
                                         const std::function<void()>& launch, int samples = 9) {
    std::vector<double> found;
    if (only_read()) samples = 1;
    for (int turn = only_read() ? 1 : 0; turn <= samples; ++turn) {
        launch();
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<Region> all = regions.host();
        std::map<unsigned, Region> sms;
        std::map<unsigned, int> held;
        for (int cta = 0; cta < grid; ++cta) {
            const Region& region = all[static_cast<std::size_t>(cta)];
            Region& sm = sms.try_emplace(region.sm, Region{LLONG_MAX, 0, region.sm}).first->second;
            sm.begin = std::min(sm.begin, region.begin);
            sm.end = std::max(sm.end, region.end);
            ++held[region.sm];
        }
        std::vector<double> each;
        for (const auto& [id, sm] : sms) {
            if (held[id] == ctas_per_sm) each.push_back(static_cast<double>(sm.end - sm.begin));
        }
        // A launch that is read up to a read of the clock has closed no region.
        if (each.empty() && only_read()) return {0.0};
        require(!each.empty(), "some SM holds the CTAs it should");
        if (turn > 0) found.push_back(median(each));
        pause_ms(0.2);
    }
    return found;
}

}  // namespace probe
