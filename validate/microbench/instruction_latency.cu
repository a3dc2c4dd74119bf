// How many cycles after an arithmetic instruction can an instruction issue that needs its result?
// One warp runs a chain of one instruction (instructions.cuh). The value is the cycles between two links.
// A step may be two machine instructions, as the parameter machine says; then the value is of the whole step.
// gap_fma puts independent fp32 instructions between the links, as a schedule would. So the hidden latency
// shows. The result is compared with that of the same chain run in a loop.
// SPDX-License-Identifier: Apache-2.0
#include "instructions.cuh"

namespace {

using probe::Instruction;

constexpr int unroll = 64;
constexpr int rounds = 32;

template <Instruction I, int Gap>
__global__ void chase(long long* cycles, const std::uint32_t* words, int count, std::uint32_t* out) {
    const probe::Operands with = probe::operands_from(words);
    probe::Chain chain = probe::chain_from(words, 0);
    probe::Chain filler[Gap > 0 ? Gap : 1];
#pragma unroll
    for (int i = 0; i < Gap; ++i) filler[i] = probe::chain_from(words, 1 + i);
    std::uint32_t result = 0;
    long long spent = 0;
    // The first pass warms the instruction cache.
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
        const long long begin = clock64();
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
#pragma unroll
            for (int j = 0; j < unroll; ++j) {
                probe::step<I>(chain, with, j % 2);
#pragma unroll
                for (int k = 0; k < Gap; ++k) probe::step<Instruction::fma_f32>(filler[k], with, 0);
            }
        }
        result = probe::folded(chain);
        asm volatile("" : "+r"(result)::"memory");
        spent = clock64() - begin;
    }
#pragma unroll
    for (int i = 0; i < Gap; ++i) result ^= probe::folded(filler[i]);
    if (threadIdx.x == 0) *cycles = spent;
    out[threadIdx.x] = result;
}

template <Instruction I>
__global__ void check(const std::uint32_t* words, int count, std::uint32_t* out) {
    const probe::Operands with = probe::operands_from(words);
    probe::Chain chain = probe::chain_from(words, 0);
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        probe::step<I>(chain, with, 0);
        probe::step<I>(chain, with, 1);
    }
    out[threadIdx.x] = probe::folded(chain);
}

struct Bench {
    Bench() : cycles(1), words(64), out(32) {
        std::vector<std::uint32_t> values(64);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = (probe::hash(static_cast<std::uint32_t>(i)) & 0x007fffffU) | 0x3f000000U;
        }
        PROBE_CHECK(cudaMemcpy(words.data(), values.data(), 256, cudaMemcpyHostToDevice));
    }
    probe::Buffer<long long> cycles;
    probe::Buffer<std::uint32_t> words;
    probe::Buffer<std::uint32_t> out;
};

template <Instruction I, int Gap = 0>
void latency_case(Bench& bench) {
    const probe::InstructionFacts facts = probe::facts(I);
    probe::Params params;
    params.set("instruction", facts.name).set("machine", facts.machine).set("gap_fma", Gap);
    if (!probe::wanted("instruction_latency", params)) return;
    std::vector<double> found;
    for (int turn = 0; turn < probe::launches(10); ++turn) {
        chase<I, Gap><<<1, 32>>>(bench.cycles.data(), bench.words.data(), rounds, bench.out.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        if (turn > 0) found.push_back(static_cast<double>(bench.cycles.host()[0]) / (rounds * unroll));
    }
    if (Gap == 0) {
        const std::vector<std::uint32_t> chased = bench.out.host();
        check<I><<<1, 32>>>(bench.words.data(), rounds * unroll, bench.out.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        probe::require(chased == bench.out.host(), facts.name);
    }
    probe::row("instruction_latency", params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

template <Instruction... Is>
void cases(Bench& bench) {
    (latency_case<Is>(bench), ...);
}

template <Instruction I>
void gap_cases(Bench& bench) {
    latency_case<I, 1>(bench);
    latency_case<I, 2>(bench);
    latency_case<I, 3>(bench);
    latency_case<I, 4>(bench);
    latency_case<I, 6>(bench);
    latency_case<I, 8>(bench);
}

}  // namespace

int main() {
    using enum Instruction;
    probe::begin("instruction_latency");
    Bench bench;
    cases<fma_f32, add_f32, mul_f32, fma_f16x2, fma_bf16x2, add_f16x2, fma_f64, add_f64, mad_s32, dot_s8,
          add_s32, logic, shift, permute, min_max, compare_select, popc>(bench);
    cases<ex2, rcp_tanh, rsqrt, sqrt, lg2, sin, tanh, round_f32, f16_to_f32, f32_s32_f32, f32_f64_f32,
          pack_bf16x2, shfl, vote, redux_s32, match>(bench);
    gap_cases<fma_f32>(bench);
    gap_cases<mad_s32>(bench);
    gap_cases<fma_f64>(bench);
    gap_cases<ex2>(bench);
    gap_cases<shfl>(bench);
    return 0;
}
