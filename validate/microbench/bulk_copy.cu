// How fast do copies into shared memory arrive, against bytes a copy, copies in flight and the kind of
// instruction? copy_latency: one copy, from issue to the passed wait. copy_stream: a ring of stages, each
// refilled as soon as its copy has arrived. The value is cycles a copy. So bytes / value is the rate into one
// SM. With all SMs the result is the rate of the port from the L2. kind=bulk is cp.async.bulk in one
// dimension. kind=tensor is cp.async.bulk.tensor with rows of 128 bytes and the 128-byte swizzle. kind=async
// is cp.async of 16 bytes a thread. kind=load is ld.global.cg of 16 bytes a thread, kept in registers.
// SPDX-License-Identifier: Apache-2.0
#include "bulk.cuh"
#include "harness.cuh"

#include <cuda.h>

namespace {

constexpr std::size_t footprint = std::size_t{16} << 20;

// One thread keeps `stages` copies of `bytes` in flight; each CTA starts elsewhere in the footprint.
template <bool Tensor>
__global__ void ring(const unsigned char* data, std::size_t size, const __grid_constant__ CUtensorMap map,
                     int bytes, int stages, int copies, long long* cycles, std::uint32_t* word) {
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ __align__(8) std::uint64_t full[32];
    if (threadIdx.x != 0) return;
    for (int i = 0; i < stages; ++i) probe::barrier_init(&full[i], 1);
    probe::barrier_fence();
    const std::size_t slots = size / static_cast<std::size_t>(bytes);
    std::size_t slot = slots * blockIdx.x / gridDim.x;
    const auto issue = [&](int stage) {
        probe::barrier_expect(&full[stage], static_cast<std::uint32_t>(bytes));
        unsigned char* to = shared + static_cast<std::size_t>(stage) * static_cast<std::size_t>(bytes);
        if constexpr (Tensor) {
            probe::tensor_copy(to, &map, 0, static_cast<int>(slot) * (bytes / 128), &full[stage]);
        } else {
            probe::bulk_copy(to, data + slot * static_cast<std::size_t>(bytes),
                             static_cast<std::uint32_t>(bytes), &full[stage]);
        }
        if (++slot == slots) slot = 0;
    };
    const long long begin = clock64();
    const int first = min(stages, copies);
    for (int i = 0; i < first; ++i) issue(i);
    int stage = 0;
    std::uint32_t parity = 0;
#pragma unroll 1
    for (int i = 0; i < copies; ++i) {
        probe::barrier_wait(&full[stage], parity);
        if (i + stages < copies) issue(stage);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1U;
        }
    }
    const long long end = clock64();
    cycles[blockIdx.x] = end - begin;
    // The last word of the last copy is for the check. The swizzle permutes within 1024 bytes, so these are
    // folded.
    const int last = (copies - 1) % stages;
    const int span = min(bytes, 1024);
    std::uint32_t folded = 0;
    for (int i = 0; i < span; i += 4) {
        folded ^= *reinterpret_cast<std::uint32_t*>(shared + static_cast<std::size_t>(last) * bytes + bytes -
                                                    span + i);
    }
    word[blockIdx.x] = folded;
}

// All threads copy 16 bytes each in every group; `Groups` groups are in flight.
template <int Groups>
__global__ void __launch_bounds__(1024, 1)
    async_ring(const uint4* data, std::size_t count, int rounds, long long* cycles, std::uint32_t* word) {
    extern __shared__ __align__(1024) unsigned char shared[];
    uint4* table = reinterpret_cast<uint4*>(shared);
    const std::size_t slots = count / blockDim.x;
    std::size_t slot = slots * blockIdx.x / gridDim.x;
    const auto issue = [&](int stage) {
        const std::uint32_t to =
            probe::shared_address(table + stage * static_cast<int>(blockDim.x) + threadIdx.x);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                     "l"(data + slot * blockDim.x + threadIdx.x)
                     : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (++slot == slots) slot = 0;
    };
    __syncthreads();
    const long long begin = clock64();
#pragma unroll
    for (int i = 0; i < Groups; ++i) issue(i);
#pragma unroll 1
    for (int i = 0; i + Groups < rounds; i += Groups) {
#pragma unroll
        for (int stage = 0; stage < Groups; ++stage) {
            asm volatile("cp.async.wait_group %0;" ::"n"(Groups - 1) : "memory");
            issue(stage);
        }
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
    const uint4 mine = table[(Groups - 1) * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)];
    const std::uint32_t folded = __reduce_xor_sync(0xffffffffU, mine.x ^ mine.y ^ mine.z ^ mine.w);
    if (threadIdx.x == 0) word[blockIdx.x] = folded;
}

