// Blocks of a cluster that work together, with 2, 4 and 8 blocks: barriers alone, sums that rank 0 gathers or
// that every rank gathers, a tile that one block loads and all copy, and tiles exchanged between all.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cooperative_groups.h>

using namespace textbook;
namespace groups = cooperative_groups;

constexpr int threads = 256;

template <int size>
__global__ void __cluster_dims__(size, 1, 1) barriers_alone(unsigned* results, int rounds) {
    const auto cluster = groups::this_cluster();
    for (int round = 0; round < rounds; ++round) {
        cluster.sync();
    }
    if (threadIdx.x == 0) {
        results[blockIdx.x] = cluster.block_rank();
    }
}

__device__ unsigned sum_of_block(unsigned value) {
    __shared__ unsigned of_warps[threads / 32];
    value = __reduce_add_sync(0xffffffffU, value);
    if (threadIdx.x % 32 == 0) {
        of_warps[threadIdx.x / 32] = value;
    }
    __syncthreads();
    unsigned sum = 0;
    for (int warp = 0; warp < threads / 32; ++warp) {
        sum += of_warps[warp];
    }
    return sum;
}

/// Each cluster adds one row; rank 0 reads the sums of the others.
template <int size>
__global__ void __cluster_dims__(size, 1, 1) sum_rows(const unsigned* values, int columns, unsigned* sums) {
    __shared__ unsigned own;
    const auto cluster = groups::this_cluster();
    const int rank = cluster.block_rank(), row = blockIdx.x / size;
    unsigned sum = 0;
    for (int i = rank * threads + threadIdx.x; i < columns; i += size * threads) {
        sum += values[static_cast<std::size_t>(row) * columns + i];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        own = sum;
    }
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0) {
        for (int other = 1; other < size; ++other) {
            sum += *cluster.map_shared_rank(&own, other);
        }
        sums[row] = sum;
    }
    cluster.sync();
}

/// The row is held in shared memory; every rank gathers the sum and subtracts it.
template <int size>
__global__ void __cluster_dims__(size, 1, 1)
    subtract_sums(const unsigned* values, int columns, unsigned* results) {
    extern __shared__ unsigned part[];
    __shared__ unsigned own;
    const auto cluster = groups::this_cluster();
    const int rank = cluster.block_rank(), row = blockIdx.x / size, own_columns = columns / size;
    const std::size_t first = static_cast<std::size_t>(row) * columns + rank * own_columns;
    unsigned sum = 0;
    for (int i = threadIdx.x; i < own_columns; i += threads) {
        part[i] = values[first + i];
        sum += part[i];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        own = sum;
    }
    cluster.sync();
    unsigned total = 0;
    for (int other = 0; other < size; ++other) {
        total += *cluster.map_shared_rank(&own, other);
    }
    for (int i = threadIdx.x; i < own_columns; i += threads) {
        results[first + i] = part[i] - total;
    }
    cluster.sync();
}

/// Rank 0 loads a tile; all blocks read it from there, `turns` times, each turn another thread's words.
template <int size>
__global__ void __cluster_dims__(size, 1, 1)
    broadcast(const unsigned* values, int words, int turns, unsigned* results) {
    extern __shared__ unsigned tile[];
    const auto cluster = groups::this_cluster();
    const int number = blockIdx.x / size;
    if (cluster.block_rank() == 0) {
        for (int i = threadIdx.x; i < words; i += threads) {
            tile[i] = values[static_cast<std::size_t>(number) * words + i];
        }
    }
    cluster.sync();
    const unsigned* const from = cluster.map_shared_rank(tile, 0);
    unsigned sum = 0;
    for (int turn = 0; turn < turns; ++turn) {
        for (int i = threadIdx.x; i < words; i += threads) {
            sum = sum * 3U + from[i];
        }
    }
    results[blockIdx.x * threads + threadIdx.x] = sum;
    cluster.sync();
}

/// Each block loads a tile of its own; word i goes to rank i % size, by a remote store.
template <int size>
__global__ void __cluster_dims__(size, 1, 1) exchange(const unsigned* values, int words, unsigned* results) {
    extern __shared__ unsigned received[];
    const auto cluster = groups::this_cluster();
    const int rank = cluster.block_rank(), part = words / size;
    cluster.sync();
    for (int target = 0; target < size; ++target) {
        unsigned* const to = cluster.map_shared_rank(received, (rank + target) % size);
        const std::size_t first =
            static_cast<std::size_t>(blockIdx.x) * words + (rank + target) % size * part;
        for (int i = threadIdx.x; i < part; i += threads) {
            to[rank * part + i] = values[first + i];
        }
    }
    cluster.sync();
    for (int i = threadIdx.x; i < words; i += threads) {
        results[static_cast<std::size_t>(blockIdx.x) * words + i] = received[i];
    }
}

