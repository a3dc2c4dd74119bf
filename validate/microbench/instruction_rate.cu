// How many warps and independent chains does a sub-partition need to keep a pipe busy?
// Every warp runs chains of one instruction (instructions.cuh) side by side.
// The value is the cycles between two steps of a sub-partition, all its warps together.
// Little's law: steps in flight = latency / interval.
// A step may be two machine instructions (parameter machine). 16 warps are two CTAs.
// The result is compared with that of the same chains run in a loop.
// SPDX-License-Identifier: Apache-2.0
#include "instructions.cuh"
#include "sm_region.cuh"

namespace {

using probe::Instruction;

constexpr int unroll = 16;

template <Instruction I, int Chains>
__global__ void __launch_bounds__(1024)
    run(probe::Region* regions, const std::uint32_t* words, int passes, int count, std::uint32_t* out) {
    const probe::Operands with = probe::operands_from(words);
    probe::Chain chains[Chains];
#pragma unroll
    for (int i = 0; i < Chains; ++i) chains[i] = probe::chain_from(words, i);
    long long begin = 0;
    std::uint32_t result = 0;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
#pragma unroll
            for (int j = 0; j < unroll; ++j) {
#pragma unroll
                for (int k = 0; k < Chains; ++k) probe::step<I>(chains[k], with, j % 2);
            }
        }
        result = 0;
#pragma unroll
        for (int i = 0; i < Chains; ++i) result = result * 5U + probe::folded(chains[i]);
        asm volatile("" : "+r"(result)::"memory");
    }
    probe::close_region(regions, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = result;
}

template <Instruction I>
__global__ void check(const std::uint32_t* words, int chains, int count, std::uint32_t* out) {
    const probe::Operands with = probe::operands_from(words);
    std::uint32_t result = 0;
#pragma unroll 1
    for (int k = 0; k < chains; ++k) {
        probe::Chain chain = probe::chain_from(words, k);
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
            probe::step<I>(chain, with, 0);
            probe::step<I>(chain, with, 1);
        }
        result = result * 5U + probe::folded(chain);
    }
    out[threadIdx.x] = result;
}

struct Bench {
    Bench() : regions(2048), words(64), out(1U << 20), expected(1024) {
        std::vector<std::uint32_t> values(64);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = (probe::hash(static_cast<std::uint32_t>(i)) & 0x007fffffU) | 0x3f000000U;
        }
        PROBE_CHECK(cudaMemcpy(words.data(), values.data(), 256, cudaMemcpyHostToDevice));
    }
    probe::Buffer<probe::Region> regions;
    probe::Buffer<std::uint32_t> words;
    probe::Buffer<std::uint32_t> out;
    probe::Buffer<std::uint32_t> expected;
};

template <Instruction I, int Chains>
void rate_case(Bench& bench, int warps) {
    const probe::InstructionFacts facts = probe::facts(I);
    probe::Params params;
    params.set("instruction", facts.name).set("machine", facts.machine).set("chains", Chains);
    params.set("warps_per_subpartition", warps);
    if (!probe::wanted("instruction_rate", params)) return;
    const int ctas_per_sm = warps > 8 ? 2 : 1;
    const int threads = warps * 128 / ctas_per_sm;
    const int grid = probe::device().sms * ctas_per_sm;
    const int count = std::max(8, 256 / (Chains * warps));
    // The first of two passes warms the instruction cache. Of two CTAs, one would be in its second pass while
    // the other is in its first.
    const int passes = ctas_per_sm > 1 ? 1 : 2;
    std::vector<double> found = probe::region_cycles(bench.regions, grid, ctas_per_sm, [&] {
        run<I, Chains>
            <<<grid, threads>>>(bench.regions.data(), bench.words.data(), passes, count, bench.out.data());
    });
    check<I><<<1, threads>>>(bench.words.data(), Chains, count * unroll * passes / 2, bench.expected.data());
    PROBE_CHECK(cudaGetLastError());
    const std::vector<std::uint32_t> expected = bench.expected.host();
    const std::vector<std::uint32_t> out = bench.out.host();
    for (std::size_t i = 0; i < static_cast<std::size_t>(grid) * static_cast<std::size_t>(threads); ++i) {
        probe::require(out[i] == expected[i % static_cast<std::size_t>(threads)], facts.name);
    }
    for (double& cycles : found) cycles /= static_cast<double>(count) * unroll * Chains * warps;
    probe::row("instruction_rate", params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

template <Instruction I>
void cases(Bench& bench) {
    for (const int warps : {1, 2, 4, 8, 16}) {
        rate_case<I, 1>(bench, warps);
        rate_case<I, 2>(bench, warps);
        rate_case<I, 4>(bench, warps);
        if (warps <= 4) rate_case<I, 8>(bench, warps);
    }
}

template <Instruction... Is>
void all_cases(Bench& bench) {
    (cases<Is>(bench), ...);
}

}  // namespace

int main() {
    using enum Instruction;
    probe::begin("instruction_rate");
    Bench bench;
    all_cases<fma_f32, add_f32, fma_f16x2, fma_bf16x2, fma_f64, mad_s32, dot_s8, add_s32, logic, shift,
              permute, min_max, compare_select, popc>(bench);
    all_cases<ex2, rsqrt, sin, tanh, round_f32, f16_to_f32, f32_s32_f32, f32_f64_f32, pack_bf16x2, shfl, vote,
              redux_s32, match>(bench);
    return 0;
}
