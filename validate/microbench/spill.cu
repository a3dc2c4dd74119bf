// What does it cost when values live in local memory instead of registers?
// spill: a round of one fp32 multiply-add on each of `live` values, compiled for 32 registers.
// The compiler then spills `local_bytes` a thread, as the runtime tells.
// The value is the cycles of a round of one SM, all its warps together.
// local_chase: each thread follows a cycle of indices through an array of its own.
// The value is the cycles between two loads of one warp.
// The results are compared with those of a kernel with enough registers, and with the cycle's end.
// SPDX-License-Identifier: Apache-2.0
#include "instructions.cuh"
#include "sm_region.cuh"

namespace {

using probe::Instruction;

constexpr int rounds = 64;

template <int Live>
__device__ __forceinline__ void run(probe::Region* regions, const std::uint32_t* words, std::uint32_t* out) {
    const probe::Operands with = probe::operands_from(words);
    probe::Chain chain[Live];
#pragma unroll
    for (int i = 0; i < Live; ++i) chain[i] = probe::chain_from(words, i);
    long long begin = 0;
    // The first pass warms the instruction cache.
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; ++i) {
#pragma unroll
            for (int j = 0; j < Live; ++j) probe::step<Instruction::fma_f32>(chain[j], with, 0);
        }
    }
    probe::close_region(regions, begin);
    std::uint32_t result = 0;
#pragma unroll
    for (int i = 0; i < Live; ++i) result = result * 5U + chain[i].x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = result;
}

template <int Live>
__global__ void __launch_bounds__(1024, 2)
    narrow(probe::Region* regions, const std::uint32_t* words, std::uint32_t* out) {
    run<Live>(regions, words, out);
}

template <int Live>
__global__ void __launch_bounds__(128, 1)
    wide(probe::Region* regions, const std::uint32_t* words, std::uint32_t* out) {
    run<Live>(regions, words, out);
}

constexpr int steps = 256;

template <int Words>
__global__ void __launch_bounds__(1024) chase(probe::Region* regions, int step, std::uint32_t* out) {
    std::uint32_t table[Words];
#pragma unroll 1
    for (int i = 0; i < Words; ++i) table[i] = static_cast<std::uint32_t>((i + step) % Words);
    std::uint32_t at = threadIdx.x % Words;
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 8
    for (int i = 0; i < steps; ++i) at = *const_cast<volatile std::uint32_t*>(&table[at]);
    asm volatile("" ::"r"(at) : "memory");
    probe::close_region(regions, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

struct Bench {
    Bench() : regions(1024), words(512), out(1U << 18), expected(1U << 18) {
        std::vector<std::uint32_t> values(512);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = (probe::hash(static_cast<std::uint32_t>(i)) & 0x007fffffU) | 0x3f000000U;
        }
        PROBE_CHECK(cudaMemcpy(words.data(), values.data(), 2048, cudaMemcpyHostToDevice));
    }
    probe::Buffer<probe::Region> regions;
    probe::Buffer<std::uint32_t> words;
    probe::Buffer<std::uint32_t> out;
    probe::Buffer<std::uint32_t> expected;
};

template <int Live>
void spill_case(Bench& bench, int warps) {
    cudaFuncAttributes attributes{};
    PROBE_CHECK(cudaFuncGetAttributes(&attributes, narrow<Live>));
    probe::Params params;
    params.set("live", Live).set("registers", attributes.numRegs).set("warps", warps);
    params.set("local_bytes", static_cast<long long>(attributes.localSizeBytes));
    if (!probe::wanted("spill", params)) return;
    const int grid = probe::device().sms;
    std::vector<double> found = probe::region_cycles(bench.regions, grid, 1, [&] {
        narrow<Live><<<grid, warps * 32>>>(bench.regions.data(), bench.words.data(), bench.out.data());
    });
    wide<Live><<<1, 32>>>(bench.regions.data(), bench.words.data(), bench.expected.data());
    PROBE_CHECK(cudaGetLastError());
    const std::vector<std::uint32_t> out = bench.out.host();
    const std::vector<std::uint32_t> expected = bench.expected.host();
    for (std::size_t i = 0; i < 32; ++i) probe::require(out[i] == expected[i], params.text());
    for (double& cycles : found) cycles /= rounds;
    probe::row("spill", params, "region_cycles", "cycle", found, probe::Conditions{});
}

template <int Words>
void chase_case(Bench& bench, int warps) {
    probe::Params params;
    params.set("words", Words).set("warps", warps).set("step", 5);
    if (!probe::wanted("local_chase", params)) return;
    const int grid = probe::device().sms;
    std::vector<double> found = probe::region_cycles(bench.regions, grid, 1, [&] {
        chase<Words><<<grid, warps * 32>>>(bench.regions.data(), 5, bench.out.data());
    });
    const std::vector<std::uint32_t> out = bench.out.host();
    for (std::size_t i = 0; i < static_cast<std::size_t>(warps) * 32; ++i) {
        probe::require(out[i] == (i % Words + steps * 5) % Words, params.text());
    }
    for (double& cycles : found) cycles /= steps;
    probe::row("local_chase", params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

template <int Live>
void spill_cases(Bench& bench) {
    for (const int warps : {1, 4, 8, 16, 32}) spill_case<Live>(bench, warps);
}

template <int Words>
void chase_cases(Bench& bench) {
    for (const int warps : {1, 4, 8, 16, 32}) chase_case<Words>(bench, warps);
}

}  // namespace

int main() {
    probe::begin("spill");
    Bench bench;
    spill_cases<8>(bench);
    spill_cases<16>(bench);
    spill_cases<24>(bench);
    spill_cases<32>(bench);
    spill_cases<40>(bench);
    spill_cases<48>(bench);
    spill_cases<64>(bench);
    spill_cases<96>(bench);
    spill_cases<128>(bench);
    chase_cases<16>(bench);
    chase_cases<64>(bench);
    chase_cases<128>(bench);
    chase_cases<512>(bench);
    chase_cases<2048>(bench);
    return 0;
}
