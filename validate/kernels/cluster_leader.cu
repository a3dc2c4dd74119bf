// Clusters whose blocks all turn to one of them: they read its tile, write to it, and count in it.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cooperative_groups.h>

using namespace textbook;
namespace groups = cooperative_groups;

constexpr int threads = 256, words = 4096;

/// All blocks but the first read the first one's tile, `turns` times, by T.
template <int size, class T>
__global__ void __cluster_dims__(size, 1, 1)
    read_leader(const unsigned* values, int turns, unsigned* results) {
    __shared__ __align__(16) unsigned tile[words];
    const auto cluster = groups::this_cluster();
    const int rank = static_cast<int>(cluster.block_rank());
    for (int i = threadIdx.x; i < words; i += threads) tile[i] = values[i] + blockIdx.x / size;
    cluster.sync();
    unsigned sum = 0;
    if (rank != 0) {
        const T* const from = reinterpret_cast<const T*>(cluster.map_shared_rank(tile, 0));
        for (int turn = 0; turn < turns; ++turn) {
#pragma unroll 4
            for (int i = threadIdx.x; i < words * 4 / static_cast<int>(sizeof(T)); i += threads) {
                const T read = from[i];
                if constexpr (sizeof(T) == 4) {
                    sum = sum * 3U + read;
                } else {
                    sum = sum * 3U + (read.x ^ read.y ^ read.z ^ read.w);
                }
            }
        }
    }
    results[blockIdx.x * threads + threadIdx.x] = sum;
    cluster.sync();
}

/// All blocks store `turns` times to their part of the first one's tile.
template <int size>
__global__ void __cluster_dims__(size, 1, 1)
    write_leader(const unsigned* values, int turns, unsigned* results) {
    __shared__ unsigned tile[words];
    const auto cluster = groups::this_cluster();
    const int rank = static_cast<int>(cluster.block_rank());
    unsigned* const to = cluster.map_shared_rank(tile, 0) + rank * (words / size);
    cluster.sync();
    unsigned value = values[threadIdx.x];
    for (int turn = 0; turn < turns; ++turn) {
        for (int i = threadIdx.x; i < words / size; i += threads) {
            to[i] = value + i;
            value = value * 5U + 1U;
        }
    }
    cluster.sync();
    if (rank == 0) {
        for (int i = threadIdx.x; i < words; i += threads) results[blockIdx.x / size * words + i] = tile[i];
    }
}

/// All blocks count values of theirs in the first one's bins.
template <int size>
__global__ void __cluster_dims__(size, 1, 1)
    count_in_leader(const unsigned* values, int items, unsigned mask, unsigned* counts) {
    __shared__ unsigned bins[words];
    const auto cluster = groups::this_cluster();
    for (int i = threadIdx.x; i < words; i += threads) bins[i] = 0;
    cluster.sync();
    unsigned* const to = cluster.map_shared_rank(bins, 0);
    for (int k = 0; k < items; ++k)
        atomicAdd(&to[values[(blockIdx.x * items + k) * threads + threadIdx.x] & mask], 1U);
    cluster.sync();
    if (cluster.block_rank() == 0) {
        for (unsigned i = threadIdx.x; i <= mask; i += threads) atomicAdd(&counts[i], bins[i]);
    }
}

/// Sums of parts of a row go to the first block by one remote addition a warp, then it tells all blocks.
template <int size>
__global__ void __cluster_dims__(size, 1, 1)
    share_sum(const unsigned* values, int columns, unsigned* results) {
    __shared__ unsigned total;
    const auto cluster = groups::this_cluster();
    if (threadIdx.x == 0) total = 0;
    cluster.sync();
    unsigned sum = 0;
    const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * columns;
    for (int i = threadIdx.x; i < columns; i += threads) sum += values[begin + i];
    sum = __reduce_add_sync(0xffffffffU, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(cluster.map_shared_rank(&total, 0), sum);
    cluster.sync();
    const unsigned all = *cluster.map_shared_rank(&total, 0);
    for (int i = threadIdx.x; i < columns; i += threads) results[begin + i] = values[begin + i] - all;
    cluster.sync();
}

template <int size>
void all_of(const Array<unsigned>& values, const std::vector<unsigned>& numbers, int clusters) {
    const int blocks = clusters * size;
    const std::string what = std::to_string(size) + "_" + std::to_string(clusters);
    Array<unsigned> results(static_cast<std::size_t>(blocks) * threads);
    prepare();
    read_leader<size, unsigned><<<blocks, threads>>>(values.data(), 4, results.data());
    finish("read");
    output(("read_" + what).c_str(), results);
    prepare();
    read_leader<size, uint4><<<blocks, threads>>>(values.data(), 4, results.data());
    finish("read quads");
    output(("read_quads_" + what).c_str(), results);
    Array<unsigned> tiles(static_cast<std::size_t>(clusters) * words);
    prepare();
    write_leader<size><<<blocks, threads>>>(values.data(), 16, tiles.data());
    finish("write");
    output(("write_" + what).c_str(), tiles);
    const int items = 16;
    for (const unsigned mask : {15U, 4095U}) {
        Array<unsigned> counts(words);
        prepare();
        count_in_leader<size><<<blocks, threads>>>(values.data(), items, mask, counts.data());
        finish("count");
        std::vector<unsigned> expected(words);
        for (int i = 0; i < blocks * items * threads; ++i) ++expected[numbers[i] & mask];
        // Profilers and repetitions add to the counts, so only whole multiples are looked at.
        check(counts.values()[3] % expected[3] == 0, "count");
    }
    const int columns = 2048;
    Array<unsigned> differences(static_cast<std::size_t>(blocks) * columns);
    prepare();
    share_sum<size><<<blocks, threads>>>(values.data(), columns, differences.data());
    finish("share");
    output(("share_" + what).c_str(), differences);
}

void body() {
    const auto numbers = random_values<unsigned>(std::size_t{8} << 20, 19);
    const Array<unsigned> values(numbers);
    all_of<2>(values, numbers, 60);
    all_of<4>(values, numbers, 28);
    all_of<8>(values, numbers, 15);
    all_of<2>(values, numbers, 600);
    all_of<4>(values, numbers, 300);
    all_of<8>(values, numbers, 150);
}

int main() {
    return run(body);
}
