// Smoothing steps of strips in shared memory: a block's strip has neighbours in the blocks of its cluster,
// whose edges it reads from their shared memory, or which write theirs to it, with a barrier of the cluster
// in each step.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cooperative_groups.h>

using namespace textbook;
namespace groups = cooperative_groups;

constexpr int threads = 256;

__host__ __device__ inline unsigned mixed(unsigned left, unsigned own, unsigned right) {
    return left + 2U * own + right;
}

/// A ring of size * words elements in each cluster.
template <int size, bool push>
__global__ void __cluster_dims__(size, 1, 1)
    smooth(const unsigned* from, unsigned* to, int words, int steps) {
    extern __shared__ unsigned strips[];
    const auto cluster = groups::this_cluster();
    const int rank = cluster.block_rank(), left = (rank + size - 1) % size, right = (rank + 1) % size;
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * words;
    // Word 0 and word words + 1 are the neighbours' edges.
    unsigned *current = strips, *next = strips + words + 2;
    for (int i = threadIdx.x; i < words; i += threads) {
        current[i + 1] = from[first + i];
    }
    cluster.sync();
    for (int step = 0; step < steps; ++step) {
        if (push) {
            if (threadIdx.x == 0) {
                cluster.map_shared_rank(current, left)[words + 1] = current[1];
            } else if (threadIdx.x == 32) {
                cluster.map_shared_rank(current, right)[0] = current[words];
            }
            cluster.sync();
        } else {
            if (threadIdx.x == 0) {
                current[0] = cluster.map_shared_rank(current, left)[words];
            } else if (threadIdx.x == 32) {
                current[words + 1] = cluster.map_shared_rank(current, right)[1];
            }
            __syncthreads();
        }
        for (int i = threadIdx.x + 1; i <= words; i += threads) {
            next[i] = mixed(current[i - 1], current[i], current[i + 1]);
        }
        if (push) {
            __syncthreads();
        } else {
            cluster.sync();
        }
        unsigned* const swapped = current;
        current = next;
        next = swapped;
    }
    for (int i = threadIdx.x; i < words; i += threads) {
        to[first + i] = current[i + 1];
    }
    cluster.sync();
}

template <int size>
void all_of_size() {
    for (const int words : {256, 4096}) {
        const int clusters = words == 256 ? 16 : 64, steps = 24;
        const std::size_t ring = static_cast<std::size_t>(size) * words, count = ring * clusters;
        const auto numbers = random_values<unsigned>(count, size);
        auto expected = numbers, next = numbers;
        for (int step = 0; step < steps; ++step) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t start = i / ring * ring, place = i - start;
                next[i] = mixed(expected[start + (place + ring - 1) % ring], expected[i],
                                expected[start + (place + 1) % ring]);
            }
            expected.swap(next);
        }
        const Array<unsigned> from(numbers);
        Array<unsigned> to(count);
        const auto one = [&](const char* what, void (*kernel)(const unsigned*, unsigned*, int, int)) {
            to.zero();
            prepare();
            kernel<<<clusters * size, threads, (words + 2) * 8>>>(from.data(), to.data(), words, steps);
            finish(what);
            const auto result = to.values();
            check(result == expected, what);
            output((std::string(what) + "_" + std::to_string(size)).c_str(), result);
        };
        one("pull", smooth<size, false>);
        one("push", smooth<size, true>);
    }
}

void body() {
    all_of_size<2>();
    all_of_size<4>();
    all_of_size<8>();
}

int main() {
    return run(body);
}