template <int Groups>
__global__ void __launch_bounds__(1024, 1)
    load_ring(const uint4* data, std::size_t count, int rounds, long long* cycles, std::uint32_t* word) {
    const std::size_t slots = count / blockDim.x;
    std::size_t slot = slots * blockIdx.x / gridDim.x;
    std::uint32_t folded = 0;
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < rounds; i += Groups) {
        uint4 mine[Groups];
#pragma unroll
        for (int j = 0; j < Groups; ++j) {
            asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(mine[j].x), "=r"(mine[j].y), "=r"(mine[j].z), "=r"(mine[j].w)
                         : "l"(data + slot * blockDim.x + threadIdx.x));
            if (++slot == slots) slot = 0;
        }
#pragma unroll
        for (int j = 0; j < Groups; ++j) folded ^= mine[j].x ^ mine[j].y ^ mine[j].z ^ mine[j].w;
    }
    folded = __reduce_xor_sync(0xffffffffU, folded);
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) {
        cycles[blockIdx.x] = end - begin;
        word[blockIdx.x] = folded;
    }
}

struct Bench {
    Bench() : data(footprint), cycles(512), word(512), host(footprint / 4) {
        probe::fill_random(data.data(), footprint, 41);
        PROBE_CHECK(cudaMemcpy(host.data(), data.data(), footprint, cudaMemcpyDeviceToHost));
    }
    probe::Buffer<unsigned char> data;
    probe::Buffer<long long> cycles;
    probe::Buffer<std::uint32_t> word;
    std::vector<std::uint32_t> host;
};

std::uint32_t folded_words(const Bench& bench, std::size_t byte, std::size_t bytes) {
    std::uint32_t folded = 0;
    for (std::size_t i = byte / 4; i < (byte + bytes) / 4; ++i) folded ^= bench.host[i];
    return folded;
}

// Samples of cycles, each the median over CTAs, after a warm-up; `prepare` runs before every launch.
std::vector<double> sample(Bench& bench, int ctas, double divide, const std::function<void()>& prepare,
                           const std::function<void()>& launch) {
    std::vector<double> found;
    for (int turn = 0; turn < probe::launches(10); ++turn) {
        prepare();
        launch();
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<long long> cycles = bench.cycles.host();
        const std::vector<double> each(cycles.begin(), cycles.begin() + ctas);
        if (turn > 0) found.push_back(probe::median(each) / divide);
        probe::pause_ms(0.3);
    }
    return found;
}

void warm(Bench& bench) {
    if (!probe::only_read())
        probe::prepare_read<<<probe::device().sms * 4, 256>>>(
            reinterpret_cast<const uint4*>(bench.data.data()), footprint / 16, bench.word.data());
}

template <bool Tensor>
void ring_case(Bench& bench, int ctas, int bytes, int stages) {
    const int shared = bytes * stages;
    if (stages > 32 || shared > 220 * 1024) return;
    const int copies = std::max(64, 4 * stages);
    probe::Params params;
    params.set("bytes", bytes).set("stages", stages).set("ctas", ctas).set("copies", copies);
    params.set("kind", Tensor ? "tensor" : "bulk");
    if (!probe::wanted("copy_stream", params)) return;
    const CUtensorMap map = probe::tensor_map(bench.data.data(), footprint / 128, std::min(bytes / 128, 256));
    const auto kernel = ring<Tensor>;
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const auto launch = [&] {
        kernel<<<ctas, 32, shared>>>(bench.data.data(), footprint, map, bytes, stages, copies,
                                     bench.cycles.data(), bench.word.data());
    };
    const std::vector<double> found = sample(
        bench, ctas, copies, [&] { warm(bench); }, launch);
    const std::size_t slots = footprint / static_cast<std::size_t>(bytes);
    const std::size_t slot = static_cast<std::size_t>(copies - 1) % slots;
    const std::size_t span = std::min<std::size_t>(static_cast<std::size_t>(bytes), 1024);
    const std::size_t at = (slot + 1) * static_cast<std::size_t>(bytes) - span;
    probe::require(bench.word.host()[0] == folded_words(bench, at, span),
                   Tensor ? "tensor copy" : "bulk copy");
    probe::row("copy_stream", params, "region_cycles", "cycle", found, probe::Conditions{});
}

