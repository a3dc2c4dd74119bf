// Copies an array through shared memory: by registers, then by asynchronous copies of 4, 8 and 16 bytes that
// a pipeline keeps in flight, with one to four stages, and with tiles that the whole block turns around.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cuda_pipeline.h>

using namespace textbook;

constexpr int threads = 256;

/// Each load waits in a register before it goes to shared memory.
__global__ void through_registers(const uint4* from, uint4* to, int count) {
    __shared__ uint4 tile[threads];
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        tile[threadIdx.x] = from[i];
        __syncthreads();
        to[i] = tile[threadIdx.x];
    }
}

/// No register is needed, but each word is waited for. Word: 4, 8 or 16 bytes.
template <class Word>
__global__ void one_word(const Word* from, Word* to, int count) {
    __shared__ Word tile[threads];
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        __pipeline_memcpy_async(&tile[threadIdx.x], &from[i], sizeof(Word));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        to[i] = tile[threadIdx.x];
    }
}

/// The loads of the next tiles fly while this one is written. Each thread reads only what it loaded itself,
/// so no barrier of the block is needed. An empty group is committed past the end, so that the count of
/// groups in flight stays the same.
template <int stages>
__global__ void pipelined(const uint4* from, uint4* to, int count) {
    __shared__ uint4 tiles[stages][threads];
    const int step = gridDim.x * threads, begin = blockIdx.x * threads + threadIdx.x;
    int next = begin;
#pragma unroll
    for (int stage = 0; stage < stages; ++stage) {
        if (next < count) {
            __pipeline_memcpy_async(&tiles[stage][threadIdx.x], &from[next], sizeof(uint4));
        }
        __pipeline_commit();
        next += step;
    }
    int stage = 0;
    for (int i = begin; i < count; i += step) {
        __pipeline_wait_prior(stages - 1);
        to[i] = tiles[stage][threadIdx.x];
        if (next < count) {
            __pipeline_memcpy_async(&tiles[stage][threadIdx.x], &from[next], sizeof(uint4));
        }
        __pipeline_commit();
        next += step;
        stage = stage + 1 == stages ? 0 : stage + 1;
    }
}

/// Writes each tile back to front: threads read what others loaded, between two barriers. What lies past the
/// end of the array is filled with zeros by the copy itself.
template <int stages>
__global__ void reversed_tiles(const unsigned* from, unsigned* to, int count) {
    constexpr int words = threads * 4;
    __shared__ alignas(16) unsigned tiles[stages][words];
    const int tile_count = (count + words - 1) / words;
    const auto load = [&](int tile, int stage) {
        if (tile < tile_count) {
            const int first = tile * words + threadIdx.x * 4, valid = min(max(count - first, 0), 4);
            // Where nothing is read, the address must still be a good one.
            __pipeline_memcpy_async(&tiles[stage][threadIdx.x * 4], from + (valid > 0 ? first : 0), 16,
                                    16 - valid * sizeof(unsigned));
        }
        __pipeline_commit();
    };
#pragma unroll
    for (int stage = 0; stage < stages - 1; ++stage) {
        load(blockIdx.x + stage * gridDim.x, stage);
    }
    int stage = 0;
    for (int tile = blockIdx.x; tile < tile_count; tile += gridDim.x) {
        // The stage that this load fills was read before the barrier at the end of the step before.
        load(tile + (stages - 1) * gridDim.x, (stage + stages - 1) % stages);
        __pipeline_wait_prior(stages - 1);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const int i = k * threads + threadIdx.x;
            to[tile * words + i] = tiles[stage][words - 1 - i];
        }
        __syncthreads();
        stage = (stage + 1) % stages;
    }
}

void body() {
    for (const int count : {(1 << 20) + 52, (1 << 22) + 1236}) {
        const bool small = count < 1 << 21;
        const int blocks = small ? 264 : 528;
        const auto values = random_values<unsigned>(count, 1);
        const Array<unsigned> from(values);
        Array<unsigned> to(count);
        const auto verify = [&](const char* what) {
            finish(what);
            const auto copied = to.values();
            check(copied == values, what);
            output(what, copied);
            to.zero();
        };
        const auto* from_8 = reinterpret_cast<const uint2*>(from.data());
        const auto* from_16 = reinterpret_cast<const uint4*>(from.data());
        auto* to_8 = reinterpret_cast<uint2*>(to.data());
        auto* to_16 = reinterpret_cast<uint4*>(to.data());
        prepare();
        through_registers<<<blocks, threads>>>(from_16, to_16, count / 4);
        verify("through_registers");
        if (!small) {
            prepare();
            one_word<<<blocks, threads>>>(from.data(), to.data(), count);
            verify("one_word_4_bytes");
            prepare();
            one_word<<<blocks, threads>>>(from_8, to_8, count / 2);
            verify("one_word_8_bytes");
            prepare();
            one_word<<<blocks, threads>>>(from_16, to_16, count / 4);
            verify("one_word_16_bytes");
        }
        prepare();
        pipelined<1><<<blocks, threads>>>(from_16, to_16, count / 4);
        verify("pipelined_1");
        prepare();
        pipelined<2><<<blocks, threads>>>(from_16, to_16, count / 4);
        verify("pipelined_2");
        prepare();
        pipelined<3><<<blocks, threads>>>(from_16, to_16, count / 4);
        verify("pipelined_3");
        prepare();
        pipelined<4><<<blocks, threads>>>(from_16, to_16, count / 4);
        verify("pipelined_4");

        // Not a multiple of 16 bytes: the last word of the copy is filled up.
        constexpr int words = threads * 4;
        const int odd_count = count - 3, tile_count = (odd_count + words - 1) / words;
        std::vector<unsigned> expected(tile_count * words);
        for (int i = 0; i < tile_count * words; ++i) {
            const int source = i / words * words + words - 1 - i % words;
            expected[i] = source < odd_count ? values[source] : 0;
        }
        Array<unsigned> reversed(tile_count * words);
        const auto verify_reversed = [&](const char* what) {
            finish(what);
            const auto result = reversed.values();
            check(result == expected, what);
            output(what, result);
            reversed.zero();
        };
        prepare();
        reversed_tiles<2><<<blocks, threads>>>(from.data(), reversed.data(), odd_count);
        verify_reversed("reversed_tiles_2");
        if (!small) {
            prepare();
            reversed_tiles<4><<<blocks, threads>>>(from.data(), reversed.data(), odd_count);
            verify_reversed("reversed_tiles_4");
        }
    }
}

int main() {
    return run(body);
}
