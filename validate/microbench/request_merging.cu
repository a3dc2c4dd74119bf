// Which reads of the same lines become one request on their way to the L2?
// burst: CTAs of one cluster of 16, that is SMs of one graphics processing cluster, read the same 512 bytes.
// The reads lie `delay` cycles apart. With `shared_by`, that many CTAs read by one multicast copy.
// The CTAs meet before each burst and go through 64 KB sixteen times.
// tile_loop: CTAs of a tiled product copy rows of A and B in a ring of stages.
// The CTAs multiply-add `fma` times a step; `resident` CTAs share an SM, and the grid makes `waves` waves.
// The times say little about merging.
// Nsight Compute's sectors against the bytes that the SMs received show how many requests were left.
// SPDX-License-Identifier: Apache-2.0
#include "bulk.cuh"
#include "harness.cuh"

namespace {

constexpr int cluster = 16;
constexpr int burst_bytes = 512;
constexpr int bursts = 128;
constexpr int laps = 16;
constexpr int most_shared = 227 * 1024;

enum class Way { load, async, bulk };

struct Readers {
    int count;      // groups of CTAs that read
    int shared_by;  // CTAs of a group: the first reads for all
    int delay;      // cycles from one group to the next
};

__device__ void cluster_meet() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

__device__ void wait_cycles(int cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

// One warp a CTA. All CTAs stay until the last burst, so that the cluster can meet.
template <Way way>
__global__ void __launch_bounds__(32) burst(const char* data, Readers readers, std::uint32_t* folded) {
    extern __shared__ __align__(1024) char words[];
    __shared__ std::uint64_t arrived;
    std::uint32_t rank = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const int group = static_cast<int>(rank) / readers.shared_by;
    const bool takes = group < readers.count;
    const bool first = static_cast<int>(rank) % readers.shared_by == 0;
    const auto mask =
        static_cast<std::uint16_t>(((1U << readers.shared_by) - 1U) << (group * readers.shared_by));
    if (threadIdx.x == 0) {
        probe::barrier_init(&arrived, 1);
        probe::barrier_fence();
    }
    __syncwarp();
    int delay = group * readers.delay;
    std::uint32_t sum = 0;
#pragma unroll 1
    for (int i = 0; i < bursts * laps; ++i) {
        const char* const from = data + i % bursts * burst_bytes;
        if (way == Way::bulk && takes && threadIdx.x == 0) probe::barrier_expect(&arrived, burst_bytes);
        __syncwarp();
        cluster_meet();
        if (!takes) continue;
        wait_cycles(delay);
        const char* const lane_from = from + threadIdx.x * 16;
        if (way == Way::load) {
            uint4 word;
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                         : "l"(lane_from));
            sum += word.x;
        } else if (way == Way::async) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.wait_all;" ::"r"(
                             probe::shared_address(words + threadIdx.x * 16)),
                         "l"(lane_from)
                         : "memory");
            sum += *reinterpret_cast<volatile std::uint32_t*>(words + threadIdx.x * 16);
        } else {
            if (threadIdx.x == 0 && first) {
                if (readers.shared_by == 1) {
                    probe::bulk_copy(words, from, burst_bytes, &arrived);
                } else {
                    asm volatile(
                        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                        ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(probe::shared_address(words)),
                        "l"(from), "r"(burst_bytes), "r"(probe::shared_address(&arrived)), "h"(mask)
                        : "memory");
                }
            }
            probe::barrier_wait(&arrived, static_cast<std::uint32_t>(i) & 1U);
            sum += *reinterpret_cast<volatile std::uint32_t*>(words + threadIdx.x * 16);
        }
        delay += sum == 0x9e3779b9U ? 1 : 0;  // the next burst waits for this one
    }
    cluster_meet();
    sum = __reduce_add_sync(0xffffffffU, sum);
    if (threadIdx.x == 0 && takes) atomicAdd(folded, sum);
}

std::uint32_t expected(const std::vector<uint4>& host, int ctas) {
    std::uint32_t sum = 0;
    for (int i = 0; i < bursts * burst_bytes / 16; ++i) sum += host[static_cast<std::size_t>(i)].x;
    return sum * laps * static_cast<std::uint32_t>(ctas);
}

struct Product {
    int tiles_m, tiles_n, group;
    int k;  // elements of two bytes
    int fma;
};

