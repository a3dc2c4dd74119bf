// How far and how wide is the shared memory of another CTA of the cluster?
// dsmem_chase: one lane follows a cycle of pointers in the shared memory of the CTA `distance` ranks on.
// Meanwhile the other CTAs of the cluster do nothing, or do the same.
// dsmem_read: all warps read from there, with `loads` independent vectors of `bytes` a lane.
// The value is the cycles between two warp-instructions of one SM.
// Distance 0 is the CTA's own memory through the same instruction. The last pointer and the sums are checked.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

namespace {

constexpr int words = 8192;
constexpr int steps = 512;
constexpr int turn_bytes = 2048;

__device__ std::uint32_t remote(const void* own, unsigned distance) {
    std::uint32_t rank = 0;
    std::uint32_t size = 0;
    std::uint32_t address = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(address)
                 : "r"(probe::shared_address(own)), "r"((rank + distance) % size));
    return address;
}

__device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

// Every word holds the offset of the word 17 further on.
__device__ void lay(std::uint32_t* table) {
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) table[i] = (i + 17) % words * 4;
    cluster_sync();
}

__global__ void chase(long long* cycles, int distance, int chasing, std::uint32_t* ends) {
    extern __shared__ __align__(16) std::uint32_t table[];
    lay(table);
    const std::uint32_t base = remote(table, static_cast<unsigned>(distance));
    std::uint32_t rank = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    std::uint32_t offset = 0;
    if (threadIdx.x == 0 && rank < static_cast<std::uint32_t>(chasing)) {
        const long long begin = clock64();
#pragma unroll 8
        for (int i = 0; i < steps; ++i) {
            asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(offset) : "r"(base + offset) : "memory");
        }
        asm volatile("" ::"r"(offset) : "memory");
        cycles[blockIdx.x] = clock64() - begin;
        ends[blockIdx.x] = offset;
    }
    cluster_sync();
}

template <int Bytes, int Loads>
__global__ void __launch_bounds__(1024)
    read(long long* cycles, int distance, int count, std::uint32_t* ends) {
    extern __shared__ __align__(16) std::uint32_t table[];
    lay(table);
    const std::uint32_t base = remote(table, static_cast<unsigned>(distance));
    constexpr int each = Bytes / 4;
    std::uint32_t sum = 0;
    long long begin = 0;
    std::uint32_t at = threadIdx.x * Bytes % (words * 4);
    // The first pass warms the instruction cache.
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
        cluster_sync();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
            std::uint32_t found[Loads][each];
#pragma unroll
            for (int j = 0; j < Loads; ++j) {
                const std::uint32_t from = base + (at + j * 1024 * Bytes) % (words * 4);
                if constexpr (each == 1) {
                    asm volatile("ld.shared::cluster.u32 %0, [%1];"
                                 : "=r"(found[j][0])
                                 : "r"(from)
                                 : "memory");
                } else if constexpr (each == 2) {
                    asm volatile("ld.shared::cluster.v2.u32 {%0,%1}, [%2];"
                                 : "=r"(found[j][0]), "=r"(found[j][1])
                                 : "r"(from)
                                 : "memory");
                } else {
                    asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];"
                                 : "=r"(found[j][0]), "=r"(found[j][1]), "=r"(found[j][2]), "=r"(found[j][3])
                                 : "r"(from)
                                 : "memory");
                }
            }
#pragma unroll
            for (int j = 0; j < Loads; ++j) sum += found[j][each - 1];
            // Each turn reads from another place; otherwise the compiler would load once.
            at = (at + turn_bytes) % (words * 4);
        }
        asm volatile("" ::"r"(sum) : "memory");
        __syncthreads();
        if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
        cluster_sync();
    }
    ends[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

struct Bench {
    Bench() : cycles(1024), ends(1U << 18) {}
    probe::Buffer<long long> cycles;
    probe::Buffer<std::uint32_t> ends;
};

// Launches clusters of `cluster` CTAs; the samples are cycles of the median CTA that took part.
template <typename... Arguments>
std::vector<double> launch(Bench& bench, void (*kernel)(Arguments...), int grid, int threads, int cluster,
                           const std::vector<int>& taking_part, Arguments... arguments) {
    // This much shared memory keeps two CTAs from sharing an SM.
    constexpr int bytes = 120 * 1024;
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(cluster);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(grid));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    std::vector<double> found;
    for (int turn = 0; turn < probe::launches(10); ++turn) {
        PROBE_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<long long> all = bench.cycles.host();
        std::vector<double> each;
        for (const int cta : taking_part)
            each.push_back(static_cast<double>(all[static_cast<std::size_t>(cta)]));
        if (turn > 0) found.push_back(probe::median(each));
        probe::pause_ms(0.2);
    }
    return found;
}

