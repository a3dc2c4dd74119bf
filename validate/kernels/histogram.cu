// Counts bytes into 256 bins: atomics on global memory, on shared memory, on a copy for each warp, and one
// atomic for all lanes of a warp that meet the same value; uniform and skewed data.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256, bins = 256;

__global__ void global_atomics(const unsigned* words, unsigned* counts, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned word = words[i];
        atomicAdd(&counts[word & 255], 1);
        atomicAdd(&counts[word >> 8 & 255], 1);
        atomicAdd(&counts[word >> 16 & 255], 1);
        atomicAdd(&counts[word >> 24], 1);
    }
}

__global__ void shared_atomics(const unsigned* words, unsigned* counts, int count) {
    __shared__ unsigned own[bins];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned word = words[i];
        atomicAdd(&own[word & 255], 1);
        atomicAdd(&own[word >> 8 & 255], 1);
        atomicAdd(&own[word >> 16 & 255], 1);
        atomicAdd(&own[word >> 24], 1);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

__global__ void warp_private(const unsigned* words, unsigned* counts, int count) {
    __shared__ unsigned copies[threads / 32][bins];
    for (int warp = 0; warp < threads / 32; ++warp) {
        copies[warp][threadIdx.x] = 0;
    }
    __syncthreads();
    unsigned* own = copies[threadIdx.x / 32];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned word = words[i];
        atomicAdd(&own[word & 255], 1);
        atomicAdd(&own[word >> 8 & 255], 1);
        atomicAdd(&own[word >> 16 & 255], 1);
        atomicAdd(&own[word >> 24], 1);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int warp = 0; warp < threads / 32; ++warp) {
        sum += copies[warp][threadIdx.x];
    }
    atomicAdd(&counts[threadIdx.x], sum);
}

/// The first of the lanes that hold the same value counts for all of them.
__global__ void warp_aggregated(const unsigned* words, unsigned* counts, int count) {
    __shared__ unsigned own[bins];
    own[threadIdx.x] = 0;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    // All lanes take part in each round, also those beyond the end.
    for (int first = blockIdx.x * blockDim.x; first < count; first += gridDim.x * blockDim.x) {
        const int i = first + threadIdx.x;
        const unsigned word = i < count ? words[i] : 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned bin = i < count ? word >> 8 * k & 255 : bins;
            const unsigned same = __match_any_sync(0xffffffffU, bin);
            if (bin < bins && lane == __ffs(same) - 1) {
                atomicAdd(&own[bin], __popc(same));
            }
        }
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

void body() {
    for (const int count : {50021, (1 << 22) + 13}) {
        for (const bool skewed : {false, true}) {
            auto numbers = random_values<unsigned>(count, 1);
            if (skewed) {
                // Each bit is set in one case of eight: a third of the bytes are zero.
                const auto second = random_values<unsigned>(count, 2),
                           third = random_values<unsigned>(count, 3);
                for (int i = 0; i < count; ++i) {
                    numbers[i] &= second[i] & third[i];
                }
            }
            std::vector<unsigned> expected(bins);
            for (const unsigned word : numbers) {
                for (int k = 0; k < 4; ++k) {
                    ++expected[word >> 8 * k & 255];
                }
            }
            const Array<unsigned> words(numbers);
            Array<unsigned> counts(bins);
            const auto verify = [&](const char* what) {
                finish(what);
                check(counts.values() == expected, what);
                output(what, counts);
                counts.zero();
            };
            const int blocks = std::min(1056, (count + threads - 1) / threads);
            if (!skewed || count > 1 << 20) {
                prepare();
                global_atomics<<<blocks, threads>>>(words.data(), counts.data(), count);
                verify("global_atomics");
                prepare();
                warp_aggregated<<<blocks, threads>>>(words.data(), counts.data(), count);
                verify("warp_aggregated");
            }
            prepare();
            shared_atomics<<<blocks, threads>>>(words.data(), counts.data(), count);
            verify("shared_atomics");
            prepare();
            warp_private<<<blocks, threads>>>(words.data(), counts.data(), count);
            verify("warp_private");
        }
    }
}

int main() {
    return run(body);
}
