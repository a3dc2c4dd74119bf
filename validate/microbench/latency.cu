// How long does one dependent load take, by the place of the line and the load on DRAM?
// A single thread follows a random cycle through lines of 128 bytes.
// The cycles per step against the working set show L1, L2 and DRAM. The largest sets also show address
// translation. Single lines timed one by one show the near and far half of the L2. Loaded latency: one SM
// chases while the others stream.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

#include <numeric>

namespace {

constexpr std::size_t line = 128;
constexpr int steps = 2048;

__global__ void scatter(const std::uint32_t* next, unsigned char* data, std::size_t lines) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < lines;
         i += step) {
        *reinterpret_cast<std::uint64_t*>(data + i * line) =
            reinterpret_cast<std::uint64_t>(data) + static_cast<std::uint64_t>(next[i]) * line;
    }
}

enum class Path { l1, l2 };

template <Path path>
__device__ std::uint64_t follow(std::uint64_t address) {
    std::uint64_t next;
    if constexpr (path == Path::l1) {
        asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(address) : "memory");
    } else {
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(address) : "memory");
    }
    return next;
}

template <Path path>
__global__ void chase(std::uint64_t start, int warm, int timed, long long* cycles, std::uint64_t* last) {
    std::uint64_t at = start;
#pragma unroll 1
    for (int i = 0; i < warm; ++i) at = follow<path>(at);
    const long long begin = clock64();
#pragma unroll 8
    for (int i = 0; i < timed; ++i) at = follow<path>(at);
    *last = at;
    asm volatile("" ::"l"(at) : "memory");
    const long long end = clock64();
    *cycles = end - begin;
}

__global__ void chase_shared(const std::uint32_t* next, int words, int timed, long long* cycles,
                             std::uint64_t* last) {
    extern __shared__ std::uint32_t table[];
    for (int i = 0; i < words; ++i) table[i] = probe::shared_address(table) + next[i] * 4U;
    std::uint32_t at = probe::shared_address(table);
    const long long begin = clock64();
#pragma unroll 8
    for (int i = 0; i < timed; ++i) {
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
    }
    asm volatile("" ::"r"(at) : "memory");
    const long long end = clock64();
    *cycles = end - begin;
    *last = (at - probe::shared_address(table)) / 4U;
}

// Every CTA of one thread times each line alone. Only the CTA `writer` writes its result.
__global__ void each_line(const unsigned char* data, int lines, int writer, int* cycles, int* sm) {
    if (blockIdx.x != static_cast<unsigned>(writer)) return;
    unsigned id;
    asm("mov.u32 %0, %%smid;" : "=r"(id));
    *sm = static_cast<int>(id);
    __shared__ std::uint64_t sink;
    const std::uint32_t to = probe::shared_address(&sink);
    // The lines came into the L2 in an earlier launch. A store of the loaded value waits for the load. So the
    // second clock is read after the line has come.
#pragma unroll 1
    for (int i = 0; i < lines; ++i) {
        const std::uint64_t address =
            reinterpret_cast<std::uint64_t>(data) + static_cast<std::uint64_t>(i) * line;
        const long long begin = clock64();
        const std::uint64_t value = follow<Path::l2>(address);
        asm volatile("st.volatile.shared.u64 [%0], %1;" ::"r"(to), "l"(value) : "memory");
        const long long end = clock64();
        cycles[i] = static_cast<int>(end - begin);
    }
}

// CTA 0 chases. All other CTAs read their own part in a round until CTA 0 has finished.
template <int Loads>
__global__ void __launch_bounds__(1024, 1)
    loaded(std::uint64_t start, int timed, const uint4* stream, std::size_t part, int* finished,
           long long* cycles, unsigned long long* moved) {
    if (blockIdx.x == 0) {
        if (threadIdx.x != 0) return;
        std::uint64_t at = start;
        const unsigned long long wait_until = probe::globaltimer() + 30000;
        while (probe::globaltimer() < wait_until) {
        }
        const unsigned long long first = probe::globaltimer();
        const long long begin = clock64();
#pragma unroll 1
        for (int i = 0; i < timed; ++i) at = follow<Path::l2>(at);
        asm volatile("" ::"l"(at) : "memory");
        const long long end = clock64();
        const unsigned long long second = probe::globaltimer();
        cycles[0] = end - begin;
        cycles[1] = static_cast<long long>(second - first);
        cycles[2] = static_cast<long long>(at);
        *reinterpret_cast<volatile int*>(finished) = 1;
        return;
    }
    const uint4* mine = stream + (blockIdx.x - 1) * part;
    std::size_t at = threadIdx.x;
    std::uint32_t sum = 0;
    unsigned long long bytes = 0;
    const unsigned long long first = probe::globaltimer();
#pragma unroll 1
    for (int turn = 0; turn < 200000; ++turn) {
        uint4 word[Loads];
#pragma unroll
        for (int j = 0; j < Loads; ++j)
            word[j] = __ldcg(mine + at + static_cast<std::size_t>(j) * blockDim.x);
#pragma unroll
        for (int j = 0; j < Loads; ++j) sum ^= word[j].x ^ word[j].y ^ word[j].z ^ word[j].w;
        bytes += 16ULL * Loads;
        at += static_cast<std::size_t>(Loads) * blockDim.x;
        if (at + static_cast<std::size_t>(Loads) * blockDim.x > part) at = threadIdx.x;
        if (turn % 8 == 7 && *reinterpret_cast<volatile int*>(finished) != 0) break;
    }
    const unsigned long long taken = probe::globaltimer() - first;
    // Bytes per millisecond of this thread, summed over all threads.
    atomicAdd(moved, bytes * 1000000ULL / (taken > 0 ? taken : 1));
    if (sum == 0x12345U) *finished = 2;
}