void chase_case(Bench& bench, int cluster, int distance, int chasing) {
    probe::Params params;
    params.set("cluster", cluster).set("distance", distance).set("chasing", chasing).set("stride", 68);
    if (!probe::wanted("dsmem_chase", params)) return;
    std::vector<int> ranks;
    for (int rank = 0; rank < chasing; ++rank) ranks.push_back(rank);
    std::vector<double> found = launch(bench, chase, cluster, 128, cluster, ranks, bench.cycles.data(),
                                       distance, chasing, bench.ends.data());
    const std::vector<std::uint32_t> ends = bench.ends.host();
    for (const int rank : ranks) {
        probe::require(ends[static_cast<std::size_t>(rank)] == steps * 17 % words * 4, params.text());
    }
    for (double& cycles : found) cycles /= steps;
    probe::row("dsmem_chase", params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

template <int Bytes, int Loads>
void read_case(Bench& bench, int cluster, int distance, int warps) {
    probe::Params params;
    params.set("cluster", cluster).set("distance", distance).set("bytes", Bytes).set("loads", Loads);
    params.set("warps", warps).set("clusters", 64 / cluster);
    if (!probe::wanted("dsmem_read", params)) return;
    const int count = std::max(4, 64 / Loads);
    const int grid = 64 / cluster * cluster;
    std::vector<int> all;
    for (int cta = 0; cta < grid; ++cta) all.push_back(cta);
    std::vector<double> found = launch(bench, read<Bytes, Loads>, grid, warps * 32, cluster, all,
                                       bench.cycles.data(), distance, count, bench.ends.data());
    const std::vector<std::uint32_t> ends = bench.ends.host();
    for (int thread = 0; thread < warps * 32; ++thread) {
        std::uint32_t sum = 0;
        for (int j = 0; j < 2 * count * Loads; ++j) {
            const int at = thread * Bytes + j / Loads * turn_bytes + j % Loads * 1024 * Bytes;
            const int word = at % (words * 4) / 4 + Bytes / 4 - 1;
            sum += static_cast<std::uint32_t>((word + 17) % words * 4);
        }
        for (int cta = 0; cta < grid; ++cta) {
            probe::require(ends[static_cast<std::size_t>(cta * warps * 32 + thread)] == sum, params.text());
        }
    }
    for (double& cycles : found) cycles /= static_cast<double>(count) * Loads * warps;
    probe::row("dsmem_read", params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

}  // namespace

int main() {
    probe::begin("dsmem");
    Bench bench;
    for (const int cluster : {2, 4, 8}) {
        for (int distance = 0; distance < cluster; ++distance) {
            chase_case(bench, cluster, distance, 1);
            chase_case(bench, cluster, distance, cluster);
        }
    }
    for (const int cluster : {2, 4, 8}) {
        for (const int distance : {0, 1, cluster - 1}) {
            if (distance == 1 && cluster == 2) continue;
            for (const int warps : {1, 2, 4, 8, 16, 32}) {
                read_case<16, 1>(bench, cluster, distance, warps);
                read_case<16, 4>(bench, cluster, distance, warps);
                read_case<4, 4>(bench, cluster, distance, warps);
            }
        }
        for (const int warps : {1, 4, 16}) {
            read_case<4, 1>(bench, cluster, 1, warps);
            read_case<8, 4>(bench, cluster, 1, warps);
            read_case<16, 8>(bench, cluster, 1, warps);
        }
    }
    return 0;
}
