// Sums an array of 2^24 floats, from one atomic addition an element to vectors and shuffles; the ladder that
// why_is_this_kernel_slow.ipynb climbs.
// SPDX-License-Identifier: Apache-2.0
#include "../../validate/kernels/textbook.cuh"

using namespace textbook;

constexpr int threads = 256, blocks = 528;

/// All threads add to one address.
__global__ void one_atomic_each(const float* values, float* total, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        atomicAdd(total, values[i]);
    }
}

/// A tree in shared memory whose steps leave more and more lanes of every warp idle.
__global__ void divergent_tree(const float* values, float* total, int count) {
    __shared__ float partial[threads];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < count ? values[i] : 0.0F;
    __syncthreads();
    for (int step = 1; step < threads; step *= 2) {
        if (threadIdx.x % (2 * step) == 0) {
            partial[threadIdx.x] += partial[threadIdx.x + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(total, partial[0]);
    }
}

/// The same tree with whole warps that stop.
__global__ void sequential_tree(const float* values, float* total, int count) {
    __shared__ float partial[threads];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < count ? values[i] : 0.0F;
    __syncthreads();
    for (int step = threads / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            partial[threadIdx.x] += partial[threadIdx.x + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(total, partial[0]);
    }
}

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffffU, value, distance);
    }
    return value;
}

/// Each thread walks through the array; a warp adds by shuffles.
__global__ void grid_stride(const float* values, float* total, int count) {
    float sum = 0.0F;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        sum += values[i];
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
    }
}

/// Four floats a load, and more loads in flight.
__global__ void vectors(const float4* values, float* total, int count) {
    float sum = 0.0F;
#pragma unroll 4
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float4 four = values[i];
        sum += four.x + four.y + four.z + four.w;
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
    }
}

void body() {
    constexpr int count = 1 << 24;
    std::vector<float> numbers(count);
    double expected = 0.0;
    for (int i = 0; i < count; ++i) {
        // Few distinct sums of integers, so that no order of additions rounds much.
        numbers[i] = static_cast<float>(random_bits(1, i) % 8U);
        expected += numbers[i];
    }
    const Array<float> values(numbers);
    Array<float> total(1);
    const auto verify = [&](const char* what) {
        finish(what);
        check_close<float>(total.values(), {expected}, 1e-2, what);
        total.zero();
    };
    prepare();
    one_atomic_each<<<count / threads, threads>>>(values.data(), total.data(), count);
    finish("one_atomic_each");  // its sum in single precision stops growing at 2^24 and is no sum any more
    total.zero();
    prepare();
    divergent_tree<<<count / threads, threads>>>(values.data(), total.data(), count);
    verify("divergent_tree");
    prepare();
    sequential_tree<<<count / threads, threads>>>(values.data(), total.data(), count);
    verify("sequential_tree");
    prepare();
    grid_stride<<<blocks, threads>>>(values.data(), total.data(), count);
    verify("grid_stride");
    prepare();
    vectors<<<blocks, threads>>>(reinterpret_cast<const float4*>(values.data()), total.data(), count / 4);
    verify("vectors");
}

int main() {
    return run(body);
}
