// Kernels bound by latency, with fewer and fewer resident blocks an SM: each block asks for more dynamic
// shared memory, which it does not touch. Dependent loads, four chains of loads a thread, and a chain of
// multiplications.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 64, blocks = 2112;
constexpr int load_steps = 96, multiply_steps = 512;
constexpr unsigned lines = 93750;  // of 32 elements

/// Every load of a warp is one line, whose address comes from the load before.
__global__ void dependent_loads(const unsigned* next, unsigned* ends) {
    const int i = blockIdx.x * threads + threadIdx.x;
    unsigned place = random_bits(1, i / 32) % lines * 32 + i % 32;
#pragma unroll 8
    for (int step = 0; step < load_steps; ++step) {
        place = next[place];
    }
    ends[i] = place;
}

/// As many loads, but four are in flight at a time.
__global__ void four_chains(const unsigned* next, unsigned* ends) {
    const int i = blockIdx.x * threads + threadIdx.x;
    unsigned places[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        places[k] = random_bits(1, i / 32 * 4 + k) % lines * 32 + i % 32;
    }
#pragma unroll 4
    for (int step = 0; step < load_steps / 4; ++step) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            places[k] = next[places[k]];
        }
    }
    ends[i] = places[0] + places[1] + places[2] + places[3];
}

__global__ void multiplications(const unsigned* next, unsigned* ends) {
    const int i = blockIdx.x * threads + threadIdx.x;
    unsigned value = next[i];
    const unsigned factor = next[0] | 1;
#pragma unroll 16
    for (int step = 0; step < multiply_steps; ++step) {
        value = value * factor + value;
    }
    ends[i] = value;
}

unsigned next_line(unsigned line) {
    return static_cast<unsigned>((std::uint64_t{line} * 810331 + 1234567) % lines);
}

unsigned line_after(unsigned line, int steps) {
    for (int step = 0; step < steps; ++step) {
        line = next_line(line);
    }
    return line;
}

void body() {
    constexpr int count = blocks * threads;
    std::vector<unsigned> order(static_cast<std::size_t>(lines) * 32);
    for (unsigned i = 0; i < order.size(); ++i) {
        order[i] = next_line(i / 32) * 32 + i % 32;
    }
    std::vector<unsigned> after_loads(count), after_chains(count), multiplied(count);
    for (int warp = 0; warp < count / 32; ++warp) {
        const unsigned line = line_after(random_bits(1, warp) % lines, load_steps);
        unsigned sum = 0;
        for (int k = 0; k < 4; ++k) {
            sum += line_after(random_bits(1, warp * 4 + k) % lines, load_steps / 4);
        }
        for (int lane = 0; lane < 32; ++lane) {
            after_loads[warp * 32 + lane] = line * 32 + lane;
            after_chains[warp * 32 + lane] = sum * 32 + 4 * lane;
        }
    }
    unsigned factor = 1;
    for (int step = 0; step < multiply_steps; ++step) {
        factor *= (order[0] | 1) + 1;
    }
    for (int i = 0; i < count; ++i) {
        multiplied[i] = order[i] * factor;
    }
    const Array<unsigned> next(order);
    Array<unsigned> ends(count);
    const auto launch = [&](const char* name, void (*kernel)(const unsigned*, unsigned*), int shared_bytes,
                            const std::vector<unsigned>& expected) {
        require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
                name);
        prepare();
        kernel<<<blocks, threads, shared_bytes>>>(next.data(), ends.data());
        finish(name);
        const auto result = ends.values();
        check(result == expected, name);
        output((name + ("_" + std::to_string(shared_bytes))).c_str(), result);
        ends.zero();
    };
    // 32, 16, 8, 4, 2 and 1 blocks fit an SM with 228 KiB.
    for (const int kibibytes : {0, 13, 27, 54, 110, 220}) {
        launch("dependent_loads", dependent_loads, kibibytes * 1024, after_loads);
    }
    for (const int kibibytes : {0, 27, 110, 220}) {
        launch("four_chains", four_chains, kibibytes * 1024, after_chains);
        launch("multiplications", multiplications, kibibytes * 1024, multiplied);
    }
}

int main() {
    return run(body);
}
