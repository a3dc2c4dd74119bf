// Which instructions share a pipe, and how far does their order matter?
// A warp runs `first_run` instructions of one kind, then `second_run` of another kind, and begins again.
// The chains of both kinds are independent: 4 chains of each arithmetic kind, 8 chains of mma.sync m16n8k16.
// The value is the cycles of one such round in a sub-partition, all its warps together.
// Two parts that share a pipe take the sum of both times. Two parts on different pipes take the larger time.
// Within a round the compiler may move the two parts into each other.
// The result is compared with that of parts run one after the other.
// SPDX-License-Identifier: Apache-2.0
#include "instructions.cuh"
#include "sm_region.cuh"
#include "wgmma.cuh"

namespace {

using probe::Instruction;

constexpr int chains = 4;
constexpr int tensor_chains = 8;

// A part of the mixture is arithmetic, a tensor instruction, or a load of matrix operands.
enum class Kind { arithmetic, mma, ldmatrix };

template <Kind K, Instruction I = Instruction::fma_f32>
struct Part {
    probe::Chain values[chains];
    float products[tensor_chains][4];
    std::uint32_t rows[chains];
    std::uint32_t operand[4];

    static const char* name() {
        if (K == Kind::mma) return "mma_m16n8k16_bf16";
        return K == Kind::ldmatrix ? "ldmatrix_x4" : probe::facts(I).name;
    }
    static int machine() { return K == Kind::arithmetic ? probe::facts(I).machine : 1; }

    __device__ void begin(const std::uint32_t* words, std::uint32_t shared, int from) {
        for (int i = 0; i < chains; ++i) values[i] = probe::chain_from(words, from + i);
        for (int i = 0; i < tensor_chains; ++i) {
            for (int j = 0; j < 4; ++j) products[i][j] = 0.0F;
        }
        for (int i = 0; i < chains; ++i) rows[i] = shared + threadIdx.x % 32 * 16;
        for (int j = 0; j < 4; ++j) operand[j] = 0x3f803f80U;
    }

    template <int Run>
    __device__ __forceinline__ void run(const probe::Operands& with, int turn) {
#pragma unroll
        for (int j = 0; j < Run; ++j) {
            const int i = turn * Run + j;
            if constexpr (K == Kind::mma) {
                const std::uint32_t b[2] = {operand[0], operand[1]};
                probe::mma_sync(products[i % tensor_chains], operand, b);
            } else if constexpr (K == Kind::ldmatrix) {
                // Every word loaded is the address of the lane's row.
                std::uint32_t others[3];
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%0];"
                             : "+r"(rows[i % chains]), "=r"(others[0]), "=r"(others[1]), "=r"(others[2]));
            } else {
                probe::step<I>(values[i % chains], with, i / chains % 2);
            }
        }
    }

    __device__ std::uint32_t result() const {
        std::uint32_t all = 0;
        for (int i = 0; i < chains; ++i) {
            all = all * 5U + probe::folded(values[i]);
            all += rows[i];
        }
        for (int i = 0; i < tensor_chains; ++i) all = all * 3U + __float_as_uint(products[i][0]);
        return all;
    }
};

// Rounds in one turn of the loop, so that the loop itself costs little.
__host__ __device__ constexpr int turns_of(int round) {
    return round < 96 ? 96 / round : 1;
}

// `Apart`: all rounds of the first part, then all rounds of the second. The result is the same, for the
// check.
template <typename First, typename Second, int FirstRun, int SecondRun, bool Apart>
__global__ void __launch_bounds__(512)
    mix(probe::Region* regions, const std::uint32_t* words, int count, std::uint32_t* out) {
    __shared__ __align__(16) std::uint32_t shared[128];
    if (threadIdx.x < 128) shared[threadIdx.x] = probe::shared_address(shared) + threadIdx.x % 32 * 16;
    constexpr int turns = turns_of(FirstRun + SecondRun);
    const probe::Operands with = probe::operands_from(words);
    First first;
    Second second;
    first.begin(words, probe::shared_address(shared), 0);
    second.begin(words, probe::shared_address(shared), chains);
    long long begin = 0;
    // The first pass warms the instruction cache.
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
#pragma unroll
            for (int turn = 0; turn < turns; ++turn) {
                first.template run<FirstRun>(with, turn);
                if constexpr (!Apart) second.template run<SecondRun>(with, turn);
            }
        }
        if constexpr (Apart) {
#pragma unroll 1
            for (int i = 0; i < count; ++i) {
#pragma unroll
                for (int turn = 0; turn < turns; ++turn) second.template run<SecondRun>(with, turn);
            }
        }
        std::uint32_t result = first.result() ^ second.result();
        asm volatile("" : "+r"(result)::"memory");
    }
    probe::close_region(regions, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = first.result() * 7U ^ second.result();
}

