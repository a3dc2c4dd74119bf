// A ladder of the bytes that a kernel reads, stores or copies right after another one has filled the L2 with
// its stores: which of the older lines does it push out? The rows are in
// validate/recorded/h100-sxm/ladders/victims.csv: DRAM bytes by Nsight Compute, which must leave the caches
// as they are (--cache-control none). `idle`: a millisecond passes in between. Build: nvcc -O3 -std=c++17
// -arch=sm_90a
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdio>
#include <cuda_runtime.h>

constexpr std::size_t flushed_bytes = std::size_t{256} << 20, largest_bytes = std::size_t{512} << 20;
constexpr int ctas = 1056, threads = 512;

__global__ void flush(float4* to, std::size_t count, float value) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = make_float4(value, value, value, value);
}

__global__ void victims_read(const float4* from, std::size_t count, float* sink) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (; i + 3 * step < count; i += 4 * step)
        sum += from[i].x + from[i + step].y + from[i + 2 * step].z + from[i + 3 * step].w;
    for (; i < count; i += step) sum += from[i].x;
    if (sum == 12345.0f) *sink = sum;
}

__global__ void victims_store(float4* to, std::size_t count) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
}

__global__ void victims_copy(const float4* from, float4* to, std::size_t count) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = from[i];
}

__global__ void idle(long long cycles) {
    const long long begun = clock64();
    while (clock64() - begun < cycles) {
    }
}

int main() {
    float4 *other, *from, *to;
    float* sink;
    cudaMalloc(&other, flushed_bytes);
    cudaMalloc(&from, largest_bytes);
    cudaMalloc(&to, largest_bytes);
    cudaMalloc(&sink, sizeof(float));
    cudaMemset(from, 0, largest_bytes);
    cudaMemset(to, 0, largest_bytes);
    const double megabytes[] = {0.5, 1,  2,  4,  8,  12, 16, 20, 24,  28,  32,
                                36,  40, 44, 48, 56, 64, 80, 96, 128, 192, 256};
    for (int kind = 0; kind < 4; ++kind) {
        for (const double size : megabytes) {
            const auto count = static_cast<std::size_t>(size * 1e6) / sizeof(float4);
            flush<<<ctas, threads>>>(other, flushed_bytes / sizeof(float4), static_cast<float>(size));
            if (kind == 1) {
                cudaDeviceSynchronize();
                idle<<<1, 1>>>(2'000'000);
            }
            if (kind < 2) victims_read<<<ctas, threads>>>(from, count, sink);
            if (kind == 2) victims_store<<<ctas, threads>>>(to, count);
            if (kind == 3) victims_copy<<<ctas, threads>>>(from, to, count);
            cudaDeviceSynchronize();
        }
    }
    std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
