// Branches with two long paths: all threads one way, by warp, by lane, by random and by sorted data, and both
// paths with a selection; then a switch with eight cases by warp and by data, and loops as long as the data
// say.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;
constexpr int rounds = 12;

__host__ __device__ inline std::uint32_t multiplied(std::uint32_t value) {
    for (int round = 0; round < rounds; ++round) {
        value = value * 1664525U + 1013904223U;
        value ^= value >> 15;
    }
    return value;
}

__host__ __device__ inline std::uint32_t shifted(std::uint32_t value) {
    value |= 1;
    for (int round = 0; round < rounds; ++round) {
        value ^= value << 13;
        value ^= value >> 17;
        value ^= value << 5;
    }
    return value;
}

/// One of eight paths, of different lengths.
__host__ __device__ inline std::uint32_t switched(int path, std::uint32_t value) {
    switch (path) {
        case 0:
            return multiplied(value);
        case 1:
            return shifted(value);
        case 2:
            for (int round = 0; round < rounds; ++round) {
                value = (value << 7 | value >> 25) + 0x9e3779b9U;
            }
            return value;
        case 3:
            for (int round = 0; round < rounds / 2; ++round) {
                value = value * value + 0x2545f491U;
            }
            return value;
        case 4:
            for (int round = 0; round < rounds; ++round) {
                value = value % 1000003 * 4099 + value / 1000003;
            }
            return value;
        case 5:
            for (int round = 0; round < rounds; ++round) {
                value = (value & 1) != 0 ? value >> 1 ^ 0xedb88320U : value >> 1;
            }
            return value;
        case 6:
            for (int round = 0; round < rounds * 2; ++round) {
                value = (value ^ 0x5bd1e995U) + (value << 3);
            }
            return value;
        default:
            return ~value;
    }
}

/// As many rounds as the highest five bits say.
__host__ __device__ inline std::uint32_t looped(std::uint32_t value) {
    std::uint32_t result = value;
    for (std::uint32_t round = 0; round < value >> 27; ++round) {
        result = result * 1664525U + 1013904223U;
        result ^= result >> 15;
    }
    return result;
}

__global__ void by_parameter(const std::uint32_t* from, std::uint32_t* to, int count, bool first_path) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        if (first_path) {
            to[i] = multiplied(from[i]);
        } else {
            to[i] = shifted(from[i]);
        }
    }
}

__global__ void by_warp(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        if (i / 32 % 2 == 0) {
            to[i] = multiplied(from[i]);
        } else {
            to[i] = shifted(from[i]);
        }
    }
}

__global__ void by_lane(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        if (i % 2 == 0) {
            to[i] = multiplied(from[i]);
        } else {
            to[i] = shifted(from[i]);
        }
    }
}

/// With random data every warp takes both paths, with sorted data all but one take one.
__global__ void by_data(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        const std::uint32_t value = from[i];
        if (value < 0x80000000U) {
            to[i] = multiplied(value);
        } else {
            to[i] = shifted(value);
        }
    }
}

/// No branch: all threads compute both.
__global__ void selected(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        const std::uint32_t value = from[i];
        const std::uint32_t first = multiplied(value), second = shifted(value);
        to[i] = value < 0x80000000U ? first : second;
    }
}

__global__ void switch_by_warp(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        to[i] = switched(i / 32 % 8, from[i]);
    }
}

__global__ void switch_by_data(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        const std::uint32_t value = from[i];
        to[i] = switched(value >> 29, value);
    }
}

/// A warp loops as long as its slowest lane.
__global__ void loop_by_data(const std::uint32_t* from, std::uint32_t* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        to[i] = looped(from[i]);
    }
}

void body() {
    for (const int count : {50001, (1 << 20) + 77}) {
        const bool large = count > 1 << 20;
        const auto random = random_values<std::uint32_t>(count, 1);
        auto sorted = random;
        std::sort(sorted.begin(), sorted.end());
        const Array<std::uint32_t> random_array(random), sorted_array(sorted);
        Array<std::uint32_t> to(count);
        const auto verify = [&](const char* what, const std::vector<std::uint32_t>& values, auto&& rule) {
            finish(what);
            const auto result = to.values();
            for (int i = 0; i < count; ++i) {
                check(result[i] == rule(i, values[i]), what);
            }
            output(what, result);
            to.zero();
        };
        const auto by_value = [](int, std::uint32_t value) {
            return value < 0x80000000U ? multiplied(value) : shifted(value);
        };
        const int blocks = (count + threads - 1) / threads;
        prepare();
        by_parameter<<<blocks, threads>>>(random_array.data(), to.data(), count, true);
        verify("by_parameter", random, [](int, std::uint32_t value) { return multiplied(value); });
        prepare();
        by_warp<<<blocks, threads>>>(random_array.data(), to.data(), count);
        verify("by_warp", random, [](int i, std::uint32_t value) {
            return i / 32 % 2 == 0 ? multiplied(value) : shifted(value);
        });
        prepare();
        by_lane<<<blocks, threads>>>(random_array.data(), to.data(), count);
        verify("by_lane", random,
               [](int i, std::uint32_t value) { return i % 2 == 0 ? multiplied(value) : shifted(value); });
        prepare();
        by_data<<<blocks, threads>>>(random_array.data(), to.data(), count);
        verify("by_data", random, by_value);
        if (large) {
            prepare();
            by_data<<<blocks, threads>>>(sorted_array.data(), to.data(), count);
            verify("by_sorted_data", sorted, by_value);
            prepare();
            selected<<<blocks, threads>>>(random_array.data(), to.data(), count);
            verify("selected", random, by_value);
            prepare();
            switch_by_warp<<<blocks, threads>>>(random_array.data(), to.data(), count);
            verify("switch_by_warp", random,
                   [](int i, std::uint32_t value) { return switched(i / 32 % 8, value); });
        }
        prepare();
        switch_by_data<<<blocks, threads>>>(random_array.data(), to.data(), count);
        verify("switch_by_data", random,
               [](int, std::uint32_t value) { return switched(static_cast<int>(value >> 29), value); });
        prepare();
        loop_by_data<<<blocks, threads>>>(random_array.data(), to.data(), count);
        verify("loop_by_data", random, [](int, std::uint32_t value) { return looped(value); });
        if (large) {
            prepare();
            loop_by_data<<<blocks, threads>>>(sorted_array.data(), to.data(), count);
            verify("loop_by_sorted_data", sorted, [](int, std::uint32_t value) { return looped(value); });
        }
    }
}

int main() {
    return run(body);
}