struct Bench {
    Bench() : regions(1024), words(64), out(1U << 18), expected(1U << 18) {
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

template <typename First, int FirstRun, typename Second, int SecondRun>
void mix_case(Bench& bench, int warps) {
    probe::Params params;
    params.set("first", First::name()).set("first_run", FirstRun).set("first_machine", First::machine());
    params.set("second", Second::name())
        .set("second_run", SecondRun)
        .set("second_machine", Second::machine());
    params.set("warps_per_subpartition", warps).set("chains", chains).set("tensor_chains", tensor_chains);
    if (!probe::wanted("instruction_mix", params)) return;
    const int grid = probe::device().sms;
    constexpr int turns = turns_of(FirstRun + SecondRun);
    const int count = std::max(16, 2048 / (FirstRun + SecondRun) / turns / warps);
    std::vector<double> found = probe::region_cycles(bench.regions, grid, 1, [&] {
        mix<First, Second, FirstRun, SecondRun, false>
            <<<grid, warps * 128>>>(bench.regions.data(), bench.words.data(), count, bench.out.data());
    });
    mix<First, Second, FirstRun, SecondRun, true>
        <<<grid, warps * 128>>>(bench.regions.data(), bench.words.data(), count, bench.expected.data());
    PROBE_CHECK(cudaGetLastError());
    const std::vector<std::uint32_t> out = bench.out.host();
    const std::vector<std::uint32_t> expected = bench.expected.host();
    for (std::size_t i = 0; i < static_cast<std::size_t>(grid) * static_cast<std::size_t>(warps) * 128; ++i) {
        probe::require(out[i] == expected[i], params.text());
    }
    for (double& cycles : found) cycles /= static_cast<double>(count) * turns * warps;
    probe::row("instruction_mix", params, "region_cycles", "cycle", found, probe::Conditions{});
}

template <typename First, int FirstRun, typename Second, int SecondRun>
void each_warps(Bench& bench) {
    for (const int warps : {1, 2, 4}) mix_case<First, FirstRun, Second, SecondRun>(bench, warps);
}

template <typename First, typename Second>
void interleaved(Bench& bench) {
    each_warps<First, 8, Second, 8>(bench);
    each_warps<First, 32, Second, 8>(bench);
}

// Tensor time and arithmetic time are about equal, in ever longer runs.
template <typename Second, int PerMma>
void beside_mma(Bench& bench) {
    using Mma = Part<Kind::mma>;
    each_warps<Mma, 1, Second, PerMma>(bench);
    each_warps<Mma, 8, Second, 8 * PerMma>(bench);
    each_warps<Mma, 32, Second, 32 * PerMma>(bench);
    each_warps<Mma, 8, Second, 4 * PerMma>(bench);
}

template <Instruction I>
using Arithmetic = Part<Kind::arithmetic, I>;

}  // namespace

int main() {
    using enum Instruction;
    probe::begin("instruction_mix");
    Bench bench;
    using Fma = Arithmetic<fma_f32>;
    beside_mma<Fma, 6>(bench);
    beside_mma<Arithmetic<add_s32>, 3>(bench);
    beside_mma<Arithmetic<mad_s32>, 3>(bench);
    beside_mma<Arithmetic<ex2>, 1>(bench);
    beside_mma<Part<Kind::ldmatrix>, 1>(bench);
    interleaved<Fma, Arithmetic<add_s32>>(bench);
    interleaved<Fma, Arithmetic<logic>>(bench);
    interleaved<Fma, Arithmetic<mad_s32>>(bench);
    interleaved<Fma, Arithmetic<add_f32>>(bench);
    interleaved<Fma, Arithmetic<fma_f16x2>>(bench);
    interleaved<Fma, Arithmetic<fma_f64>>(bench);
    interleaved<Fma, Arithmetic<ex2>>(bench);
    interleaved<Fma, Arithmetic<pack_bf16x2>>(bench);
    interleaved<Fma, Arithmetic<round_f32>>(bench);
    interleaved<Fma, Arithmetic<shfl>>(bench);
    interleaved<Fma, Arithmetic<permute>>(bench);
    interleaved<Arithmetic<mad_s32>, Arithmetic<add_s32>>(bench);
    interleaved<Arithmetic<mad_s32>, Arithmetic<fma_f16x2>>(bench);
    interleaved<Arithmetic<logic>, Arithmetic<shift>>(bench);
    interleaved<Arithmetic<logic>, Arithmetic<min_max>>(bench);
    interleaved<Arithmetic<logic>, Arithmetic<pack_bf16x2>>(bench);
    interleaved<Arithmetic<ex2>, Arithmetic<round_f32>>(bench);
    interleaved<Arithmetic<ex2>, Arithmetic<popc>>(bench);
    interleaved<Arithmetic<ex2>, Arithmetic<shfl>>(bench);
    interleaved<Arithmetic<shfl>, Arithmetic<vote>>(bench);
    interleaved<Arithmetic<shfl>, Part<Kind::ldmatrix>>(bench);
    return 0;
}