// The loop of a tiled product: A in rows along K, B in rows along N, both of two-byte elements.
template <int bm, int bn, int bk, int stages, int threads>
__global__ void __launch_bounds__(threads)
    tile_loop(const char* a, const char* b, Product p, std::uint32_t* folded) {
    extern __shared__ __align__(1024) char ring[];
    constexpr int a_bytes = bm * bk * 2;
    constexpr int b_bytes = bn * bk * 2;
    const int width = p.group * p.tiles_n;
    const int first = static_cast<int>(blockIdx.x) / width * p.group;
    const int rows = min(p.tiles_m - first, p.group);
    const int inside = static_cast<int>(blockIdx.x) % width;
    const std::size_t a_pitch = static_cast<std::size_t>(p.k) * 2;
    const std::size_t b_pitch = static_cast<std::size_t>(p.tiles_n) * bn * 2;
    const char* const a_rows = a + static_cast<std::size_t>(first + inside % rows) * bm * a_pitch;
    const char* const b_columns = b + static_cast<std::size_t>(inside / rows) * bn * 2;
    const auto copy = [](char* to, const char* from) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(probe::shared_address(to)), "l"(from));
    };
    const auto fetch = [&](int step) {
        if (step * bk < p.k) {
            char* const to = ring + step % stages * (a_bytes + b_bytes);
            for (int i = static_cast<int>(threadIdx.x); i < a_bytes / 16; i += threads) {
                constexpr int per_row = bk * 2 / 16;
                copy(to + i * 16, a_rows + static_cast<std::size_t>(i / per_row) * a_pitch +
                                      static_cast<std::size_t>(step * bk * 2 + i % per_row * 16));
            }
            for (int i = static_cast<int>(threadIdx.x); i < b_bytes / 16; i += threads) {
                constexpr int per_row = bn * 2 / 16;
                copy(to + a_bytes + i * 16, b_columns +
                                                static_cast<std::size_t>(step * bk + i / per_row) * b_pitch +
                                                static_cast<std::size_t>(i % per_row * 16));
            }
        }
        asm volatile("cp.async.commit_group;");
    };
    for (int step = 0; step < stages - 1; ++step) fetch(step);
    float x = static_cast<float>(threadIdx.x), y = x + 1.0F, z = x + 2.0F, w = x + 3.0F;
#pragma unroll 1
    for (int step = 0; step * bk < p.k; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
        __syncthreads();
        fetch(step + stages - 1);
#pragma unroll 1
        for (int i = 0; i < p.fma; i += 4) {
            x = fmaf(x, y, z);
            y = fmaf(y, z, w);
            z = fmaf(z, w, x);
            w = fmaf(w, x, y);
        }
    }
    asm volatile("cp.async.wait_all;");
    if (x + y + z + w == 12345.678F) atomicAdd(folded, 1U);
}

struct Data {
    static constexpr std::size_t bytes = std::size_t{64} << 20;
    probe::Buffer<uint4> a{bytes / 16}, b{bytes / 16};
    probe::Buffer<std::uint32_t> folded{1};
    Data() {
        probe::fill_random(a.data(), bytes, 3);
        probe::fill_random(b.data(), bytes, 4);
    }
};

void write(const char* op, const probe::Params& params, const probe::Durations& found,
           probe::Conditions with) {
    with.method = found.method;
    with.steps = found.steps;
    probe::row(op, params, "kernel_us", "us", found.us, with);
}

probe::Conditions cold() {
    probe::Conditions with;
    with.cache = "cold";
    return with;
}

template <Way way>
void record_burst(Data& d, const std::vector<uint4>& host, const char* name, const Readers& readers) {
    probe::Params params;
    params.set("way", name).set("readers", readers.count).set("shared_by", readers.shared_by);
    params.set("delay", readers.delay).set("bytes", bursts * burst_bytes * laps);
    if (!probe::wanted("burst", params)) return;
    const auto kernel = burst<way>;
    PROBE_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared - 1024));
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    const auto launch = [&] {
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(cluster);
        config.blockDim = dim3(32);
        config.dynamicSmemBytes = most_shared - 1024;
        cudaLaunchAttribute size{};
        size.id = cudaLaunchAttributeClusterDimension;
        size.val.clusterDim.x = cluster;
        size.val.clusterDim.y = size.val.clusterDim.z = 1;
        config.attrs = &size;
        config.numAttrs = 1;
        PROBE_CHECK(cudaLaunchKernelEx(&config, kernel, reinterpret_cast<const char*>(d.a.data()), readers,
                                       d.folded.data()));
    };
    d.folded.zero();
    launch();
    probe::require(d.folded.host()[0] == expected(host, readers.count * readers.shared_by), "words read");
    write("burst", params,
          probe::time_kernel(
              7, [] {}, launch),
          {});
}

