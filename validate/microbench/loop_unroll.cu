// What does a loop cost beside its body, and how much of that cost does unrolling save?
// The body is `unroll` fp32 fused multiply-adds on `chains` independent accumulators.
// The value is the cycles per multiply-add of a sub-partition, all its warps together.
// The loop's own instructions (count, compare, branch) are part of the value.
// The result is compared with that of the other degrees of unrolling.
// SPDX-License-Identifier: Apache-2.0
#include "instructions.cuh"
#include "sm_region.cuh"

namespace {

using probe::Instruction;

constexpr int total = 6144;

template <int Unroll, int Chains>
__global__ void __launch_bounds__(1024)
    run(probe::Region* regions, const std::uint32_t* words, int count, std::uint32_t* out) {
    const probe::Operands with = probe::operands_from(words);
    probe::Chain chains[Chains];
#pragma unroll
    for (int i = 0; i < Chains; ++i) chains[i] = probe::chain_from(words, i);
    long long begin = 0;
    // The first pass warms the instruction cache.
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
#pragma unroll
            for (int j = 0; j < Unroll; ++j) probe::step<Instruction::fma_f32>(chains[j % Chains], with, 0);
        }
        std::uint32_t all = 0;
#pragma unroll
        for (int i = 0; i < Chains; ++i) all ^= chains[i].x;
        asm volatile("" ::"r"(all) : "memory");
    }
    probe::close_region(regions, begin);
    std::uint32_t result = 0;
#pragma unroll
    for (int i = 0; i < Chains; ++i) result = result * 5U + chains[i].x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = result;
}

struct Bench {
    Bench() : regions(1024), words(64), out(1U << 18) {
        std::vector<std::uint32_t> values(64);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = (probe::hash(static_cast<std::uint32_t>(i)) & 0x007fffffU) | 0x3f000000U;
        }
        PROBE_CHECK(cudaMemcpy(words.data(), values.data(), 256, cudaMemcpyHostToDevice));
    }
    probe::Buffer<probe::Region> regions;
    probe::Buffer<std::uint32_t> words;
    probe::Buffer<std::uint32_t> out;
    // The result of the first degree of unrolling, by the number of chains.
    std::map<int, std::uint32_t> expected;
};

template <int Unroll, int Chains>
void unroll_case(Bench& bench, int warps) {
    static_assert(total % Unroll == 0 && Unroll % Chains == 0);
    probe::Params params;
    params.set("unroll", Unroll).set("chains", Chains).set("warps_per_subpartition", warps);
    if (!probe::wanted("loop_unroll", params)) return;
    const int grid = probe::device().sms;
    std::vector<double> found = probe::region_cycles(bench.regions, grid, 1, [&] {
        run<Unroll, Chains><<<grid, warps * 128>>>(bench.regions.data(), bench.words.data(), total / Unroll,
                                                   bench.out.data());
    });
    const std::uint32_t first = bench.out.host()[0];
    probe::require(bench.expected.try_emplace(Chains, first).first->second == first, params.text());
    for (double& cycles : found) cycles /= static_cast<double>(total) * warps;
    probe::row("loop_unroll", params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

template <int Unroll>
void cases(Bench& bench) {
    for (const int warps : {1, 2, 4, 8}) {
        unroll_case<Unroll, 1>(bench, warps);
        if constexpr (Unroll % 2 == 0) unroll_case<Unroll, 2>(bench, warps);
        if constexpr (Unroll % 4 == 0) unroll_case<Unroll, 4>(bench, warps);
    }
}

}  // namespace

int main() {
    probe::begin("loop_unroll");
    Bench bench;
    cases<1>(bench);
    cases<2>(bench);
    cases<3>(bench);
    cases<4>(bench);
    cases<6>(bench);
    cases<8>(bench);
    cases<12>(bench);
    cases<16>(bench);
    cases<32>(bench);
    cases<64>(bench);
    return 0;
}
