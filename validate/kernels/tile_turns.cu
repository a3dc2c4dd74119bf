// Tiles of one load a thread, in CTAs of 64 to 1024 threads: copied, and turned round through shared memory
// with a barrier between. Many waves of short CTAs, from DRAM and from a small array that stays in the L2.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void add_one(const float* from, float* to, int mask) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) & mask;
    to[i] = from[i] + 1.0F;
}

/// The elements of each CTA in reverse order.
__global__ void turn_round(const float* from, float* to, int mask) {
    __shared__ float tile[1024];
    const int first = static_cast<int>(blockIdx.x * blockDim.x) & mask;
    const int last = static_cast<int>(blockDim.x) - 1, thread = static_cast<int>(threadIdx.x);
    tile[thread] = from[first + thread];
    __syncthreads();
    to[first + thread] = tile[last - thread];
}

/// The same, four tiles one after the other.
__global__ void turn_four_round(const float* from, float* to, int mask) {
    __shared__ float tile[1024];
    const int last = static_cast<int>(blockDim.x) - 1, thread = static_cast<int>(threadIdx.x);
    for (int i = 0; i < 4; ++i) {
        const int first = static_cast<int>((blockIdx.x * 4 + i) * blockDim.x) & mask;
        tile[thread] = from[first + thread];
        __syncthreads();
        to[first + thread] = tile[last - thread];
        __syncthreads();
    }
}

void body() {
    constexpr int count = 1 << 23, small = 1 << 18;
    const auto values = random_values<float>(count, 1);
    const Array<float> from(values);
    Array<float> to(count);
    for (const int threads : {64, 128, 256, 512, 1024}) {
        for (const int size : {count, small}) {
            const auto verify = [&](const char* what, bool turned) {
                finish(what);
                const auto result = to.values();
                for (int i = 0; i < size; ++i) {
                    const int other = i / threads * threads + threads - 1 - i % threads;
                    check(result[i] == (turned ? values[other] : values[i] + 1.0F), what);
                }
                output(what, result);
                to.zero();
            };
            prepare();
            add_one<<<count / threads, threads>>>(from.data(), to.data(), size - 1);
            verify("add_one", false);
            prepare();
            turn_round<<<count / threads, threads>>>(from.data(), to.data(), size - 1);
            verify("turn_round", true);
            prepare();
            turn_four_round<<<count / threads / 4, threads>>>(from.data(), to.data(), size - 1);
            verify("turn_four_round", true);
        }
    }
}

int main() {
    return run(body);
}
