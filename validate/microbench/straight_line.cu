// How fast do instructions come from the caches, when the code is longer than the nearest cache?
// Blocks of 128 fp32 multiply-adds follow each other.
// A block is 2 KB, with two more instructions that ask whether the block was the last.
// straight_line: the warps run the first `code_bytes` of the blocks again and again.
// straight_line_first: the warps run the same code for the first time in the launch.
// The value is the cycles per instruction of a sub-partition, all its warps together.
// The result is compared with that of a loop.
// SPDX-License-Identifier: Apache-2.0
#include "instructions.cuh"
#include "sm_region.cuh"

#include <utility>

namespace {

using probe::Instruction;

constexpr int block = 128;
constexpr int most_blocks = 448;
constexpr int chains = 4;

// One statement for all, so that the compiler has few statements to look at.
#define PROBE_4                                                                \
    "fma.rn.f32 %0,%0,%4,%5; fma.rn.f32 %1,%1,%4,%5; fma.rn.f32 %2,%2,%4,%5; " \
    "fma.rn.f32 %3,%3,%4,%5; "
#define PROBE_16 PROBE_4 PROBE_4 PROBE_4 PROBE_4
#define PROBE_128 PROBE_16 PROBE_16 PROBE_16 PROBE_16 PROBE_16 PROBE_16 PROBE_16 PROBE_16

__device__ __forceinline__ void run_block(probe::Chain (&chain)[chains], const probe::Operands& with) {
    asm volatile(PROBE_128
                 : "+r"(chain[0].x), "+r"(chain[1].x), "+r"(chain[2].x), "+r"(chain[3].x)
                 : "r"(with.b), "r"(with.c));
}

// All blocks below `blocks`, one after another in the code.
template <int... I>
__device__ __forceinline__ void run_blocks(probe::Chain (&chain)[chains], const probe::Operands& with,
                                           int blocks, std::integer_sequence<int, I...> /*numbers*/) {
    const auto one = [&](int number) {
        if (number >= blocks) return false;
        run_block(chain, with);
        return true;
    };
    (void)(one(I) && ...);
}

__device__ std::uint32_t result_of(const probe::Chain (&chain)[chains]) {
    return ((chain[0].x * 5U + chain[1].x) * 5U + chain[2].x) * 5U + chain[3].x;
}

__global__ void __launch_bounds__(1024)
    run(probe::Region* regions, probe::Region* first, const std::uint32_t* words, int blocks, int passes,
        std::uint32_t* out) {
    const probe::Operands with = probe::operands_from(words);
    probe::Chain chain[chains];
#pragma unroll
    for (int i = 0; i < chains; ++i) chain[i] = probe::chain_from(words, i);
    __syncthreads();
    long long begin = clock64();
#pragma unroll 1
    for (int pass = 0; pass <= passes; ++pass) {
        run_blocks(chain, with, blocks, std::make_integer_sequence<int, most_blocks>{});
        if (pass == 0) {
            std::uint32_t all = chain[0].x ^ chain[1].x ^ chain[2].x ^ chain[3].x;
            asm volatile("" ::"r"(all) : "memory");
            probe::close_region(first, begin);
            __syncthreads();
            begin = clock64();
        }
    }
    std::uint32_t all = chain[0].x ^ chain[1].x ^ chain[2].x ^ chain[3].x;
    asm volatile("" ::"r"(all) : "memory");
    probe::close_region(regions, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = result_of(chain);
}

__global__ void check(const std::uint32_t* words, int count, std::uint32_t* out) {
    const probe::Operands with = probe::operands_from(words);
    probe::Chain chain[chains];
#pragma unroll
    for (int i = 0; i < chains; ++i) chain[i] = probe::chain_from(words, i);
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
#pragma unroll
        for (int j = 0; j < chains; ++j) probe::step<Instruction::fma_f32>(chain[j], with, 0);
    }
    out[threadIdx.x] = result_of(chain);
}

struct Bench {
    Bench() : regions(256), first(256), words(64), out(1U << 18) {
        std::vector<std::uint32_t> values(64);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = (probe::hash(static_cast<std::uint32_t>(i)) & 0x007fffffU) | 0x3f000000U;
        }
        PROBE_CHECK(cudaMemcpy(words.data(), values.data(), 256, cudaMemcpyHostToDevice));
    }
    probe::Buffer<probe::Region> regions;
    probe::Buffer<probe::Region> first;
    probe::Buffer<std::uint32_t> words;
    probe::Buffer<std::uint32_t> out;
};

void line_case(Bench& bench, int blocks, int warps) {
    probe::Params params;
    params.set("code_bytes", blocks * (block + 2) * 16).set("warps_per_subpartition", warps);
    params.set("chains", chains);
    if (!probe::wanted("straight_line", params)) return;
    const int passes = std::max(2, 64 / blocks);
    const int grid = probe::device().sms;
    std::vector<double> firsts;
    std::vector<double> found;
    for (int turn = 0; turn < probe::launches(9); ++turn) {
        // The first pass of each launch is a sample of straight_line_first.
        std::vector<double> warm = probe::region_cycles(
            bench.regions, grid, 1,
            [&] {
                run<<<grid, warps * 128>>>(bench.regions.data(), bench.first.data(), bench.words.data(),
                                           blocks, passes, bench.out.data());
            },
            1);
        found.push_back(warm[0]);
        std::vector<double> each;
        for (const probe::Region& region : bench.first.host()) {
            if (region.end > region.begin && each.size() < static_cast<std::size_t>(grid)) {
                each.push_back(static_cast<double>(region.end - region.begin));
            }
        }
        // A launch that is read up to a read of the clock has noted no pass.
        firsts.push_back(each.empty() && probe::only_read() ? 0.0 : probe::median(each));
    }
    const std::vector<std::uint32_t> out = bench.out.host();
    check<<<1, warps * 128>>>(bench.words.data(), (passes + 1) * blocks * block / chains, bench.out.data());
    PROBE_CHECK(cudaGetLastError());
    probe::require(out[0] == bench.out.host()[0] && out[0] == out[warps * 128], params.text());
    const double instructions = static_cast<double>(blocks) * (block + 2) * warps;
    for (double& cycles : found) cycles /= instructions * passes;
    for (double& cycles : firsts) cycles /= instructions;
    probe::row("straight_line", params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
    probe::row("straight_line_first", params, "cycles_per_instruction", "cycle", firsts, probe::Conditions{});
}

}  // namespace

int main() {
    probe::begin("straight_line");
    Bench bench;
    for (const int blocks : {1, 2, 4, 8, 12, 16, 24, 32, 48, 56, 64, 80, 96, 128, 192, 256, 384, 448}) {
        for (const int warps : {1, 2, 4}) line_case(bench, blocks, warps);
    }
    return 0;
}
