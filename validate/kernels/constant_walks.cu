// Tables in constant memory, walked by all lanes together: how large they may be, by how many warps, and what
// it costs that warps are at different places.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int most_words = 16384;
__constant__ float table[most_words];

/// Each warp walks the first `mask` + 1 words from a place of its own, `apart` words after the warp before
/// it.
__global__ void walk(const float* factors, float* results, int mask, int steps, int apart) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int start = i / 32 * apart;
    const float factor = factors[i];
    float sum = 0.0F;
#pragma unroll 8
    for (int k = 0; k < steps; ++k) sum = sum * factor + table[(start + k) & mask];
    results[i] = sum;
}

/// The same by quads.
__global__ void walk_quads(const float* factors, float* results, int mask, int steps, int apart) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int start = i / 32 * apart;
    const float factor = factors[i];
    float sum = 0.0F;
#pragma unroll 4
    for (int k = 0; k < steps; k += 4) {
        const float4 quad = *reinterpret_cast<const float4*>(&table[(start + k) & mask]);
        sum = (((sum * factor + quad.x) * factor + quad.y) * factor + quad.z) * factor + quad.w;
    }
    results[i] = sum;
}

void walks(const std::vector<float>& numbers, int words, int threads, int blocks, int steps, int apart,
           bool quads) {
    const int all = threads * blocks;
    const auto factors = random_values<float>(all, 7);
    const Array<float> factors_array(factors);
    Array<float> results(all);
    prepare();
    (quads ? walk_quads : walk)<<<blocks, threads>>>(factors_array.data(), results.data(), words - 1, steps,
                                                     apart);
    finish("walk");
    const auto found = results.values();
    std::vector<float> seen;
    std::vector<double> expected;
    for (int i = 0; i < all; i += 1 + all / 200) {
        double sum = 0.0;
        for (int k = 0; k < steps; ++k) sum = sum * factors[i] + numbers[(i / 32 * apart + k) & (words - 1)];
        seen.push_back(found[i]);
        expected.push_back(sum);
    }
    check_close(seen, expected, 1e-4, "walk");
}

void body() {
    const auto numbers = random_values<float>(most_words, 3);
    require(cudaMemcpyToSymbol(table, numbers.data(), most_words * sizeof(float)), "table");
    for (const int words : {256, 512, 1024, 2048, 4096, 8192, 16384}) {
        walks(numbers, words, 32, 132, 4096, 0, false);
        walks(numbers, words, 256, 132 * 8, 1024, 0, false);
        walks(numbers, words, 256, 132 * 2, 2048, words / 16, false);
        walks(numbers, words, 256, 132 * 8, 2048, words / 16, true);
    }
}

int main() {
    return run(body);
}
