// A ladder of accesses to words in an order drawn at random: loads, stores of 4 bytes and of whole sectors,
// additions with and without the old value, over `megabytes` of memory, each sector once at most. The rows
// are in validate/recorded/h100-sxm/ladders/scattered_memory.csv: time over a clean and over a dirty L2, and
// the bytes that DRAM moves (Nsight Compute). Build: nvcc -O3 -std=c++17 -arch=sm_90a
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

enum Kind { load, store, store_sector, add, add_old };

/// Places go round the sectors by a step without a common divisor, mixed within each power of two.
__device__ unsigned place_of(unsigned i, unsigned mask) {
    unsigned x = i & mask;
    for (int k = 0; k < 3; ++k) {
        x = (x * 0x9E3779B1U + 0x7F4A7C15U) & mask;
        x ^= x >> 9;
    }
    return x;
}

template <Kind kind>
__global__ void scattered(unsigned* memory, unsigned* sink, unsigned count, unsigned mask) {
    const unsigned threads = gridDim.x * blockDim.x;
    unsigned sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        if constexpr (kind == store_sector) {
            memory[static_cast<size_t>(place_of(i / 8, mask)) * 8 + i % 8] = i;
        } else {
            unsigned* const word = memory + static_cast<size_t>(place_of(i, mask)) * 8 + (i & 7U);
            if constexpr (kind == load) sum += *word;
            if constexpr (kind == store) *word = i;
            if constexpr (kind == add) atomicAdd(word, 1U);
            if constexpr (kind == add_old) sum += atomicAdd(word, 1U);
        }
    }
    if (sum == 0xfffffff1U) sink[0] = sum;
}

__global__ void sweep(unsigned* other, size_t words, bool write) {
    unsigned sum = 0;
    for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < words;
         i += size_t{gridDim.x} * blockDim.x) {
        if (write)
            other[i] = static_cast<unsigned>(i);
        else
            sum += other[i];
    }
    if (sum == 0xfffffff1U) other[0] = sum;
}

int main() {
    unsigned *memory = nullptr, *other = nullptr, *sink = nullptr;
    const size_t words = size_t{1} << 26;
    cudaMalloc(&memory, size_t{1} << 30);
    cudaMalloc(&other, words * 4);
    cudaMalloc(&sink, 64);
    cudaMemset(memory, 0, size_t{1} << 30);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    const bool counted = std::getenv("LADDER_ONCE") != nullptr;
    std::printf("kind,megabytes,count,dirty,us\n");
    const auto one = [&](auto kernel, const char* name, unsigned megabytes, unsigned count, bool dirty) {
        const unsigned sectors = megabytes << 15;
        std::vector<float> times;
        for (int sample = 0; sample < (counted ? 1 : 7); ++sample) {
            if (!counted) sweep<<<132 * 8, 256>>>(other, words, dirty);
            cudaEventRecord(begin);
            kernel<<<132 * 8, 256>>>(memory, sink, count, sectors - 1);
            cudaEventRecord(end);
            cudaEventSynchronize(end);
            float ms = 0;
            cudaEventElapsedTime(&ms, begin, end);
            times.push_back(1000.0F * ms);
        }
        std::sort(times.begin(), times.end());
        std::printf("%s,%u,%u,%d,%.2f\n", name, megabytes, count, dirty, times[times.size() / 2]);
    };
    for (const unsigned megabytes : {16U, 32U, 64U, 128U, 512U, 1024U}) {
        for (const unsigned millions : {1U, 2U, 4U, 8U}) {
            const unsigned count = millions << 20;
            if (count > megabytes << 15) continue;
            for (const bool dirty : {false, true}) {
                if (counted && dirty) continue;
                one(scattered<load>, "load", megabytes, count, dirty);
                one(scattered<store>, "store", megabytes, count, dirty);
                one(scattered<store_sector>, "store_sector", megabytes, count, dirty);
                one(scattered<add>, "add", megabytes, count, dirty);
                one(scattered<add_old>, "add_old", megabytes, count, dirty);
            }
        }
    }
    std::printf("# %s\n", cudaGetErrorString(cudaGetLastError()));
}