/// A pointer chase through the next rank's shared memory: remote latency alone.
template <int size>
__global__ void __cluster_dims__(size, 1, 1) remote_chase(int steps, unsigned* results) {
    __shared__ unsigned next[256];
    const auto cluster = groups::this_cluster();
    next[threadIdx.x] = (threadIdx.x * 5 + 1) % 256;
    cluster.sync();
    const unsigned* const from = cluster.map_shared_rank(next, (cluster.block_rank() + 1) % size);
    unsigned place = threadIdx.x;
    for (int step = 0; step < steps; ++step) {
        place = from[place];
    }
    results[blockIdx.x * threads + threadIdx.x] = place;
    cluster.sync();
}

template <int size>
void all_of_size() {
    const auto name = [](const char* what) { return std::string(what) + "_" + std::to_string(size); };
    const auto done = [&](const char* what, const Array<unsigned>& results,
                          const std::vector<unsigned>& expected) {
        finish(what);
        const auto result = results.values();
        check(result == expected, what);
        output(name(what).c_str(), result);
    };
    for (const int clusters : {1, 128 / size}) {
        Array<unsigned> results(clusters * size);
        std::vector<unsigned> expected(clusters * size);
        for (int i = 0; i < clusters * size; ++i) {
            expected[i] = i % size;
        }
        prepare();
        barriers_alone<size><<<clusters * size, threads>>>(results.data(), 100);
        done("barriers_alone", results, expected);
    }
    {
        Array<unsigned> results(size * threads);
        std::vector<unsigned> expected(size * threads);
        for (int i = 0; i < size * threads; ++i) {
            unsigned place = i % threads;
            for (int step = 0; step < 200; ++step) {
                place = (place * 5 + 1) % 256;
            }
            expected[i] = place;
        }
        prepare();
        remote_chase<size><<<size, threads>>>(200, results.data());
        done("remote_chase", results, expected);
    }
    const int rows = 600, columns = 16384;
    const auto numbers = random_values<unsigned>(static_cast<std::size_t>(rows) * columns, size);
    const Array<unsigned> values(numbers);
    std::vector<unsigned> sums(rows), differences(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        sums[i / columns] += numbers[i];
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        differences[i] = numbers[i] - sums[i / columns];
    }
    Array<unsigned> sums_of_rows(rows), results(numbers.size());
    prepare();
    sum_rows<size><<<rows * size, threads>>>(values.data(), columns, sums_of_rows.data());
    done("sum_rows", sums_of_rows, sums);
    prepare();
    subtract_sums<size><<<rows * size, threads, columns / size * 4>>>(values.data(), columns, results.data());
    done("subtract_sums", results, differences);
    {
        const int words = 4096, clusters = 400, turns = size == 4 ? 8 : 2;
        Array<unsigned> mixed(static_cast<std::size_t>(clusters) * size * threads);
        std::vector<unsigned> expected(mixed.size());
        for (int c = 0; c < clusters; ++c) {
            for (int t = 0; t < threads; ++t) {
                unsigned sum = 0;
                for (int turn = 0; turn < turns; ++turn) {
                    for (int i = t; i < words; i += threads) {
                        sum = sum * 3U + numbers[static_cast<std::size_t>(c) * words + i];
                    }
                }
                for (int rank = 0; rank < size; ++rank) {
                    expected[(c * size + rank) * threads + t] = sum;
                }
            }
        }
        prepare();
        broadcast<size><<<clusters * size, threads, words * 4>>>(values.data(), words, turns, mixed.data());
        done("broadcast", mixed, expected);
    }
    {
        const int words = 4096, blocks = 1200 / size * size, part = words / size;
        Array<unsigned> received(static_cast<std::size_t>(blocks) * words);
        std::vector<unsigned> expected(received.size());
        for (int block = 0; block < blocks; ++block) {
            for (int i = 0; i < words; ++i) {
                const int from = block / size * size + i / part;
                expected[static_cast<std::size_t>(block) * words + i] =
                    numbers[static_cast<std::size_t>(from) * words + block % size * part + i % part];
            }
        }
        prepare();
        exchange<size><<<blocks, threads, words * 4>>>(values.data(), words, received.data());
        done("exchange", received, expected);
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
