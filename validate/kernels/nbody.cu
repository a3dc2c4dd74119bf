// Accelerations of bodies that attract one another: every thread reads all bodies from global memory, then
// from a shared tile, with the loop unrolled, with the fast reciprocal root, with two bodies a thread, and
// with the sources split over blocks to fill the GPU.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 64;
constexpr float softening = 0.01F;  // added to each squared distance

/// Adds the pull of `source`, whose mass is in w, with a root and a division.
__device__ void add_pull_exact(float3& sum, const float4& own, const float4& source) {
    const float x = source.x - own.x, y = source.y - own.y, z = source.z - own.z;
    const float square = x * x + y * y + z * z + softening;
    const float factor = source.w / (square * sqrtf(square));
    sum.x += x * factor;
    sum.y += y * factor;
    sum.z += z * factor;
}

__device__ void add_pull_fast(float3& sum, const float4& own, const float4& source) {
    const float x = source.x - own.x, y = source.y - own.y, z = source.z - own.z;
    const float inverse = rsqrtf(x * x + y * y + z * z + softening);
    const float factor = source.w * inverse * inverse * inverse;
    sum.x += x * factor;
    sum.y += y * factor;
    sum.z += z * factor;
}

__device__ void store(float4* accelerations, int i, int count, const float3& sum) {
    if (i < count) {
        accelerations[i] = make_float4(sum.x, sum.y, sum.z, 0.0F);
    }
}

/// A body that may lie behind the last: it has no mass.
__device__ float4 load_body(const float4* bodies, int i, int count) {
    return i < count ? bodies[i] : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
}

__global__ void plain(const float4* bodies, float4* accelerations, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    const float4 own = load_body(bodies, i, count);
    float3 sum = {};
#pragma unroll 1
    for (int j = 0; j < count; ++j) {
        add_pull_exact(sum, own, bodies[j]);
    }
    store(accelerations, i, count, sum);
}

__global__ void shared_tile(const float4* bodies, float4* accelerations, int count) {
    __shared__ float4 tile[threads];
    const int i = blockIdx.x * threads + threadIdx.x;
    const float4 own = load_body(bodies, i, count);
    float3 sum = {};
    for (int first = 0; first < count; first += threads) {
        tile[threadIdx.x] = load_body(bodies, first + threadIdx.x, count);
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < threads; ++j) {
            add_pull_exact(sum, own, tile[j]);
        }
        __syncthreads();
    }
    store(accelerations, i, count, sum);
}

__global__ void unrolled(const float4* bodies, float4* accelerations, int count) {
    __shared__ float4 tile[threads];
    const int i = blockIdx.x * threads + threadIdx.x;
    const float4 own = load_body(bodies, i, count);
    float3 sum = {};
    for (int first = 0; first < count; first += threads) {
        tile[threadIdx.x] = load_body(bodies, first + threadIdx.x, count);
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < threads; ++j) {
            add_pull_exact(sum, own, tile[j]);
        }
        __syncthreads();
    }
    store(accelerations, i, count, sum);
}

__global__ void reciprocal_root(const float4* bodies, float4* accelerations, int count) {
    __shared__ float4 tile[threads];
    const int i = blockIdx.x * threads + threadIdx.x;
    const float4 own = load_body(bodies, i, count);
    float3 sum = {};
    for (int first = 0; first < count; first += threads) {
        tile[threadIdx.x] = load_body(bodies, first + threadIdx.x, count);
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < threads; ++j) {
            add_pull_fast(sum, own, tile[j]);
        }
        __syncthreads();
    }
    store(accelerations, i, count, sum);
}

/// Each body read from the tile serves two bodies of the thread.
__global__ void two_bodies(const float4* bodies, float4* accelerations, int count) {
    __shared__ float4 tile[threads];
    const int i = blockIdx.x * threads * 2 + threadIdx.x;
    const float4 own = load_body(bodies, i, count), other = load_body(bodies, i + threads, count);
    float3 own_sum = {}, other_sum = {};
    for (int first = 0; first < count; first += threads) {
        tile[threadIdx.x] = load_body(bodies, first + threadIdx.x, count);
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < threads; ++j) {
            const float4 source = tile[j];
            add_pull_fast(own_sum, own, source);
            add_pull_fast(other_sum, other, source);
        }
        __syncthreads();
    }
    store(accelerations, i, count, own_sum);
    store(accelerations, i + threads, count, other_sum);
}

