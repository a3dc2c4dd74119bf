// Prefix sums: of each block by Hillis and Steele, by Blelloch and by warp shuffles, and of the whole array
// by three kernels.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int block_size = 1024;
constexpr unsigned all_lanes = 0xffffffffU;

/// Inclusive sums of each 1024 elements; each step doubles the distance.
__global__ void hillis_steele(const unsigned* values, unsigned* sums, int count) {
    __shared__ unsigned buffers[2][block_size];
    const int i = blockIdx.x * block_size + threadIdx.x;
    int source = 0;
    buffers[0][threadIdx.x] = i < count ? values[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < block_size; distance *= 2) {
        unsigned sum = buffers[source][threadIdx.x];
        if (threadIdx.x >= distance) {
            sum += buffers[source][threadIdx.x - distance];
        }
        source = 1 - source;
        buffers[source][threadIdx.x] = sum;
        __syncthreads();
    }
    if (i < count) {
        sums[i] = buffers[source][threadIdx.x];
    }
}

/// Exclusive sums of each 1024 elements by 512 threads: up a tree of sums, and down again.
__global__ void blelloch(const unsigned* values, unsigned* sums, int count) {
    __shared__ unsigned tree[block_size];
    const int first = blockIdx.x * block_size, thread = threadIdx.x;
    for (int i = thread; i < block_size; i += block_size / 2) {
        tree[i] = first + i < count ? values[first + i] : 0;
    }
    int distance = 1;
    for (int active = block_size / 2; active > 0; active /= 2) {
        __syncthreads();
        if (thread < active) {
            const int left = distance * (2 * thread + 1) - 1, right = left + distance;
            tree[right] += tree[left];
        }
        distance *= 2;
    }
    if (thread == 0) {
        tree[block_size - 1] = 0;
    }
    for (int active = 1; active < block_size; active *= 2) {
        distance /= 2;
        __syncthreads();
        if (thread < active) {
            const int left = distance * (2 * thread + 1) - 1, right = left + distance;
            const unsigned sum = tree[left];
            tree[left] = tree[right];
            tree[right] += sum;
        }
    }
    __syncthreads();
    for (int i = thread; i < block_size; i += block_size / 2) {
        if (first + i < count) {
            sums[first + i] = tree[i];
        }
    }
}

__device__ unsigned inclusive_sum_of_warp(unsigned value) {
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(all_lanes, value, distance);
        if (threadIdx.x % 32 >= distance) {
            value += other;
        }
    }
    return value;
}

/// May be called again after the caller's next __syncthreads.
__device__ unsigned inclusive_sum_of_block(unsigned value) {
    __shared__ unsigned warp_sums[32];
    const int warp = threadIdx.x / 32;
    value = inclusive_sum_of_warp(value);
    if (threadIdx.x % 32 == 31) {
        warp_sums[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        const unsigned sum = threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0;
        warp_sums[threadIdx.x] = inclusive_sum_of_warp(sum);
    }
    __syncthreads();
    return warp == 0 ? value : value + warp_sums[warp - 1];
}

/// Inclusive sums of each 1024 elements.
__global__ void warp_shuffle(const unsigned* values, unsigned* sums, int count) {
    const int i = blockIdx.x * block_size + threadIdx.x;
    const unsigned sum = inclusive_sum_of_block(i < count ? values[i] : 0);
    if (i < count) {
        sums[i] = sum;
    }
}

/// First kernel of three: 256 threads with four elements each; also writes the block's total.
__global__ void scan_blocks(const unsigned* values, unsigned* sums, unsigned* totals, int count) {
    const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
    uint4 four = make_uint4(0, 0, 0, 0);
    if (i + 3 < count) {
        four = *reinterpret_cast<const uint4*>(values + i);
    } else {
        four.x = i < count ? values[i] : 0;
        four.y = i + 1 < count ? values[i + 1] : 0;
        four.z = i + 2 < count ? values[i + 2] : 0;
    }
    four.y += four.x;
    four.z += four.y;
    four.w += four.z;
    const unsigned inclusive = inclusive_sum_of_block(four.w), before = inclusive - four.w;
    four = make_uint4(four.x + before, four.y + before, four.z + before, inclusive);
    if (i + 3 < count) {
        *reinterpret_cast<uint4*>(sums + i) = four;
    } else {
        if (i < count) {
            sums[i] = four.x;
        }
        if (i + 1 < count) {
            sums[i + 1] = four.y;
        }
        if (i + 2 < count) {
            sums[i + 2] = four.z;
        }
    }
    if (threadIdx.x == 255) {
        totals[blockIdx.x] = inclusive;
    }
}

/// Second kernel: one block makes the totals of all blocks exclusive sums.
__global__ void scan_totals(unsigned* totals, int count) {
    __shared__ unsigned last;
    unsigned carry = 0;
    for (int first = 0; first < count; first += block_size) {
        const int i = first + threadIdx.x;
        const unsigned total = i < count ? totals[i] : 0;
        const unsigned inclusive = inclusive_sum_of_block(total);
        if (i < count) {
            totals[i] = carry + inclusive - total;
        }
        if (threadIdx.x == block_size - 1) {
            last = inclusive;
        }
        __syncthreads();
        carry += last;
        // The next round overwrites `last` only after the barriers within inclusive_sum_of_block.
    }
}

/// Third kernel.
__global__ void add_totals(unsigned* sums, const unsigned* totals, int count) {
    const int first = blockIdx.x * block_size;
    const unsigned before = totals[blockIdx.x];
    for (int i = first + threadIdx.x; i < min(first + block_size, count); i += blockDim.x) {
        sums[i] += before;
    }
}

void body() {
    for (const int count : {100003, (1 << 22) + 77}) {
        const auto numbers = random_values<unsigned>(count, 1);
        const Array<unsigned> values(numbers);
        Array<unsigned> sums(count);
        const int blocks = (count + block_size - 1) / block_size;
        Array<unsigned> totals(blocks);
        const auto verify = [&](const char* what, bool inclusive, int restart) {
            finish(what);
            const auto result = sums.values();
            unsigned sum = 0;
            for (int i = 0; i < count; ++i) {
                if (i % restart == 0) {
                    sum = 0;
                }
                sum += numbers[i];
                check(result[i] == (inclusive ? sum : sum - numbers[i]), what);
            }
            output(what, result);
        };
        prepare();
        hillis_steele<<<blocks, block_size>>>(values.data(), sums.data(), count);
        verify("hillis_steele", true, block_size);
        sums.zero();
        prepare();
        blelloch<<<blocks, block_size / 2>>>(values.data(), sums.data(), count);
        verify("blelloch", false, block_size);
        sums.zero();
        prepare();
        warp_shuffle<<<blocks, block_size>>>(values.data(), sums.data(), count);
        verify("warp_shuffle", true, block_size);
        sums.zero();
        prepare();
        scan_blocks<<<blocks, 256>>>(values.data(), sums.data(), totals.data(), count);
        verify("scan_blocks", true, block_size);
        prepare();
        scan_totals<<<1, block_size>>>(totals.data(), blocks);
        finish("scan_totals");
        output("scan_totals", totals);
        prepare();
        add_totals<<<blocks, 256>>>(sums.data(), totals.data(), count);
        verify("add_totals", true, count);
    }
}

int main() {
    return run(body);
}
