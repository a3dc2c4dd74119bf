// How long do CTAs wait for each other in a cluster, in a grid, and in pairs through memory?
// cluster_sync: barrier.cluster arrive and wait, of clusters of up to 16 CTAs.
// grid_sync: the barrier of cooperative groups.
// flag: two CTAs of different SMs hand a number to and fro with st.release and ld.acquire; the value is one
// way. `pairs` pairs run at once. dsmem_flag: the same within one cluster, through shared memory. Every count
// is checked at the end.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

#include <cooperative_groups.h>

namespace {

namespace groups = cooperative_groups;

constexpr int rounds = 64;

__global__ void cluster_sync(long long* cycles, int* passed) {
    long long begin = 0;
    // The first pass warms the instruction cache.
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; ++i) {
            asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
        }
    }
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
    if (threadIdx.x == 0) atomicAdd(passed, rounds);
}

__global__ void grid_sync(long long* cycles, int* passed) {
    const groups::grid_group grid = groups::this_grid();
    long long begin = 0;
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
        grid.sync();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; ++i) grid.sync();
    }
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
    if (threadIdx.x == 0) atomicAdd(passed, rounds);
}

__device__ void publish(std::uint32_t* flag, std::uint32_t value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

__device__ void await(std::uint32_t* flag, std::uint32_t value) {
    std::uint32_t seen = 0;
    do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    } while (seen != value);
}

// CTA i and CTA i + pairs hand a number to and fro; the two flags lie 256 bytes apart.
__global__ void flag(long long* cycles, std::uint32_t* flags, int* passed) {
    if (threadIdx.x != 0) return;
    const unsigned pairs = gridDim.x / 2;
    const unsigned pair = blockIdx.x % pairs;
    const bool first = blockIdx.x < pairs;
    std::uint32_t* there = flags + std::size_t{pair} * 128;
    std::uint32_t* back = there + 64;
    long long begin = 0;
#pragma unroll 1
    for (int i = -8; i < rounds; ++i) {
        if (i == 0) begin = clock64();
        const auto value = static_cast<std::uint32_t>(i + 9);
        if (first) {
            publish(there, value);
            await(back, value);
        } else {
            await(there, value);
            publish(back, value);
        }
    }
    cycles[blockIdx.x] = clock64() - begin;
    atomicAdd(passed, rounds);
}

// The same through the shared memory of the other CTA of a cluster of two.
__global__ void __cluster_dims__(2) dsmem_flag(long long* cycles, int* passed) {
    __shared__ std::uint32_t word;
    word = 0;
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    const std::uint32_t own = probe::shared_address(&word);
    std::uint32_t other = 0;
    std::uint32_t rank = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(own), "r"(rank ^ 1U));
    long long begin = 0;
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int i = -8; i < rounds; ++i) {
            if (i == 0) begin = clock64();
            const auto value = static_cast<std::uint32_t>(i + 9);
            std::uint32_t seen = 0;
            if (rank == 0) {
                asm volatile("st.release.cluster.shared::cluster.u32 [%0], %1;" ::"r"(other), "r"(value)
                             : "memory");
            }
            do {
                asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];"
                             : "=r"(seen)
                             : "r"(own)
                             : "memory");
            } while (seen != value);
            if (rank == 1) {
                asm volatile("st.release.cluster.shared::cluster.u32 [%0], %1;" ::"r"(other), "r"(value)
                             : "memory");
            }
        }
        cycles[blockIdx.x] = clock64() - begin;
        atomicAdd(passed, rounds);
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

struct Bench {
    Bench() : cycles(4096), passed(1), flags(132 * 128) {}
    probe::Buffer<long long> cycles;
    probe::Buffer<int> passed;
    probe::Buffer<std::uint32_t> flags;
};

// Makes ten launches, the first to warm up. Prints the cycles of one round, or of half a round.
void launch_case(Bench& bench, const std::string& op, const probe::Params& params, const void* kernel,
                 int grid, int threads, int cluster, bool cooperative, double per_round) {
    if (!probe::wanted(op, params)) return;
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(grid));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.attrs = &attribute;
    if (cluster > 0) {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = static_cast<unsigned>(cluster);
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        config.numAttrs = 1;
    } else if (cooperative) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
        config.numAttrs = 1;
    }
    int fitting = 0;
    if (cluster > 0) {
        // For a size that the chip does not have, the call returns an error.
        if (cudaOccupancyMaxActiveClusters(&fitting, kernel, &config) != cudaSuccess) {
            (void)cudaGetLastError();
            return;
        }
        if (fitting < grid / cluster) return;
    }
    bench.passed.zero();
    long long* cycles = bench.cycles.data();
    std::uint32_t* flags = bench.flags.data();
    int* passed = bench.passed.data();
    void* arguments[] = {&cycles, &passed};
    void* with_flags[] = {&cycles, &flags, &passed};
    const bool needs_flags = op == "flag";
    std::vector<double> found;
    for (int turn = 0; turn < probe::launches(10); ++turn) {
        bench.flags.zero();
        PROBE_CHECK(cudaLaunchKernelExC(&config, kernel, needs_flags ? with_flags : arguments));
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<long long> all = bench.cycles.host();
        const std::vector<double> each(all.begin(), all.begin() + grid);
        if (turn > 0) found.push_back(probe::median(each) / (rounds * per_round));
        probe::pause_ms(0.2);
    }
    probe::require(bench.passed.host()[0] == 10 * rounds * grid, op + ' ' + params.text());
    probe::row(op, params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

}  // namespace

int main() {
    probe::begin("cluster_barrier");
    Bench bench;
    const auto* sync = reinterpret_cast<const void*>(cluster_sync);
    PROBE_CHECK(cudaFuncSetAttribute(sync, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    for (const int cluster : {1, 2, 3, 4, 6, 8, 12, 16}) {
        for (const int warps : {1, 2, 4, 8, 16, 32}) {
            for (const int clusters : {1, 64 / cluster}) {
                probe::Params params;
                params.set("cluster", cluster).set("warps", warps).set("clusters", clusters);
                launch_case(bench, "cluster_sync", params, sync, cluster * clusters, warps * 32, cluster,
                            false, 1.0);
            }
        }
    }
    const int sms = probe::device().sms;
    for (const int ctas : {2, 4, 8, 16, 33, 66, 132, 264, 528}) {
        for (const int threads : {32, 256, 512}) {
            if (ctas > sms * 4) continue;
            probe::Params params;
            params.set("ctas", ctas).set("threads", threads);
            launch_case(bench, "grid_sync", params, reinterpret_cast<const void*>(grid_sync), ctas, threads,
                        0, true, 1.0);
        }
    }
    for (const int pairs : {1, 2, 4, 8, 16, 32, 66}) {
        if (2 * pairs > sms) continue;
        probe::Params params;
        params.set("pairs", pairs);
        launch_case(bench, "flag", params, reinterpret_cast<const void*>(flag), 2 * pairs, 32, 0, true, 2.0);
        launch_case(bench, "dsmem_flag", params, reinterpret_cast<const void*>(dsmem_flag), 2 * pairs, 32, 0,
                    false, 2.0);
    }
    return 0;
}
