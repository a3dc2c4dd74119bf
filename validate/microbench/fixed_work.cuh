// Work of a known length for the probes of launch, waves and clusters: a chain of dependent FMA.
// A round has sixteen FMA, each waiting for the FMA before. So a warp alone takes sixteen latencies a round.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness.cuh"

#include <cmath>

namespace probe {

constexpr int chain_length = 16;

/// `rounds` times sixteen dependent FMA.
__device__ inline float fma_chain(float x, int rounds) {
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int step = 0; step < chain_length; ++step) x = fmaf(x, -0.75F, 1.25F);
    }
    return x;
}

/// What the chain gives from this start, on the host. An FMA rounds once on both sides, so the values are
/// equal.
inline float fma_chain_result(float x, int rounds) {
    for (int step = 0; step < rounds * chain_length; ++step) x = std::fma(x, -0.75F, 1.25F);
    return x;
}

/// The starts of two threads differ a little, so that no two chains are the same work.
__host__ __device__ inline float fma_chain_start(unsigned thread) {
    return 1.0F + 0.001F * static_cast<float>(thread % 64U);
}

/// Every CTA works `rounds` rounds. When `out` holds fewer words than there are threads, threads share words.
static __global__ void __launch_bounds__(1024) fixed_work(int rounds, float* out, unsigned mask) {
    const float result = fma_chain(fma_chain_start(threadIdx.x), rounds);
    out[(blockIdx.x * blockDim.x + threadIdx.x) & mask] = result;
}

/// Stop unless the first `threads` words of `out` hold the chain's result.
inline void require_chain(const Buffer<float>& out, int threads, int rounds, const std::string& what) {
    const std::vector<float> found = out.host();
    for (int thread = 0; thread < threads; ++thread) {
        const float expected = fma_chain_result(fma_chain_start(static_cast<unsigned>(thread)), rounds);
        require(found[static_cast<std::size_t>(thread)] == expected, what);
    }
}

/// Largest dynamic shared memory with which `kernel` has `resident` CTAs on an SM, in steps of 1 KB.
template <typename Kernel>
int shared_for_residents(Kernel kernel, int threads, int resident) {
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    for (int shared = 227 * 1024; shared >= 0; shared -= 1024) {
        int found = 0;
        PROBE_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, kernel, threads,
                                                                  static_cast<std::size_t>(shared)));
        if (found == resident) return shared;
        if (found > resident) break;
    }
    return -1;
}

}  // namespace probe
