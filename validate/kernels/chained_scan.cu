// Running sums in one pass, blocks in the order of their numbers: each waits for the flag of the block
// before it (adjacent synchronization), for one thread's walk back over sums and prefixes, or for a warp's;
// value and flag are two words, the value is written before the flag.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;
enum Status : int { nothing = 0, sum_known = 1, prefix_known = 2 };

struct Chain {
    volatile int* status;
    volatile unsigned* sums;
    volatile unsigned* prefixes;
};

template <int threads>
__device__ unsigned sum_before_thread(unsigned own, unsigned* total) {
    __shared__ unsigned of_warps[threads / 32];
    unsigned sum = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(all_lanes, sum, distance);
        sum += threadIdx.x % 32 >= distance ? other : 0;
    }
    if (threadIdx.x % 32 == 31) {
        of_warps[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    unsigned before = sum - own;
    *total = 0;
#pragma unroll
    for (int warp = 0; warp < threads / 32; ++warp) {
        before += warp < threadIdx.x / 32 ? of_warps[warp] : 0;
        *total += of_warps[warp];
    }
    return before;
}

/// The prefix of the block before, which must be whole.
__device__ unsigned wait_for_neighbour(Chain chain, int block) {
    if (block == 0) {
        return 0;
    }
    while (chain.status[block - 1] != prefix_known) {
    }
    __threadfence();
    return chain.prefixes[block - 1];
}

__device__ unsigned walk_back(Chain chain, int block) {
    unsigned sum = 0;
    for (int other = block - 1; other >= 0; --other) {
        int status = nothing;
        do {
            status = chain.status[other];
        } while (status == nothing);
        __threadfence();
        if (status == prefix_known) {
            return sum + chain.prefixes[other];
        }
        sum += chain.sums[other];
    }
    return sum;
}

/// All lanes of a warp look at one earlier block each.
__device__ unsigned walk_back_by_warp(Chain chain, int block) {
    unsigned sum = 0;
    for (int last = block - 1; last >= 0; last -= 32) {
        const int other = last - static_cast<int>(threadIdx.x);
        int status = prefix_known;
        unsigned value = 0;
        if (other >= 0) {
            do {
                status = chain.status[other];
            } while (status == nothing);
            __threadfence();
            value = status == prefix_known ? chain.prefixes[other] : chain.sums[other];
        }
        const unsigned whole = __ballot_sync(all_lanes, status == prefix_known);
        const int nearest = whole == 0 ? 31 : __ffs(whole) - 1;
        sum += __reduce_add_sync(all_lanes, static_cast<int>(threadIdx.x) <= nearest ? value : 0U);
        if (whole != 0) {
            break;
        }
    }
    return sum;
}

enum Way { by_neighbour, by_thread, by_warp };

template <Way way, int threads, int items>
__global__ void scan_in_one_pass(const unsigned* values, unsigned* results, int count, Chain chain) {
    __shared__ unsigned before_block;
    const int block = blockIdx.x, first = (block * threads + threadIdx.x) * items;
    unsigned own[items], sum = 0, total = 0;
#pragma unroll
    for (int k = 0; k < items; ++k) {
        own[k] = first + k < count ? values[first + k] : 0;
        sum += own[k];
    }
    const unsigned before = sum_before_thread<threads>(sum, &total);
    if (threadIdx.x < 32) {
        if (way != by_neighbour && threadIdx.x == 0 && block > 0) {
            chain.sums[block] = total;
            __threadfence();
            chain.status[block] = sum_known;
        }
        __syncwarp();
        unsigned prefix = 0;
        if (way == by_warp) {
            prefix = walk_back_by_warp(chain, block);
        } else if (threadIdx.x == 0) {
            prefix = way == by_thread ? walk_back(chain, block) : wait_for_neighbour(chain, block);
        }
        if (threadIdx.x == 0) {
            chain.prefixes[block] = prefix + total;
            __threadfence();
            chain.status[block] = prefix_known;
            before_block = prefix;
        }
    }
    __syncthreads();
    unsigned running = before_block + before;
#pragma unroll
    for (int k = 0; k < items; ++k) {
        running += own[k];
        if (first + k < count) {
            results[first + k] = running;
        }
    }
}

void body() {
    for (const int count : {40000, 1000003, 5000000}) {
        const auto numbers = random_values<unsigned>(count, 3);
        std::vector<unsigned> expected(count);
        unsigned sum = 0;
        for (int i = 0; i < count; ++i) {
            expected[i] = sum += numbers[i];
        }
        const Array<unsigned> values(numbers);
        Array<unsigned> results(count), sums(65536), prefixes(65536);
        Array<int> status(65536);
        const Chain chain{status.data(), sums.data(), prefixes.data()};
        const auto one = [&](const char* what, void (*kernel)(const unsigned*, unsigned*, int, Chain),
                             int threads, int items) {
            status.zero();
            results.zero();
            prepare();
            kernel<<<(count + threads * items - 1) / (threads * items), threads>>>(
                values.data(), results.data(), count, chain);
            finish(what);
            const auto result = results.values();
            check(result == expected, what);
            output(what, result);
        };
        one("neighbour_256_4", scan_in_one_pass<by_neighbour, 256, 4>, 256, 4);
        one("thread_256_4", scan_in_one_pass<by_thread, 256, 4>, 256, 4);
        one("warp_256_4", scan_in_one_pass<by_warp, 256, 4>, 256, 4);
        if (count > 100000) {
            one("neighbour_512_8", scan_in_one_pass<by_neighbour, 512, 8>, 512, 8);
            one("warp_128_16", scan_in_one_pass<by_warp, 128, 16>, 128, 16);
        }
    }
}

int main() {
    return run(body);
}
