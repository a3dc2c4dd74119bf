// Arrays that a thread indexes by what it reads, so that they lie in local memory: counters, a permutation
// that is shuffled (a stream cipher's), and a stack that walks an implicit tree; arrays of 16 to 256 words.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <map>

using namespace textbook;

/// Counters of a thread's own words, then the sum of squares.
template <int size>
__host__ __device__ inline unsigned counted(const unsigned* values, int i, int count, int items) {
    unsigned counters[size] = {};
    for (int k = 0; k < items; ++k) {
        ++counters[values[static_cast<std::size_t>(k) * count + i] % size];
    }
    unsigned sum = 0;
    for (int k = 0; k < size; ++k) {
        sum = sum * 3U + counters[k] * counters[k];
    }
    return sum;
}
template <int size>
__global__ void counters(const unsigned* values, unsigned* results, int count, int items) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        results[i] = counted<size>(values, i, count, items);
    }
}

/// The key schedule and some output of a cipher whose state is a permutation.
template <int size>
__host__ __device__ inline unsigned shuffled(unsigned key, int rounds) {
    unsigned state[size];
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
    for (int k = 0; k < size; ++k) {
        state[k] = k;
    }
    unsigned j = 0, result = 0;
    for (int k = 0; k < size; ++k) {
        j = (j + state[k] + (key >> (k % 4 * 8))) % size;
        const unsigned swapped = state[k];
        state[k] = state[j];
        state[j] = swapped;
    }
    unsigned a = 0, b = 0;
    for (int round = 0; round < rounds; ++round) {
        a = (a + 1) % size;
        b = (b + state[a]) % size;
        const unsigned swapped = state[a];
        state[a] = state[b];
        state[b] = swapped;
        result = result * 31U + state[(state[a] + state[b]) % size];
    }
    return result;
}
template <int size>
__global__ void shuffles(const unsigned* values, unsigned* results, int count, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        results[i] = shuffled<size>(values[i], rounds);
    }
}

/// Walks a tree of hashes with an explicit stack: children 2n + 1 and 2n + 2, unless the hash says leaf.
__host__ __device__ inline unsigned walked(unsigned seed, int limit) {
    unsigned stack[32];
    int top = 0;
    unsigned sum = 0;
    stack[top++] = 0;
    for (int visited = 0; top > 0 && visited < limit; ++visited) {
        const unsigned node = stack[--top];
        const unsigned hash = (node + seed) * 2654435761U;
        sum = sum * 5U + (hash >> 16);
        if ((hash >> 28) < 11 && top < 30) {
            stack[top++] = 2U * node + 2U;
            stack[top++] = 2U * node + 1U;
        }
    }
    return sum;
}
__global__ void tree_walks(const unsigned* values, unsigned* results, int count, int limit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        results[i] = walked(values[i / 32], limit);
    }
}
/// Every thread its own tree: the lanes diverge.
__global__ void own_tree_walks(const unsigned* values, unsigned* results, int count, int limit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        results[i] = walked(values[i], limit);
    }
}

void body() {
    for (const int count : {16384, 200000}) {
        const int items = 48;
        const auto numbers = random_values<unsigned>(static_cast<std::size_t>(count) * items, 11);
        const Array<unsigned> values(numbers);
        Array<unsigned> results(count);
        const auto one = [&](const char* what, void (*kernel)(const unsigned*, unsigned*, int, int),
                             int threads, int number, auto expected) {
            results.zero();
            prepare();
            kernel<<<(count + threads - 1) / threads, threads>>>(values.data(), results.data(), count,
                                                                 number);
            finish(what);
            const auto result = results.values();
            // The host takes longer than the GPU: once is enough.
            static std::map<std::pair<std::string, int>, std::vector<unsigned>> known;
            auto& right = known[{what, count}];
            if (right.empty()) {
                for (int i = 0; i < count; ++i) {
                    right.push_back(expected(i));
                }
            }
            check(result == right, what);
            output(what, result);
        };
        one("counters_16", counters<16>, 256, items,
            [&](int i) { return counted<16>(numbers.data(), i, count, items); });
        one("counters_64", counters<64>, 256, items,
            [&](int i) { return counted<64>(numbers.data(), i, count, items); });
        one("counters_256", counters<256>, 128, items,
            [&](int i) { return counted<256>(numbers.data(), i, count, items); });
        one("shuffles_32", shuffles<32>, 256, 40, [&](int i) { return shuffled<32>(numbers[i], 40); });
        one("shuffles_128", shuffles<128>, 64, 40, [&](int i) { return shuffled<128>(numbers[i], 40); });
        one("tree_walks", tree_walks, 128, 60, [&](int i) { return walked(numbers[i / 32], 60); });
        one("own_tree_walks", own_tree_walks, 128, 60, [&](int i) { return walked(numbers[i], 60); });
    }
}

int main() {
    return run(body);
}
