// Work that a cluster of CTAs shares through distributed shared memory: a histogram whose bins are spread
// over the cluster, mean and variance of long rows, and blocks of matrices exchanged
// transposed.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cooperative_groups.h>

using namespace textbook;
namespace cg = cooperative_groups;

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int grid, int threads, int cluster, std::size_t shared,
            Arguments... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(grid);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    require(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), "launch");
}

/// Each CTA of a cluster holds its part of the bins; every thread adds to whichever CTA holds its bin.
__global__ void spread_histogram(const unsigned* values, unsigned* bins, int count, int bins_each) {
    extern __shared__ unsigned own[];
    const cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_each; i += blockDim.x) own[i] = 0;
    cluster.sync();
    const int bin_count = bins_each * static_cast<int>(cluster.num_blocks());
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const int bin = static_cast<int>(values[i] % static_cast<unsigned>(bin_count));
        unsigned* there = cluster.map_shared_rank(own, bin / bins_each);
        atomicAdd(there + bin % bins_each, 1U);
    }
    cluster.sync();
    const int first = static_cast<int>(cluster.block_rank()) * bins_each;
    for (int i = threadIdx.x; i < bins_each; i += blockDim.x)
        if (own[i] > 0) atomicAdd(bins + first + i, own[i]);
}

__device__ inline float block_sum(float value, float* shared) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0F;
    for (int w = 0; w < blockDim.x / 32; ++w) value += shared[w];
    return value;
}

/// A cluster a row: the part of each CTA stays in registers, sums are pushed to all CTAs of the cluster.
template <int each>
__global__ void __launch_bounds__(512) normalize_rows(const float4* in, float4* out, int vectors) {
    __shared__ float shared[32];
    __shared__ float sums[2][16];
    const cg::cluster_group cluster = cg::this_cluster();
    const int ctas = static_cast<int>(cluster.num_blocks()), rank = static_cast<int>(cluster.block_rank());
    const std::size_t start = static_cast<std::size_t>(blockIdx.x / ctas) * vectors;
    const int part = vectors / ctas;
    float4 own[each];
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int i = k * blockDim.x + threadIdx.x;
        own[k] = i < part ? in[start + rank * part + i] : float4{0.0F, 0.0F, 0.0F, 0.0F};
        sum += own[k].x + own[k].y + own[k].z + own[k].w;
    }
    sum = block_sum(sum, shared);
    cluster.sync();  // all CTAs have started
    if (threadIdx.x < ctas) cluster.map_shared_rank(&sums[0][0], threadIdx.x)[rank] = sum;
    cluster.sync();
    float mean = 0.0F;
    for (int r = 0; r < ctas; ++r) mean += sums[0][r];
    mean /= 4.0F * static_cast<float>(vectors);
    float square = 0.0F;
#pragma unroll
    for (int k = 0; k < each; ++k) {
        if (k * blockDim.x + threadIdx.x < part) {
            const float x = own[k].x - mean, y = own[k].y - mean, z = own[k].z - mean, w = own[k].w - mean;
            square += x * x + y * y + z * z + w * w;
            own[k] = {x, y, z, w};
        }
    }
    square = block_sum(square, shared);
    if (threadIdx.x < ctas) cluster.map_shared_rank(&sums[1][0], threadIdx.x)[rank] = square;
    cluster.sync();
    float variance = 0.0F;
    for (int r = 0; r < ctas; ++r) variance += sums[1][r];
    const float scale = 1.0F / sqrtf(variance / (4.0F * static_cast<float>(vectors)) + 1e-5F);
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int i = k * blockDim.x + threadIdx.x;
        if (i < part) {
            out[start + rank * part + i] = {own[k].x * scale, own[k].y * scale, own[k].z * scale,
                                            own[k].w * scale};
        }
    }
}

/// Matrices of (32 * CTAs) squared: each CTA loads 32 rows, then writes 32 columns as rows out of the others'
/// tiles.
__global__ void exchange_transposed(const float* in, float* out) {
    extern __shared__ float tile[];
    const cg::cluster_group cluster = cg::this_cluster();
    const int ctas = static_cast<int>(cluster.num_blocks()), rank = static_cast<int>(cluster.block_rank());
    const int size = 32 * ctas, pitch = size + 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const std::size_t start = static_cast<std::size_t>(blockIdx.x / ctas) * size * size;
    for (int row = warp; row < 32; row += blockDim.x / 32)
        for (int column = lane; column < size; column += 32)
            tile[row * pitch + column] =
                in[start + static_cast<std::size_t>(32 * rank + row) * size + column];
    cluster.sync();
    for (int k = 0; k < ctas; ++k) {
        const int other = (rank + k) % ctas;
        const float* theirs = cluster.map_shared_rank(tile, other);
        for (int row = warp; row < 32; row += blockDim.x / 32)
            out[start + static_cast<std::size_t>(32 * rank + row) * size + 32 * other + lane] =
                theirs[lane * pitch + 32 * rank + row];
    }
    cluster.sync();
}

void histograms(int count, int cluster, int bin_count) {
    const Array<unsigned> values(random_values<unsigned>(count, 1));
    Array<unsigned> bins(bin_count);
    prepare();
    launch(spread_histogram, 128, 256, cluster, bin_count / cluster * sizeof(unsigned), values.data(),
           bins.data(), count, bin_count / cluster);
    finish("histogram");
    output(("bins_" + std::to_string(bin_count) + "_" + std::to_string(cluster)).c_str(), bins);
}

void rows_of(int rows, int vectors, int cluster) {
    const std::size_t count = static_cast<std::size_t>(rows) * vectors * 4;
    const Array<float> in(random_values<float>(count, 2));
    Array<float> out(count);
    const std::string name = std::to_string(rows) + "_" + std::to_string(cluster);
    prepare();
    launch(normalize_rows<4>, rows * cluster, 512, cluster, 0, reinterpret_cast<const float4*>(in.data()),
           reinterpret_cast<float4*>(out.data()), vectors);
    finish("normalize");
    output(("rows_" + name).c_str(), out);
}

void exchanges(int matrices, int cluster) {
    const int size = 32 * cluster;
    const auto values = random_values<float>(static_cast<std::size_t>(matrices) * size * size, 4);
    const Array<float> in(values);
    Array<float> out(values.size());
    prepare();
    launch(exchange_transposed, matrices * cluster, 256, cluster, 32 * (size + 1) * sizeof(float), in.data(),
           out.data());
    finish("exchange");
    const auto got = out.values();
    for (int i = 0; i < size; ++i) check(got[i * size + 1] == values[size + i], "exchange");
    output(("exchanged_" + std::to_string(cluster)).c_str(), out);
}

void body() {
    histograms(4000000, 4, 4096);
    histograms(4000000, 8, 4096);
    histograms(2000000, 2, 16384);
    rows_of(512, 4096, 2);
    rows_of(256, 8192, 4);
    rows_of(128, 16384, 8);
    exchanges(256, 4);
    exchanges(96, 8);
}

int main() {
    return run(body);
}
