// How much of the L2 does one SM see, and does it matter which SM brought the lines there?
// One thread follows a random cycle through `working_set` bytes past the L1.
// Before, all SMs read the lines (by=all), or the chasing CTA read the lines inside the same kernel
// (by=self). stream_halves: `ctas` CTAs read their own part of the set (share=own) or the whole set
// (share=all) once. Before, the CTAs read the set in the same way `passes` times.
// SPDX-License-Identifier: Apache-2.0
#include "vector.cuh"

#include <numeric>

namespace {

constexpr std::size_t line = 128;
constexpr int steps = 4096;
constexpr int threads = 1024;

__global__ void prepare_links(unsigned char* data, const std::uint32_t* next, std::size_t lines) {
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < lines; i += gridDim.x * blockDim.x) {
        *reinterpret_cast<std::uint64_t*>(data + i * line) =
            reinterpret_cast<std::uint64_t>(data + next[i] * line);
    }
}

// The sum of the set's words, read past the L1 by the given CTAs. Each CTA takes its part of the set.
__device__ std::uint32_t read_part(const unsigned char* data, std::size_t first, std::size_t last) {
    std::uint32_t sum = 0;
#pragma unroll 1
    for (std::size_t at = first + threadIdx.x * 16; at < last; at += blockDim.x * 16) {
        sum += probe::fold(probe::load_global<16, probe::Level::cg>(data + at));
    }
    return sum;
}

__global__ void __launch_bounds__(threads) chase(const unsigned char* data, std::size_t bytes, int own_passes,
                                                 long long* cycles, std::uint64_t* last) {
    std::uint32_t sum = 0;
    for (int pass = 0; pass < own_passes; ++pass) sum += read_part(data, 0, bytes);
    __syncthreads();
    if (threadIdx.x != 0) {
        if (sum == 0x12345678U) *last = 0;
        return;
    }
    auto at = reinterpret_cast<std::uint64_t>(data);
    const long long begin = clock64();
#pragma unroll 8
    for (int i = 0; i < steps; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
    *last = at;
    asm volatile("" ::"l"(at) : "memory");
    const long long end = clock64();
    *cycles = end - begin;
}

// Passes over the part of this CTA, or over the whole set from another start in each CTA. The last pass is
// timed.
__global__ void __launch_bounds__(threads, 1) stream(const unsigned char* data, std::size_t bytes, bool own,
                                                     int passes, long long* cycles, std::uint32_t* folded) {
    const std::size_t part = bytes / gridDim.x;
    const std::size_t first = blockIdx.x * part;
    std::uint32_t sum = 0;
    long long begin = 0;
    for (int pass = 0; pass <= passes; ++pass) {
        __syncthreads();
        begin = clock64();
        sum += read_part(data, first, own ? first + part : bytes);
        if (!own) sum += read_part(data, 0, first);
    }
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
    atomicAdd(folded, sum);
}

struct Bench {
    Bench() : sums(bytes / 4 + 1) {
        probe::fill_random(words.data(), bytes, 6);
        std::vector<std::uint32_t> host(bytes / 4);
        PROBE_CHECK(cudaMemcpy(host.data(), words.data(), bytes, cudaMemcpyDeviceToHost));
        std::partial_sum(host.begin(), host.end(), sums.begin() + 1);
    }
    static constexpr std::size_t bytes = std::size_t{128} << 20;
    probe::Buffer<unsigned char> data{bytes};   // links
    probe::Buffer<unsigned char> words{bytes};  // random
    std::vector<std::uint32_t> sums;            // of the first words
    probe::Buffer<std::uint32_t> next{bytes / line};
    probe::Buffer<long long> cycles{256};
    probe::Buffer<std::uint64_t> last{1};
    probe::Buffer<std::uint32_t> folded{1};
    probe::Flush flush;
};

void chase_case(Bench& bench, int megabytes) {
    const std::size_t bytes = static_cast<std::size_t>(megabytes) << 20;
    std::vector<std::uint32_t> order(bytes / line);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = order.size() - 1; i > 0; --i) {
        std::swap(order[i], order[probe::hash(static_cast<std::uint32_t>(i + 11)) % i]);
    }
    std::size_t end = 0;
    for (int i = 0; i < steps; ++i) end = order[end];
    PROBE_CHECK(cudaMemcpy(bench.next.data(), order.data(), order.size() * 4, cudaMemcpyHostToDevice));
    prepare_links<<<256, 256>>>(bench.data.data(), bench.next.data(), order.size());
    for (const bool self : {true, false}) {
        probe::Params params;
        params.set("working_set", static_cast<long long>(bytes)).set("by", self ? "self" : "all");
        if (!probe::wanted("chase_l2", params)) continue;
        const std::vector<double> found = probe::sample_cycles(
            bench.cycles, 1, steps,
            [&] {
                bench.flush.clean();
                for (int pass = 0; pass < 2 && !self; ++pass) {
                    if (!probe::only_read())
                        probe::prepare_read<<<264, 256>>>(reinterpret_cast<const uint4*>(bench.data.data()),
                                                          bytes / 16, bench.folded.data());
                }
            },
            [&] {
                chase<<<1, threads>>>(bench.data.data(), bytes, self ? 2 : 0, bench.cycles.data(),
                                      bench.last.data());
            },
            7);
        probe::require(
            bench.last.host()[0] == reinterpret_cast<std::uint64_t>(bench.data.data()) + end * line,
            params.text());
        probe::row("chase_l2", params, "cycles_per_instruction", "cycle", found, {});
    }
}

void stream_case(Bench& bench, int megabytes, int ctas, bool own) {
    constexpr int passes = 3;
    // Parts are whole numbers of a CTA's strides, so that every thread does the same.
    const std::size_t unit = static_cast<std::size_t>(ctas) * threads * 16;
    const std::size_t bytes = (static_cast<std::size_t>(megabytes) << 20) / unit * unit;
    if (bytes == 0) return;
    probe::Params params;
    params.set("footprint", static_cast<long long>(bytes))
        .set("ctas", ctas)
        .set("share", own ? "own" : "all");
    params.set("passes", passes).set("threads", threads);
    if (!probe::wanted("stream_halves", params)) return;
    const auto launch = [&] {
        stream<<<ctas, threads>>>(bench.words.data(), bytes, own, passes, bench.cycles.data(),
                                  bench.folded.data());
    };
    bench.folded.zero();
    launch();
    const auto readers = static_cast<std::uint32_t>(own ? 1 : ctas);
    probe::require(bench.folded.host()[0] == bench.sums[bytes / 4] * readers * (passes + 1), params.text());
    const std::vector<double> found = probe::sample_cycles(
        bench.cycles, ctas, 1.0, [] {}, launch, 7);
    probe::row("stream_halves", params, "region_cycles", "cycle", found, {});
}

}  // namespace

int main() {
    probe::begin("l2_halves");
    Bench bench;
    const int sms = probe::device().sms;
    for (const int megabytes : {1,  4,  8,  12, 16, 18, 20, 22, 23, 24, 25, 26, 27, 28, 30, 32,  34,
                                36, 38, 40, 42, 44, 46, 48, 50, 52, 56, 60, 64, 72, 80, 96, 112, 128}) {
        chase_case(bench, megabytes);
        for (const int ctas : {sms, sms / 2, 8, 1}) {
            stream_case(bench, megabytes, ctas, true);
            // One CTA alone shares the set with no other CTA, and a few CTAs would read for long.
            if (ctas > 8 && megabytes % 4 == 0) stream_case(bench, megabytes, ctas, false);
        }
    }
    return 0;
}
