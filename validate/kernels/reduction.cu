// Sums an array: the ladder from divergent steps in shared memory to warp shuffles, a grid-stride loop with
// one atomic a block, and the integer reduction instruction.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;
constexpr unsigned all_lanes = 0xffffffffU;

/// The threads that add are spread over all warps.
__global__ void interleaved_divergent(const float* values, float* sums, int count) {
    __shared__ float partial[threads];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < count ? values[i] : 0.0F;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        if (threadIdx.x % (2 * step) == 0) {
            partial[threadIdx.x] += partial[threadIdx.x + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = partial[0];
    }
}

/// The threads that add are the first ones, but their addresses conflict.
__global__ void interleaved_conflicts(const float* values, float* sums, int count) {
    __shared__ float partial[threads];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < count ? values[i] : 0.0F;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        const int first = 2 * step * threadIdx.x;
        if (first < blockDim.x) {
            partial[first] += partial[first + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = partial[0];
    }
}

__global__ void sequential(const float* values, float* sums, int count) {
    __shared__ float partial[threads];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < count ? values[i] : 0.0F;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            partial[threadIdx.x] += partial[threadIdx.x + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = partial[0];
    }
}

/// Half as many blocks: no thread is idle from the start.
__global__ void first_add_on_load(const float* values, float* sums, int count) {
    __shared__ float partial[threads];
    const int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    float sum = i < count ? values[i] : 0.0F;
    if (i + blockDim.x < count) {
        sum += values[i + blockDim.x];
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            partial[threadIdx.x] += partial[threadIdx.x + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = partial[0];
    }
}

/// The block's sum, in thread 0.
__device__ float sum_of_block(float value) {
    __shared__ float warp_sums[threads / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(all_lanes, value, distance);
    }
    if (threadIdx.x % 32 == 0) {
        warp_sums[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < threads / 32 ? warp_sums[threadIdx.x] : 0.0F;
        for (int distance = threads / 64; distance > 0; distance /= 2) {
            value += __shfl_down_sync(all_lanes, value, distance);
        }
    }
    return value;
}

__global__ void warp_shuffle(const float* values, float* sums, int count) {
    const int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    float sum = i < count ? values[i] : 0.0F;
    if (i + blockDim.x < count) {
        sum += values[i + blockDim.x];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

__global__ void grid_stride_atomic(const float* values, float* total, int count) {
    float sum = 0.0F;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        sum += values[i];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        atomicAdd(total, sum);
    }
}

/// Sums modulo 2^32: one instruction a warp instead of five shuffles.
__global__ void reduce_integers(const unsigned* values, unsigned* total, int count) {
    unsigned sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        sum += values[i];
    }
    sum = __reduce_add_sync(all_lanes, sum);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
    }
}

void body() {
    for (const int count : {100001, (1 << 22) + 33, (1 << 24) + 9}) {
        const bool small = count<1 << 20, large = count> 1 << 24;
        const auto integers = random_values<unsigned>(count, 1);
        std::vector<float> numbers(count);
        double expected = 0.0;
        unsigned expected_integer = 0;
        for (int i = 0; i < count; ++i) {
            // Positive, so that no cancellation magnifies the rounding.
            numbers[i] = static_cast<float>(integers[i] >> 8) * 0x1p-24F;
            expected += numbers[i];
            expected_integer += integers[i];
        }
        const Array<float> values(numbers);
        const int blocks = (count + threads - 1) / threads, half_blocks = (blocks + 1) / 2;
        Array<float> sums(blocks);
        const auto verify = [&](const char* what) {
            finish(what);
            const auto partial = sums.values();
            double total = 0.0;
            for (const float sum : partial) {
                total += sum;
            }
            check_close<double>({total}, {expected}, 1e-5, what);
            output(what, partial);
            sums.zero();
        };
        if (!small && !large) {
            prepare();
            interleaved_divergent<<<blocks, threads>>>(values.data(), sums.data(), count);
            verify("interleaved_divergent");
            prepare();
            interleaved_conflicts<<<blocks, threads>>>(values.data(), sums.data(), count);
            verify("interleaved_conflicts");
            prepare();
            first_add_on_load<<<half_blocks, threads>>>(values.data(), sums.data(), count);
            verify("first_add_on_load");
        }
        if (!large) {
            prepare();
            sequential<<<blocks, threads>>>(values.data(), sums.data(), count);
            verify("sequential");
            prepare();
            warp_shuffle<<<half_blocks, threads>>>(values.data(), sums.data(), count);
            verify("warp_shuffle");
        }
        if (!small) {
            prepare();
            grid_stride_atomic<<<528, threads>>>(values.data(), sums.data(), count);
            verify("grid_stride_atomic");
            const Array<unsigned> integer_values(integers);
            Array<unsigned> total(1);
            prepare();
            reduce_integers<<<528, threads>>>(integer_values.data(), total.data(), count);
            finish("reduce_integers");
            check(total.values()[0] == expected_integer, "reduce_integers");
            output("reduce_integers", total);
        }
    }
}

int main() {
    return run(body);
}
