// How long does each shape and number type of mma.sync take, and how many must be in flight?
// Every warp runs `chains` independent accumulations.
// The value is the cycles between two instructions of a sub-partition, all its warps together.
// The products are dense, 2:4 sparse, or accumulate in fp16. One chain of one warp gives the latency.
// The result is checked with ones.
// Ignores: fp8, which this instruction does not have on Hopper; the compiler converts it to fp16.
// Facts: PTX ISA, mma and mma.sp.
// SPDX-License-Identifier: Apache-2.0
#include "sm_region.cuh"

#include <cstring>
#include <cuda_fp16.h>

namespace {

// Registers that a lane holds of A, B and the accumulators, and the encoding of one in A and B. An
// accumulator holds fp32, fp16x2, int32 or fp64.
enum class Accumulator { f32, f16, s32, f64 };

#define PROBE_C2 "{%0,%1}"
#define PROBE_C4 "{%0,%1,%2,%3}"

// An mma instruction on NC 32-bit accumulator words; TEXT numbers its operands C first, then A, then B.
#define PROBE_SHAPE(NAME, SHAPE, DTYPE, K, SPARSE, NA, NB, NC, ONE, ACCUMULATOR, TEXT)                     \
    struct NAME {                                                                                          \
        static constexpr const char* shape = SHAPE;                                                        \
        static constexpr const char* dtype = DTYPE;                                                        \
        static constexpr int k = K, sparse = SPARSE, words = NC;                                           \
        static constexpr std::uint32_t one = ONE;                                                          \
        static constexpr Accumulator accumulator = Accumulator::ACCUMULATOR;                               \
        __device__ static void run(std::uint32_t (&d)[NC], const std::uint32_t (&a)[4], std::uint32_t m) { \
            asm volatile(TEXT : PROBE_D##NC : PROBE_A##NA, PROBE_B##NB, "r"(m));                           \
        }                                                                                                  \
    };

#define PROBE_D2 "+r"(d[0]), "+r"(d[1])
#define PROBE_D4 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define PROBE_A1 "r"(a[0])
#define PROBE_A2 "r"(a[0]), "r"(a[1])
#define PROBE_A4 "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define PROBE_B1 "r"(a[1])
#define PROBE_B2 "r"(a[1]), "r"(a[0])
#define PROBE_B4 "r"(a[3]), "r"(a[2]), "r"(a[1]), "r"(a[0])

#define PROBE_TEXT_C4_A2_B1(TYPE) "mma.sync.aligned." TYPE " " PROBE_C4 ",{%4,%5},{%6}," PROBE_C4 ";"
#define PROBE_TEXT_C4_A4_B2(TYPE) "mma.sync.aligned." TYPE " " PROBE_C4 ",{%4,%5,%6,%7},{%8,%9}," PROBE_C4 ";"
#define PROBE_TEXT_C2_A2_B1(TYPE) "mma.sync.aligned." TYPE " " PROBE_C2 ",{%2,%3},{%4}," PROBE_C2 ";"
#define PROBE_TEXT_C2_A4_B2(TYPE) "mma.sync.aligned." TYPE " " PROBE_C2 ",{%2,%3,%4,%5},{%6,%7}," PROBE_C2 ";"
#define PROBE_TEXT_C2_A1_B1(TYPE) "mma.sync.aligned." TYPE " " PROBE_C2 ",{%2},{%3}," PROBE_C2 ";"
#define PROBE_SPARSE_C4_A2_B2(TYPE) \
    "mma.sp::ordered_metadata.sync.aligned." TYPE " " PROBE_C4 ",{%4,%5},{%6,%7}," PROBE_C4 ",%8,0x0;"
#define PROBE_SPARSE_C4_A4_B4(TYPE)                                                                       \
    "mma.sp::ordered_metadata.sync.aligned." TYPE " " PROBE_C4 ",{%4,%5,%6,%7},{%8,%9,%10,%11}," PROBE_C4 \
    ",%12,0x0;"

PROBE_SHAPE(Fp16K8, "m16n8k8", "fp16", 8, 0, 2, 1, 4, 0x3c003c00U, f32,
            PROBE_TEXT_C4_A2_B1("m16n8k8.row.col.f32.f16.f16.f32"))
PROBE_SHAPE(Fp16K16, "m16n8k16", "fp16", 16, 0, 4, 2, 4, 0x3c003c00U, f32,
            PROBE_TEXT_C4_A4_B2("m16n8k16.row.col.f32.f16.f16.f32"))
PROBE_SHAPE(Fp16AccK8, "m16n8k8", "fp16", 8, 0, 2, 1, 2, 0x3c003c00U, f16,
            PROBE_TEXT_C2_A2_B1("m16n8k8.row.col.f16.f16.f16.f16"))
PROBE_SHAPE(Fp16AccK16, "m16n8k16", "fp16", 16, 0, 4, 2, 2, 0x3c003c00U, f16,
            PROBE_TEXT_C2_A4_B2("m16n8k16.row.col.f16.f16.f16.f16"))
PROBE_SHAPE(Bf16K8, "m16n8k8", "bf16", 8, 0, 2, 1, 4, 0x3f803f80U, f32,
            PROBE_TEXT_C4_A2_B1("m16n8k8.row.col.f32.bf16.bf16.f32"))
PROBE_SHAPE(Bf16K16, "m16n8k16", "bf16", 16, 0, 4, 2, 4, 0x3f803f80U, f32,
            PROBE_TEXT_C4_A4_B2("m16n8k16.row.col.f32.bf16.bf16.f32"))
PROBE_SHAPE(Tf32K4, "m16n8k4", "tf32", 4, 0, 2, 1, 4, 0x3f800000U, f32,
            PROBE_TEXT_C4_A2_B1("m16n8k4.row.col.f32.tf32.tf32.f32"))
PROBE_SHAPE(Tf32K8, "m16n8k8", "tf32", 8, 0, 4, 2, 4, 0x3f800000U, f32,
            PROBE_TEXT_C4_A4_B2("m16n8k8.row.col.f32.tf32.tf32.f32"))
PROBE_SHAPE(Int8M8, "m8n8k16", "int8", 16, 0, 1, 1, 2, 0x01010101U, s32,
            PROBE_TEXT_C2_A1_B1("m8n8k16.row.col.s32.s8.s8.s32"))
PROBE_SHAPE(Int8K16, "m16n8k16", "int8", 16, 0, 2, 1, 4, 0x01010101U, s32,
            PROBE_TEXT_C4_A2_B1("m16n8k16.row.col.s32.s8.s8.s32"))
PROBE_SHAPE(Int8K32, "m16n8k32", "int8", 32, 0, 4, 2, 4, 0x01010101U, s32,
            PROBE_TEXT_C4_A4_B2("m16n8k32.row.col.s32.s8.s8.s32"))
PROBE_SHAPE(SparseFp16K16, "m16n8k16", "fp16", 16, 1, 2, 2, 4, 0x3c003c00U, f32,
            PROBE_SPARSE_C4_A2_B2("m16n8k16.row.col.f32.f16.f16.f32"))
PROBE_SHAPE(SparseFp16K32, "m16n8k32", "fp16", 32, 1, 4, 4, 4, 0x3c003c00U, f32,
            PROBE_SPARSE_C4_A4_B4("m16n8k32.row.col.f32.f16.f16.f32"))
PROBE_SHAPE(SparseBf16K32, "m16n8k32", "bf16", 32, 1, 4, 4, 4, 0x3f803f80U, f32,
            PROBE_SPARSE_C4_A4_B4("m16n8k32.row.col.f32.bf16.bf16.f32"))
PROBE_SHAPE(SparseTf32K16, "m16n8k16", "tf32", 16, 1, 4, 4, 4, 0x3f800000U, f32,
            PROBE_SPARSE_C4_A4_B4("m16n8k16.row.col.f32.tf32.tf32.f32"))
PROBE_SHAPE(SparseInt8K64, "m16n8k64", "int8", 64, 1, 4, 4, 4, 0x01010101U, s32,
            PROBE_SPARSE_C4_A4_B4("m16n8k64.row.col.s32.s8.s8.s32"))

// fp64: two words an accumulator.
struct Fp64 {
    static constexpr const char* shape = "m8n8k4";
    static constexpr const char* dtype = "fp64";
    static constexpr int k = 4, sparse = 0, words = 4;
    static constexpr std::uint32_t one = 0x3ff00000U;
    static constexpr Accumulator accumulator = Accumulator::f64;
    __device__ static void run(std::uint32_t (&d)[4], const std::uint32_t (&a)[4], std::uint32_t) {
        asm volatile(
            "{ .reg .f64 c, e, a, b; mov.b64 c, {%0,%1}; mov.b64 e, {%2,%3}; mov.b64 a, {0,%4}; "
            "mov.b64 b, {0,%5}; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {c,e},{a},{b},{c,e}; "
            "mov.b64 {%0,%1}, c; mov.b64 {%2,%3}, e; }"
            : PROBE_D4
            : "r"(a[0]), "r"(a[1]));
    }
};

constexpr int unroll = 8;

template <typename Mma, int Chains>
__global__ void __launch_bounds__(1024)
    run(probe::Region* regions, const std::uint32_t* operands, int count, std::uint32_t* out) {
    const std::uint32_t a[4] = {operands[0], operands[1], operands[2], operands[3]};
    // Of each four values, the first and the second are present.
    const std::uint32_t metadata = operands[4];
    std::uint32_t d[Chains][Mma::words] = {};
    long long begin = 0;
    // The first pass warms the instruction cache.
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
#pragma unroll
            for (int j = 0; j < unroll; ++j) {
#pragma unroll
                for (int chain = 0; chain < Chains; ++chain) Mma::run(d[chain], a, metadata);
            }
        }
        std::uint32_t folded = 0;
#pragma unroll
        for (int chain = 0; chain < Chains; ++chain) folded |= d[chain][Mma::words - 1];
        asm volatile("" ::"r"(folded) : "memory");
    }
    probe::close_region(regions, begin);
    std::uint32_t same = 1;
#pragma unroll
    for (int chain = 1; chain < Chains; ++chain) {
#pragma unroll
        for (int j = 0; j < Mma::words; ++j) same &= d[chain][j] == d[0][j] ? 1U : 0U;
    }
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = same != 0U ? d[0][Mma::words - 1] : 0xffffffffU;
}

