// Keeps the elements that are multiples of four: one atomic an element, one a warp, one a block, and in
// stable order by counts, a scan and a scatter.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256, warps = threads / 32;
constexpr unsigned all_lanes = 0xffffffffU;

__host__ __device__ inline bool is_kept(unsigned value) {
    return value % 4 == 0;
}

__global__ void global_atomic(const unsigned* values, unsigned* kept, int* kept_count, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const unsigned value = values[i];
        if (is_kept(value)) {
            kept[atomicAdd(kept_count, 1)] = value;
        }
    }
}

__global__ void warp_aggregated(const unsigned* values, unsigned* kept, int* kept_count, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const unsigned value = i < count ? values[i] : 1;
    const unsigned mask = __ballot_sync(all_lanes, is_kept(value));
    int first = 0;
    if (lane == 0 && mask != 0) {
        first = atomicAdd(kept_count, __popc(mask));
    }
    first = __shfl_sync(all_lanes, first, 0);
    if (is_kept(value)) {
        kept[first + __popc(mask & ((1U << lane) - 1))] = value;
    }
}

/// This thread's position among the kept elements of the block; `total` is the block's count.
__device__ int position_in_block(bool keep, int& total) {
    __shared__ int warp_counts[warps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned mask = __ballot_sync(all_lanes, keep);
    if (lane == 0) {
        warp_counts[warp] = __popc(mask);
    }
    __syncthreads();
    int position = __popc(mask & ((1U << lane) - 1));
    total = 0;
    for (int other = 0; other < warps; ++other) {
        position += other < warp ? warp_counts[other] : 0;
        total += warp_counts[other];
    }
    return position;
}

__global__ void block_scan(const unsigned* values, unsigned* kept, int* kept_count, int count) {
    __shared__ int first;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned value = i < count ? values[i] : 1;
    int total = 0;
    const int position = position_in_block(is_kept(value), total);
    if (threadIdx.x == 0) {
        first = atomicAdd(kept_count, total);
    }
    __syncthreads();
    if (is_kept(value)) {
        kept[first + position] = value;
    }
}

__global__ void stable_count(const unsigned* values, int* block_counts, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int total = __syncthreads_count(i < count && is_kept(values[i]));
    if (threadIdx.x == 0) {
        block_counts[blockIdx.x] = total;
    }
}

/// One block of 1024 threads: exclusive sums of the counts, in place.
__global__ void stable_scan(int* block_counts, int blocks, int* kept_count) {
    __shared__ int sums[1024];
    int carry = 0;
    for (int first = 0; first < blocks; first += 1024) {
        const int i = first + threadIdx.x;
        const int own = i < blocks ? block_counts[i] : 0;
        sums[threadIdx.x] = own;
        __syncthreads();
        for (int distance = 1; distance < 1024; distance *= 2) {
            const int other = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
            __syncthreads();
            sums[threadIdx.x] += other;
            __syncthreads();
        }
        if (i < blocks) {
            block_counts[i] = carry + sums[threadIdx.x] - own;
        }
        carry += sums[1023];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *kept_count = carry;
    }
}

__global__ void stable_scatter(const unsigned* values, unsigned* kept, const int* block_offsets, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned value = i < count ? values[i] : 1;
    int total = 0;
    const int position = position_in_block(is_kept(value), total);
    if (is_kept(value)) {
        kept[block_offsets[blockIdx.x] + position] = value;
    }
}

void body() {
    for (const int count : {100003, (1 << 22) + 5}) {
        const auto numbers = random_values<unsigned>(count, 1);
        const Array<unsigned> values(numbers);
        std::vector<unsigned> expected;
        for (const unsigned value : numbers) {
            if (is_kept(value)) {
                expected.push_back(value);
            }
        }
        auto sorted = expected;
        std::sort(sorted.begin(), sorted.end());
        const int blocks = (count + threads - 1) / threads;
        Array<unsigned> kept(count);
        Array<int> kept_count(1), block_counts(blocks);
        const auto verify = [&](const char* what, bool stable) {
            finish(what);
            check(kept_count.values()[0] == static_cast<int>(expected.size()), what);
            auto result = kept.values();
            result.resize(expected.size());
            if (!stable) {
                std::sort(result.begin(), result.end());
            }
            check(result == (stable ? expected : sorted), what);
            output(what, result, !stable);
            kept.zero();
            kept_count.zero();
        };
        prepare();
        global_atomic<<<blocks, threads>>>(values.data(), kept.data(), kept_count.data(), count);
        verify("global_atomic", false);
        prepare();
        warp_aggregated<<<blocks, threads>>>(values.data(), kept.data(), kept_count.data(), count);
        verify("warp_aggregated", false);
        prepare();
        block_scan<<<blocks, threads>>>(values.data(), kept.data(), kept_count.data(), count);
        verify("block_scan", false);
        prepare();
        stable_count<<<blocks, threads>>>(values.data(), block_counts.data(), count);
        finish("stable_count");
        output("stable_count", block_counts);
        prepare();
        stable_scan<<<1, 1024>>>(block_counts.data(), blocks, kept_count.data());
        finish("stable_scan");
        output("stable_scan", block_counts);
        prepare();
        stable_scatter<<<blocks, threads>>>(values.data(), kept.data(), block_counts.data(), count);
        verify("stable_scatter", true);
    }
}

int main() {
    return run(body);
}