// A cycle through all entries in random order (Sattolo's shuffle).
std::vector<std::uint32_t> random_cycle(std::size_t count) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::uint64_t state = 88172645463325252ULL + count;
    for (std::size_t i = count - 1; i > 0; --i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        std::swap(order[i], order[state % i]);
    }
    return order;
}

struct Chaser {
    Chaser() : data(largest), next(largest / line), cycles(8), last(1) {}
    void lay(std::size_t bytes) {
        const std::vector<std::uint32_t> order = random_cycle(bytes / line);
        PROBE_CHECK(cudaMemcpy(next.data(), order.data(), order.size() * 4, cudaMemcpyHostToDevice));
        scatter<<<1024, 256>>>(next.data(), data.data(), bytes / line);
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        lines = order.size();
        host = order;
    }
    void verify(int taken) const {
        std::uint64_t at = 0;
        for (int i = 0; i < taken; ++i) at = host[at];
        const std::uint64_t found = (last.host()[0] - reinterpret_cast<std::uint64_t>(data.data())) / line;
        probe::require(found == at, "pointer chase");
    }
    static constexpr std::size_t largest = std::size_t{1} << 30;
    probe::Buffer<unsigned char> data;
    probe::Buffer<std::uint32_t> next;
    probe::Buffer<long long> cycles;
    probe::Buffer<std::uint64_t> last;
    std::vector<std::uint32_t> host;
    std::size_t lines = 0;
};

