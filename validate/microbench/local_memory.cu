// How many cycles does a warp's access to local memory take its SM, also when the words outgrow the L1?
// Each thread has `words` words of its own and goes through all words round after round.
// way=load and way=store access each word once. way=alternate loads and stores each word before the next.
// way=batch loads 16 words and then stores these words.
// The value is the cycles of an SM for one access of one warp.
// `sms` SMs have `warps` warps each.
// What is loaded is summed, and the sum is compared with the sum of what was stored.
// SPDX-License-Identifier: Apache-2.0
#include "sm_region.cuh"

namespace {

enum class Way { load, store, alternate, batch };

constexpr int unroll = 16;
constexpr int most_threads = 512;

__device__ __forceinline__ std::uint32_t load_local(std::uint32_t at) {
    std::uint32_t value;
    asm volatile("ld.local.u32 %0, [%1];" : "=r"(value) : "r"(at));
    return value;
}

__device__ __forceinline__ void store_local(std::uint32_t at, std::uint32_t value) {
    asm volatile("st.local.u32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
}

// `step` is 4 at run time. The unknown value keeps the compiler from moving four words at once.
template <Way way, int Words>
__global__ void __launch_bounds__(most_threads)
    access(probe::Region* regions, int rounds, std::uint32_t step, std::uint32_t first, std::uint32_t* out) {
    std::uint32_t table[Words];
    const auto base = static_cast<std::uint32_t>(__cvta_generic_to_local(table));
#pragma unroll 1
    for (std::uint32_t i = 0; i < Words; ++i) store_local(base + 4 * i, first + i);
    std::uint32_t sum = 0;
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll 1
        for (std::uint32_t block = 0; block < Words; block += unroll) {
            const std::uint32_t at = base + step * block;
            std::uint32_t word[unroll];
#pragma unroll
            for (int i = 0; i < unroll; ++i) {
                if (way == Way::store) word[i] = first + block + i;
                if (way != Way::store) word[i] = load_local(at + step * i);
                if (way == Way::alternate || way == Way::store) store_local(at + step * i, word[i]);
            }
            if (way == Way::batch) {
#pragma unroll
                for (int i = 0; i < unroll; ++i) store_local(at + step * i, word[i]);
            }
#pragma unroll
            for (int i = 0; i < unroll; ++i) sum += word[i];
        }
    }
    probe::close_region(regions, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

struct Bench {
    Bench() : regions(1024), out(1U << 17) {}
    probe::Buffer<probe::Region> regions;
    probe::Buffer<std::uint32_t> out;
};

template <Way way, int Words>
void access_case(Bench& bench, const char* name, int warps, int sms) {
    probe::Params params;
    params.set("sms", sms).set("warps", warps).set("way", name).set("words", Words);
    if (!probe::wanted("local_access", params)) return;
    const int rounds = std::max(4, 8192 / Words);
    constexpr std::uint32_t first = 7;
    std::vector<double> found = probe::region_cycles(bench.regions, sms, 1, [&] {
        access<way, Words><<<sms, warps * 32>>>(bench.regions.data(), rounds, 4, first, bench.out.data());
    });
    const auto words = static_cast<std::uint32_t>(Words);
    const std::uint32_t expected =
        static_cast<std::uint32_t>(rounds) * (words * first + words * (words - 1) / 2);
    const std::vector<std::uint32_t> sums = bench.out.host();
    for (std::size_t i = 0; i < static_cast<std::size_t>(sms * warps * 32); ++i) {
        probe::require(sums[i] == expected, params.text());
    }
    const double kinds = way == Way::alternate || way == Way::batch ? 2.0 : 1.0;
    for (double& cycles : found) cycles /= kinds * rounds * Words * warps;
    probe::row("local_access", params, "region_cycles", "cycle", found, probe::Conditions{});
}

template <Way way, int Words>
void warps_cases(Bench& bench, const char* name) {
    const int sms = probe::device().sms;
    for (const int warps : {1, 4, 8, 16}) access_case<way, Words>(bench, name, warps, sms);
    if (Words >= 256) {
        for (const int part : {sms / 2, sms / 4}) access_case<way, Words>(bench, name, 16, part);
    }
}

template <Way way>
void way_cases(Bench& bench, const char* name) {
    warps_cases<way, 64>(bench, name);
    warps_cases<way, 96>(bench, name);
    warps_cases<way, 128>(bench, name);
    warps_cases<way, 192>(bench, name);
    warps_cases<way, 256>(bench, name);
    warps_cases<way, 512>(bench, name);
    warps_cases<way, 1024>(bench, name);
}

}  // namespace

int main() {
    probe::begin("local_memory");
    Bench bench;
    way_cases<Way::load>(bench, "load");
    way_cases<Way::store>(bench, "store");
    way_cases<Way::alternate>(bench, "alternate");
    way_cases<Way::batch>(bench, "batch");
    return 0;
}
