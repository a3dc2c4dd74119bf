// What do dependent and streaming loads through the L1 cost, against the working set and the carveout?
// chase_l1: one thread follows a random cycle through lines of 128 bytes.
// stream_l1: all warps of one CTA walk again and again over the set, 16 bytes a lane.
// `unroll` loads are in flight.
// The value is the cycles between two loads of a warp.
// `carveout` is the shared memory asked for, in percent of the maximum. `shared` is the bytes that the kernel
// takes.
// SPDX-License-Identifier: Apache-2.0
#include "vector.cuh"

#include <numeric>

namespace {

constexpr std::size_t line = 128;
constexpr int steps = 4096;

__global__ void prepare_links(unsigned char* data, const std::uint32_t* next, int lines) {
    for (int i = static_cast<int>(threadIdx.x); i < lines; i += static_cast<int>(blockDim.x)) {
        *reinterpret_cast<std::uint64_t*>(data + i * line) =
            reinterpret_cast<std::uint64_t>(data + next[i] * line);
    }
}

__global__ void chase(std::uint64_t at, int warm, long long* cycles, std::uint64_t* last) {
    const auto follow = [&] { asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory"); };
#pragma unroll 1
    for (int i = 0; i < warm; ++i) follow();
    const long long begin = clock64();
#pragma unroll 8
    for (int i = 0; i < steps; ++i) follow();
    *last = at;
    asm volatile("" ::"l"(at) : "memory");
    const long long end = clock64();
    *cycles = end - begin;
}

template <int Unroll>
__global__ void __launch_bounds__(1024, 1) stream(const unsigned char* data, int bytes, int warm, int rounds,
                                                  long long* cycles, std::uint32_t* folded) {
    std::uint32_t sum = 0;
    int at = 0;
    const auto pass = [&](int times) {
#pragma unroll 1
        for (int round = 0; round < times; ++round) {
            probe::Vector<16> word[Unroll];
#pragma unroll
            for (int i = 0; i < Unroll; ++i) {
                word[i] = probe::load_global<16, probe::Level::ca>(
                    data + at + (i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * 16);
            }
#pragma unroll
            for (int i = 0; i < Unroll; ++i) sum += probe::fold(word[i]);
            at += Unroll * 16 * static_cast<int>(blockDim.x);
            if (at >= bytes) at = 0;
        }
    };
    pass(warm);
    __syncthreads();
    const long long begin = clock64();
    pass(rounds);
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) *cycles = end - begin;
    atomicAdd(folded, sum);
}

struct Bench {
    static constexpr std::size_t bytes = std::size_t{1} << 20;
    probe::Buffer<unsigned char> data{bytes};
    probe::Buffer<std::uint32_t> next{bytes / line};
    probe::Buffer<long long> cycles{1};
    probe::Buffer<std::uint64_t> last{1};
    probe::Buffer<std::uint32_t> folded{1};
};

struct Shared {
    int carveout;  // percent; -1: the driver's choice
    int bytes;
};

template <typename Kernel>
void configure(Kernel kernel, const Shared& shared) {
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared.bytes));
    PROBE_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, shared.carveout));
}

void chase_case(Bench& bench, int kilobytes, const Shared& shared) {
    const int lines = kilobytes * 1024 / static_cast<int>(line);
    probe::Params params;
    params.set("working_set", kilobytes * 1024LL)
        .set("carveout", shared.carveout)
        .set("shared", shared.bytes);
    if (!probe::wanted("chase_l1", params)) return;
    std::vector<std::uint32_t> order(static_cast<std::size_t>(lines));
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = order.size() - 1; i > 0; --i) {
        std::swap(order[i], order[probe::hash(static_cast<std::uint32_t>(i + 5)) % i]);
    }
    PROBE_CHECK(cudaMemcpy(bench.next.data(), order.data(), order.size() * 4, cudaMemcpyHostToDevice));
    prepare_links<<<1, 1024>>>(bench.data.data(), bench.next.data(), lines);
    configure(chase, shared);
    const int warm = 3 * lines;
    const std::vector<double> found = probe::sample_cycles(
        bench.cycles, 1, steps, [] {},
        [&] {
            chase<<<1, 1, shared.bytes>>>(reinterpret_cast<std::uint64_t>(bench.data.data()), warm,
                                          bench.cycles.data(), bench.last.data());
        });
    std::size_t at = 0;
    for (int i = 0; i < warm + steps; ++i) at = order[at];
    probe::require(bench.last.host()[0] == reinterpret_cast<std::uint64_t>(bench.data.data()) + at * line,
                   "chase");
    probe::row("chase_l1", params, "cycles_per_instruction", "cycle", found, {});
}

template <int Unroll>
void stream_case(Bench& bench, int kilobytes, int threads, const Shared& shared) {
    const int round = threads * Unroll * 16;
    const int bytes = kilobytes * 1024;
    if (bytes % round != 0) return;
    const int per_pass = bytes / round;
    const int rounds = std::max(64, 4 * per_pass) / per_pass * per_pass;
    probe::Params params;
    params.set("working_set", bytes).set("carveout", shared.carveout).set("shared", shared.bytes);
    params.set("threads", threads).set("unroll", Unroll).set("rounds", rounds);
    if (!probe::wanted("stream_l1", params)) return;
    probe::fill_random(bench.data.data(), static_cast<std::size_t>(bytes), 3);
    std::vector<std::uint32_t> host(static_cast<std::size_t>(bytes) / 4);
    PROBE_CHECK(
        cudaMemcpy(host.data(), bench.data.data(), static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost));
    const std::uint32_t once = std::accumulate(host.begin(), host.end(), 0U);
    configure(stream<Unroll>, shared);
    const auto launch = [&] {
        stream<Unroll><<<1, threads, shared.bytes>>>(bench.data.data(), bytes, 2 * per_pass, rounds,
                                                     bench.cycles.data(), bench.folded.data());
    };
    bench.folded.zero();
    launch();
    const auto passes = static_cast<std::uint32_t>(rounds / per_pass + 2);
    probe::require(bench.folded.host()[0] == once * passes, params.text());
    const std::vector<double> found = probe::sample_cycles(
        bench.cycles, 1, static_cast<double>(rounds) * Unroll, [] {}, launch);
    probe::row("stream_l1", params, "cycles_per_instruction", "cycle", found, {});
}

}  // namespace

int main() {
    probe::begin("l1_footprint");
    Bench bench;
    const std::vector<Shared> choices = {{-1, 0},          {0, 0},           {25, 0},
                                         {50, 0},          {75, 0},          {100, 0},
                                         {-1, 32 * 1024},  {-1, 64 * 1024},  {-1, 100 * 1024},
                                         {-1, 164 * 1024}, {-1, 200 * 1024}, {-1, 226 * 1024}};
    for (const Shared& shared : choices) {
        for (const int kilobytes : {4,   16,  24,  32,  64,  96,  120, 128, 160, 184, 192,
                                    200, 208, 216, 224, 232, 240, 248, 256, 320, 384, 512}) {
            chase_case(bench, kilobytes, shared);
            if (kilobytes % 16 != 0) continue;
            stream_case<1>(bench, kilobytes, 1024, shared);
            stream_case<4>(bench, kilobytes, 256, shared);
            if (shared.bytes > 0 || shared.carveout > 0) continue;
            stream_case<1>(bench, kilobytes, 32, shared);
            stream_case<4>(bench, kilobytes, 32, shared);
            stream_case<1>(bench, kilobytes, 256, shared);
            stream_case<4>(bench, kilobytes, 1024, shared);
        }
    }
    return 0;
}