template <Path path>
void chase_case(Chaser& chaser, probe::Flush& flush, std::size_t bytes, bool cold) {
    probe::Params params;
    params.set("working_set", static_cast<long long>(bytes)).set("path", path == Path::l1 ? "ca" : "cg");
    params.set("stride", "random");
    probe::Conditions with;
    with.cache = cold ? "cold" : "warm";
    if (!probe::wanted("chase_global", params, with)) return;
    const int warm = cold ? 0 : static_cast<int>(std::min<std::size_t>(chaser.lines, 16384));
    std::vector<double> samples;
    for (int turn = 0; turn < probe::launches(9); ++turn) {
        if (cold) flush.clean();
        // Bring the set into the L2 by reading. The chase itself warms the L1.
        if (!cold) {
            if (!probe::only_read())
                probe::prepare_read<<<264, 256>>>(reinterpret_cast<const uint4*>(chaser.data.data()),
                                                  bytes / 16,
                                                  reinterpret_cast<std::uint32_t*>(chaser.cycles.data() + 7));
        }
        chase<path><<<1, 1>>>(reinterpret_cast<std::uint64_t>(chaser.data.data()), warm, steps,
                              chaser.cycles.data(), chaser.last.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        if (turn > 0) samples.push_back(static_cast<double>(chaser.cycles.host()[0]) / steps);
    }
    chaser.verify(warm + steps);
    probe::row("chase_global", params, "cycles_per_instruction", "cycle", samples, with);
}

void shared_case(int words) {
    probe::Params params;
    params.set("working_set", static_cast<long long>(words) * 4);
    if (!probe::wanted("chase_shared", params)) return;
    const std::vector<std::uint32_t> order = random_cycle(static_cast<std::size_t>(words));
    probe::Buffer<std::uint32_t> next(order.size());
    probe::Buffer<long long> cycles(1);
    probe::Buffer<std::uint64_t> last(1);
    PROBE_CHECK(cudaMemcpy(next.data(), order.data(), order.size() * 4, cudaMemcpyHostToDevice));
    std::vector<double> samples;
    for (int turn = 0; turn < probe::launches(9); ++turn) {
        chase_shared<<<1, 1, words * 4>>>(next.data(), words, steps, cycles.data(), last.data());
        PROBE_CHECK(cudaGetLastError());
        if (turn > 0) samples.push_back(static_cast<double>(cycles.host()[0]) / steps);
    }
    std::uint64_t at = 0;
    for (int i = 0; i < steps; ++i) at = order[at];
    probe::require(last.host()[0] == at, "shared chase");
    probe::row("chase_shared", params, "cycles_per_instruction", "cycle", samples, probe::Conditions{});
}

// Latencies of 4096 single lines of a set of 8 MB from one SM, as every fifth percentile.
void line_cases(Chaser& chaser) {
    const int lines = 4096;
    probe::Buffer<int> cycles(lines);
    probe::Buffer<int> sm(1);
    for (const int writer : {0, 1, 17, 40, 77, 131}) {
        // The SM that the CTA falls on is part of the case. So a launch that times nothing finds out the SM.
        each_line<<<132, 1>>>(chaser.data.data(), 0, writer, cycles.data(), sm.data());
        PROBE_CHECK(cudaGetLastError());
        probe::Params params;
        params.set("percentile", 95).set("sm", sm.host()[0]).set("lines", lines);
        if (!probe::wanted("l2_line", params)) continue;
        std::vector<std::vector<double>> turns;
        for (int turn = 0; turn < probe::launches(8); ++turn) {
            each_line<<<132, 1>>>(chaser.data.data(), lines, writer, cycles.data(), sm.data());
            PROBE_CHECK(cudaGetLastError());
            const std::vector<int> found = cycles.host();
            if (turn > 0) turns.emplace_back(found.begin(), found.end());
        }
        for (int percentile = 5; percentile <= 95; percentile += 5) {
            std::vector<double> values;
            for (const std::vector<double>& turn : turns)
                values.push_back(probe::quantile(turn, percentile / 100.0));
            params.set("percentile", percentile).set("sm", sm.host()[0]);
            probe::row("l2_line", params, "region_cycles", "cycle", values, probe::Conditions{});
        }
    }
}

template <int Loads>
void loaded_case(Chaser& chaser, const probe::Buffer<uint4>& stream, int threads) {
    const int ctas = probe::device().sms;
    probe::Params params;
    params.set("threads", threads).set("loads_in_flight", Loads).set("streaming_sms", ctas - 1);
    probe::Conditions with;
    with.cache = "cold";
    if (!probe::wanted("chase_loaded", params, with)) return;
    const std::size_t part = stream.size() / static_cast<std::size_t>(ctas - 1);
    probe::Buffer<int> finished(1);
    probe::Buffer<unsigned long long> moved(1);
    std::vector<double> latencies;
    std::vector<double> rates;
    for (int turn = 0; turn < probe::launches(8); ++turn) {
        finished.zero();
        moved.zero();
        loaded<Loads><<<ctas, threads>>>(
            reinterpret_cast<std::uint64_t>(chaser.data.data()) +
                static_cast<std::uint64_t>(chaser.host[static_cast<std::size_t>(turn) * 977]) * line,
            400, stream.data(), part, finished.data(), chaser.cycles.data(), moved.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        if (turn == 0) continue;
        latencies.push_back(static_cast<double>(chaser.cycles.host()[0]) / 400.0);
        rates.push_back(static_cast<double>(moved.host()[0]) * 1e3);
        probe::pause_ms(1.0);
    }
    probe::row("chase_loaded", params, "cycles_per_instruction", "cycle", latencies, with);
    probe::row("chase_loaded", params, "bytes_per_s", "B/s", rates, with);
}

}  // namespace

int main() {
    probe::begin("latency");
    for (const int words : {32, 1024, 8192, 12288}) shared_case(words);
    Chaser chaser;
    probe::Flush flush;
    for (double kilobytes = 8; kilobytes <= 1048576.0; kilobytes *= 1.41421356) {
        if (probe::out_of_time()) return 0;
        const std::size_t bytes = static_cast<std::size_t>(kilobytes * 1024.0 / line) * line;
        chaser.lay(bytes);
        if (bytes < 600 * 1024) chase_case<Path::l1>(chaser, flush, bytes, false);
        chase_case<Path::l2>(chaser, flush, bytes, false);
        if (bytes >= 600 * 1024) chase_case<Path::l2>(chaser, flush, bytes, true);
    }
    chaser.lay(std::size_t{8} << 20);
    line_cases(chaser);
    chaser.lay(std::size_t{1} << 30);
    probe::Buffer<uint4> stream((std::size_t{4} << 30) / 16);
    probe::fill_random(stream.data(), std::size_t{4} << 30, 31);
    for (const int threads : {32, 64, 128, 256, 512, 768, 1024}) {
        loaded_case<1>(chaser, stream, threads);
        loaded_case<2>(chaser, stream, threads);
        loaded_case<4>(chaser, stream, threads);
        loaded_case<8>(chaser, stream, threads);
    }
    return 0;
}