// One copy alone: the ring with one stage and one copy.
template <bool Tensor>
void latency_case(Bench& bench, probe::Flush& flush, int bytes, bool cold) {
    probe::Params params;
    params.set("bytes", bytes).set("kind", Tensor ? "tensor" : "bulk");
    probe::Conditions with;
    with.cache = cold ? "cold" : "warm";
    if (!probe::wanted("copy_latency", params, with)) return;
    const CUtensorMap map = probe::tensor_map(bench.data.data(), footprint / 128, std::min(bytes / 128, 256));
    const auto kernel = ring<Tensor>;
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 * 1024));
    const std::vector<double> found = sample(
        bench, 1, 1.0, [&] { cold ? flush.clean() : warm(bench); },
        [&] {
            kernel<<<1, 32, bytes>>>(bench.data.data(), footprint, map, bytes, 1, 1, bench.cycles.data(),
                                     bench.word.data());
        });
    probe::row("copy_latency", params, "region_cycles", "cycle", found, with);
}

template <int Groups>
void thread_case(Bench& bench, int ctas, int threads, bool async) {
    const int rounds = 64;
    const int shared = async ? Groups * threads * 16 : 0;
    if (shared > 220 * 1024) return;
    probe::Params params;
    params.set("bytes", threads * 16).set("stages", Groups).set("ctas", ctas).set("threads", threads);
    params.set("copies", rounds).set("kind", async ? "async" : "load");
    if (!probe::wanted("copy_stream", params)) return;
    const auto kernel = async ? async_ring<Groups> : load_ring<Groups>;
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const auto launch = [&] {
        kernel<<<ctas, threads, shared>>>(reinterpret_cast<const uint4*>(bench.data.data()), footprint / 16,
                                          rounds, bench.cycles.data(), bench.word.data());
    };
    const std::vector<double> found = sample(
        bench, ctas, rounds, [&] { warm(bench); }, launch);
    // CTA 0 starts at slot 0. The check needs the first warp's words: of the last round (async) or of all
    // rounds (load).
    std::uint32_t folded = 0;
    for (int round = async ? rounds - 1 : 0; round < rounds; ++round) {
        folded ^= folded_words(bench,
                               static_cast<std::size_t>(round) * static_cast<std::size_t>(threads) * 16, 512);
    }
    probe::require(bench.word.host()[0] == folded, async ? "cp.async" : "loads");
    probe::row("copy_stream", params, "region_cycles", "cycle", found, probe::Conditions{});
}

}  // namespace

int main() {
    probe::begin("bulk_copy");
    Bench bench;
    probe::Flush flush;
    const int sms = probe::device().sms;
    for (const bool cold : {false, true}) {
        for (const int bytes : {16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768}) {
            latency_case<false>(bench, flush, bytes, cold);
            if (bytes >= 1024) latency_case<true>(bench, flush, bytes, cold);
        }
    }
    for (const int ctas : {sms, 1}) {
        for (const int bytes : {128, 512, 1024, 2048, 4096, 8192, 16384, 32768}) {
            for (const int stages : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
                ring_case<false>(bench, ctas, bytes, stages);
                if (bytes >= 1024) ring_case<true>(bench, ctas, bytes, stages);
            }
        }
        for (const int threads : {32, 64, 128, 256, 512, 1024}) {
            for (const bool async : {true, false}) {
                thread_case<1>(bench, ctas, threads, async);
                thread_case<2>(bench, ctas, threads, async);
                thread_case<4>(bench, ctas, threads, async);
                thread_case<8>(bench, ctas, threads, async);
            }
        }
    }
    for (const int ctas : {2, 4, 8, 16, 33, 66, 99}) ring_case<true>(bench, ctas, 16384, 8);
    return 0;
}
