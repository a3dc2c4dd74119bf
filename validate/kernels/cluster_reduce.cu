// Sums, normalises and counts with clusters of blocks that read, write and add to each other's shared memory,
// with 2, 4 and 8 blocks a cluster, beside blocks that work alone.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cooperative_groups.h>

using namespace textbook;
namespace groups = cooperative_groups;

constexpr int threads = 256, items_per_thread = 12, part_size = threads * items_per_thread;
constexpr int bins = 2048, largest_cluster = 8;
constexpr unsigned all_lanes = 0xffffffffU;

/// The sum of the block's part of the values, in thread 0.
template <class T>
__device__ T sum_of_part(const T* values, int count) {
    __shared__ T warp_sums[threads / 32];
    T sum = 0;
#pragma unroll
    for (int k = 0; k < items_per_thread; ++k) {
        const int i = blockIdx.x * part_size + k * threads + threadIdx.x;
        sum += i < count ? values[i] : T{0};
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(all_lanes, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        warp_sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < threads / 32 ? warp_sums[threadIdx.x] : T{0};
        for (int distance = threads / 64; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(all_lanes, sum, distance);
        }
    }
    return sum;
}

__global__ void blocks_alone(const float* values, float* sums, int count) {
    const float sum = sum_of_part(values, count);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

/// The first block of a cluster reads the sums of all others.
__global__ void gather(const float* values, float* sums, int count) {
    __shared__ float own_sum;
    const auto cluster = groups::this_cluster();
    const float sum = sum_of_part(values, count);
    if (threadIdx.x == 0) {
        own_sum = sum;
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        float total = 0.0F;
        for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
            total += *cluster.map_shared_rank(&own_sum, rank);
        }
        sums[blockIdx.x / cluster.num_blocks()] = total;
    }
    // No block may end while another still reads its shared memory.
    cluster.sync();
}

/// Each block writes its sum to the first one. The cluster's size is part of the kernel.
__global__ void __cluster_dims__(4, 1, 1) push(const float* values, float* sums, int count) {
    __shared__ float received[4];
    const auto cluster = groups::this_cluster();
    // All blocks must run before one writes to another.
    cluster.sync();
    const float sum = sum_of_part(values, count);
    if (threadIdx.x == 0) {
        cluster.map_shared_rank(received, 0)[cluster.block_rank()] = sum;
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        sums[blockIdx.x / 4] = (received[0] + received[1]) + (received[2] + received[3]);
    }
}

/// Half of the blocks add a sum of the other half, until one is left.
__global__ void tree(const float* values, float* sums, int count) {
    __shared__ float own_sum;
    const auto cluster = groups::this_cluster();
    const float sum = sum_of_part(values, count);
    if (threadIdx.x == 0) {
        own_sum = sum;
    }
    cluster.sync();
    for (unsigned half = cluster.num_blocks() / 2; half > 0; half /= 2) {
        if (cluster.block_rank() < half && threadIdx.x == 0) {
            own_sum += *cluster.map_shared_rank(&own_sum, cluster.block_rank() + half);
        }
        cluster.sync();
    }
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        sums[blockIdx.x / cluster.num_blocks()] = own_sum;
    }
}

/// Each block adds its sum to a word of the first one.
__global__ void add_remotely(const unsigned* values, unsigned* sums, int count) {
    __shared__ unsigned total;
    const auto cluster = groups::this_cluster();
    if (threadIdx.x == 0) {
        total = 0;
    }
    cluster.sync();
    const unsigned sum = sum_of_part(values, count);
    if (threadIdx.x == 0) {
        atomicAdd(cluster.map_shared_rank(&total, 0), sum);
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        sums[blockIdx.x / cluster.num_blocks()] = total;
    }
}

/// Divides each value by the sum of its cluster's part: every block needs the sums of all.
__global__ void normalise(const float* values, float* shares, int count) {
    __shared__ float sums[largest_cluster];
    const auto cluster = groups::this_cluster();
    const unsigned blocks = cluster.num_blocks();
    cluster.sync();
    const float sum = sum_of_part(values, count);
    if (threadIdx.x < 32) {
        const float own_sum = __shfl_sync(all_lanes, sum, 0);
        if (threadIdx.x < blocks) {
            cluster.map_shared_rank(sums, threadIdx.x)[cluster.block_rank()] = own_sum;
        }
    }
    cluster.sync();
    float total = 0.0F;
    for (unsigned rank = 0; rank < blocks; ++rank) {
        total += sums[rank];
    }
#pragma unroll
    for (int k = 0; k < items_per_thread; ++k) {
        const int i = blockIdx.x * part_size + k * threads + threadIdx.x;
        if (i < count) {
            shares[i] = values[i] / total;
        }
    }
}

