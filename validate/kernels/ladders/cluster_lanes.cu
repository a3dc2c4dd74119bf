// A ladder of accesses to the shared memory of the next CTA of a cluster: loads, stores and additions of a
// word by 1 to 32 lanes that stand `stride` words apart, by 1 to 32 warps of each CTA, one CTA an SM. One CTA
// of `every` asks. The rows are in validate/recorded/h100-sxm/ladders/cluster_lanes.csv: cycles of an SM that
// asks for one warp's access. Build: nvcc -O3 -std=c++17 -arch=sm_90a
// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

enum Kind { load, load_own, store, add, add_old };
constexpr int words = 32768, rounds = 64;

template <Kind kind>
__global__ void access(unsigned* sink, long long* cycles, int stride, int lanes, int apart, int every) {
    extern __shared__ unsigned memory[];
    const cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < words; i += blockDim.x) memory[i] = 0;
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    unsigned* const theirs = kind == load_own ? cluster.map_shared_rank(memory, cluster.block_rank())
                                              : cluster.map_shared_rank(memory, next);
    cluster.sync();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned at = (lane * stride + warp * apart) % words, sum = 0;
    const long long begun = clock64();
    if (lane < lanes && cluster.block_rank() % every == 0) {
        for (int r = 0; r < rounds; ++r) {
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                unsigned* const word = theirs + (at + k * 1056) % words;
                if constexpr (kind == load || kind == load_own)
                    sum += *reinterpret_cast<volatile unsigned*>(word);
                if constexpr (kind == store) *reinterpret_cast<volatile unsigned*>(word) = r;
                if constexpr (kind == add) atomicAdd(word, 1U);
                if constexpr (kind == add_old) sum += atomicAdd(word, 1U);
            }
            at += 4 * 1056 + (sum == 0xffffffffU);
        }
    }
    cluster.sync();
    const long long ended = clock64();
    if (threadIdx.x == 0) cycles[blockIdx.x] = ended - begun;
    if (sum == 0xfffffff0U) sink[0] = sum;
}

template <Kind kind>
void one(const char* name, int cluster, int warps, int stride, int lanes, int apart, int every,
         unsigned* sink, long long* cycles) {
    cudaFuncSetAttribute(access<kind>, cudaFuncAttributeMaxDynamicSharedMemorySize, words * 4);
    cudaLaunchConfig_t config{};
    config.gridDim = 16 * cluster;
    if (cluster == 2) config.gridDim = 128;
    config.blockDim = 32 * warps;
    config.dynamicSmemBytes = words * 4;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    long long best = 1LL << 60;
    for (int sample = 0; sample < 3; ++sample) {
        cudaLaunchKernelEx(&config, access<kind>, sink, cycles, stride, lanes, apart, every);
        cudaDeviceSynchronize();
        long long longest = 0;
        for (unsigned i = 0; i < config.gridDim.x; ++i) longest = cycles[i] > longest ? cycles[i] : longest;
        best = longest < best ? longest : best;
    }
    std::printf("%s,%d,%d,%d,%d,%d,%d,%.2f\n", name, cluster, warps, lanes, stride, apart, every,
                static_cast<double>(best) / (rounds * 4 * warps));
}

int main() {
    unsigned* sink = nullptr;
    long long* cycles = nullptr;
    cudaMalloc(&sink, 64);
    cudaMallocManaged(&cycles, 4096 * sizeof(long long));
    std::printf("kind,cluster,warps,lanes,stride,apart,every,cycles\n");
    const auto all = [&](int cluster, int warps, int stride, int lanes, int apart, int every = 1) {
        one<load>("load", cluster, warps, stride, lanes, apart, every, sink, cycles);
        one<store>("store", cluster, warps, stride, lanes, apart, every, sink, cycles);
        one<add>("add", cluster, warps, stride, lanes, apart, every, sink, cycles);
        one<add_old>("add_old", cluster, warps, stride, lanes, apart, every, sink, cycles);
        one<load_own>("load_own", cluster, warps, stride, lanes, apart, every, sink, cycles);
    };
    const int strides[] = {0, 1, 2, 3, 4, 8, 9, 16, 17, 32, 33, 65, 257};
    for (const int stride : strides) all(8, 16, stride, 32, 32);
    for (const int warps : {1, 2, 4, 8, 32})
        for (const int stride : {1, 2, 8, 9, 33}) all(8, warps, stride, 32, 32);
    for (const int lanes : {1, 2, 4, 8, 16})
        for (const int stride : {1, 9, 33}) all(8, 16, stride, lanes, 32);
    for (const int cluster : {2, 4})
        for (const int stride : {1, 4, 9, 33}) all(cluster, 16, stride, 32, 32);
    for (const int cluster : {2, 4, 8})
        for (const int every : {2, 4, 8})
            if (every <= cluster)
                for (const int stride : {1, 9, 33}) all(cluster, 16, stride, 32, 32, every);
    std::printf("# %s\n", cudaGetErrorString(cudaGetLastError()));
}
