// How long do ldmatrix and stmatrix take, against width, transposition and bank conflicts of the rows?
// ldmatrix: the word that a lane loads is the address of its next row. So the loads of a chain depend on each
// other. The value is the cycles between two instructions of one SM, all its warps together. One chain of one
// warp shows the latency, and many warps show the rate. stmatrix: stores one after another. Rows of 16 bytes
// lie row_stride bytes apart. The addresses found, and the rows stored, are checked. Facts: PTX ISA, ldmatrix
// and stmatrix.
// SPDX-License-Identifier: Apache-2.0
#include "sm_region.cuh"

namespace {

constexpr int unroll = 16;

template <int Matrices, bool Trans>
__device__ __forceinline__ void load(std::uint32_t& row) {
    std::uint32_t other[3];
    if constexpr (Matrices == 1 && !Trans) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%0];" : "+r"(row)::"memory");
    } else if constexpr (Matrices == 1) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%0];" : "+r"(row)::"memory");
    } else if constexpr (Matrices == 2 && !Trans) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%0];"
                     : "+r"(row), "=r"(other[0])::"memory");
    } else if constexpr (Matrices == 2) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%0];"
                     : "+r"(row), "=r"(other[0])::"memory");
    } else if constexpr (!Trans) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%0];"
                     : "+r"(row), "=r"(other[0]), "=r"(other[1]), "=r"(other[2])::"memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%0];"
                     : "+r"(row), "=r"(other[0]), "=r"(other[1]), "=r"(other[2])::"memory");
    }
}

template <int Matrices, bool Trans>
__device__ __forceinline__ void store(std::uint32_t row, std::uint32_t word) {
    if constexpr (Matrices == 1 && !Trans) {
        asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(row), "r"(word) : "memory");
    } else if constexpr (Matrices == 1) {
        asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(row), "r"(word)
                     : "memory");
    } else if constexpr (Matrices == 2 && !Trans) {
        asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%1};" ::"r"(row), "r"(word)
                     : "memory");
    } else if constexpr (Matrices == 2) {
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%1};" ::"r"(row), "r"(word)
                     : "memory");
    } else if constexpr (!Trans) {
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(row), "r"(word)
                     : "memory");
    } else {
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(row),
                     "r"(word)
                     : "memory");
    }
}

enum class Form { load, store };

template <Form form, int Matrices, bool Trans, int Chains>
__global__ void __launch_bounds__(1024)
    run(probe::Region* regions, int stride, int count, std::uint32_t* wrong) {
    __shared__ __align__(1024) unsigned char shared[32 * 144];
    const std::uint32_t base = probe::shared_address(shared);
    auto* halves = reinterpret_cast<std::uint16_t*>(shared);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::uint32_t own = base + static_cast<std::uint32_t>(lane * stride);
    if (threadIdx.x < 32) {
        // The place in the first matrix that the lane's word comes from, for both halves of the word.
        const int row = Trans ? 2 * (lane % 4) : lane / 4;
        const int column = Trans ? lane / 4 : 2 * (lane % 4);
        halves[row * stride / 2 + column] = static_cast<std::uint16_t>(own);
        halves[(Trans ? row + 1 : row) * stride / 2 + (Trans ? column : column + 1)] =
            static_cast<std::uint16_t>(own >> 16);
    }
    std::uint32_t rows[Chains];
    long long begin = 0;
#pragma unroll
    for (int i = 0; i < Chains; ++i) rows[i] = own;
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
                for (int k = 0; k < Chains; ++k) {
                    if constexpr (form == Form::load) {
                        load<Matrices, Trans>(rows[k]);
                    } else {
                        store<Matrices, Trans>(rows[k], 0x00070007U);
                    }
                }
            }
        }
        std::uint32_t all = 0;
#pragma unroll
        for (int i = 0; i < Chains; ++i) all |= rows[i] ^ own;
        asm volatile("" ::"r"(all) : "memory");
    }
    probe::close_region(regions, begin);
    bool right = true;
    if (form == Form::load) {
#pragma unroll
        for (int i = 0; i < Chains; ++i) right = right && rows[i] == own;
    } else if (lane < 8 * Matrices) {
        for (int i = 0; i < 8; ++i) right = right && halves[lane * stride / 2 + i] == 7;
    }
    if (!right) atomicAdd(wrong, 1U);
}

struct Bench {
    Bench() : regions(1024), wrong(1) { wrong.zero(); }
    probe::Buffer<probe::Region> regions;
    probe::Buffer<std::uint32_t> wrong;
};

template <Form form, int Matrices, bool Trans, int Chains>
void matrix_case(Bench& bench, int warps, int stride) {
    const char* op = form == Form::load ? "ldmatrix" : "stmatrix";
    probe::Params params;
    params.set("matrices", Matrices).set("trans", Trans ? 1 : 0).set("row_stride", stride);
    params.set("warps", warps).set("chains", Chains);
    if (!probe::wanted(op, params)) return;
    const int count = std::max(4, 128 / Chains / warps);
    std::vector<double> found = probe::region_cycles(bench.regions, probe::device().sms, 1, [&] {
        run<form, Matrices, Trans, Chains>
            <<<probe::device().sms, warps * 32>>>(bench.regions.data(), stride, count, bench.wrong.data());
    });
    probe::require(bench.wrong.host()[0] == 0, op + (' ' + params.text()));
    for (double& cycles : found) cycles /= static_cast<double>(count) * unroll * Chains * warps;
    probe::row(op, params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

template <int Matrices, bool Trans>
void cases(Bench& bench) {
    for (const int warps : {1, 2, 4, 8, 32}) {
        for (const int stride : {16, 32, 64, 128, 144}) {
            if (stride != 16 && warps != 1 && warps != 8) continue;
            matrix_case<Form::load, Matrices, Trans, 1>(bench, warps, stride);
            if (!Trans) matrix_case<Form::load, Matrices, Trans, 4>(bench, warps, stride);
            matrix_case<Form::store, Matrices, Trans, 1>(bench, warps, stride);
        }
    }
}

}  // namespace

int main() {
    probe::begin("ldmatrix");
    Bench bench;
    cases<1, false>(bench);
    cases<2, false>(bench);
    cases<4, false>(bench);
    cases<1, true>(bench);
    cases<2, true>(bench);
    cases<4, true>(bench);
    return 0;
}
