// Arrays of a thread that end up in local memory: one function of 48 live values under three limits of
// registers, two of which force spills; counters and an insertion sort with indices known only at run
// time, against a sorting network that stays in registers; and an array handed to a function.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 128;
constexpr int live_values = 48, steps = 6;
constexpr int counters = 32, counted = 40;
constexpr int sorted_values = 16;

/// All values live from the first step to the last; indices are known once the loops are unrolled.
__host__ __device__ inline std::uint32_t mix_values(const std::uint32_t* from, int i, int count) {
    std::uint32_t values[live_values];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int k = 0; k < live_values; ++k) {
        values[k] = (i + 1) * (2 * k + 1);
    }
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int step = 0; step < steps; ++step) {
        const std::uint32_t next = from[step * count + i];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int k = 0; k < live_values; ++k) {
            values[k] = (values[k] ^ next) * 0x9e3779b1U + values[(k + 17) % live_values];
        }
    }
    std::uint32_t result = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int k = 0; k < live_values; ++k) {
        result = result * 31 + values[k];
    }
    return result;
}

/// At most 128 registers a thread: nothing spills.
__global__ void __launch_bounds__(threads, 4)
    mix_unlimited(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        to[i] = mix_values(from, i, count);
    }
}

/// At most 40 registers: some values spill.
__global__ void __launch_bounds__(threads, 12)
    mix_40_registers(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        to[i] = mix_values(from, i, count);
    }
}

/// At most 32 registers: more values spill.
__global__ void __launch_bounds__(threads, 16)
    mix_32_registers(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        to[i] = mix_values(from, i, count);
    }
}

/// The place of the commonest of 32 values: each element increments a counter that it names.
__host__ __device__ inline std::uint32_t commonest(const std::uint32_t* from, int i, int count) {
    int counts[counters] = {};
    for (int k = 0; k < counted; ++k) {
        const std::uint32_t word = from[k / 4 % steps * count + i];
        ++counts[(word >> 7 * (k % 4) ^ k) % counters];
    }
    int best = 0;
    for (int k = 1; k < counters; ++k) {
        best = counts[k] > counts[best] ? k : best;
    }
    return best * counted + counts[best];
}

__global__ void private_counters(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        to[i] = commonest(from, i, count);
    }
}

/// The numbers that a thread sorts.
__device__ std::uint32_t number(const std::uint32_t* from, int i, int count, int k) {
    return from[k % steps * count + i] * (2 * k + 1);
}

__device__ std::uint32_t weighted(const std::uint32_t* values) {
    std::uint32_t result = 0;
#pragma unroll
    for (int k = 0; k < sorted_values; ++k) {
        result = result * 31 + values[k];
    }
    return result;
}

/// Where a value goes depends on the data.
__global__ void insertion_sort(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        std::uint32_t values[sorted_values];
#pragma unroll 1
        for (int k = 0; k < sorted_values; ++k) {
            const std::uint32_t value = number(from, i, count, k);
            int place = k;
            while (place > 0 && values[place - 1] > value) {
                values[place] = values[place - 1];
                --place;
            }
            values[place] = value;
        }
        to[i] = weighted(values);
    }
}

/// Compares neighbours, odd and even pairs in turn: every index is a constant.
__global__ void network_sort(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        std::uint32_t values[sorted_values];
#pragma unroll
        for (int k = 0; k < sorted_values; ++k) {
            values[k] = number(from, i, count, k);
        }
#pragma unroll
        for (int round = 0; round < sorted_values; ++round) {
#pragma unroll
            for (int k = round % 2; k + 1 < sorted_values; k += 2) {
                const std::uint32_t low = min(values[k], values[k + 1]);
                values[k + 1] = max(values[k], values[k + 1]);
                values[k] = low;
            }
        }
        to[i] = weighted(values);
    }
}

/// Turns the array round by as many places as `by` says.
__device__ __noinline__ void rotate(std::uint32_t* values, int by) {
    for (int time = 0; time < by; ++time) {
        const std::uint32_t first = values[0];
#pragma unroll
        for (int k = 0; k + 1 < sorted_values; ++k) {
            values[k] = values[k + 1];
        }
        values[sorted_values - 1] = first;
    }
}

/// A called function takes the array by its address in local memory.
__global__ void array_of_caller(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        std::uint32_t values[sorted_values];
#pragma unroll
        for (int k = 0; k < sorted_values; ++k) {
            values[k] = number(from, i, count, k);
        }
        rotate(values, static_cast<int>(from[i] % 8));
        rotate(values, 3);
        to[i] = weighted(values);
    }
}

void body() {
    for (const int count : {10001, 135001}) {
        const auto numbers = random_values<std::uint32_t>(static_cast<std::size_t>(count) * steps, 1);
        const Array<std::uint32_t> from(numbers);
        Array<std::uint32_t> to(count);
        std::vector<std::uint32_t> mixed(count), common(count), ordered(count), turned(count);
        for (int i = 0; i < count; ++i) {
            mixed[i] = mix_values(numbers.data(), i, count);
            common[i] = commonest(numbers.data(), i, count);
            std::uint32_t values[sorted_values];
            for (int k = 0; k < sorted_values; ++k) {
                values[k] = numbers[k % steps * count + i] * (2 * k + 1);
            }
            for (int k = 0; k < sorted_values; ++k) {
                turned[i] = turned[i] * 31 + values[(k + numbers[i] % 8 + 3) % sorted_values];
            }
            std::sort(values, values + sorted_values);
            for (const std::uint32_t value : values) {
                ordered[i] = ordered[i] * 31 + value;
            }
        }
        const auto verify = [&](const char* what, const std::vector<std::uint32_t>& expected) {
            finish(what);
            const auto result = to.values();
            check(result == expected, what);
            output(what, result);
            to.zero();
        };
        const int blocks = (count + threads - 1) / threads;
        prepare();
        mix_unlimited<<<blocks, threads>>>(from.data(), to.data(), count);
        verify("mix_unlimited", mixed);
        prepare();
        mix_40_registers<<<blocks, threads>>>(from.data(), to.data(), count);
        verify("mix_40_registers", mixed);
        prepare();
        mix_32_registers<<<blocks, threads>>>(from.data(), to.data(), count);
        verify("mix_32_registers", mixed);
        prepare();
        private_counters<<<blocks, threads>>>(from.data(), to.data(), count);
        verify("private_counters", common);
        prepare();
        insertion_sort<<<blocks, threads>>>(from.data(), to.data(), count);
        verify("insertion_sort", ordered);
        prepare();
        network_sort<<<blocks, threads>>>(from.data(), to.data(), count);
        verify("network_sort", ordered);
        prepare();
        array_of_caller<<<blocks, threads>>>(from.data(), to.data(), count);
        verify("array_of_caller", turned);
    }
}

int main() {
    return run(body);
}
