// Kernels that keep one part of the chip busy at a steady rate, for the probe of power.
// Each kernel notes its clock. The number of rounds is a parameter, so that a kernel can take about a
// millisecond.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sm_clock.cuh"
#include "wgmma.cuh"

namespace probe {

constexpr int wgmma_batch = 8;
constexpr int operand_bytes = 65536;

/// Batches of wgmma; with Idle a batch begins every `period` cycles. The warpgroups beyond the first `Tensor`
/// stream `words` of memory meanwhile.
template <int N, int Tensor, int Streaming, bool Fp8, bool Idle>
__global__ void __launch_bounds__(128 * (Tensor + Streaming))
    load_wgmma(Span* spans, const uint4* operands, int batches, int period, const uint4* stream,
               std::size_t words, float* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    for (unsigned i = threadIdx.x; i < (16384 + N * 128) / 16; i += blockDim.x) {
        reinterpret_cast<uint4*>(shared)[i] = operands[i];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const Edge begin = timer_edge();
    float sum = 0.0F;
    if (threadIdx.x < 128 * Tensor) {
        float d[N / 2];
#pragma unroll
        for (int j = 0; j < N / 2; ++j) d[j] = 0.0F;
        const std::uint32_t base = shared_address(shared);
        const std::uint64_t a = wgmma_descriptor(base + (threadIdx.x / 128) % 2 * 8192);
        const std::uint64_t b = wgmma_descriptor(base + 16384);
        const long long first = clock64();
        int i = 0;
#pragma unroll 1
        do {
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < wgmma_batch; ++j) {
                if constexpr (Fp8) {
                    Wgmma<N>::shared_fp8(d, a + 2 * (j % 4), b + 2 * (j % 4));
                } else {
                    Wgmma<N>::shared(d, a + 2 * (j % 4), b + 2 * (j % 4));
                }
            }
            wgmma_commit();
            if constexpr (Idle) {
                wgmma_wait<0>();
                const long long until = first + static_cast<long long>(i + 1) * period;
                while (clock64() < until) __nanosleep(20);
            } else {
                wgmma_wait<1>();
            }
        } while (++i < batches);
        wgmma_wait<0>();
#pragma unroll
        for (int j = 0; j < N / 2; ++j) sum += d[j];
    } else if constexpr (Streaming > 0) {
        std::uint32_t folded = 0;
        const std::size_t step = static_cast<std::size_t>(gridDim.x) * 128 * Streaming;
#pragma unroll 8
        for (std::size_t i =
                 static_cast<std::size_t>(blockIdx.x) * 128 * Streaming + threadIdx.x - 128 * Tensor;
             i < words; i += step) {
            const uint4 word = __ldcg(stream + i);
            folded ^= word.x ^ word.y ^ word.z ^ word.w;
        }
        sum = static_cast<float>(folded);
    }
    __syncthreads();
    note(spans, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// Four chains of mma.sync a warp.
static __global__ void __launch_bounds__(512)
    load_mma_sync(Span* spans, const uint4* operands, int rounds, float* out) {
    const uint4 word = operands[threadIdx.x];
    const std::uint32_t a[4] = {word.x, word.y, word.z, word.w};
    const std::uint32_t b[2] = {word.y, word.x};
    float d[4][4] = {};
    const Edge begin = timer_edge();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int step = 0; step < 4; ++step) {
#pragma unroll
            for (int chain = 0; chain < 4; ++chain) mma_sync(d[chain], a, b);
        }
    }
    float sum = 0.0F;
#pragma unroll
    for (int chain = 0; chain < 4; ++chain) sum += d[chain][0] + d[chain][1] + d[chain][2] + d[chain][3];
    __syncthreads();
    note(spans, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// 32 operations a round and thread on eight chains: fma in fp32 or fp64, multiply-add in int32.
template <typename T>
__global__ void __launch_bounds__(1024)
    load_arithmetic(Span* spans, int rounds, T seed, T factor, T term, float* out) {
    T x[8];
    const Edge begin = timer_edge();
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = seed * static_cast<T>(threadIdx.x * 8 + static_cast<unsigned>(i) + 1);
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int step = 0; step < 4; ++step) {
#pragma unroll
            for (int i = 0; i < 8; ++i) x[i] = x[i] * factor + term;
        }
    }
    T sum = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += x[i];
    __syncthreads();
    note(spans, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(sum);
}

enum class Traffic { read, write, copy };

/// Streams `words` words of 16 bytes, `turns` times. With a window that the L2 holds, the traffic is the
/// L2's.
template <Traffic Kind>
__global__ void __launch_bounds__(1024)
    load_memory(Span* spans, const uint4* from, uint4* to, std::size_t words, int turns, float* out) {
    const Edge begin = timer_edge();
    std::uint32_t folded = 0;
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll 4
        for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words;
             i += step) {
            if constexpr (Kind == Traffic::write) {
                const std::uint32_t word = static_cast<std::uint32_t>(i) * 2654435761U;
                __stcg(to + i, make_uint4(word, word ^ 0x5bd1e995U, ~word, word * 3U));
            } else {
                const uint4 word = __ldcg(from + i);
                if constexpr (Kind == Traffic::copy) {
                    __stcg(to + i, word);
                } else {
                    folded ^= word.x ^ word.y ^ word.z ^ word.w;
                }
            }
        }
    }
    __syncthreads();
    note(spans, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(folded);
}

/// Each thread reads 16 bytes of shared memory 16 times a round, without bank conflicts.
static __global__ void __launch_bounds__(1024)
    load_shared(Span* spans, const uint4* operands, int rounds, float* out) {
    __shared__ uint4 words[2048];
    for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) words[i] = operands[i];
    __syncthreads();
    const Edge begin = timer_edge();
    std::uint32_t folded = 0;
    const std::uint32_t at = shared_address(words + threadIdx.x);
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned j = 0; j < 16; ++j) {
            uint4 word;
            asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                         : "r"(at + j % 2 * 16384));
            folded = folded * 3U + (word.x ^ word.y ^ word.z ^ word.w);
        }
    }
    __syncthreads();
    note(spans, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(folded);
}

/// Warps that are resident and wait: the power of an SM that does nothing.
static __global__ void load_nothing(Span* spans, int cycles, float* out) {
    const Edge begin = timer_edge();
    const long long until = begin.cycle + cycles;
    while (clock64() < until) __nanosleep(200);
    note(spans, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0F;
}

}  // namespace probe
