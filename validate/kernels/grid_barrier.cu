// Barriers of the whole grid as users write them: one counter that all blocks add to and spin on, a counter
// with release and acquire, a flag for each block that one block gathers, and the barrier of cooperative
// groups; alone, and between the steps of a persistent loop over an array.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cooperative_groups.h>

using namespace textbook;

constexpr int threads = 256;

/// All blocks add one; the first thread spins until all blocks of this round have come.
__device__ void counter_barrier(unsigned* counter, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1U);
        while (*const_cast<volatile unsigned*>(counter) < round * gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}

/// The same by one release and an acquire in each turn.
__device__ void acquire_barrier(unsigned* counter, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
        unsigned seen = 0;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
        } while (seen < round * gridDim.x);
    }
    __syncthreads();
}

/// Between two looks the thread sleeps.
__device__ void sleeping_barrier(unsigned* counter, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1U);
        while (*const_cast<volatile unsigned*>(counter) < round * gridDim.x) {
            __nanosleep(100);
        }
        __threadfence();
    }
    __syncthreads();
}

/// Each block raises its own flag. The first block's threads wait for one flag each, then it tells all.
__device__ void flag_barrier(volatile unsigned* flags, volatile unsigned* go, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        flags[blockIdx.x] = round;
    }
    if (blockIdx.x == 0) {
        for (int other = threadIdx.x; other < gridDim.x; other += threads) {
            while (flags[other] < round) {
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            *go = round;
        }
    } else if (threadIdx.x == 0) {
        while (*go < round) {
        }
    }
    __threadfence();
    __syncthreads();
}

enum Kind { by_counter, by_acquire, by_sleep, by_flags, by_groups };

template <Kind kind>
__device__ void barrier(unsigned* words, unsigned round) {
    if (kind == by_counter) {
        counter_barrier(words, round);
    } else if (kind == by_acquire) {
        acquire_barrier(words, round);
    } else if (kind == by_sleep) {
        sleeping_barrier(words, round);
    } else if (kind == by_flags) {
        flag_barrier(words + 32, words, round);
    } else {
        cooperative_groups::this_grid().sync();
    }
}

/// Nothing but barriers.
template <Kind kind>
__global__ void barriers_alone(unsigned* words, unsigned* rounds_of_block, int rounds) {
    for (int round = 1; round <= rounds; ++round) {
        barrier<kind>(words, round);
    }
    if (threadIdx.x == 0) {
        rounds_of_block[blockIdx.x] = rounds;
    }
}

/// Each step replaces an element by a mix of it and one that another block wrote in the step before.
template <Kind kind>
__global__ void steps_of_array(unsigned* words, unsigned* from, unsigned* to, int count, int steps) {
    for (int step = 1; step <= steps; ++step) {
        for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
            const int other = i + 5000 < count ? i + 5000 : i + 5000 - count;
            // Another block wrote the element a step ago: it must come from the L2.
            to[i] = __ldcg(from + i) * 5U + __ldcg(from + other);
        }
        barrier<kind>(words, step);
        unsigned* const swapped = from;
        from = to;
        to = swapped;
    }
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int blocks, Arguments... arguments) {
    void* addresses[] = {&arguments...};
    require(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads),
                                        addresses, 0, nullptr),
            "cudaLaunchCooperativeKernel");
}

void body() {
    Array<unsigned> words(1024), rounds_of_block(1024);
    const auto alone = [&](const char* what, void (*kernel)(unsigned*, unsigned*, int), int blocks,
                           int rounds) {
        words.zero();
        rounds_of_block.zero();
        prepare();
        launch(kernel, blocks, words.data(), rounds_of_block.data(), rounds);
        finish(what);
        const auto result = rounds_of_block.values();
        for (int block = 0; block < blocks; ++block) {
            check(result[block] == static_cast<unsigned>(rounds), what);
        }
        output(what, result);
    };
    alone("counter_16", barriers_alone<by_counter>, 16, 20);
    alone("counter_132", barriers_alone<by_counter>, 132, 5);
    alone("counter_132_long", barriers_alone<by_counter>, 132, 40);
    alone("counter_528", barriers_alone<by_counter>, 528, 20);
    alone("acquire_132", barriers_alone<by_acquire>, 132, 20);
    alone("sleep_132", barriers_alone<by_sleep>, 132, 20);
    alone("flags_132", barriers_alone<by_flags>, 132, 20);
    alone("groups_132", barriers_alone<by_groups>, 132, 20);
    alone("groups_528", barriers_alone<by_groups>, 528, 20);
    for (const int count : {33000, 1 << 20, (1 << 22) + 9}) {
        const auto numbers = random_values<unsigned>(count, 1);
        const int steps = count < 100000 ? 16 : 7;
        std::vector<unsigned> expected = numbers, next(count);
        for (int step = 0; step < steps; ++step) {
            for (int i = 0; i < count; ++i) {
                next[i] = expected[i] * 5U + expected[(i + 5000) % count];
            }
            expected.swap(next);
        }
        const auto stepped = [&](const char* what, void (*kernel)(unsigned*, unsigned*, unsigned*, int, int),
                                 int blocks) {
            words.zero();
            Array<unsigned> from(numbers), to(count);
            prepare();
            launch(kernel, blocks, words.data(), from.data(), to.data(), count, steps);
            finish(what);
            const auto result = steps % 2 == 0 ? from.values() : to.values();
            check(result == expected, what);
            output(what, result);
        };
        stepped("steps_by_counter", steps_of_array<by_counter>, 132);
        stepped("steps_by_groups", steps_of_array<by_groups>, 264);
        if (count == 1 << 20) {
            stepped("steps_by_acquire", steps_of_array<by_acquire>, 528);
            stepped("steps_by_flags", steps_of_array<by_flags>, 132);
        }
    }
}

int main() {
    return run(body);
}