/// Each row of blocks takes one tile of sources and keeps its part of the sums.
__global__ void split_sources(const float4* bodies, float4* parts, int count) {
    __shared__ float4 tile[threads];
    const int i = blockIdx.x * threads + threadIdx.x;
    const float4 own = load_body(bodies, i, count);
    float3 sum = {};
    tile[threadIdx.x] = load_body(bodies, blockIdx.y * threads + threadIdx.x, count);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < threads; ++j) {
        add_pull_fast(sum, own, tile[j]);
    }
    store(parts + blockIdx.y * count, i, count, sum);
}

__global__ void add_parts(const float4* parts, float4* accelerations, int count, int rows) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        float3 sum = {};
        for (int row = 0; row < rows; ++row) {
            const float4 part = parts[row * count + i];
            sum.x += part.x;
            sum.y += part.y;
            sum.z += part.z;
        }
        store(accelerations, i, count, sum);
    }
}

void body() {
    for (const int count : {777, 2000, 3500}) {
        const bool small = count < 1000;
        const bool large = count > 3000;
        const auto coordinates = random_values<float>(count * 4, 1);
        std::vector<float4> numbers(count);
        for (int i = 0; i < count; ++i) {
            const float* own = &coordinates[i * 4];
            numbers[i] = make_float4(own[0], own[1], own[2], 0.5F + 0.25F * own[3]);
        }
        std::vector<double> expected(count * 3, 0.0);
        for (int i = 0; i < count; ++i) {
            for (int j = 0; j < count; ++j) {
                const double x = static_cast<double>(numbers[j].x) - numbers[i].x;
                const double y = static_cast<double>(numbers[j].y) - numbers[i].y;
                const double z = static_cast<double>(numbers[j].z) - numbers[i].z;
                const double square = x * x + y * y + z * z + softening;
                const double factor = numbers[j].w / (square * std::sqrt(square));
                expected[i * 3] += x * factor;
                expected[i * 3 + 1] += y * factor;
                expected[i * 3 + 2] += z * factor;
            }
        }
        const Array<float4> bodies(numbers);
        Array<float4> accelerations(count);
        const auto verify = [&](const char* what) {
            finish(what);
            std::vector<float> result;
            for (const float4& acceleration : accelerations.values()) {
                result.insert(result.end(), {acceleration.x, acceleration.y, acceleration.z});
            }
            check_close(result, expected, 1e-5, what);
            output(what, result);
            accelerations.zero();
        };
        const int blocks = (count + threads - 1) / threads;
        if (!large) {
            prepare();
            plain<<<blocks, threads>>>(bodies.data(), accelerations.data(), count);
            verify("plain");
            prepare();
            shared_tile<<<blocks, threads>>>(bodies.data(), accelerations.data(), count);
            verify("shared_tile");
            prepare();
            unrolled<<<blocks, threads>>>(bodies.data(), accelerations.data(), count);
            verify("unrolled");
        }
        prepare();
        reciprocal_root<<<blocks, threads>>>(bodies.data(), accelerations.data(), count);
        verify("reciprocal_root");
        if (!small) {
            prepare();
            two_bodies<<<(blocks + 1) / 2, threads>>>(bodies.data(), accelerations.data(), count);
            verify("two_bodies");
        }
        if (large) {
            const Array<float4> parts(static_cast<std::size_t>(blocks) * count);
            prepare();
            split_sources<<<dim3(blocks, blocks), threads>>>(bodies.data(), parts.data(), count);
            finish("split_sources");
            prepare();
            add_parts<<<blocks, threads>>>(parts.data(), accelerations.data(), count, blocks);
            verify("add_parts");
        }
    }
}

int main() {
    return run(body);
}