/// Counts in bins that are spread over the cluster's blocks: each holds its share.
__global__ void spread_histogram(const unsigned* values, unsigned* counts, int count) {
    extern __shared__ unsigned own_bins[];
    const auto cluster = groups::this_cluster();
    const int own_count = bins / cluster.num_blocks();
    for (int bin = threadIdx.x; bin < own_count; bin += threads) {
        own_bins[bin] = 0;
    }
    cluster.sync();
#pragma unroll 4
    for (int k = 0; k < items_per_thread; ++k) {
        const int i = blockIdx.x * part_size + k * threads + threadIdx.x;
        if (i < count) {
            const int bin = values[i] % bins;
            atomicAdd(cluster.map_shared_rank(own_bins, bin / own_count) + bin % own_count, 1U);
        }
    }
    cluster.sync();
    for (int bin = threadIdx.x; bin < own_count; bin += threads) {
        if (own_bins[bin] > 0) {
            atomicAdd(counts + cluster.block_rank() * own_count + bin, own_bins[bin]);
        }
    }
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int blocks, int cluster_size, std::size_t shared,
            Arguments... arguments) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster_size;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = dim3(blocks);
    configuration.blockDim = dim3(threads);
    configuration.dynamicSmemBytes = shared;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    require(cudaLaunchKernelEx(&configuration, kernel, arguments...), "cudaLaunchKernelEx");
}

void body() {
    for (const int count : {100001, (1 << 22) + 33}) {
        const bool small = count < 1 << 20;
        const auto integers = random_values<unsigned>(count, 1);
        std::vector<float> numbers(count);
        for (int i = 0; i < count; ++i) {
            numbers[i] = static_cast<float>(integers[i] >> 8) * 0x1p-24F;
        }
        const Array<float> values(numbers);
        const Array<unsigned> integer_values(integers);
        // A multiple of the largest cluster, so that every launch has whole clusters.
        const int parts = (count + part_size - 1) / part_size;
        const int blocks = (parts + largest_cluster - 1) / largest_cluster * largest_cluster;
        const auto sums_of_clusters = [&](int cluster_size) {
            std::vector<double> expected(blocks / cluster_size);
            for (int i = 0; i < count; ++i) {
                expected[i / (part_size * cluster_size)] += numbers[i];
            }
            return expected;
        };
        Array<float> sums(blocks);
        const auto verify = [&](const char* what, int cluster_size) {
            finish(what);
            auto result = sums.values();
            result.resize(blocks / cluster_size);
            check_close(result, sums_of_clusters(cluster_size), 1e-5, what);
            output(what, result);
            sums.zero();
        };
        if (!small) {
            prepare();
            blocks_alone<<<blocks, threads>>>(values.data(), sums.data(), count);
            verify("blocks_alone", 1);
            prepare();
            launch(gather, blocks, 2, 0, values.data(), sums.data(), count);
            verify("gather_2", 2);
            prepare();
            launch(gather, blocks, 8, 0, values.data(), sums.data(), count);
            verify("gather_8", 8);
        }
        prepare();
        launch(gather, blocks, 4, 0, values.data(), sums.data(), count);
        verify("gather_4", 4);
        prepare();
        push<<<blocks, threads>>>(values.data(), sums.data(), count);
        verify("push_4", 4);
        prepare();
        launch(tree, blocks, 8, 0, values.data(), sums.data(), count);
        verify("tree_8", 8);

        for (const int cluster_size : {4, 8}) {
            if (small && cluster_size == 4) {
                continue;
            }
            const int clusters = blocks / cluster_size;
            std::vector<unsigned> expected_sums(clusters), expected_counts(bins);
            for (int i = 0; i < count; ++i) {
                expected_sums[i / (part_size * cluster_size)] += integers[i];
                ++expected_counts[integers[i] % bins];
            }
            const Array<unsigned> integer_sums(clusters), counts(bins);
            if (!small) {
                prepare();
                launch(add_remotely, blocks, cluster_size, 0, integer_values.data(), integer_sums.data(),
                       count);
                finish("add_remotely");
                check(integer_sums.values() == expected_sums, "add_remotely");
                output(cluster_size == 4 ? "add_remotely_4" : "add_remotely_8", integer_sums);
            }
            prepare();
            launch(spread_histogram, blocks, cluster_size, bins / cluster_size * sizeof(unsigned),
                   integer_values.data(), counts.data(), count);
            finish("spread_histogram");
            check(counts.values() == expected_counts, "spread_histogram");
            output(cluster_size == 4 ? "spread_histogram_4" : "spread_histogram_8", counts);
        }

        const auto totals = sums_of_clusters(4);
        std::vector<double> expected_shares(count);
        for (int i = 0; i < count; ++i) {
            expected_shares[i] = numbers[i] / totals[i / (part_size * 4)];
        }
        const Array<float> shares(count);
        prepare();
        launch(normalise, blocks, 4, 0, values.data(), shares.data(), count);
        finish("normalise_4");
        check_close(shares.values(), expected_shares, 1e-5, "normalise_4");
        output("normalise_4", shares);
    }
}

int main() {
    return run(body);
}
