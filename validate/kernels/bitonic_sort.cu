// Bitonic sorting networks: of 32 keys in the registers of a warp, of 2048 keys in shared memory, and of a
// longer array by steps in global memory and merges in shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int block_keys = 2048, threads = block_keys / 2;

/// Sorts each 32 keys.
__global__ void warp_sort(unsigned* keys, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned key = i < count ? keys[i] : 0xffffffffU;
#pragma unroll
    for (int size = 2; size <= 32; size *= 2) {
#pragma unroll
        for (int distance = size / 2; distance > 0; distance /= 2) {
            const unsigned other = __shfl_xor_sync(0xffffffffU, key, distance);
            const bool ascending = (lane & size) == 0, lower = (lane & distance) == 0;
            key = ascending == lower ? min(key, other) : max(key, other);
        }
    }
    if (i < count) {
        keys[i] = key;
    }
}

__device__ void compare_and_exchange(unsigned& low, unsigned& high, bool ascending) {
    if ((low > high) == ascending) {
        const unsigned key = low;
        low = high;
        high = key;
    }
}

/// The lower of the two positions that this thread compares at a distance.
__device__ int lower_position(int thread, int distance) {
    return 2 * thread - (thread & (distance - 1));
}

/// Sorts each 2048 keys; when `alternating`, every second block in descending order, as the merges expect.
__global__ void block_sort(unsigned* keys, int count, bool alternating) {
    __shared__ unsigned sorted[block_keys];
    const int first = blockIdx.x * block_keys, thread = threadIdx.x;
    for (int i = thread; i < block_keys; i += threads) {
        sorted[i] = first + i < count ? keys[first + i] : 0xffffffffU;
    }
    const int direction = alternating ? first : 0;
    for (int size = 2; size <= block_keys; size *= 2) {
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const int position = lower_position(thread, distance);
            compare_and_exchange(sorted[position], sorted[position + distance],
                                 ((position | direction) & size) == 0);
        }
    }
    __syncthreads();
    for (int i = thread; i < block_keys; i += threads) {
        if (first + i < count) {
            keys[first + i] = sorted[i];
        }
    }
}

/// One step whose distance exceeds a block.
__global__ void global_step(unsigned* keys, int size, int distance) {
    const int position = lower_position(blockIdx.x * blockDim.x + threadIdx.x, distance);
    unsigned low = keys[position], high = keys[position + distance];
    compare_and_exchange(low, high, (position & size) == 0);
    keys[position] = low;
    keys[position + distance] = high;
}

/// All steps whose distances stay within a block.
__global__ void shared_merge(unsigned* keys, int size) {
    __shared__ unsigned merged[block_keys];
    const int first = blockIdx.x * block_keys, thread = threadIdx.x;
    for (int i = thread; i < block_keys; i += threads) {
        merged[i] = keys[first + i];
    }
    for (int distance = block_keys / 2; distance > 0; distance /= 2) {
        __syncthreads();
        const int position = lower_position(thread, distance);
        compare_and_exchange(merged[position], merged[position + distance], (first & size) == 0);
    }
    __syncthreads();
    for (int i = thread; i < block_keys; i += threads) {
        keys[first + i] = merged[i];
    }
}

/// Sorts each run of so many values on the host.
std::vector<unsigned> sorted_runs(std::vector<unsigned> values, int run) {
    const int count = static_cast<int>(values.size());
    for (int first = 0; first < count; first += run) {
        std::sort(values.begin() + first, values.begin() + std::min(first + run, count));
    }
    return values;
}

void body() {
    {
        constexpr int count = 1000003;
        const auto numbers = random_values<unsigned>(count, 1);
        Array<unsigned> keys(numbers);
        prepare();
        warp_sort<<<(count + 255) / 256, 256>>>(keys.data(), count);
        finish("warp_sort");
        check(keys.values() == sorted_runs(numbers, 32), "warp_sort");
        output("warp_sort", keys);
        keys.copy_from(numbers);
        prepare();
        block_sort<<<(count + block_keys - 1) / block_keys, threads>>>(keys.data(), count, false);
        finish("block_sort");
        check(keys.values() == sorted_runs(numbers, block_keys), "block_sort");
        output("block_sort", keys);
    }
    {
        // A power of two above the 15000 keys: the rest is filled with the largest key.
        constexpr int count = 1 << 14;
        auto numbers = random_values<unsigned>(15000, 2);
        numbers.resize(count, 0xffffffffU);
        const Array<unsigned> keys(numbers);
        prepare();
        block_sort<<<count / block_keys, threads>>>(keys.data(), count, true);
        finish("block_sort");
        for (int size = block_keys * 2; size <= count; size *= 2) {
            for (int distance = size / 2; distance >= block_keys; distance /= 2) {
                prepare();
                global_step<<<count / 2 / 256, 256>>>(keys.data(), size, distance);
                finish("global_step");
            }
            prepare();
            shared_merge<<<count / block_keys, threads>>>(keys.data(), size);
            finish("shared_merge");
        }
        check(keys.values() == sorted_runs(numbers, count), "whole sort");
        output("whole_sort", keys);
    }
}

int main() {
    return run(body);
}