// The word that an accumulator ends with after `products` products of ones.
std::uint32_t expected(Accumulator accumulator, int products) {
    const auto sum = static_cast<float>(products);
    std::uint32_t bits = 0;
    if (accumulator == Accumulator::s32) return static_cast<std::uint32_t>(products);
    if (accumulator == Accumulator::f32) {
        std::memcpy(&bits, &sum, 4);
    } else if (accumulator == Accumulator::f16) {
        const __half_raw half = __float2half_rn(sum);
        bits = half.x * 0x10001U;
    } else {
        const auto wide = static_cast<double>(products);
        std::uint64_t words = 0;
        std::memcpy(&words, &wide, 8);
        bits = static_cast<std::uint32_t>(words >> 32);
    }
    return bits;
}

struct Bench {
    Bench() : regions(1024), operands(5), out(1U << 18) {}
    void set(std::uint32_t word) {
        const std::uint32_t words[5] = {word, word, word, word, 0x44444444U};
        PROBE_CHECK(cudaMemcpy(operands.data(), words, sizeof words, cudaMemcpyHostToDevice));
    }
    probe::Buffer<probe::Region> regions;
    probe::Buffer<std::uint32_t> operands;
    probe::Buffer<std::uint32_t> out;
};

template <typename Mma, int Chains>
void shape_case(Bench& bench, int warps) {
    probe::Params params;
    params.set("shape", Mma::shape).set("dtype", Mma::dtype).set("sparse", Mma::sparse);
    const char* names[] = {"fp32", "fp16", "int32", "fp64"};
    params.set("acc_dtype", names[static_cast<int>(Mma::accumulator)]);
    params.set("chains", Chains).set("warps_per_subpartition", warps);
    if (!probe::wanted("mma_shapes", params)) return;
    const int grid = probe::device().sms;
    const int count = std::max(8, 64 / Chains / warps);
    const auto launch = [&](int turns) {
        run<Mma, Chains>
            <<<grid, warps * 128>>>(bench.regions.data(), bench.operands.data(), turns, bench.out.data());
    };
    bench.set(Mma::one);
    launch(2);
    PROBE_CHECK(cudaGetLastError());
    const std::uint32_t right = expected(Mma::accumulator, 2 * 2 * unroll * Mma::k / (1 + Mma::sparse));
    const std::vector<std::uint32_t> out = bench.out.host();
    for (std::size_t i = 0; i < static_cast<std::size_t>(grid) * static_cast<std::size_t>(warps) * 128; ++i) {
        probe::require(out[i] == right, params.text());
    }
    bench.set(probe::hash(7) & 0x3fff3fffU);
    std::vector<double> found = probe::region_cycles(bench.regions, grid, 1, [&] { launch(count); });
    for (double& cycles : found) cycles /= static_cast<double>(count) * unroll * Chains * warps;
    probe::row("mma_shapes", params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

template <typename... Mma>
void cases(Bench& bench) {
    for (const int warps : {1, 2, 4}) {
        (shape_case<Mma, 1>(bench, warps), ...);
        (shape_case<Mma, 2>(bench, warps), ...);
        (shape_case<Mma, 4>(bench, warps), ...);
        (shape_case<Mma, 8>(bench, warps), ...);
    }
}

}  // namespace

int main() {
    probe::begin("mma_shapes");
    Bench bench;
    cases<Fp16K8, Fp16K16, Fp16AccK8, Fp16AccK16, Bf16K8, Bf16K16, Tf32K4, Tf32K8, Int8M8, Int8K16, Int8K32,
          Fp64, SparseFp16K16, SparseFp16K32, SparseBf16K32, SparseTf32K16, SparseInt8K64>(bench);
    return 0;
}