template <int bm, int bn, int bk, int stages, int threads>
void record_loop(Data& d, int resident, const Product& p) {
    constexpr int needed = stages * (bm + bn) * bk * 2;
    const int shared = (most_shared / resident - 1024) / 1024 * 1024;
    const std::size_t k = static_cast<std::size_t>(p.k);
    if (shared < needed || static_cast<std::size_t>(p.tiles_m) * bm * k * 2 > Data::bytes ||
        static_cast<std::size_t>(p.tiles_n) * bn * k * 2 > Data::bytes) {
        return;
    }
    const int tiles = p.tiles_m * p.tiles_n;
    const int slots = resident * probe::device().sms;
    probe::Params params;
    params.set("bm", bm).set("bn", bn).set("bk", bk).set("stages", stages).set("threads", threads);
    params.set("tiles_m", p.tiles_m).set("tiles_n", p.tiles_n).set("group", p.group).set("k", p.k);
    params.set("fma", p.fma).set("resident", resident).set("waves", (tiles + slots - 1) / slots);
    if (!probe::wanted("tile_loop", params, cold())) return;
    const auto kernel = tile_loop<bm, bn, bk, stages, threads>;
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared));
    write("tile_loop", params,
          probe::time_kernel(
              3,
              [&] {
                  if (!probe::only_read())
                      probe::prepare_read<<<probe::device().sms * 8, 256>>>(d.a.data(), d.a.size(),
                                                                            d.folded.data());
              },
              [&] {
                  kernel<<<tiles, threads, shared>>>(reinterpret_cast<const char*>(d.a.data()),
                                                     reinterpret_cast<const char*>(d.b.data()), p,
                                                     d.folded.data());
              }),
          cold());
}

template <int bm, int bn, int bk, int stages, int threads>
void record_loops(Data& d) {
    for (const int fma : {0, 64, 400}) {
        for (const int resident : {1, 2, 4}) {
            record_loop<bm, bn, bk, stages, threads>(d, resident, {11, 12 * resident, 8, 4096, fma});
            record_loop<bm, bn, bk, stages, threads>(d, resident, {32, 32, 8, 4096, fma});
        }
    }
    for (const int group : {1, 4}) record_loop<bm, bn, bk, stages, threads>(d, 1, {11, 12, group, 4096, 64});
    record_loop<bm, bn, bk, stages, threads>(d, 1, {11, 12, 8, 1024, 64});
}

}  // namespace

int main() {
    probe::begin("request_merging");
    Data d;
    const std::vector<uint4> host = d.a.host();
    for (int readers = 1; readers <= cluster; ++readers) {
        record_burst<Way::async>(d, host, "async", {readers, 1, 0});
        if (readers % 4 == 0) record_burst<Way::load>(d, host, "load", {readers, 1, 0});
        if (readers % 4 == 0) record_burst<Way::bulk>(d, host, "bulk", {readers, 1, 0});
    }
    for (const int delay : {10, 20, 40, 60, 80, 120, 200, 280, 400, 700, 1000, 2000}) {
        record_burst<Way::async>(d, host, "async", {2, 1, delay});
        record_burst<Way::load>(d, host, "load", {2, 1, delay});
        record_burst<Way::bulk>(d, host, "bulk", {2, 1, delay});
    }
    for (const int shared_by : {2, 4, 8}) {
        for (int readers = 1; readers * shared_by <= cluster; ++readers) {
            record_burst<Way::bulk>(d, host, "bulk", {readers, shared_by, 0});
        }
    }
    record_loops<128, 128, 64, 3, 256>(d);
    record_loops<128, 128, 32, 4, 128>(d);
    record_loops<64, 64, 64, 3, 128>(d);
    record_loops<64, 64, 32, 3, 128>(d);
    record_loops<128, 32, 64, 4, 128>(d);
    record_loops<16, 128, 64, 4, 128>(d);
    return 0;
}
