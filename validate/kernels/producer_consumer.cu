// Blocks in pairs: one produces chunks into slots in global memory, the other consumes them; flags say how
// many are full and how many are free. Chunks of several sizes, one slot or four, and a ping-pong of one
// word.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;

__device__ int load_acquire(const int* flag) {
    int value = 0;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
__device__ void store_release(int* flag, int value) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

/// A pair's flags lie in two lines of their own.
constexpr int words_of_pair = 64;

template <int slots>
__global__ void pairs(const unsigned* values, unsigned* ring, unsigned* results, int chunk, int chunks,
                      int* flags) {
    const int pair = blockIdx.x / 2;
    int* const full = flags + pair * words_of_pair;
    int* const freed = full + words_of_pair / 2;
    unsigned* const own_ring = ring + static_cast<std::size_t>(pair) * slots * chunk;
    const std::size_t first = static_cast<std::size_t>(pair) * chunks * chunk;
    if (blockIdx.x % 2 == 0) {
        for (int c = 0; c < chunks; ++c) {
            if (threadIdx.x == 0) {
                while (load_acquire(freed) < c + 1 - slots) {
                }
            }
            __syncthreads();
            for (int i = threadIdx.x; i < chunk; i += threads) {
                __stcg(own_ring + c % slots * chunk + i, values[first + c * chunk + i] * 7U + 1U);
            }
            __syncthreads();
            if (threadIdx.x == 0) {
                __threadfence();
                store_release(full, c + 1);
            }
        }
    } else {
        for (int c = 0; c < chunks; ++c) {
            if (threadIdx.x == 0) {
                while (load_acquire(full) < c + 1) {
                }
            }
            __syncthreads();
            for (int i = threadIdx.x; i < chunk; i += threads) {
                results[first + c * chunk + i] = __ldcg(own_ring + c % slots * chunk + i) ^ 0x5a5a5a5aU;
            }
            __syncthreads();
            if (threadIdx.x == 0) {
                store_release(freed, c + 1);
            }
        }
    }
}

/// Two blocks of one thread each send a number back and forth.
__global__ void ping_pong(volatile int* flags, int turns, int* seen) {
    volatile int* const own = flags + blockIdx.x * 32;
    volatile int* const other = flags + (1 - static_cast<int>(blockIdx.x)) * 32;
    for (int turn = 1; turn <= turns; ++turn) {
        if (blockIdx.x == 0) {
            *other = turn;
        }
        while (*own < turn) {
        }
        if (blockIdx.x == 1) {
            *other = turn;
        }
    }
    seen[blockIdx.x] = *own;
}

void body() {
    Array<int> flags(132 * words_of_pair);
    for (const int turns : {10, 100}) {
        flags.zero();
        Array<int> seen(2);
        prepare();
        ping_pong<<<2, 1>>>(flags.data(), turns, seen.data());
        finish("ping_pong");
        check(seen.values() == std::vector<int>{turns, turns}, "ping_pong");
        output("ping_pong", seen);
    }
    for (const int pair_count : {1, 66, 132}) {
        for (const int chunk : {256, 4096}) {
            const int chunks = 24;
            const std::size_t count = static_cast<std::size_t>(pair_count) * chunk * chunks;
            const auto numbers = random_values<unsigned>(count, 8);
            auto expected = numbers;
            for (unsigned& value : expected) {
                value = (value * 7U + 1U) ^ 0x5a5a5a5aU;
            }
            const Array<unsigned> values(numbers);
            Array<unsigned> results(count), ring(static_cast<std::size_t>(pair_count) * 4 * chunk);
            const auto one = [&](const char* what,
                                 void (*kernel)(const unsigned*, unsigned*, unsigned*, int, int, int*)) {
                flags.zero();
                results.zero();
                prepare();
                kernel<<<pair_count * 2, threads>>>(values.data(), ring.data(), results.data(), chunk, chunks,
                                                    flags.data());
                finish(what);
                const auto result = results.values();
                check(result == expected, what);
                output(what, result);
            };
            one("one_slot", pairs<1>);
            one("four_slots", pairs<4>);
        }
    }
}

int main() {
    return run(body);
}
