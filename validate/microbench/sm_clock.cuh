// The clock an SM runs at, read inside a kernel: cycles of clock64 between two edges of globaltimer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness.cuh"

namespace probe {

struct Span {
    long long cycles;
    unsigned long long nanoseconds;
};

struct Edge {
    long long cycle;
    unsigned long long nanosecond;
};

/// Waits for the timer to tick, so that its coarse step does not blur short kernels.
__device__ inline Edge timer_edge() {
    const unsigned long long before = globaltimer();
    unsigned long long now = before;
    while (now == before) now = globaltimer();
    return {clock64(), now};
}

__device__ inline void note(Span* spans, Edge begin) {
    const Edge end = timer_edge();
    if (threadIdx.x == 0) spans[blockIdx.x] = {end.cycle - begin.cycle, end.nanosecond - begin.nanosecond};
}

/// Random bf16 of both signs with magnitudes from 1/2 to 2: a random sign, exponent bit and mantissa.
inline std::vector<std::uint32_t> random_bf16(std::size_t words) {
    std::vector<std::uint32_t> found(words);
    for (std::size_t i = 0; i < words; ++i) {
        found[i] = (hash(static_cast<std::uint32_t>(i) + 99U) & 0x80ff80ffU) + 0x3f003f00U;
    }
    return found;
}

}  // namespace probe
